package openai_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// members returns the members of a body besides those that every request has.
func members(t *testing.T, body []byte) map[string]string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, v := range all {
		switch name {
		case "model", "stream", "stream_options", "messages", "input", "store", "include":
		default:
			out[name] = string(v)
		}
	}
	return out
}

func TestEffortForms(t *testing.T) {
	const (
		none, low, high = provider.EffortNone, provider.EffortLow, provider.EffortHigh
		on, off         = `{"type":"enabled"}`, `{"type":"disabled"}`
	)
	own := map[string]string{"high": "max"}
	prompt := providertest.Settle(t, providertest.Profile(openai.ChatPath), nil, greeting(nil)...)
	for _, tc := range []struct {
		form   openai.EffortForm
		effort provider.Effort
		words  map[string]string
		want   map[string]string
	}{
		{"", high, nil, map[string]string{}},
		{openai.EffortOff, high, own, map[string]string{}},
		{"a form of tomorrow", high, own, map[string]string{}},
		{openai.EffortOpenAI, provider.EffortDefault, own, map[string]string{}},
		{openai.EffortOpenAI, low, nil, map[string]string{"reasoning_effort": `"low"`}},
		{openai.EffortOpenAI, high, own, map[string]string{"reasoning_effort": `"max"`}},
		{openai.EffortOpenAI, none, map[string]string{"none": ""}, map[string]string{}},
		{openai.EffortOpenRouter, none, nil, map[string]string{"reasoning": `{"effort":"none"}`}},
		{openai.EffortOpenRouter, high, map[string]string{"high": ""}, map[string]string{}},
		{openai.EffortDeepSeek, none, own, map[string]string{"thinking": off}},
		{openai.EffortDeepSeek, low, own, map[string]string{"thinking": on, "reasoning_effort": `"low"`}},
		{openai.EffortDeepSeek, low, map[string]string{"low": ""}, map[string]string{"thinking": on}},
		{openai.EffortZAI, none, nil, map[string]string{"thinking": off}},
		{openai.EffortZAI, low, own, map[string]string{"thinking": on}},
		{openai.EffortZAI, high, own, map[string]string{"thinking": on, "reasoning_effort": `"max"`}},
		{openai.EffortQwen, none, nil, map[string]string{"enable_thinking": "false"}},
		{openai.EffortQwen, high, own, map[string]string{"enable_thinking": "true", "reasoning_effort": `"max"`}},
		{openai.EffortTogether, none, nil, map[string]string{"reasoning": `{"enabled":false}`}},
		{openai.EffortTogether, high, own, map[string]string{"reasoning": `{"enabled":true}`, "reasoning_effort": `"max"`}},
		{openai.EffortBaseten, low, nil, map[string]string{"chat_template_args": `{"enable_thinking":true}`}},
		{openai.EffortQwenTemplate, none, nil, map[string]string{"chat_template_kwargs": `{"enable_thinking":false}`}},
		{openai.EffortAntLing, none, own, map[string]string{}},
		{openai.EffortAntLing, low, own, map[string]string{}},
		{openai.EffortAntLing, high, own, map[string]string{"reasoning": `{"effort":"max"}`}},
		{openai.EffortString, none, nil, map[string]string{"thinking": `"none"`}},
		{openai.EffortString, high, map[string]string{"high": ""}, map[string]string{}},
	} {
		chat := openai.New(provider.Options{BaseURL: "http://h"}, openai.Config{Model: "m", EffortForm: tc.form, EffortWords: tc.words})
		got := members(t, spell(t, chat, provider.Request{Prompt: prompt, Effort: tc.effort}))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q %s %v\n%s", tc.form, tc.effort, tc.words, diff)
		}
	}
}

func TestResponsesEffortForms(t *testing.T) {
	prompt := providertest.Settle(t, flatProfile(), nil, greeting(nil)...)
	for _, tc := range []struct {
		form   openai.EffortForm
		effort provider.Effort
		want   string
	}{
		{"", provider.EffortDefault, ""},
		{"", provider.EffortHigh, `{"effort":"max","summary":"auto"}`},
		{"", provider.EffortNone, `{"effort":"none"}`},
		{openai.EffortOpenAI, provider.EffortLow, `{"effort":"low","summary":"auto"}`},
		{openai.EffortOpenRouter, provider.EffortHigh, `{"effort":"max"}`},
		{openai.EffortOff, provider.EffortHigh, ""},
		{openai.EffortZAI, provider.EffortHigh, ""},
		{"a form of tomorrow", provider.EffortHigh, ""},
	} {
		p := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m", EffortForm: tc.form, EffortWords: map[string]string{"high": "max"}})
		got := members(t, spell(t, p, provider.Request{Prompt: prompt, Effort: tc.effort}))
		if got["reasoning"] != tc.want || len(got) > 1 {
			t.Errorf("%q %q: %v, want %s", tc.form, tc.effort, got, tc.want)
		}
	}
}

