// Package offline is a backend inside the program: it needs no network, no key
// and no port, and answers with what it was sent. It speaks Chat Completions
// over connections in memory, so that everything on the way to it is the same
// as on the way to a real server. It truly decodes the pictures it gets, and it
// says plainly that it is no language model.
//
// It serves as the first run of a newcomer, as the demonstration, and as a
// server that misbehaves on request ([Faults]). Pictures are priced at one
// token per 32×32 pixel patch.
//
// Nothing runs between two requests: each has a connection of its own, which
// ends with it. Package offline refuses to look at anything but the request.
//
// It imports content, delivery, provider, openai and imaging; the wiring
// imports it.
package offline
