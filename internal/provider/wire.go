package provider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"tote/internal/content"
)

// This file holds what the JSON of every wire has in common.

// Present reports whether a raw field holds a value.
func Present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

// Number is a count that may be missing, null, or no number at all.
type Number struct{ content.Count }

// UnmarshalJSON implements [json.Unmarshaler]. It never fails: what is no count
// is unknown.
func (n *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && f >= 0 && f < 1e15 {
		n.Count = content.Reported(int64(f))
	}
	return nil
}

// Arguments is what servers take for the arguments of a call: an object. Many
// refuse a request in which a model's own broken JSON stands, so that becomes an
// empty one; the call's result says what was wrong with it.
func Arguments(args string) string {
	var v map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &v) != nil || v == nil {
		return "{}"
	}
	return strings.ToValidUTF8(args, "\uFFFD")
}

// MaxCallID and maxToolName, in bytes, are what servers take back: longer ones
// come from a model that repeats itself. A conversation may go on with another
// backend, of which the strictest takes names of 64 characters
// (https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-30).
const (
	MaxCallID   = 256
	maxToolName = 64
)

// ToolName makes a name that a server takes back in the next request. What is no
// name of a tool is none afterwards either.
func ToolName(name string) string {
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxToolName)]
}
