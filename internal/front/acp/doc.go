// Package acp serves editors that speak the Agent Client Protocol on the agent's
// API: version 1, and version 2, a draft, where that is switched on.
//
// Package rpc below it carries the messages, and packages wire and wire2 read and
// write what they hold. Here, [Serve] answers them, and a front for each turn makes
// updates of the agent's events. Sessions, turns and their order are one core for
// both versions; a dialect, chosen by initialize, spells what the core says.
//
// Invariants:
//
//   - A content block stays the bytes that the client sent, in the echo and in the
//     replay of another process. What the client's version of the protocol cannot
//     show rides along with a line of text.
//   - It refuses to guess: a block of an unknown kind stays unknown, a block of a
//     known kind that cannot be read says so, and neither is dropped.
//   - Each block of a prompt has a receipt that the client gets before the first
//     token, in the metadata of a session_info_update, and again in the reply.
//     What changed what is sent is also said in words.
//   - Nothing of a session is sent before the reply that opens it, nothing of a
//     turn after its end, which in version 1 is the reply to its prompt and in
//     version 2 the idle state, and the whole history before the reply that opens
//     a session again, which does not wait for a turn that runs: of that one it
//     shows what has been said, and the rest follows.
//   - In version 2 a session runs before its prompt is inserted, a prompt is
//     answered when it is, and one that never is has an error for an answer.
//   - A message has the same id whenever it is shown.
//   - Every tool call that is announced reaches a final status, and only an option
//     that was offered and allows is approval; a reply that says nothing is none.
//   - What a client may call and is not served is named in one place, by version,
//     with the reason.
//
// It decides nothing about attachments. Only cmd may import this package. It
// imports content, delivery, permission, tool, agent, front/slash and its own packages
// rpc, wire and wire2.
package acp
