package openai

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// chunk is one piece of a streamed answer, or a whole answer. Fields that some
// server is known to send in another type are raw.
type chunk struct {
	ID      string          `json:"id"`
	Object  json.RawMessage `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// XGroq is where Groq puts the usage of a stream.
	XGroq struct {
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason json.RawMessage `json:"finish_reason"`
	// Usage is where Moonshot puts it.
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	// ReasoningDetails is OpenRouter's.
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	// ExtraContent is Google's.
	ExtraContent json.RawMessage `json:"extra_content"`
}

// str reads a string; anything else is "".
func str(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// prose reads content: a string, or the array of typed parts that Mistral
// sends. Thinking inside it is kept apart.
func prose(raw json.RawMessage) (text, thinking string) {
	if len(raw) == 0 || raw[0] != '[' {
		return str(raw), ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		if p.Type != "thinking" {
			text += p.Text
			continue
		}
		thought, _ := prose(p.Thinking)
		thinking += thought
	}
	return text, thinking
}

// arguments reads a piece of a call's arguments: a string, or an object from
// servers that do not spell it as one.
func arguments(raw json.RawMessage) string {
	if !provider.Present(raw) {
		return ""
	}
	if raw[0] == '"' {
		return str(raw)
	}
	return string(raw)
}

type usage struct {
	Prompt     provider.Number `json:"prompt_tokens"`
	Completion provider.Number `json:"completion_tokens"`
	PromptMore struct {
		Cached     provider.Number `json:"cached_tokens"`
		CacheWrite provider.Number `json:"cache_write_tokens"`
		Image      provider.Number `json:"image_tokens"`
		Audio      provider.Number `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning provider.Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// CacheHit is DeepSeek's.
	CacheHit provider.Number `json:"prompt_cache_hit_tokens"`
	// Cached is Moonshot's.
	Cached provider.Number `json:"cached_tokens"`
}

// parseUsage reads a usage object. What is not reported stays unknown.
func parseUsage(raw json.RawMessage) content.Usage {
	var u usage
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &u); err != nil && !errors.As(err, &typed) {
		return content.Usage{} // a part of another shape does not spoil the rest
	}
	out := content.Usage{
		Input: u.Prompt.Count, Output: u.Completion.Count, Cached: u.PromptMore.Cached.Count, CacheWrite: u.PromptMore.CacheWrite.Count,
		Reasoning: u.CompletionMore.Reasoning.Count, Image: u.PromptMore.Image.Count, Audio: u.PromptMore.Audio.Count,
	}
	for _, c := range []content.Count{u.CacheHit.Count, u.Cached.Count} {
		if !out.Cached.Known {
			out.Cached = c
		}
	}
	return out
}
