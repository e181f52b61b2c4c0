package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/tool"
)

func TestReadable(t *testing.T) {
	for args, want := range map[string]string{
		`{"b":1.50,"a":[true,null,"x"]}`: "{\n  \"b\": 1.50,\n  \"a\": [\n    true,\n    null,\n    \"x\"\n  ]\n}",
		`{}`:                             "{}",
		`{"a":`:                          "[5 bytes that are no JSON]",
		``:                               "[0 bytes that are no JSON]",
		`{"x":"` + "\u001b" + `"}`:       "[9 bytes that are no JSON]",
		`{"x":"\u001b[2J"}`:              "{\n  \"x\": \"\\u001b[2J\"\n}",
	} {
		if got := tool.Readable(json.RawMessage(args)); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	payload := strings.Repeat("QUJD", 100_000)
	got := tool.Readable(json.RawMessage(`{"data":"` + payload + `","name":"a.png"}`))
	if len(got) > 1000 || !strings.Contains(got, "400000 bytes in all") || !strings.Contains(got, `"name": "a.png"`) {
		t.Errorf("a payload: %q", got)
	}
	if got := tool.Readable(json.RawMessage(`["` + strings.Repeat(`x","`, 10_000) + `"]`)); len(got) > 5000 {
		t.Errorf("%d bytes of many strings", len(got))
	}
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c"}]}`, `[`, `"x"`, `{"a":1,"a":2}`, `1e999`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := tool.Readable(json.RawMessage(s)); len(got) > 5000 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
