// Package app wires the program: it turns configuration into agents and joins
// what the agent needs with the packages that do it.
//
// An [App] is one process with one home: folders, store, history. A
// [Workspace] is a working folder with its configuration; one function builds
// its agents, at start and again whenever the configuration has changed. What a
// project's files would widen waits here until the user trusts them.
//
// Nothing here decides anything about attachments. It may import every package
// of the module but the fronts and cmd.
package app
