// Package gemini speaks Google's generateContent, as the Gemini API and Vertex
// take it, streamed.
//
// A request is spelled so that caches of its beginning hold: the instruction and
// the tools stand first, then "contents", so that the next request's bytes begin
// with this one's up to the end of the last content. What may change from one
// request to the next (limits, seed, thinking) stands behind it. Neighbours of
// the same wire role are one content: the results of a batch of calls and the
// pictures that were taken out of them stand in one content of the user, results
// first.
//
// What the model signs goes back where it stood: the signature of a call with
// the call, those of texts and thoughts as [content.Reasoning] that remembers
// the place. Thoughts without a signature are not sent back, as the backend
// reads nothing from them.
//
// The package refuses documents that are no PDF and sound of a type that Google
// does not list: that is an error and never a loss. An answer without a finish
// reason has broken off. Numbers that are not reported stay unknown.
//
// Package gemini imports content, delivery and provider only; the wiring imports
// it.
package gemini