// An effort that is asked for stands over a member of the configuration, and
// never beside it.
func TestExtraMembers(t *testing.T) {
	prompt := providertest.Settle(t, providertest.Profile(openai.ChatPath), nil, greeting(nil)...)
	config := openai.Config{Model: "m", EffortForm: openai.EffortOpenAI, Extra: map[string]json.RawMessage{"reasoning_effort": []byte(`"low"`), "n\"": []byte("1")}}
	chat := openai.New(provider.Options{BaseURL: "http://h"}, config)
	for _, tc := range []struct {
		effort provider.Effort
		want   string
	}{{provider.EffortDefault, `"low"`}, {provider.EffortHigh, `"high"`}} {
		body := spell(t, chat, provider.Request{Prompt: prompt, Effort: tc.effort})
		if got := members(t, body); got["reasoning_effort"] != tc.want || got[`n"`] != "1" || bytes.Count(body, []byte("reasoning_effort")) != 1 {
			t.Errorf("%q: %s", tc.effort, body)
		}
	}
	for name, value := range map[string]string{"messages": "[]", "seed": "1", "x": "{"} {
		config.Extra = map[string]json.RawMessage{name: []byte(value)}
		if _, err := openai.New(provider.Options{}, config).Encode(provider.Request{Prompt: prompt}); err == nil || strings.Contains(err.Error(), value) && name == "x" {
			t.Errorf("extra %q: %v", name, err)
		}
	}
}

// The headers go with every request that has a picture in view, and with no
// other.
func TestPictureHeaders(t *testing.T) {
	const name = "Copilot-Vision-Request"
	headers := map[string]string{name: "true"}
	var blobs providertest.Blobs
	see := providertest.User(picture(&blobs, "image-1.png", "PNG"))
	pdf := providertest.User(content.Document{Attachment: attachment("document-1.pdf", blobs.Put([]byte("%PDF"), "application/pdf"))})
	ok, again := providertest.Say(content.Text{Body: "ok"}), providertest.User(text("text-1", "again"))
	rec := providertest.NewRecorder(t, providertest.Text("x"))
	flatRec := flat(t, providertest.ResponsesText("x"))
	chat := openai.New(provider.Options{BaseURL: rec.URL}, openai.Config{Model: "m", PictureHeaders: headers})
	resp := openai.NewResponses(provider.Options{BaseURL: flatRec.URL}, openai.ResponsesConfig{Model: "m", PictureHeaders: headers})
	for what, tc := range map[string]struct {
		messages []content.Message
		want     string
	}{
		"picture": {[]content.Message{see}, "true"}, "history": {[]content.Message{see, ok, again}, "true"},
		"none": {[]content.Message{again}, ""}, "document": {[]content.Message{pdf}, ""},
	} {
		for wire, p := range map[*providertest.Recorder]provider.Provider{rec: chat, flatRec: resp} {
			body, err := p.Encode(provider.Request{Prompt: providertest.Settle(t, flatProfile(), &blobs, tc.messages...), Blobs: &blobs})
			if err != nil {
				t.Fatal(err)
			}
			listen(t.Context(), t, p, body)
			if got := wire.Last().Header.Get(name); got != tc.want {
				t.Errorf("%s on %s: %q, want %q", what, wire.Last().Path, got, tc.want)
			}
			if body.Header != nil {
				body.Header["X-Other"] = "a body's headers are its own"
			}
		}
	}
	if len(headers) != 1 {
		t.Errorf("the configuration was changed: %v", headers)
	}
}

// OpenRouter's entries are put together and go back as they are, to the same
// model alone.
func TestReasoningDetailsGoBack(t *testing.T) {
	d := providertest.Delta
	rec := providertest.NewRecorder(t, providertest.Events(
		d(`{"content":"","reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"anthropic-claude-v1","index":0,"signature":null}]}`),
		d(`{"content":"","reasoning":"think","reasoning_details":[{"type":"reasoning.text","text":"think","index":0}]}`),
		d(`{"content":"","reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}`),
		d(`{"content":"","reasoning_details":[{"type":"reasoning.text","text":" more","index":1},{"type":"reasoning.encrypted","data":"<&>","id":"r1","index":2}]}`),
		d(`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"b","index":2},{"type":"reasoning.summary","summary":"s","index":3},7,null]}`),
		d(`{"content":"Hi.","reasoning_details":null}`), providertest.End("stop"), providertest.Done,
	), providertest.Text("ok"))
	p := chat(rec.URL)
	h := listen(t.Context(), t, p, hello(t, p))
	if h.Thoughts != "I think more"+"s" || h.Thought.Text != h.Thoughts || h.Text != "Hi." {
		t.Fatalf("%+v", h)
	}
	messages := []content.Message{providertest.User(text("text-1", "hi")), providertest.Say(h.Thought, content.Text{Body: "Hi."}), providertest.User(text("text-2", "more"))}
	prompt := providertest.Settle(t, providertest.Profile(openai.ChatPath), nil, messages...)
	const want = `"reasoning_details":[{"type":"reasoning.text","text":"I think","format":"anthropic-claude-v1","index":0,"signature":"c2ln"},` +
		`{"type":"reasoning.text","text":" more","index":1},{"type":"reasoning.encrypted","data":"<&>","id":"r1","index":2},` +
		`{"type":"reasoning.encrypted","data":"b","index":2},{"type":"reasoning.summary","summary":"s","index":3}]`
	if body := string(spell(t, p, provider.Request{Prompt: prompt})); !strings.Contains(body, want) || strings.Contains(body, `"reasoning":`) {
		t.Errorf("not as it came: %s", body)
	}
	other := openai.New(provider.Options{BaseURL: rec.URL}, openai.Config{Model: "m2"})
	if body := string(spell(t, other, provider.Request{Prompt: prompt})); strings.Contains(body, "reasoning_details") || !strings.Contains(body, `"reasoning":"I think mores"`) {
		t.Errorf("another model: %s", body)
	}
}

