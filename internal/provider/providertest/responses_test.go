package providertest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

func TestReadResponses(t *testing.T) {
	const (
		user     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`
		said     = `{"type":"message","role":"assistant","content":"x","phase":"commentary"}`
		callA    = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
		callB    = `{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`
		outA     = `{"type":"function_call_output","call_id":"a","output":"x"}`
		outB     = `{"type":"function_call_output","call_id":"b","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`
		thought  = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zzz"}`
		plainFor = `{"type":"message","role":"user","content":[`
	)
	image := func(uri string) string { return plainFor + `{"type":"input_image","image_url":"` + uri + `"}]}` }
	for name, tc := range map[string]struct {
		items []string
		want  string
	}{
		"sound":              {[]string{user, thought, said, callA, callB, outB, outA, user}, ""},
		"string forms":       {[]string{`{"role":"user","content":"x"}`, `{"role":"assistant","content":"y"}`}, ""},
		"picture":            {[]string{image("data:image/png;base64,AAAA")}, ""},
		"file":               {[]string{plainFor + `{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`}, ""},
		"nothing":            {nil, "no input"},
		"unanswered":         {[]string{user, callA, callB, outA, user}, "1 function calls before it"},
		"unanswered at end":  {[]string{user, callA}, "1 function calls have no output"},
		"answered twice":     {[]string{user, callA, outA, outA}, "answers no open call"},
		"output first":       {[]string{outA, callA}, "answers no open call"},
		"call twice":         {[]string{callA, callA}, "a name of its own"},
		"id of an earlier":   {[]string{user, callA, outA, user, callA, outA}, "a name of its own"},
		"long id":            {[]string{`{"type":"function_call","call_id":"` + strings.Repeat("a", 65) + `","name":"f","arguments":"{}"}`}, "a name of its own"},
		"bad name":           {[]string{`{"type":"function_call","call_id":"a","name":"f g","arguments":"{}"}`}, "a name of its own"},
		"bad arguments":      {[]string{`{"type":"function_call","call_id":"a","name":"f","arguments":"[]"}`}, "no object"},
		"empty text":         {[]string{plainFor + `{"type":"input_text","text":""}]}`}, "empty text"},
		"empty output":       {[]string{callA, `{"type":"function_call_output","call_id":"a","output":""}`}, "empty text"},
		"no parts":           {[]string{plainFor + `]}`}, "no content parts"},
		"output for a user":  {[]string{plainFor + `{"type":"output_text","text":"x"}]}`}, "output text as a part"},
		"assistant picture":  {[]string{strings.Replace(image("data:image/png;base64,AAAA"), "user", "assistant", 1)}, `type "input_image"`},
		"sound part":         {[]string{plainFor + `{"type":"input_audio"}]}`}, `type "input_audio"`},
		"unknown member":     {[]string{plainFor + `{"type":"input_text","text":"x","colour":1}]}`}, "colour"},
		"unknown item":       {[]string{user, `{"type":"video"}`}, `unknown type "video"`},
		"unknown role":       {[]string{`{"type":"message","role":"tool","content":"x"}`}, `unknown role "tool"`},
		"object for a url":   {[]string{plainFor + `{"type":"input_image","image_url":{"url":"data:image/png;base64,AAAA"}}]}`}, "object"},
		"no data URI":        {[]string{image("AAAA")}, "not a data URI"},
		"two prefixes":       {[]string{image("data:image/png;base64,data:image/png;base64,AAAA")}, "inside a data URI"},
		"empty picture":      {[]string{image("data:image/png;base64,")}, "0 bytes"},
		"no picture":         {[]string{image("data:text/plain;base64,AAAA")}, "text/plain"},
		"detail":             {[]string{plainFor + `{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"great"}]}`}, "great"},
		"file without name":  {[]string{plainFor + `{"type":"input_file","file_data":"data:application/pdf;base64,AAAA"}]}`}, "without a name"},
		"plain reasoning":    {[]string{`{"type":"reasoning","id":"r","summary":[]}`, said}, "encrypted"},
		"reasoning, user":    {[]string{thought, user}, "the item that it led to"},
		"reasoning at end":   {[]string{user, thought}, "the item that it led to"},
		"reasoning, results": {[]string{callA, thought, outA}, "the item that it led to"},
	} {
		_, err := providertest.ReadResponses([]byte(`{"model":"m","input":[` + strings.Join(tc.items, ",") + `]}`))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	for _, members := range []string{`"seed":1`, `"messages":[]`, `"image":{"context_compression":"never"}`, `"tools":[{"type":"function","function":{}}]`} {
		if _, err := providertest.ReadResponses([]byte(`{"model":"m","input":[` + user + `],` + members + `}`)); err == nil {
			t.Errorf("%s was accepted", members)
		}
	}
}

func TestReadResponsesReadsAll(t *testing.T) {
	got, err := providertest.ReadResponses([]byte(`{"model":"m","instructions":"s","store":false,"tools":[{"type":"function","name":"f","description":"","parameters":{},"strict":false}],"input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
		{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"y"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	data := []byte{0, 0, 0}
	file := providertest.SentPart{Kind: content.KindDocument, MIME: "application/pdf", Data: data, Name: "a.pdf"}
	picture := providertest.SentPart{Kind: content.KindImage, MIME: "image/png", Data: data}
	want := providertest.Sent{Model: "m", System: "s", Tools: []string{"f"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{{Text: "x"}, picture}},
		{Role: "function_call", Parts: []providertest.SentPart{{Call: &content.ToolCall{ID: "a", Name: "f", Arguments: "{}"}}}},
		{Role: "function_call_output", Parts: []providertest.SentPart{{Result: &providertest.SentResult{CallID: "a", Parts: []providertest.SentPart{{Text: "y"}, file}}}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]providertest.SentPart{picture, file}, got.Media()); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadResponses(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"r","summary":[],"encrypted_content":"z"},{"role":"assistant","content":"y"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		sent, err := providertest.ReadResponses(body)
		if err == nil && len(sent.Messages) == 0 {
			t.Error("nothing was read and nothing is wrong")
		}
	})
}
