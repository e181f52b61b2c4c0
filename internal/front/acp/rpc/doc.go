// Package rpc is the lower half of the editor protocol: JSON-RPC 2.0, one message
// a line, over a reader and a writer.
//
// It is built in three layers. [Reader] cuts the input into lines and owns the
// length limit. [Parse] turns a line into a [Message]. [Conn] orders the requests,
// runs their handlers and owns the output.
//
// Invariants:
//
//   - Nothing but protocol lines is written to the output, and none of MaxOut
//     bytes or more.
//   - Every request gets exactly one reply, also when its line was malformed or
//     too long to keep. Notifications and replies never get one.
//   - Raw JSON stays the bytes that the client sent: it aliases the line, which
//     nothing overwrites, and [Parts] carry it back without a copy.
//   - Payloads and parameters never reach a log or an error.
//
// It knows what sessions are only as far as their order goes. It refuses batches,
// lines that are not UTF-8 and everything before initialize.
//
// Only front/acp and its package wire may import this package. It imports no other of the module.
package rpc
