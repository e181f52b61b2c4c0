// Package ollama holds Ollama's native chat against the types and the client of
// github.com/ollama/ollama/api, which its server uses too. It holds tests only.
package ollama
