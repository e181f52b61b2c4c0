// Package wire2 spells out what version 2 of the editor protocol, which is a draft,
// puts into the messages that package rpc carries. What both versions spell alike
// stays in package wire.
//
// Invariants:
//
//   - Arrays are arrays and never null, ids are never empty, lines count from 1.
//   - What a request leaves out reads as left out; what it says in words that are
//     not known here is refused, never guessed.
//   - No error holds a value of the client: servers carry secrets.
//
// Only front/acp may import this package. It imports its siblings rpc and wire.
package wire2
