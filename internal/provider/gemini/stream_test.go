package gemini_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/gemini"
	"tote/internal/provider/providertest"
)

func end(reason string) string { return providertest.GeminiEnd(reason, "") }

func said(s string) string { return providertest.GeminiChunk(fmt.Sprintf(`{"text":%q}`, s)) }

func TestAnswers(t *testing.T) {
	chunk, events := providertest.GeminiChunk, providertest.Events
	own := func(text, signature string) content.Reasoning {
		return content.Reasoning{Text: text, Signature: signature, Path: gemini.Path}
	}
	call := func(id, name, args, signature string) content.ToolCall {
		return content.ToolCall{ID: id, Name: name, Arguments: args, Signature: signature, Path: gemini.Path}
	}
	u := providertest.Usage{Prompt: 300, Completion: 3, Image: 258, Cached: 2}
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  heard
	}{
		"text and usage": {
			providertest.GeminiUsage(u, "Hel", "lo ", "ä"),
			heard{Text: "Hello ä", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(300), Output: known(3), Cached: known(2), Image: known(258)}, Raw: providertest.GeminiUsageJSON(u)},
		},
		"calls": {
			events(chunk(`{"functionCall":{"id":"a","name":"read","args":{"p": 1}},"thoughtSignature":"U0lH"},{"functionCall":{"id":"b","name":"list"}}`), end("STOP")),
			heard{Calls: []content.ToolCall{call("a", "read", `{"p": 1}`, "U0lH"), call("b", "list", `{}`, "")}, Stop: content.StopEndTurn},
		},
		"odd names": {
			events(chunk(`{"functionCall":{"id":"a\u0007","name":"default_api:read it","args":null}},{"functionCall":{"id":"b"}}`), end("STOP")),
			heard{Calls: []content.ToolCall{call("call_cef8103c46b41fb4", "default_api_read_it", `{}`, ""), call("b", "unnamed", `{}`, "")}, Stop: content.StopEndTurn},
		},
		"thoughts": {
			events(chunk(`{"text":"let ","thought":true},{"text":"me","thought":true}`), chunk(`{"text":"","thought":true,"thoughtSignature":"VA=="}`), said("ok"), end("STOP")),
			heard{Text: "ok", Thoughts: "let me", Reasoning: []content.Reasoning{own("let me", "thought 0 0 0 VA==")}, Stop: content.StopEndTurn},
		},
		"thoughts without a signature": {
			events(chunk(`{"text":"hm","thought":true},{"text":"ok"},{"text":"hm","thought":true}`), end("STOP")),
			heard{Text: "ok", Thoughts: "hmhm", Reasoning: []content.Reasoning{own("hm", ""), own("hm", "")}, Stop: content.StopEndTurn},
		},
		"signed text": {
			events(said("aä"), chunk(`{"text":"b","thoughtSignature":"Qg=="}`), chunk(`{"text":"","thoughtSignature":"RQ=="}`), end("STOP")),
			heard{Text: "aäb", Reasoning: []content.Reasoning{own("", "text 0 3 1 Qg=="), own("", "text 0 4 0 RQ==")}, Stop: content.StopEndTurn},
		},
		"picture": {
			events(chunk(`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`), chunk(`{"fileData":{"mimeType":"video/mp4","fileUri":"x"}},{"inlineData":{"mimeType":"audio/wav"}}`), chunk(`{"thought":true,"inlineData":{"mimeType":"image/png"}}`), end("STOP")),
			heard{Stop: content.StopEndTurn, Remarks: []provider.Remark{
				{Text: "the model sent a picture (image/png), which this version does not show", Lost: true},
				{Text: "the model sent a file (video/mp4), which this version does not show", Lost: true},
				{Text: "the model sent sound (audio/wav), which this version does not show", Lost: true},
			}},
		},
		"length":       {events(said("x"), end("MAX_TOKENS")), heard{Text: "x", Stop: content.StopMaxTokens}},
		"safety":       {events(said("x"), end("SAFETY")), heard{Text: "x", Stop: content.StopRefusal, Note: "SAFETY"}},
		"withheld":     {events(chunk(`{"functionCall":{"name":"rm"}}`), end("PROHIBITED_CONTENT")), heard{Stop: content.StopRefusal, Note: "PROHIBITED_CONTENT"}},
		"recitation":   {events(end("RECITATION")), heard{Stop: content.StopRefusal, Note: "RECITATION"}},
		"other":        {events(said("x"), end("OTHER")), heard{Text: "x", Stop: content.StopEndTurn, Note: "OTHER"}},
		"new word":     {events(said("x"), end("TIRED")), heard{Text: "x", Stop: content.StopEndTurn, Note: "TIRED"}},
		"blocked":      {events(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}`), heard{Stop: content.StopRefusal, Note: "the prompt was blocked: SAFETY", Usage: content.Usage{Input: known(4)}, Raw: `{"promptTokenCount":4}`}},
		"reason early": {events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`, `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}`), heard{Text: "ab", Stop: content.StopEndTurn}},
		"empty":        {events(end("STOP")), heard{Stop: content.StopEndTurn}},
		"done mark":    {events(said("x"), end("STOP"), "[DONE]"), heard{Text: "x", Stop: content.StopEndTurn}},
		"nulls":        {events(`{"candidates":null,"error":null,"usageMetadata":null}`, said("x"), end("STOP")), heard{Text: "x", Stop: content.StopEndTurn}},
		"unknown":      {events(chunk(`{"executableCode":{"code":"x"}},{"text":"x"},{"videoMetadata":{}}`), end("STOP")), heard{Text: "x", Stop: content.StopEndTurn}},
		"second":       {events(`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}}]}`, said("x"), end("STOP")), heard{Text: "x", Stop: content.StopEndTurn}},
		"last usage":   {events(providertest.GeminiEnd("STOP", `{"promptTokenCount":1}`), providertest.GeminiEnd("STOP", `{"promptTokenCount":2}`)), heard{Stop: content.StopEndTurn, Usage: content.Usage{Input: known(2)}, Raw: `{"promptTokenCount":2}`}},
		"array":        {providertest.Raw("application/json", "["+said("a")+"\n,\r\n"+said("b")+","+end("STOP")+"]\n"), heard{Text: "ab", Stop: content.StopEndTurn}},
		"cut array":    {providertest.Raw("application/json", "["+said("a")+","+end("STOP")), heard{Text: "a", Stop: content.StopEndTurn}},
		"object":       {providertest.Raw("application/json", "\xEF\xBB\xBF \n{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]},\"finishReason\":\"STOP\"}]}"), heard{Text: "x", Stop: content.StopEndTurn}},
	} {
		t.Run(name, func(t *testing.T) {
			p := adapter(providertest.NewRecorder(t, tc.reply).URL, gemini.Config{})
			if diff := cmp.Diff(tc.want, listen(t.Context(), t, p, hello(t, p))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequestLine(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.GeminiText("ok")).Check(":streamGenerateContent", func(body []byte) error {
		_, err := providertest.ReadGemini(body)
		return err
	})
	for model, want := range map[string]string{
		"gemini-3-pro": "/v1beta/models/gemini-3-pro:streamGenerateContent", "models/gemini-x": "/v1beta/models/gemini-x:streamGenerateContent",
		"a/../b c?": "/v1beta/models/a/../b c?:streamGenerateContent",
	} {
		p := adapter(rec.URL+"/v1beta", gemini.Config{Model: model})
		if h := listen(t.Context(), t, p, hello(t, p)); h.Err != nil {
			t.Errorf("%s: %v", model, h.Err)
		}
		got := rec.Last()
		if got.Path != want || got.Header.Get("x-goog-api-key") != "secret-key" || got.Header.Get("Authorization") != "" {
			t.Errorf("%s: path %s, headers %v", model, got.Path, got.Header)
		}
	}
}

func TestUsageFields(t *testing.T) {
	for raw, want := range map[string]content.Usage{
		`{"promptTokenCount":9,"toolUsePromptTokenCount":4}`:                                                {Input: known(13)},
		`{"candidatesTokenCount":5,"thoughtsTokenCount":7}`:                                                 {Output: known(12), Reasoning: known(7)},
		`{"thoughtsTokenCount":7}`:                                                                          {Output: known(7), Reasoning: known(7)},
		`{"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}]}`:                                      {},
		`{"promptTokensDetails":[]}`:                                                                        {},
		`{"promptTokensDetails":[{"modality":"IMAGE"}]}`:                                                    {},
		`{"promptTokensDetails":[{"modality":"IMAGE","tokenCount":0}]}`:                                     {Image: known(0)},
		`{"promptTokensDetails":[{"modality":"IMAGE","tokenCount":2},{"modality":"IMAGE","tokenCount":3}]}`: {Image: known(5)},
		`{"promptTokensDetails":[{"modality":"AUDIO","tokenCount":2},{"modality":"DOCUMENT","tokenCount":3}],"toolUsePromptTokensDetails":[{"modality":"IMAGE","tokenCount":4}]}`: {Audio: known(2), Image: known(4)},
		`{"promptTokenCount":-1,"candidatesTokenCount":"many","cachedContentTokenCount":1.0,"promptTokensDetails":{}}`:                                                            {Cached: known(1)},
		`{}`: {},
	} {
		p := adapter(providertest.NewRecorder(t, providertest.Events(providertest.GeminiEnd("STOP", raw))).URL, gemini.Config{})
		h := listen(t.Context(), t, p, hello(t, p))
		if diff := cmp.Diff(want, h.Usage); diff != "" || h.Raw != raw {
			t.Errorf("%s\n%s", raw, diff)
		}
	}
}

func TestFailures(t *testing.T) {
	events, status := providertest.Events, providertest.Status
	reply := func(code int, word, message string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"X"}]}}`, code, message, word)
	}
	bad := func(message string) providertest.Reply { return status(400, reply(400, "INVALID_ARGUMENT", message)) }
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.Failure
	}{
		"no reason":        {events(said("x")), delivery.Failure{Kind: delivery.FailStream}},
		"nothing":          {providertest.Raw("text/event-stream", ""), delivery.Failure{Kind: delivery.FailStream}},
		"cut":              {providertest.Cut(60, providertest.GeminiText("hello")), delivery.Failure{Kind: delivery.FailStream}},
		"half an array":    {providertest.Raw("application/json", "["+said("x")+`,{"cand`), delivery.Failure{Kind: delivery.FailStream}},
		"cut array":        {providertest.Raw("application/json", "["+said("x")), delivery.Failure{Kind: delivery.FailStream}},
		"empty array":      {providertest.Raw("application/json", "[]"), delivery.Failure{Kind: delivery.FailStream}},
		"bad array":        {providertest.Raw("application/json", "["+said("x")+"}"), delivery.Failure{Kind: delivery.FailProtocol}},
		"bad object":       {providertest.Raw("application/json", "{x"), delivery.Failure{Kind: delivery.FailProtocol}},
		"no JSON":          {events("hello"), delivery.Failure{Kind: delivery.FailProtocol}},
		"other form":       {events(`{"candidates":"x"}`), delivery.Failure{Kind: delivery.FailProtocol}},
		"a list":           {events(`[]`), delivery.Failure{Kind: delivery.FailProtocol}},
		"page":             {providertest.Raw("text/html", "<!doctype html><title>Welcome</title>"), delivery.Failure{Kind: delivery.FailProtocol}},
		"malformed call":   {events(end("MALFORMED_FUNCTION_CALL")), delivery.Failure{Kind: delivery.FailProtocol}},
		"unexpected call":  {events(said("x"), end("UNEXPECTED_TOOL_CALL")), delivery.Failure{Kind: delivery.FailProtocol}},
		"error inside":     {events(said("x"), reply(503, "UNAVAILABLE", "The model is overloaded.")), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"error in a 200":   {providertest.Raw("application/json", "["+reply(400, "INVALID_ARGUMENT", "Unable to process input image.")+"]"), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassDecode}},
		"detail in a 200":  {providertest.Raw("application/json", `{"detail":"Input should be a valid string"}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"list of one":      {status(400, "["+reply(400, "INVALID_ARGUMENT", "Provided image is not valid.")+"]"), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassDecode}},
		"cannot process":   {bad("Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassDecode}},
		"type":             {bad("Unsupported MIME type: image/gif"), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassMIME}},
		"blind":            {bad("Image input modality is not enabled for models/gemma-3-1b-it"), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassBlind}},
		"placement":        {bad("Multimodal function responses are not supported for this model."), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassPlacement}},
		"body":             {bad("Request payload size exceeds the limit: 20971520 bytes."), delivery.Failure{Kind: delivery.FailTooLarge, Status: 400, Class: delivery.ClassBody, Learned: delivery.Learned{MaxRequest: 20_971_520}}},
		"generic":          {bad("Request contains an invalid argument."), delivery.Failure{Kind: delivery.FailRefused, Status: 400}},
		"overflow":         {bad("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), delivery.Failure{Kind: delivery.FailOverflow, Status: 400, Learned: delivery.Learned{Context: 1_048_576}}},
		"key":              {bad("API key not valid. Please pass a valid API key."), delivery.Failure{Kind: delivery.FailAuth, Status: 400}},
		"no such model":    {status(404, reply(404, "NOT_FOUND", "models/x is not found for API version v1beta")), delivery.Failure{Kind: delivery.FailRefused, Status: 404}},
		"quota":            {status(429, reply(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.")), delivery.Failure{Kind: delivery.FailRateLimit, Status: 429}},
		"overloaded":       {status(503, reply(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")), delivery.Failure{Kind: delivery.FailServer, Status: 503}},
		"unpaired results": {bad("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."), delivery.Failure{Kind: delivery.FailSchema, Status: 400}},
	} {
		t.Run(name, func(t *testing.T) {
			p := adapter(providertest.NewRecorder(t, tc.reply).URL, gemini.Config{})
			h := listen(t.Context(), t, p, hello(t, p))
			if h.Err == nil {
				t.Fatalf("no error: %+v", h)
			}
			if diff := cmp.Diff(tc.want, h.Err.Failure); diff != "" {
				t.Errorf("%v\n%s", h.Err, diff)
			}
		})
	}
}

func TestUsageComesBeforeAnError(t *testing.T) {
	p := hearing("data: " + `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":3}}` + "\n\n")
	h := listen(t.Context(), t, p, provider.Body{})
	if h.Err == nil || h.Err.Failure.Kind != delivery.FailStream || h.Usage.Input != known(3) {
		t.Errorf("usage %v, error %v", h.Usage, h.Err)
	}
}

// Calls without an identifier get one that the same answer always gets, and
// that no other call of it has.
func TestMissingCallIDs(t *testing.T) {
	wire := "data: " + providertest.GeminiChunk(`{"functionCall":{"name":"x","args":{}}},{"functionCall":{"name":"x","args":{}}},{"functionCall":{"id":"dup","name":"x"}},{"functionCall":{"id":"dup","name":"x"}}`) + "\n\ndata: " + end("STOP") + "\n\n"
	a, b := listen(t.Context(), t, hearing(wire), provider.Body{}), listen(t.Context(), t, hearing(wire), provider.Body{})
	if diff := cmp.Diff(a.Calls, b.Calls); diff != "" {
		t.Errorf("the same answer gives other identifiers\n%s", diff)
	}
	seen := map[string]bool{}
	for _, c := range a.Calls {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("identifier %q", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d calls, want 4", len(seen))
	}
}

func TestCancelInTheMiddle(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.HangAfter(said("x")))
	p := adapter(rec.URL, gemini.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for ev, err := range p.Stream(ctx, hello(t, p)) {
		if err != nil {
			var e *provider.Error
			if !errors.As(err, &e) || e.Failure.Kind != delivery.FailCancelled {
				t.Errorf("error = %v", err)
			}
			got = append(got, "error")
			continue
		}
		got = append(got, fmt.Sprintf("%T", ev))
		cancel()
	}
	if diff := cmp.Diff([]string{"provider.TextDelta", "error"}, got); diff != "" {
		t.Error(diff)
	}
}

// wirePart is a part of an answer of a model.
type wirePart struct{ kind, text, signature string }

func (p wirePart) json(n int) string {
	sig := ""
	if p.signature != "" {
		sig = fmt.Sprintf(`,"thoughtSignature":%q`, p.signature)
	}
	switch p.kind {
	case "call":
		return fmt.Sprintf(`{"functionCall":{"id":"c%d","name":%q,"args":{}}%s}`, n, p.text, sig)
	case "thought":
		return fmt.Sprintf(`{"text":%q,"thought":true%s}`, p.text, sig)
	}
	return fmt.Sprintf(`{"text":%q%s}`, p.text, sig)
}

// What the model signed goes back verbatim and at its place, however the parts
// stood and were cut into chunks. Unsigned thoughts do not go back, and unsigned
// texts between two other parts keep their order.
func TestSignaturesGoBackWhereTheyStood(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		var parts []wirePart
		for i := range 1 + rnd.IntN(7) {
			p := wirePart{kind: []string{"text", "call", "thought"}[rnd.IntN(3)], text: fmt.Sprintf("%c%dä", 'a'+i, i)}
			if p.kind == "call" {
				p.text = "n"
			}
			if rnd.IntN(2) == 0 {
				p.signature = fmt.Sprintf("S%d-%d==", round, i)
				if p.kind == "text" && rnd.IntN(3) == 0 {
					p.text = ""
				}
			}
			parts = append(parts, p)
		}
		checkRoundTrip(t, parts)
	}
}

func checkRoundTrip(t *testing.T, parts []wirePart) {
	t.Helper()
	var wire strings.Builder
	var results []content.ToolResult
	for i, p := range parts {
		wire.WriteString("data: " + providertest.GeminiChunk(p.json(i)) + "\n\n")
		if p.kind == "call" {
			results = append(results, content.ToolResult{CallID: fmt.Sprintf("c%d", i), Name: "n"})
		}
	}
	wire.WriteString("data: " + end("STOP") + "\n\n")
	h := listen(t.Context(), t, hearing(wire.String()), provider.Body{})
	messages := []content.Message{providertest.User(text("text-1", "x")), h.message()}
	if len(results) > 0 {
		messages = append(messages, providertest.Results(results...))
	} else {
		messages = append(messages, providertest.User(text("text-2", "y")))
	}
	body := spell(t, adapter("http://h", gemini.Config{}), provider.Request{Prompt: providertest.Settle(t, profile(true), nil, messages...)})
	sent, err := providertest.ReadGemini(body)
	if err != nil {
		t.Fatalf("%v: %v", parts, err)
	}
	var got []string
	for _, p := range sent.Messages[1].Parts {
		switch {
		case p.Call != nil:
			got = append(got, "call "+p.Signature)
		case p.Thought != "":
			got = append(got, "thought "+p.Thought+" "+p.Signature)
		case p.Signature != "":
			got = append(got, "text "+p.Text+" "+p.Signature)
		}
	}
	if diff := cmp.Diff(signedParts(parts), got); diff != "" {
		t.Errorf("%v\n%s", parts, diff)
	}
}

// signedParts are the parts that must come back, in order. Thoughts that nothing
// separates are one.
func signedParts(parts []wirePart) []string {
	var want []string
	thought := ""
	for _, p := range parts {
		switch p.kind {
		case "call":
			thought = ""
			want = append(want, "call "+p.signature)
		case "thought":
			thought += p.text
			if p.signature != "" {
				want = append(want, "thought "+thought+" "+p.signature)
				thought = ""
			}
		default:
			thought = ""
			if p.signature != "" {
				want = append(want, "text "+p.text+" "+p.signature)
			}
		}
	}
	return want
}

// A text that is no longer what was signed stays whole, and marks that cannot be
// read are left out.
func TestMarksThatDoNotFit(t *testing.T) {
	for _, signature := range []string{"text 0 90 9 S", "text 0 1 9 S", "text 9 1 1 S", "thought 3 99 0 S", "text 0 1 0", "text -1 0 0 S", "text 0 0 99999999999 S", "word 0 0 0 S", "", "text 0 0 0 "} {
		said := providertest.Say(content.Reasoning{Text: "hm", Signature: signature, Path: gemini.Path}, content.Reasoning{Signature: "text 0 1 1 T", Path: gemini.Path}, content.Text{Body: "äöü"})
		body := spell(t, adapter("http://h", gemini.Config{}), provider.Request{Prompt: providertest.Settle(t, profile(true), nil,
			providertest.User(text("text-1", "x")), said, providertest.User(text("text-2", "y")))})
		sent, err := providertest.ReadGemini(body)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range sent.Messages[1].Parts {
			got += p.Text
		}
		if got != "äöü" {
			t.Errorf("%q: text %q", signature, got)
		}
	}
}

// No answer makes the reader panic or break the contract, which listen checks;
// what it gives can be sent back.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("data: " + providertest.GeminiChunk(`{"text":"t","thought":true,"thoughtSignature":"S"},{"text":"x","thoughtSignature":"S"},{"functionCall":{"name":"n","args":{}},"thoughtSignature":"S"}`) + "\n\ndata: " + end("STOP") + "\n\n"))
	f.Add([]byte("[" + said("x") + "," + end("MAX_TOKENS") + "]"))
	f.Add([]byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
	f.Add([]byte("<html>"))
	f.Add([]byte("\xEF\xBB\xBFdata: {\"error\":{\"message\":\"m\"}}\n\n"))
	f.Add([]byte(`[{"error":{"code":429}}]`))
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := listen(t.Context(), t, hearing(string(wire)), provider.Body{})
		ids := map[string]bool{}
		var results []content.ToolResult
		for _, c := range h.Calls {
			if c.ID == "" || c.Arguments == "" || ids[c.ID] {
				t.Errorf("call %+v", c)
			}
			ids[c.ID] = true
			results = append(results, content.ToolResult{CallID: c.ID, Name: c.Name})
		}
		if h.Err != nil {
			return
		}
		messages := []content.Message{providertest.User(text("text-1", "x")), h.message()}
		if len(results) > 0 {
			messages = append(messages, providertest.Results(results...))
		}
		messages = append(messages, providertest.User(text("text-2", "y")))
		body := spell(t, adapter("http://h", gemini.Config{CallSignatures: true}), provider.Request{Prompt: providertest.Settle(t, profile(true), nil, messages...)})
		if _, err := providertest.ReadGemini(body); err != nil {
			t.Errorf("%v\n%s", err, body)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	var wire bytes.Buffer
	for range 1000 {
		wire.WriteString("data: " + said("some words ") + "\n\n")
	}
	wire.WriteString("data: " + end("STOP") + "\n\n")
	p := hearing(wire.String())
	b.SetBytes(int64(wire.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if h := listen(b.Context(), b, p, provider.Body{}); h.Err != nil {
			b.Fatal(h.Err)
		}
	}
}
