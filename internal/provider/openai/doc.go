// Package openai speaks OpenAI's wires: Chat Completions, as OpenAI and nearly
// every compatible server take it, and Responses.
//
// A request is spelled so that prompt caches hold: what does not change within
// a session stands first, then "messages" or "input", so that the next
// request's bytes begin with this one's up to the closing bracket of the list.
// Only a seed, or the limit on a Responses answer, stands behind it. In Chat
// Completions a user message always has the array form of content, a system,
// assistant or tool message the string form, except for a tool message with
// media, which few servers take and which the profile asks for. In Responses
// every part has the array form but for a result of text alone.
//
// What servers want differently is data in [Config] and [ResponsesConfig];
// nothing here knows a server by its name.
//
// Reasoning and calls keep in their signature what a backend wants back as it
// gave it. It names the model and the server that made it, and is given to no
// other. Signatures of Chat Completions from older sessions are the bare name
// of a field; both forms are read.
//
// An identifier of a call goes back as it came where the server takes it and no
// earlier call of the conversation has it. Any other, from another wire or from a
// server that gives one twice, is replaced, in its result too, by one that the
// earlier conversation alone decides: see [CallIDs].
//
// The package refuses media that the wire cannot spell (sound that is neither
// WAV nor MP3, any sound in Responses, documents that are no PDF): that is an
// error and never a loss. An answer that ends without a finish reason and
// without "[DONE]", or without the last event of Responses, has broken off.
// Numbers that a server does not report stay unknown.
//
// Package openai imports content, delivery and provider only; the wiring
// imports it.
package openai
