package providertest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

func TestReadChat(t *testing.T) {
	got, err := providertest.ReadChat([]byte(`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[
		{"role":"developer","content":"s"},
		{"role":"user","content":[{"type":"text","text":"x"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]},
		{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"plain"},
		{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"y"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	data := []byte{0, 0, 0}
	call := func(id string) providertest.SentPart {
		return providertest.SentPart{Call: &content.ToolCall{ID: id, Name: "f", Arguments: "{}"}}
	}
	result := func(id string, parts ...providertest.SentPart) []providertest.SentPart {
		return []providertest.SentPart{{Result: &providertest.SentResult{CallID: id, Parts: parts}}}
	}
	want := providertest.Sent{Model: "m", System: "s", Tools: []string{"f"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{
			{Text: "x"},
			{Kind: content.KindAudio, MIME: "audio/wav", Data: data},
			{Kind: content.KindDocument, MIME: "application/pdf", Data: data, Name: "a.pdf"},
		}},
		{Role: "assistant", Parts: []providertest.SentPart{{Thought: "hm"}, call("a"), call("b")}},
		{Role: "tool", Parts: result("a", providertest.SentPart{Text: "plain"})},
		{Role: "tool", Parts: result("b", providertest.SentPart{Text: "y"}, providertest.SentPart{Kind: content.KindImage, MIME: "image/png", Data: data})},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadChatRefuses(t *testing.T) {
	const (
		user  = `{"role":"user","content":[{"type":"text","text":"x"}]}`
		calls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]}`
	)
	tool := func(content string) string { return `{"role":"tool","tool_call_id":"a","content":` + content + `}` }
	for name, tc := range map[string]struct {
		messages []string
		want     string
	}{
		"nothing":        {nil, "no messages"},
		"unanswered":     {[]string{user, calls}, "have no answer"},
		"answered twice": {[]string{user, calls, tool(`"x"`), tool(`"x"`)}, "answers no open call"},
		"id twice":       {[]string{user, calls, tool(`"x"`), calls, tool(`"x"`)}, "the identifier of another"},
		"empty result":   {[]string{user, calls, tool(`[]`)}, "no content parts"},
		"empty part":     {[]string{user, calls, tool(`[{"type":"text","text":""}]`)}, "it is empty"},
		"empty picture":  {[]string{user, calls, tool(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,"}}]`)}, "an empty picture"},
		"bad arguments":  {[]string{user, strings.Replace(calls, `"{}"`, `"x"`, 1), tool(`"x"`)}, "no object"},
		"no picture":     {[]string{`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:text/plain;base64,AAAA"}}]}`}, "text/plain"},
	} {
		_, err := providertest.ReadChat([]byte(`{"model":"m","messages":[` + strings.Join(tc.messages, ",") + `]}`))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