// A signature that stands outside of the text goes back with its call, to the
// same model alone.
func TestCallSignatureGoesBack(t *testing.T) {
	const extra = `{"google":{"thought_signature":"c2ln"}}`
	rec := providertest.NewRecorder(t, providertest.Events(
		providertest.Delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"list","arguments":"{}"},"extra_content":`+extra+`}]}`),
		providertest.End("tool_calls"), providertest.Done))
	p := chat(rec.URL)
	h := listen(t.Context(), t, p, hello(t, p))
	if len(h.Calls) != 1 || h.Calls[0].Path != openai.ChatPath {
		t.Fatalf("%+v", h.Calls)
	}
	messages := []content.Message{providertest.User(text("text-1", "hi")), providertest.Say(h.Calls[0]), providertest.Results(content.ToolResult{CallID: "c1", Name: "list"})}
	prompt := providertest.Settle(t, providertest.Profile(openai.ChatPath), nil, messages...)
	if body := string(spell(t, p, provider.Request{Prompt: prompt})); !strings.Contains(body, `"extra_content":`+extra+`}]`) {
		t.Errorf("not as it came: %s", body)
	}
	if body := string(spell(t, chat("http://elsewhere"), provider.Request{Prompt: prompt})); strings.Contains(body, "extra_content") {
		t.Errorf("another server: %s", body)
	}
}

// Signatures of sessions that were recorded before are names of fields.
func TestOldSignatures(t *testing.T) {
	p := chat("http://h")
	for signature, want := range map[string]string{
		"reasoning": `"reasoning":"hm"`, "reasoning_content": `"reasoning_content":"hm"`, "": `"reasoning_content":"hm"`,
		"{": `"reasoning_content":"hm"`, `{"by":"x","field":"reasoning","reasoning_details":[{}]}`: `"reasoning":"hm"`,
	} {
		messages := []content.Message{
			providertest.User(text("text-1", "hi")),
			providertest.Say(content.Reasoning{Text: "hm", Signature: signature, Path: openai.ChatPath}, content.Text{Body: "x"}), providertest.User(text("text-2", "hi")),
		}
		body := string(spell(t, p, provider.Request{Prompt: providertest.Settle(t, providertest.Profile(openai.ChatPath), nil, messages...)}))
		if !strings.Contains(body, want) || strings.Contains(body, "details") {
			t.Errorf("%q: %s", signature, body)
		}
	}
}

// No signature, whoever wrote it, spoils a request.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{
		"reasoning", "{}", `{"by":"BY","id":"rs_1","summary":["x"],"encrypted_content":"z","phase":"commentary"}`,
		`{"by":"BY","field":"reasoning","reasoning_details":[{"type":"reasoning.text"}],"extra_content":{"a":1}}`, `{"by":"BY","reasoning_details":[ ],"extra_content":{ }}`,
	} {
		f.Add(s)
	}
	// The maker is learned from an answer.
	d := providertest.Delta(`{"reasoning_details":[{"type":"reasoning.text","text":"x"}]}`)
	p := openai.New(provider.Options{BaseURL: "http://h", Transport: answering("data: " + d + "\n\ndata: [DONE]\n\n")}, openai.Config{Model: "m"})
	var made struct{ By string }
	if err := json.Unmarshal([]byte(listen(f.Context(), f, p, provider.Body{}).Thought.Signature), &made); err != nil {
		f.Fatal(err)
	}
	resp := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m"})
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "BY", made.By)
		for path, p := range map[string]provider.Provider{openai.ChatPath: p, openai.ResponsesPath: resp} {
			profile := flatProfile()
			profile.Path = path
			prompt := providertest.Settle(t, profile, nil, providertest.User(text("text-1", "hi")),
				providertest.Say(content.Reasoning{Text: "hm", Signature: s, Path: path}, content.Text{Body: "x"}, content.ToolCall{ID: "a", Name: "f", Signature: s, Path: path}),
				providertest.Results(content.ToolResult{CallID: "a", Name: "f"}))
			body := spell(t, p, provider.Request{Prompt: prompt})
			if !json.Valid(body) {
				t.Errorf("%s: not JSON: %s", path, body)
			}
		}
	})
}
