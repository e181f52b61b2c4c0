package gemini

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// chunk is one piece of a streamed answer, or a whole answer.
type chunk struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
	ResponseID    string          `json:"responseId"`
	Error         json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason string `json:"finishReason"`
}

// part is one of its members. The bytes of media are not read.
type part struct {
	Text             string        `json:"text"`
	Thought          bool          `json:"thought"`
	ThoughtSignature string        `json:"thoughtSignature"`
	FunctionCall     *functionCall `json:"functionCall"`
	InlineData       *mediaData    `json:"inlineData"`
	FileData         *mediaData    `json:"fileData"`
}

type mediaData struct {
	MIMEType string `json:"mimeType"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// details is a count for each modality.
type details []struct {
	Modality string          `json:"modality"`
	Tokens   provider.Number `json:"tokenCount"`
}

// of adds up the entries of one modality. A modality that is not listed, or is
// listed without a count, is unknown: absent is not zero.
func (d details) of(modality string) content.Count {
	var sum content.Count
	for _, e := range d {
		if e.Modality == modality {
			sum = plus(sum, e.Tokens.Count)
		}
	}
	return sum
}

type usage struct {
	Prompt      provider.Number `json:"promptTokenCount"`
	ToolPrompt  provider.Number `json:"toolUsePromptTokenCount"`
	Candidates  provider.Number `json:"candidatesTokenCount"`
	Thoughts    provider.Number `json:"thoughtsTokenCount"`
	Cached      provider.Number `json:"cachedContentTokenCount"`
	PromptMore  details         `json:"promptTokensDetails"`
	ToolUseMore details         `json:"toolUsePromptTokensDetails"`
}

// parseUsage reads usageMetadata. What is not reported stays unknown.
func parseUsage(raw json.RawMessage) content.Usage {
	var u usage
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &u); err != nil && !errors.As(err, &typed) {
		return content.Usage{} // a part of another shape does not spoil the rest
	}
	return content.Usage{
		Input: plus(u.Prompt.Count, u.ToolPrompt.Count), Output: plus(u.Candidates.Count, u.Thoughts.Count),
		Cached: u.Cached.Count, Reasoning: u.Thoughts.Count,
		Image: plus(u.PromptMore.of("IMAGE"), u.ToolUseMore.of("IMAGE")),
		Audio: plus(u.PromptMore.of("AUDIO"), u.ToolUseMore.of("AUDIO")),
	}
}

// plus adds two counts; the sum is known when either is.
func plus(a, b content.Count) content.Count {
	return content.Count{N: a.N + b.N, Known: a.Known || b.Known}
}
