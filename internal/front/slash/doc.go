// Package slash carries out what a user types as "/command", the same on every
// surface: what the next request would hold, taking attachments out, undoing turns,
// jobs, and the project's own commands.
//
// A command is one only where a prompt begins with its name. What looks like one and
// is none is refused, so that a slip does not go to a model; a path, a second slash
// or a space before it make it a prompt like any other. A command says what it did in
// text for people; it may also ask for a turn with a prompt of its own.
//
// It imports content, delivery, permission, tool, agent and delegate.
package slash
