// Package wire is what the messages of version 1 of the Agent Client Protocol
// hold: parameters, results, session updates and content blocks. It follows the
// stable schema of package @agentclientprotocol/sdk 2.4.0 (read 30 Nov 2026).
//
// Content blocks stay raw bytes: [ParsePrompt] reads a typed view that aliases the
// client's line, and [Chunk] sends them back as they are. Optional members that
// are malformed read as absent, as the schema has it; only what is no block at all
// is an error.
//
// Only front/acp may import this package. It imports content and front/acp/rpc.
package wire
