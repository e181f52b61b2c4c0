package openai

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// flatEvent is one event of a streamed answer. Which members it has depends on
// its type; those that some server is known to send in another type are raw.
type flatEvent struct {
	Type   string          `json:"type"`
	Delta  json.RawMessage `json:"delta"`
	ItemID string          `json:"item_id"`
	Index  *int            `json:"output_index"`
	// Part and SummaryPart count the parts inside an item.
	Part        int             `json:"content_index"`
	SummaryPart int             `json:"summary_index"`
	Arguments   json.RawMessage `json:"arguments"`
	Item        *flatItem       `json:"item"`
	Response    *flatResponse   `json:"response"`
	Error       json.RawMessage `json:"error"`
}

// flatResponse is the answer as a whole.
type flatResponse struct {
	ID         string          `json:"id"`
	Object     json.RawMessage `json:"object"`
	Status     json.RawMessage `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason json.RawMessage `json:"reason"`
	} `json:"incomplete_details"`
	Output []flatItem      `json:"output"`
	Usage  json.RawMessage `json:"usage"`
	// Image holds the policy for older pictures that was in effect.
	Image struct {
		Compression json.RawMessage `json:"context_compression"`
	} `json:"image"`
}

// flatItem is one item of an answer.
type flatItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    json.RawMessage `json:"status"`
	Phase     json.RawMessage `json:"phase"`
	Content   []flatText      `json:"content"`
	Summary   []flatText      `json:"summary"`
	Encrypted json.RawMessage `json:"encrypted_content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// flatText is a part of a message, of a summary or of thinking.
type flatText struct {
	Type    string          `json:"type"`
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

// The types of items that answer what is asked for here. There are more, for
// tools that run on the server.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
)

// decodeLoosely reads JSON in which a member may have another type than known:
// such a member stays empty. It reports the member that has, or an error for
// what is no JSON at all.
func decodeLoosely(raw []byte, v any) (odd string, err error) {
	err = json.Unmarshal(raw, v)
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if typed.Field == "" {
			return ".", nil
		}
		return typed.Field, nil
	}
	return "", err
}

type flatUsage struct {
	Input     provider.Number `json:"input_tokens"`
	Output    provider.Number `json:"output_tokens"`
	InputMore struct {
		Cached     provider.Number `json:"cached_tokens"`
		CacheWrite provider.Number `json:"cache_write_tokens"`
		Image      provider.Number `json:"image_tokens"`
		Audio      provider.Number `json:"audio_tokens"`
	} `json:"input_tokens_details"`
	OutputMore struct {
		Reasoning provider.Number `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// parseFlatUsage reads a usage object. What is not reported stays unknown.
func parseFlatUsage(raw json.RawMessage) content.Usage {
	var u flatUsage
	if _, err := decodeLoosely(raw, &u); err != nil {
		return content.Usage{}
	}
	return content.Usage{
		Input: u.Input.Count, Output: u.Output.Count, Cached: u.InputMore.Cached.Count, CacheWrite: u.InputMore.CacheWrite.Count,
		Reasoning: u.OutputMore.Reasoning.Count, Image: u.InputMore.Image.Count, Audio: u.InputMore.Audio.Count,
	}
}
