// Package openai speaks OpenAI's wires: Chat Completions, as OpenAI and nearly
// every compatible server take it.
//
// A request is spelled so that prompt caches hold: what does not change within
// a session stands first, then "messages", so that the next request's bytes
// begin with this one's up to the closing bracket of the list. Only a seed
// stands behind it. A user message always has the array form of content, a
// system, assistant or tool message the string form, except for a tool message
// with media, which few servers take and which the profile asks for.
//
// The package refuses media that the wire cannot spell (sound that is neither
// WAV nor MP3, documents that are no PDF): that is an error and never a loss.
// An answer that ends without a finish reason and without "[DONE]" has broken
// off. Numbers that a server does not report stay unknown.
//
// Package openai imports content, delivery and provider only; the wiring
// imports it.
package openai
