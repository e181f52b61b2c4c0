// Package ollama speaks Ollama's own chat wire, which carries pictures in any
// role, results of tools included.
//
// Every request says "truncate": false and "shift": false. Without them the
// server leaves out the oldest messages, pictures included, and says nothing;
// with them it refuses what is too long, and an answer ends where the context
// does. The size of the context stands in each request: the server's default is
// small and changes with the machine.
//
// A message has one text and one list of pictures. Each picture's label stands
// in the text, in the order of the list. The server marks the place of a picture
// in its prompt with "[img-0]"; such words in a conversation with pictures would
// be taken for a place, so a space is put into them.
//
// The package refuses documents, for which the wire has no form, and sound of a
// type that the server does not know: that is an error and never a loss. An
// answer without its last line has broken off. Numbers that are not reported
// stay unknown.
//
// Package ollama imports content, delivery and provider only; the wiring imports
// it.
package ollama
