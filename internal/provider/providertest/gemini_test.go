package providertest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

func TestReadGemini(t *testing.T) {
	got, err := providertest.ReadGemini([]byte(`{"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"n"}]}],"contents":[
		{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
		{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"S"},{"text":"","thoughtSignature":"E"},{"functionCall":{"id":"a","name":"n","args":{}},"thoughtSignature":"C"}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"n","response":{"error":"no"},"parts":[{"inlineData":{"mimeType":"image/webp","data":"AAAA","displayName":"d"}}]}},{"text":"y"}]}]}`))
	want := providertest.Sent{System: "s", Tools: []string{"n"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{{Text: "x"}, {Kind: content.KindImage, MIME: "image/png", Data: []byte{0, 0, 0}}}},
		{Role: "model", Parts: []providertest.SentPart{{Thought: "t", Signature: "S"}, {Signature: "E"}, {Signature: "C", Call: &content.ToolCall{ID: "a", Name: "n", Arguments: "{}"}}}},
		{Role: "user", Parts: []providertest.SentPart{{Result: &providertest.SentResult{CallID: "a", Name: "n", IsError: true, Parts: []providertest.SentPart{
			{Text: "no"}, {Kind: content.KindImage, MIME: "image/webp", Data: []byte{0, 0, 0}, Name: "d"},
		}}}, {Text: "y"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestReadGeminiRefuses(t *testing.T) {
	const (
		user  = `{"role":"user","parts":[{"text":"x"}]}`
		calls = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"n","args":{}}},{"functionCall":{"id":"b","name":"n","args":{}}}]}`
		a, b  = `{"functionResponse":{"id":"a","name":"n","response":{"output":"x"}}}`, `{"functionResponse":{"id":"b","name":"n","response":{"output":""}}}`
	)
	says := func(role string, parts ...string) string {
		return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
	}
	result := func(inside string) string {
		return says("user", `{"functionResponse":{"id":"a","name":"n",`+inside+`}}`, b)
	}
	for name, tc := range map[string]struct {
		contents []string
		want     string
	}{
		"sound":               {[]string{user, calls, says("user", a, b)}, ""},
		"unanswered":          {[]string{user, calls, says("user", a)}, "1 calls before it have no result"},
		"unanswered at end":   {[]string{user, calls}, "2 calls at the end"},
		"answers no call":     {[]string{user, says("model", `{"text":"x"}`), says("user", a)}, "answers no open call"},
		"result behind text":  {[]string{user, calls, says("user", a, `{"text":"x"}`, b)}, "a result behind other parts"},
		"nothing":             {nil, "no contents"},
		"no parts":            {[]string{says("user")}, "no parts"},
		"twice":               {[]string{user, user}, "the role comes twice"},
		"model first":         {[]string{calls}, "the first is not the user's"},
		"role":                {[]string{says("system", `{"text":"x"}`)}, "unknown role"},
		"empty text":          {[]string{says("user", `{"text":""}`)}, "an empty text"},
		"empty part":          {[]string{says("user", `{}`)}, "it is 0 things"},
		"two things":          {[]string{says("user", `{"text":"x","inlineData":{"mimeType":"image/png","data":"AAAA"}}`)}, "it is 2 things"},
		"user thinks":         {[]string{says("user", `{"text":"x","thought":true}`)}, "only a model makes"},
		"model shows":         {[]string{user, says("model", `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`)}, "only a user makes"},
		"type":                {[]string{says("user", `{"inlineData":{"mimeType":"image/gif","data":"AAAA"}}`)}, "unsupported MIME type"},
		"base64":              {[]string{says("user", `{"inlineData":{"mimeType":"image/png","data":"AAA"}}`)}, "illegal base64"},
		"no bytes":            {[]string{says("user", `{"inlineData":{"mimeType":"image/png","data":""}}`)}, "empty data"},
		"unknown field":       {[]string{says("user", `{"text":"x","detail":"high"}`)}, "unknown field"},
		"arguments":           {[]string{user, says("model", `{"functionCall":{"name":"n","args":"{}"}}`)}, "no object"},
		"two responses":       {[]string{user, calls, result(`"response":{"output":"x","error":"y"}`)}, "another response"},
		"sound in a result":   {[]string{user, calls, result(`"response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}]`)}, "type audio/wav"},
		"name twice":          {[]string{user, calls, result(`"response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA","displayName":"d"}},{"inlineData":{"mimeType":"image/png","data":"AAAA","displayName":"d"}}]`)}, "comes twice"},
		"empty result's part": {[]string{user, calls, result(`"response":{"output":"x"},"parts":[{}]`)}, "is empty"},
	} {
		_, err := providertest.ReadGemini([]byte(`{"contents":[` + strings.Join(tc.contents, ",") + `]}`))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	for name, head := range map[string]string{
		"seed":        `"generationConfig":{"seed":4294967296}`,
		"thinking":    `"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW","thinkingBudget":0}}`,
		"instruction": `"systemInstruction":{"parts":[{"text":""}]}`,
		"tool":        `"tools":[{"functionDeclarations":[{"name":"n","parametersJsonSchema":"x"}]}]`,
	} {
		if _, err := providertest.ReadGemini([]byte(`{` + head + `,"contents":[` + user + `]}`)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
