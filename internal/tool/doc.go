// Package tool holds the tools that a model may call and the contract that
// every tool keeps.
//
// A tool reads its arguments, says what it needs permission for, and returns
// sources: text for the model, and files, pictures or bytes that the agent
// ingests at its one inlet. A tool never asks anybody, never decides what the
// model gets to see, and never turns a picture into text or text into a picture.
// What a model is told about a tool stands in the .md file of the same name.
//
// Paths come from the model, so they are opened under the roots of the session
// only (os.Root: neither symlinks nor ".." lead out), unless the user permitted
// that one path. A name that is not there may stand for the one that looks the
// same; the real name is then told.
//
// Rules for tools that change files:
//
//   - A file that exists is changed only when the model has seen it as it is:
//     whoever reads one notes its [Stamp] in the [FileLog].
//   - The file is kept ([Env].Keep) before it is touched.
//   - It is replaced whole, by renaming a new file beside it, and compared right
//     before that with what was read. A change by somebody else within the
//     microseconds between comparing and renaming is lost.
//   - The file behind a link is changed, never the link, and only under the roots.
//
// It imports content and permission only.
package tool
