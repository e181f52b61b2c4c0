// Package anthropic speaks Anthropic's Messages API, as Anthropic and the
// servers that stand in for it take it.
//
// A request is spelled so that prompt caches hold: model, limits and thinking
// stand first, then system and tools, then "messages". Breakpoints
// ("cache_control") stand on the last tool, on the system prompt, on the last
// block of the conversation and on the last block of the request before it, so
// that what one request wrote into the cache the next one asks for by name.
// Without them the bytes of the next request begin with this one's, up to the
// end of its last message. Where a request got no answer and the user's next
// words are in the same message, there is no breakpoint between them: the server
// itself looks back 20 blocks for what it has
// (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read
// 2026-11-30).
//
// Tool results and what follows them until the model speaks are one message of
// the user, results first. The API takes identifiers of letters, digits, "_"
// and "-" only, each once in a conversation; a foreign or repeated one is
// replaced, in the call and in its result, by one made of itself and of how
// often it was there before.
//
// Thinking goes back as it came, redacted thinking too, and only to the server
// and the model that it came from: any other refuses its signature.
//
// Both generations of the API are spoken. What differs between 2023-06-01 and
// 2026-10-21 on this wire (https://platform.claude.com/docs/en/api/versioning and
// the sources of anthropic-sdk-go v1.84.0 and v2.15.0, read 2026-11-30):
//   - temperature, top_p and top_k, documents in messages of the assistant, and
//     citations in text of the user are refused by the new one. None is ever sent.
//   - Errors of the new one may have "details" with an error_code. For pictures
//     that are too large it comes with max_side_length_pixels, from which the limit
//     is learned, and with the paths of those pictures.
//   - The forms of thinking, the stream and its usage are the same: every count
//     of message_delta is a total and replaces the one of message_start; one that is
//     left out does not. Blocks start in order but may be open at the same time.
//   - The SDKs of the new one send the key as a bearer token. The API takes
//     x-api-key with both.
//
// The package refuses media that the wire cannot spell (sound, documents that
// are no PDF, pictures of another type than four, media in the result of a call
// that failed): that is an error and never a loss. An answer that ends without a
// stop reason and without "message_stop" has broken off. Numbers that a server
// does not report stay unknown.
//
// Package anthropic imports content, delivery and provider only; the wiring
// imports it.
package anthropic
