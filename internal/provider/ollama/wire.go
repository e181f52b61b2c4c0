package ollama

import (
	"encoding/json"
	"errors"

	"tote/internal/content"
	"tote/internal/provider"
)

// line is one line of an answer.
type line struct {
	CreatedAt string `json:"created_at"`
	Message   *struct {
		Content   string            `json:"content"`
		Thinking  string            `json:"thinking"`
		Images    []json.RawMessage `json:"images"`
		ToolCalls []toolCall        `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Error      json.RawMessage `json:"error"`
}

type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// present reports whether a raw field holds a value. The server writes some that
// are empty.
func present(raw json.RawMessage) bool { return provider.Present(raw) && string(raw) != `""` }

// arguments reads a call's arguments: an object, or a string that holds one,
// from servers in front of a model that writes them so.
func arguments(raw json.RawMessage) string {
	if !present(raw) {
		return "{}"
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// usage is what the last line accounts for. The server leaves out a number that
// is zero, also where it took the whole prompt from its cache.
type usage struct {
	Prompt provider.Number `json:"prompt_eval_count"`
	Answer provider.Number `json:"eval_count"`
}

// counters are the fields of the last line that are kept as the backend's own
// account.
var counters = [...]string{
	"prompt_eval_count", "eval_count", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration",
}

// parseUsage reads the counters of a line; raw is nil where there are none.
func parseUsage(data []byte) (u content.Usage, raw []byte) {
	var w usage
	var all map[string]json.RawMessage
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &w); err != nil && !errors.As(err, &typed) {
		return content.Usage{}, nil
	}
	if json.Unmarshal(data, &all) != nil {
		return content.Usage{}, nil
	}
	for _, name := range counters {
		v, ok := all[name]
		if !ok {
			continue
		}
		sep := byte(',')
		if raw == nil {
			sep = '{'
		}
		raw = append(append(append(raw, sep), `"`+name+`":`...), v...)
	}
	if raw != nil {
		raw = append(raw, '}')
	}
	return content.Usage{Input: w.Prompt.Count, Output: w.Answer.Count}, raw
}
