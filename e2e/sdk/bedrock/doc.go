// Package bedrock holds ConverseStream against the AWS SDK's client for it. It
// holds tests only.
//
// The SDK has no JSON of its own for requests, but its types read and write
// themselves by the service's model. So a body is read by them as if it were an
// answer, and sent by the client; and once more built by hand from the same parts.
// Answers are framed by the SDK's own encoder.
package bedrock
