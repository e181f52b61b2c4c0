// Command tote is a coding agent for the terminal and for editors that speak
// the Agent Client Protocol. Everything that it is handed arrives at the model,
// or the user is told what happened to it.
//
// This package reads flags, chooses a front, owns standard output and decides
// the exit code. It decides nothing else.
package main
