package bedrock

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// event is the payload of every kind of event; each fills its own fields.
type event struct {
	ContentBlockIndex int             `json:"contentBlockIndex"`
	Start             blockStart      `json:"start"`
	Delta             blockDelta      `json:"delta"`
	StopReason        string          `json:"stopReason"`
	Usage             json.RawMessage `json:"usage"`
}

type blockStart struct {
	ToolUse *struct {
		ToolUseID string `json:"toolUseId"`
		Name      string `json:"name"`
	} `json:"toolUse"`
	Image json.RawMessage `json:"image"`
}

type blockDelta struct {
	Text    string `json:"text"`
	ToolUse *struct {
		Input string `json:"input"`
	} `json:"toolUse"`
	ReasoningContent *reasoningDelta `json:"reasoningContent"`
	Image            json.RawMessage `json:"image"`
}

type reasoningDelta struct {
	Text            string `json:"text"`
	Signature       string `json:"signature"`
	RedactedContent []byte `json:"redactedContent"`
}

// parse reads the usage. The service's input count is what was neither read
// from the cache nor written to it
// (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html,
// read 2026-11-30); ours is all that was sent, which some models report as it is.
// What is not reported stays unknown.
func (r reading) parse(raw json.RawMessage) content.Usage {
	var u struct {
		Input      provider.Number `json:"inputTokens"`
		Output     provider.Number `json:"outputTokens"`
		CacheRead  provider.Number `json:"cacheReadInputTokens"`
		CacheWrite provider.Number `json:"cacheWriteInputTokens"`
	}
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &u); err != nil && !errors.As(err, &typed) {
		return content.Usage{}
	}
	out := content.Usage{Input: u.Input.Count, Output: u.Output.Count, Cached: u.CacheRead.Count, CacheWrite: u.CacheWrite.Count}
	cached := u.CacheRead.N + u.CacheWrite.N
	if out.Input.Known && (!r.total || out.Input.N < cached) {
		out.Input.N += cached
	}
	return out
}
