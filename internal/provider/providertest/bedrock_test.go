package providertest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// converse spells a request with these messages and tools.
func converse(messages ...string) string {
	return `{"toolConfig":{"tools":[{"toolSpec":{"name":"x","inputSchema":{"json":{}}}}]},"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestCheckConverse(t *testing.T) {
	user := func(blocks ...string) string {
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	said := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	const (
		words = `{"text":"x"}`
		a, b  = `{"toolUse":{"toolUseId":"a","name":"x","input":{}}}`, `{"toolUse":{"toolUseId":"b","name":"x","input":{}}}`
		ra    = `{"toolResult":{"toolUseId":"a","content":[{"text":"x"}],"status":"success"}}`
		rb    = `{"toolResult":{"toolUseId":"b","content":[{"text":"x"}],"status":"error"}}`
		mark  = `{"cachePoint":{"type":"default"}}`
	)
	media := func(kind, format, more string) string {
		return `{"` + kind + `":{"format":"` + format + `"` + more + `,"source":{"bytes":"AAAA"}}}`
	}
	document := func(format, name string) string { return media("document", format, `,"name":"`+name+`"`) }
	many := func(n int, block string) string { return strings.TrimSuffix(strings.Repeat(block+",", n), ",") }
	thought := `{"reasoningContent":{"reasoningText":{"text":"","signature":"s"}}}`
	for name, tc := range map[string]struct {
		body string
		want string
	}{
		"sound":                  {converse(user(words), said(thought, a, b), user(ra, rb, words, mark), said(words), user(words, document("pdf", "a (1)"), mark)), ""},
		"media":                  {converse(user(words, media("image", "jpeg", ""), media("audio", "x-aac", ""), document("md", "a b"))), ""},
		"no JSON":                {`{`, "unexpected EOF"},
		"unknown field":          {`{"model":"x","messages":[]}`, "unknown field"},
		"more":                   {converse(user(words)) + "{}", "behind the request"},
		"nothing":                {converse(), "begins and ends"},
		"assistant first":        {converse(said(words), user(words)), "begins and ends"},
		"assistant last":         {converse(user(words), said(words)), "begins and ends"},
		"two users":              {converse(user(words), user(words)), "does not alternate"},
		"role":                   {converse(user(words), `{"role":"tool","content":[]}`, user(words)), "does not alternate"},
		"empty message":          {converse(user()), "it is empty"},
		"blank":                  {converse(user(`{"text":" \n"}`)), "blank text"},
		"two members":            {converse(user(`{"text":"x","cachePoint":null,"image":{"format":"png","source":{"bytes":"AAAA"}}}`)), "2 members"},
		"unanswered":             {converse(user(words), said(a, b), user(ra)), "1 of 2 calls"},
		"answers nothing":        {converse(user(ra)), "answers no call"},
		"another order":          {converse(user(words), said(a, b), user(rb, ra)), "not in their order"},
		"result behind":          {converse(user(words), said(a), user(words, ra)), "behind something else"},
		"id twice":               {converse(user(words), said(a), user(ra), said(a), user(ra)), "two calls"},
		"id":                     {converse(user(words), said(strings.Replace(a, `"a"`, `"a|"`, 1)), user(ra)), "a call with id"},
		"input":                  {converse(user(words), said(strings.Replace(a, `{}`, `[]`, 1)), user(ra)), "no object"},
		"status":                 {converse(user(words), said(a), user(strings.Replace(ra, "success", "ok", 1))), `status "ok"`},
		"empty result":           {converse(user(words), said(a), user(`{"toolResult":{"toolUseId":"a","content":[]}}`)), "an empty result"},
		"sound in a result":      {converse(user(words), said(a), user(`{"toolResult":{"toolUseId":"a","content":[`+media("audio", "wav", "")+`]}}`)), "not taken there"},
		"call of a user":         {converse(user(a)), "its role does not say"},
		"picture of a model":     {converse(user(words), said(media("image", "png", "")), user(words)), "its role does not say"},
		"unsigned":               {converse(user(words), said(`{"reasoningContent":{"reasoningText":{"text":"x"}}}`), user(words)), "thinking without"},
		"jpg":                    {converse(user(media("image", "jpg", ""))), `format "jpg"`},
		"no bytes":               {converse(user(`{"image":{"format":"png","source":{"bytes":""}}}`)), "do not decode"},
		"base64":                 {converse(user(`{"image":{"format":"png","source":{"bytes":"AAA"}}}`)), "do not decode"},
		"name":                   {converse(user(words, document("pdf", "a.pdf"))), `called "a.pdf"`},
		"two spaces":             {converse(user(words, document("pdf", "a  b"))), "called"},
		"name twice":             {converse(user(words, document("pdf", "a"), document("pdf", "a"))), "called"},
		"name of a picture":      {converse(user(media("image", "png", `,"name":"x"`))), "a name where"},
		"document alone":         {converse(user(document("pdf", "a"))), "without text"},
		"many pictures":          {converse(user(many(21, media("image", "png", "")))), "21 pictures"},
		"many documents":         {converse(user(words, document("pdf", "a"), document("pdf", "b"), document("pdf", "c"), document("pdf", "d"), document("pdf", "e"), document("pdf", "f"))), "6 documents"},
		"mark first":             {converse(user(mark, words)), "nothing before"},
		"marks":                  {converse(user(words, mark, mark)), "two cache points"},
		"many marks":             {converse(user(many(5, words+","+mark))), "5 cache points"},
		"mark of another type":   {converse(user(words, `{"cachePoint":{"type":"x"}}`)), "of type"},
		"mark behind a document": {converse(user(words, document("md", "a"), mark)), "no PDF"},
		"mark behind thinking":   {converse(user(words), said(thought, mark), user(words)), "behind thinking"},
		"no tools":               {`{"messages":[` + user(words) + `,` + said(a) + `,` + user(ra) + `]}`, "without toolConfig"},
		"empty tools":            {`{"toolConfig":{"tools":[]},"messages":[` + user(words) + `]}`, "without tools"},
		"tool":                   {`{"toolConfig":{"tools":[{"toolSpec":{"name":"a.b","inputSchema":{"json":{}}}}]},"messages":[` + user(words) + `]}`, "tool 0"},
		"system":                 {`{"system":[{"text":""}],"messages":[` + user(words) + `]}`, "system 0"},
		"limit":                  {`{"inferenceConfig":{"maxTokens":0},"messages":[` + user(words) + `]}`, "maxTokens"},
		"fields":                 {`{"additionalModelRequestFields":[],"messages":[` + user(words) + `]}`, "no object"},
	} {
		err := providertest.CheckConverse([]byte(tc.body))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestReadConverse(t *testing.T) {
	got, err := providertest.ReadConverse([]byte(`{"system":[{"text":"s"},{"cachePoint":{"type":"default"}}],"toolConfig":{"tools":[{"toolSpec":{"name":"x","inputSchema":{"json":{}}}}]},
		"messages":[{"role":"user","content":[{"text":"hi"},{"document":{"format":"pdf","name":"d","source":{"bytes":"` + base64.StdEncoding.EncodeToString([]byte("D")) + `"}}}]},
		{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"s"}}},{"toolUse":{"toolUseId":"a","name":"x","input":{"k":1}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"no"}]}},{"cachePoint":{"type":"default"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := providertest.Sent{System: "s", Tools: []string{"x"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{{Text: "hi"}, {Kind: content.KindDocument, MIME: "document/pdf", Data: []byte("D"), Name: "d"}}},
		{Role: "assistant", Parts: []providertest.SentPart{{Thought: "t", Signature: "s"}, {Call: &content.ToolCall{ID: "a", Name: "x", Arguments: `{"k":1}`}}}},
		{Role: "user", Parts: []providertest.SentPart{{Result: &providertest.SentResult{CallID: "a", IsError: true, Parts: []providertest.SentPart{{Text: "no"}}}, Cache: true}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The example of AWS's own test suite for signatures, "get-vanilla"
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html,
// read 2026-11-30), and what makes it wrong.
func TestCheckSigV4(t *testing.T) {
	key := providertest.SigV4{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "service"}
	request := func() *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.amazonaws.com/", http.NoBody)
		r.Header.Set("X-Amz-Date", "20150830T123600Z")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "+
			"SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
		return r
	}
	if err := providertest.CheckSigV4(request(), nil, key); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*http.Request, *providertest.SigV4) []byte{
		"body":  func(*http.Request, *providertest.SigV4) []byte { return []byte("x") },
		"path":  func(r *http.Request, _ *providertest.SigV4) []byte { r.URL.Path = "/x"; return nil },
		"query": func(r *http.Request, _ *providertest.SigV4) []byte { r.URL.RawQuery = "a=b"; return nil },
		"host":  func(r *http.Request, _ *providertest.SigV4) []byte { r.Host = "x"; return nil },
		"date":  func(r *http.Request, _ *providertest.SigV4) []byte { r.Header.Set("X-Amz-Date", "2015"); return nil },
		"time": func(r *http.Request, _ *providertest.SigV4) []byte {
			r.Header.Set("X-Amz-Date", "20150830T123601Z")
			return nil
		},
		"secret":     func(_ *http.Request, k *providertest.SigV4) []byte { k.Secret = "x"; return nil },
		"token":      func(_ *http.Request, k *providertest.SigV4) []byte { k.Token = "x"; return nil },
		"region":     func(_ *http.Request, k *providertest.SigV4) []byte { k.Region = "x"; return nil },
		"not signed": func(r *http.Request, _ *providertest.SigV4) []byte { r.Header.Del("Authorization"); return nil },
		"unsigned token": func(r *http.Request, k *providertest.SigV4) []byte {
			k.Token = "t"
			r.Header.Set("X-Amz-Security-Token", "t")
			return nil
		},
		"unsigned host": func(r *http.Request, _ *providertest.SigV4) []byte {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "host;", "", 1))
			return nil
		},
	} {
		r, k := request(), key
		body := change(r, &k)
		if providertest.CheckSigV4(r, body, k) == nil {
			t.Errorf("%s: no error", name)
		}
		w := httptest.NewRecorder()
		providertest.SignedBy(k, providertest.ConverseText("ok"))(w, r, body)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

func TestConverseFrame(t *testing.T) {
	f := providertest.ConverseFrame("messageStart", `{"role":"assistant"}`)
	// 16 bytes around the headers and the payload.
	headers := 0
	for _, h := range [][2]string{{":message-type", "event"}, {":event-type", "messageStart"}, {":content-type", "application/json"}} {
		headers += 1 + len(h[0]) + 1 + 2 + len(h[1])
	}
	if want := 16 + headers + len(`{"role":"assistant"}`); len(f) != want || !bytes.HasPrefix(f, []byte{0, 0, 0, byte(want), 0, 0, 0, byte(headers)}) {
		t.Errorf("%s", fmt.Sprintf("%d bytes, % x", len(f), f[:8]))
	}
}
