// Package acp serves editors that speak the Agent Client Protocol: JSON-RPC 2.0,
// one message a line, over a reader and a writer.
//
// It is built in four layers. [Reader] cuts the input into lines and owns the
// length limit. [Parse] turns a line into a [Message]. [Conn] orders the
// requests, runs their handlers and owns the output. [ParsePrompt] and the wire
// structs read and write what the messages carry.
//
// Invariants:
//
//   - Nothing but protocol lines is written to the output, and none of MaxOut
//     bytes or more.
//   - Every request gets exactly one reply, also when its line was malformed or
//     too long to keep. Notifications and replies never get one.
//   - A content block stays the bytes that the client sent. Typed views alias
//     the line, which nothing overwrites.
//   - Payloads and parameters never reach a log or an error.
//
// It refuses to guess: a block of an unknown kind stays unknown, a block of a
// known kind that cannot be read says so, and neither is dropped.
//
// Only cmd may import this package. It imports content, delivery and agent.
package acp
