// Package mcp is the client of Model Context Protocol servers: it starts them,
// keeps them in bounds, and makes tools, resources and prompts of what they offer.
//
// A [Manager] holds servers by scope (a workspace, or the servers that an editor
// gave with a session). They start at the first use, side by side, and are closed
// with their scope. What a server does costs that server only:
//
//   - A message is looked at before the SDK parses it (see filter). What carries
//     content (a tool's result, a resource, a prompt) is lifted out whole, so that
//     a picture is decoded once, block by block: a broken block is one broken
//     block, an unknown kind is kept as it is, and the rest goes on.
//   - Messages, blocks, pages, notifications and requests in flight are counted
//     and bounded. Standard output that is no message is skipped and counted.
//   - Calls have a limit of time that progress moves on, to a limit that nothing
//     moves. A cancelled call returns at once, whatever the server does.
//   - A server that ends is told, with its last words without secrets, and started
//     again at the next use, a few times.
//
// Results are [content.Source] values in the order in which the server gave them.
// Text is text: it is never searched for media. Nothing that a server says about
// itself decides whether the user is asked; a read-only hint is shown, no more.
//
// A stdio server gets a small environment, not that of this program, and leads a
// process group (on Windows a job) that ends with it. A program that leaves its
// group gets away.
//
// Secrets of a server (its environment and headers) are cut out of every text that
// leaves this package. Tokens are kept by the caller, see [Tokens].
//
// The package app may import mcp; it imports content, permission and tool.
package mcp
