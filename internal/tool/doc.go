// Package tool holds the tools that a model may call and the contract that
// every tool keeps.
//
// A tool reads its arguments, says what it needs permission for, and returns
// sources: text for the model, and files, pictures or bytes that the agent
// ingests at its one inlet. A tool never asks anybody, never decides what the
// model gets to see, and never turns a picture into text. What a model is told
// about a tool stands in the .md file of the same name.
//
// Paths come from the model, so they are opened under the roots of the session
// only (os.Root: neither symlinks nor ".." lead out), unless the user permitted
// that one path.
//
// It imports content and permission only.
package tool
