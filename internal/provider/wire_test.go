package provider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/provider"
)

func TestNumber(t *testing.T) {
	for raw, want := range map[string]content.Count{
		`7`: content.Reported(7), `7.0`: content.Reported(7), `"7"`: content.Reported(7), `0`: content.Reported(0),
		`null`: {}, `-1`: {}, `"many"`: {}, `[]`: {}, `1e300`: {},
	} {
		var n provider.Number
		if err := json.Unmarshal([]byte(raw), &n); err != nil || n.Count != want {
			t.Errorf("%s: %v, %v, want %v", raw, n.Count, err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`, ``: `{}`, `null`: `{}`, `[1]`: `{}`, `{"a":`: `{}`, "{\"a\":\"\xff\"}": "{\"a\":\"\uFFFD\"}",
	} {
		if got := provider.Arguments(args); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

func TestToolName(t *testing.T) {
	for name, want := range map[string]string{
		"read": "read", "": "unnamed", "a b/ü": "a_b__", strings.Repeat("x", 100): strings.Repeat("x", 64),
	} {
		if got := provider.ToolName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
