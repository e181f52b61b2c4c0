package anthropic

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// event is one event of a stream.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *message        `json:"message"`
	Block   *block          `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// message is a whole answer, or the head of one that is streamed.
type message struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Content     []block         `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails stopDetails     `json:"stop_details"`
	Usage       json.RawMessage `json:"usage"`
	Error       json.RawMessage `json:"error"`
}

// block is a content block, whole or at its start.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// delta is more of a block, or of the message.
type delta struct {
	Type        string      `json:"type"`
	Text        string      `json:"text"`
	Thinking    string      `json:"thinking"`
	Signature   string      `json:"signature"`
	PartialJSON string      `json:"partial_json"`
	StopReason  string      `json:"stop_reason"`
	StopDetails stopDetails `json:"stop_details"`
}

// stopDetails says more about a refusal.
type stopDetails struct {
	Category string `json:"category"`
}

// parse reads JSON as far as it has the wire's form: a field of another type is
// as if it were not there. It is false for what is no object at all.
func parse(raw []byte, to any) bool {
	err := json.Unmarshal(raw, to)
	if err == nil {
		return true
	}
	typed, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok && typed.Field != ""
}

// totals are the usage so far: each count is the last one that was reported.
type totals struct{ fields map[string]json.RawMessage }

// add replaces what raw reports. What it does not, or gives as null, stays.
func (t *totals) add(raw json.RawMessage) {
	var more map[string]json.RawMessage
	if !provider.Present(raw) || json.Unmarshal(raw, &more) != nil {
		return
	}
	if t.fields == nil {
		t.fields = map[string]json.RawMessage{}
	}
	for k, v := range more {
		if _, known := t.fields[k]; provider.Present(v) || !known {
			t.fields[k] = v
		}
	}
}

// raw is the backend's own report, nil for none.
func (t *totals) raw() []byte {
	if t.fields == nil {
		return nil
	}
	out, err := json.Marshal(t.fields)
	if err != nil {
		return nil // it was JSON when it came
	}
	return out
}

// parseUsage reads a report. The API counts what it read from the cache and wrote
// into it beside input_tokens; Input is all of it.
func parseUsage(raw []byte) content.Usage {
	var u struct {
		Input      provider.Number `json:"input_tokens"`
		Output     provider.Number `json:"output_tokens"`
		CacheRead  provider.Number `json:"cache_read_input_tokens"`
		CacheWrite provider.Number `json:"cache_creation_input_tokens"`
		OutputMore struct {
			Thinking provider.Number `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	if !parse(raw, &u) {
		return content.Usage{}
	}
	in := u.Input.Count
	if in.Known {
		in.N += u.CacheRead.N + u.CacheWrite.N // 0 where it is not known
	}
	return content.Usage{
		Input: in, Output: u.Output.Count, Cached: u.CacheRead.Count, CacheWrite: u.CacheWrite.Count, Reasoning: u.OutputMore.Thinking.Count,
	}
}
