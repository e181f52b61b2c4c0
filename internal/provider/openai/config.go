package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// MaxField is the request's field for the longest answer.
type MaxField uint8

// The fields. OpenAI renamed it; many servers know the older name only.
const (
	MaxCompletionTokens MaxField = iota
	MaxTokens
)

func (f MaxField) name() string {
	switch f {
	case MaxCompletionTokens:
		return "max_completion_tokens"
	case MaxTokens:
		return "max_tokens"
	}
	panic("openai: invalid MaxField " + strconv.Itoa(int(f)))
}

// Config is what one model on one server wants. The zero value but for Model is
// what OpenAI takes, without an effort.
type Config struct {
	// Model is the server's name for the model.
	Model string
	// MaxField names the limit on the answer.
	MaxField MaxField
	// Detail is sent with each picture, "" leaves it out; some servers
	// refuse the field.
	Detail string
	// System is the role of the system prompt, "" for "system".
	System string
	// NoSeed and NoStreamOptions leave out what some servers refuse.
	NoSeed, NoStreamOptions bool
	// EffortForm is how an effort is spelled, "" leaves it out.
	EffortForm EffortForm
	// EffortWords are the model's own words for the efforts "none", "low",
	// "medium" and "high"; an empty word leaves the word out. An effort that
	// is not in it has its own name.
	EffortWords map[string]string
	// ThoughtAlways has every assistant message carry reasoning_content, an
	// empty one where there is no thinking: DeepSeek's thinking models refuse
	// a tool call without it.
	ThoughtAlways bool
	// CallIDs is which identifiers of calls the server takes back.
	CallIDs CallIDs
	// CachePoints marks the system prompt and the last two messages of the user
	// for the prompt cache, on servers that pass such marks on to Claude.
	CachePoints bool
	// PictureHeaders are sent with a request that holds a picture anywhere,
	// history included.
	PictureHeaders map[string]string
	// Extra holds further members of the body. One that the codec spells
	// itself is an error.
	Extra map[string]json.RawMessage
}

// pictureHeader returns the headers for a prompt: a copy of them when it holds
// a picture, nil when not.
func pictureHeader(p delivery.Prompt, headers map[string]string) map[string]string {
	if len(headers) == 0 || p.Pictures() == 0 {
		return nil
	}
	return maps.Clone(headers)
}

// spellExtra adds the further members of a body, sorted by name. Those of the
// effort stand over those of the configuration. taken are the names that the
// codec spells itself.
func spellExtra(s *provider.Spelling, extra map[string]json.RawMessage, effort map[string]string, taken ...string) error {
	all := make(map[string]string, len(extra)+len(effort))
	for name, value := range extra {
		if slices.Contains(taken, name) {
			return fmt.Errorf("extra member %q: it has its own place in the request", name)
		}
		if !json.Valid(value) {
			return fmt.Errorf("extra member %q: it is no JSON", name)
		}
		all[name] = string(value)
	}
	maps.Copy(all, effort)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.Raw(",")
		s.String(name)
		s.Raw(":" + all[name])
	}
	return nil
}

// schemaOf is a tool's schema, checked, or one that takes no arguments.
func schemaOf(t provider.ToolSpec) ([]byte, error) {
	if len(t.Schema) == 0 {
		return []byte(`{"type":"object","properties":{}}`), nil
	}
	if !json.Valid(t.Schema) {
		return nil, fmt.Errorf("tool %q: its schema is no JSON", t.Name)
	}
	return t.Schema, nil
}
