package providertest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

const (
	anthropicAsk    = `{"role":"user","content":[{"type":"text","text":"x"}]}`
	anthropicCalls  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{"k":1}}]}`
	anthropicAnswer = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"tool_result","tool_use_id":"a"}]}`
)

func anthropicBody(messages ...string) string {
	return `{"model":"m","max_tokens":4000,"stream":true,"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestReadAnthropicRefuses(t *testing.T) {
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	say := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	image := func(mime, data string) string {
		return user(`{"type":"image","source":{"type":"base64","media_type":"` + mime + `","data":"` + data + `"}}`)
	}
	marked := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	for name, tc := range map[string]struct{ body, want string }{
		"sound":             {anthropicBody(anthropicAsk, anthropicCalls, anthropicAnswer), ""},
		"picture":           {anthropicBody(image("image/png", "AAAA")), ""},
		"four breakpoints":  {anthropicBody(user(strings.Repeat(marked+",", 3) + marked)), ""},
		"thinking":          {strings.Replace(anthropicBody(anthropicAsk), `"stream"`, `"thinking":{"type":"enabled","budget_tokens":1024},"stream"`, 1), ""},
		"nothing":           {anthropicBody(), "at least one message"},
		"unknown field":     {strings.Replace(anthropicBody(anthropicAsk), `"stream"`, `"seed":1,"stream"`, 1), "unknown field"},
		"no limit":          {strings.Replace(anthropicBody(anthropicAsk), `4000`, `0`, 1), "max_tokens"},
		"assistant first":   {anthropicBody(say(`{"type":"text","text":"x"}`), anthropicAsk), "first message"},
		"assistant last":    {anthropicBody(anthropicAsk, say(`{"type":"text","text":"x"}`)), "must end with a user message"},
		"same role":         {anthropicBody(anthropicAsk, anthropicAsk), "alternate"},
		"role":              {anthropicBody(`{"role":"system","content":[]}`), "unknown role"},
		"no content":        {anthropicBody(user(``)), "non-empty content"},
		"blank text":        {anthropicBody(user(`{"type":"text","text":" \n"}`)), "non-whitespace"},
		"unanswered":        {anthropicBody(anthropicAsk, anthropicCalls, anthropicAsk), "without tool_result blocks immediately after: a, b"},
		"half answered":     {anthropicBody(anthropicAsk, anthropicCalls, user(`{"type":"tool_result","tool_use_id":"a"}`)), "immediately after: b"},
		"unanswered at end": {anthropicBody(anthropicAsk, anthropicCalls), "must end with a user message"},
		"no such call":      {anthropicBody(user(`{"type":"tool_result","tool_use_id":"a"}`)), "unexpected tool_use_id"},
		"results last":      {anthropicBody(anthropicAsk, anthropicCalls, user(`{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"b"}`)), "must come first"},
		"id":                {anthropicBody(anthropicAsk, say(`{"type":"tool_use","id":"a|b","name":"n","input":{}}`)), "id: it should match"},
		"id twice":          {anthropicBody(anthropicAsk, anthropicCalls, anthropicAnswer, anthropicCalls), "must be unique"},
		"input":             {anthropicBody(anthropicAsk, say(`{"type":"tool_use","id":"a","name":"n","input":[]}`)), "should be an object"},
		"name":              {anthropicBody(anthropicAsk, say(`{"type":"tool_use","id":"a","name":"a b","input":{}}`)), "name: it should match"},
		"error with media":  {anthropicBody(anthropicAsk, anthropicCalls, user(`{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`)), "is_error"},
		"base64":            {anthropicBody(image("image/png", "AAA")), "source.data"},
		"empty picture":     {anthropicBody(image("image/png", "")), "cannot be empty"},
		"type of picture":   {anthropicBody(image("image/bmp", "AAAA")), "input should be one of"},
		"media type":        {anthropicBody(user(`{"type":"audio"}`)), `unknown type "audio"`},
		"five breakpoints":  {anthropicBody(user(strings.Repeat(marked+",", 4) + marked)), "maximum of 4"},
		"marked thinking":   {anthropicBody(anthropicAsk, say(`{"type":"thinking","thinking":"x","signature":"s","cache_control":{"type":"ephemeral"}}`)), "unknown field"},
		"small budget":      {strings.Replace(anthropicBody(anthropicAsk), `"stream"`, `"thinking":{"type":"enabled","budget_tokens":1000},"stream"`, 1), "budget_tokens"},
		"large budget":      {strings.Replace(anthropicBody(anthropicAsk), `"stream"`, `"thinking":{"type":"enabled","budget_tokens":4000},"stream"`, 1), "budget_tokens"},
		"no thought":        {strings.Replace(anthropicBody(anthropicAsk, anthropicCalls, anthropicAnswer), `"stream"`, `"thinking":{"type":"enabled","budget_tokens":1024},"stream"`, 1), "must start with a thinking block"},
	} {
		_, err := providertest.ReadAnthropic([]byte(tc.body))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestReadAnthropic(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"sys","cache_control":{"type":"ephemeral"}}],
		"tools":[{"name":"t","description":"d","input_schema":{"type":"object"}}],"messages":[
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"UERG"},"title":"a.pdf","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"a","name":"t","input":{"k":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"no"}]}]}`
	got, err := providertest.ReadAnthropic([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := providertest.Sent{Model: "m", System: "sys", Tools: []string{"t"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{
			{Text: "look"},
			{Kind: content.KindImage, MIME: "image/png", Data: []byte("PNG")},
			{Kind: content.KindDocument, MIME: "application/pdf", Data: []byte("PDF"), Name: "a.pdf", Cache: true},
		}},
		{Role: "assistant", Parts: []providertest.SentPart{
			{Thought: "hm", Signature: "s"}, {Signature: "d"}, {Call: &content.ToolCall{ID: "a", Name: "t", Arguments: `{"k":1}`}},
		}},
		{Role: "user", Parts: []providertest.SentPart{
			{Result: &providertest.SentResult{CallID: "a", IsError: true, Parts: []providertest.SentPart{{Text: "no"}}}},
		}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzReadAnthropic(f *testing.F) {
	f.Add([]byte(anthropicBody(anthropicAsk, anthropicCalls, anthropicAnswer)))
	f.Add([]byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"tool_result"}]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		sent, err := providertest.ReadAnthropic(body)
		if err == nil && (sent.Model == "" || len(sent.Messages) == 0) {
			t.Errorf("read %+v", sent)
		}
	})
}
