package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// TestBrokenCallsAreNotSentBack: a model's malformed call must not make every
// later request one that servers refuse.
func TestBrokenCallsAreNotSentBack(t *testing.T) {
	long := strings.Repeat("n", 100_000)
	rec := providertest.NewRecorder(t, providertest.Calls(
		content.ToolCall{ID: "c1", Name: "read", Arguments: `{"path": "x"`}, content.ToolCall{ID: "c2", Name: "", Arguments: `[1]`},
		content.ToolCall{ID: long, Name: long, Arguments: `null`}, content.ToolCall{ID: "c\n4", Name: "rm -rf", Arguments: `{"a":1}`},
	), providertest.Text("ok"))
	chat := openai.New(provider.Options{BaseURL: rec.URL}, openai.Config{Model: "m"})
	first := providertest.User(content.Text{Handle: "text-1", Body: "go"})
	send := func(ms ...content.Message) (calls []content.Part, results []content.ToolResult) {
		body, err := chat.Encode(provider.Request{Prompt: providertest.Settle(t, providertest.Profile("openai-chat"), nil, ms...)})
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range chat.Stream(t.Context(), body) {
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := ev.(provider.Call); ok {
				calls = append(calls, c.Call)
				results = append(results, content.ToolResult{CallID: c.Call.ID, Name: c.Call.Name, IsError: true, Blocks: []content.Block{content.Text{Handle: "text-9", Body: "no"}}})
			}
		}
		return calls, results
	}
	calls, results := send(first)
	if len(calls) != 4 {
		t.Fatalf("%d calls", len(calls))
	}
	send(first, providertest.Say(calls...), providertest.Results(results...))
	chatted, err := providertest.ParseChat(rec.Last().Body)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range chatted.Messages {
		for _, c := range m.ToolCalls {
			var args map[string]any
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
				t.Errorf("arguments %.40q are no object", c.Function.Arguments)
			}
			if n := c.Function.Name; n == "" || len(n) > 64 || strings.ContainsAny(n, " \n") {
				t.Errorf("name %.80q", n)
			}
			if c.ID == "" || len(c.ID) > 256 || seen[c.ID] {
				t.Errorf("id %.80q", c.ID)
			}
			seen[c.ID] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d calls were sent back", len(seen))
	}
}

// TestAnswerIsBounded: a backend that streams without an end is given up.
func TestAnswerIsBounded(t *testing.T) {
	piece := providertest.Delta(`{"content":"` + strings.Repeat("x", 1<<20) + `"}`)
	var data []string
	for range 20 {
		data = append(data, piece)
	}
	rec := providertest.NewRecorder(t, providertest.Events(append(data, providertest.End("stop"), providertest.Done)...))
	chat := openai.New(provider.Options{BaseURL: rec.URL}, openai.Config{Model: "m"})
	body, err := chat.Encode(provider.Request{Prompt: providertest.Settle(t, providertest.Profile("openai-chat"), nil,
		providertest.User(content.Text{Handle: "text-1", Body: "go"}))})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	var last error
	for ev, err := range chat.Stream(t.Context(), body) {
		if d, ok := ev.(provider.TextDelta); ok {
			size += len(d.Text)
		}
		last = err
	}
	if last == nil || size > 18<<20 {
		t.Errorf("%d bytes were taken, error %v", size, last)
	}
}
