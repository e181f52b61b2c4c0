// Package openai holds Chat Completions and Responses against
// github.com/openai/openai-go/v3. It holds tests only.
package openai
