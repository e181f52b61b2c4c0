// Package bedrock speaks ConverseStream of Amazon Bedrock
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
// read 2026-11-30).
//
// A request is spelled so that prompt caches hold: what does not change within
// a session stands first, then "messages", so that the next request's bytes
// begin with this one's up to the end of its last message, cache points aside.
// Tool results and what the user says behind them are one user message, results
// first. Names of tools and ids of calls that the service would refuse are
// replaced, the same way each time, and names are put back in the answer.
//
// Requests are signed with what the AWS configuration of the machine gives:
// keys in the environment, profiles, SSO, processes, roles. It is read at the
// first request and not before; nothing is dialled earlier. A body is read twice,
// to hash it and to send it, and is never whole in memory. A bearer token of
// Bedrock takes the place of signing.
//
// The package refuses media that the wire cannot spell: that is an error and
// never a loss. A model's thinking without a signature is not sent back, because
// no model takes it. An answer that ends without "messageStop" has broken off.
// Numbers that are not reported stay unknown. No secret stands in an error.
//
// Package bedrock imports content, delivery and provider only; the wiring
// imports it.
package bedrock
