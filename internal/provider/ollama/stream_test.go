package ollama_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/ollama"
	"tote/internal/provider/providertest"
)

const counters = `{"prompt_eval_count":10,"eval_count":5}`

func said(s string) string {
	return providertest.OllamaLine(fmt.Sprintf(`{"role":"assistant","content":%q}`, s))
}

func end(reason string) string {
	return providertest.OllamaEnd(reason, providertest.Usage{Prompt: -1, Completion: -1})
}

func TestAnswers(t *testing.T) {
	line, lines := providertest.OllamaLine, providertest.Lines
	call := func(id, name, args string) content.ToolCall {
		return content.ToolCall{ID: id, Name: name, Arguments: args}
	}
	full := content.Usage{Input: known(10), Output: known(5)}
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  heard
	}{
		"text and usage": {providertest.OllamaText("Hel", "lo ", "ä"), heard{Text: "Hello ä", Stop: content.StopEndTurn, Usage: full, Raw: counters}},
		"prompt from the cache": {
			providertest.OllamaUsage(providertest.Usage{Prompt: -1, Completion: 5}, "x"),
			heard{Text: "x", Stop: content.StopEndTurn, Usage: content.Usage{Output: known(5)}, Raw: `{"eval_count":5}`},
		},
		"calls":       {providertest.OllamaCalls(call("a", "read", `{"p": 1}`), call("b", "list", `{}`)), heard{Calls: []content.ToolCall{call("a", "read", `{"p": 1}`), call("b", "list", `{}`)}, Stop: content.StopEndTurn, Usage: full, Raw: counters}},
		"odd calls":   {lines(line(`{"tool_calls":[{"id":"a","function":{"name":"a.b","arguments":"{\"k\":1}"}}]}`), line(`{"tool_calls":[{"id":"b","function":{"name":""}}]}`), end("stop")), heard{Calls: []content.ToolCall{call("a", "a_b", `{"k":1}`), call("b", "unnamed", `{}`)}, Stop: content.StopEndTurn}},
		"call at end": {lines(`{"message":{"content":"","tool_calls":[{"id":"a","function":{"name":"n","arguments":{}}}]},"done":true,"done_reason":"stop"}`), heard{Calls: []content.ToolCall{call("a", "n", `{}`)}, Stop: content.StopEndTurn}},
		"thinking":    {lines(line(`{"thinking":"let "}`), line(`{"thinking":"me","content":""}`), said("ok"), end("stop")), heard{Text: "ok", Thoughts: "let me", Reasoning: []content.Reasoning{{Text: "let me", Path: ollama.Path}}, Stop: content.StopEndTurn}},
		"length":      {lines(said("x"), end("length")), heard{Text: "x", Stop: content.StopMaxTokens}},
		"own word":    {lines(said("x"), end("tired")), heard{Text: "x", Stop: content.StopEndTurn, Note: "tired"}},
		"old server":  {lines(said("x"), `{"done":true,"total_duration":7,"eval_count":1}`), heard{Text: "x", Stop: content.StopEndTurn, Usage: content.Usage{Output: known(1)}, Raw: `{"eval_count":1,"total_duration":7}`}},
		"picture":     {lines(line(`{"content":"","images":["AAAA"]}`), end("stop")), heard{Stop: content.StopEndTurn, Remarks: []provider.Remark{{Text: "the model sent a picture, which this version does not show", Lost: true}}}},
		"one piece":   {providertest.Raw("application/json", strings.Replace(end("stop"), `"content":""`, `"content":"x"`, 1)), heard{Text: "x", Stop: content.StopEndTurn}},
		"odd lines":   {providertest.Raw("application/x-ndjson", "\xEF\xBB\xBF\r\n"+said("x")+"\r\n\r\n"+`{"status":"loading"}`+"\n"+end("stop")+"\nbehind"), heard{Text: "x", Stop: content.StopEndTurn}},
		"no error":    {lines(`{"error":"","message":{"content":"x"}}`, `{"error":null,"done":true}`), heard{Text: "x", Stop: content.StopEndTurn}},
		"odd counts":  {lines(said("x"), `{"done":true,"prompt_eval_count":-1,"eval_count":"many"}`), heard{Text: "x", Stop: content.StopEndTurn, Raw: `{"prompt_eval_count":-1,"eval_count":"many"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := providertest.NewRecorder(t, tc.reply).Check("/api/chat", func(body []byte) error {
				_, err := providertest.ReadOllama(body)
				return err
			})
			p := adapter(rec.URL, ollama.Config{})
			if diff := cmp.Diff(tc.want, listen(t.Context(), t, p, hello(t, p))); diff != "" {
				t.Error(diff)
			}
			if got := rec.Last().Path; got != "/api/chat" {
				t.Errorf("path %s", got)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	lines, status := providertest.Lines, providertest.Status
	reply := func(message string) string { return fmt.Sprintf(`{"error":%q}`, message) }
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.Failure
	}{
		"no end":               {lines(said("x")), delivery.Failure{Kind: delivery.FailStream}},
		"nothing":              {providertest.Raw("application/x-ndjson", ""), delivery.Failure{Kind: delivery.FailStream}},
		"cut":                  {providertest.Cut(150, providertest.OllamaText("hello", "you")), delivery.Failure{Kind: delivery.FailStream}},
		"half a line":          {providertest.Raw("application/x-ndjson", said("x")+"\n{\"mess"), delivery.Failure{Kind: delivery.FailStream}},
		"no JSON":              {lines("hello"), delivery.Failure{Kind: delivery.FailProtocol}},
		"no JSON later":        {lines(said("x"), "hello", end("stop")), delivery.Failure{Kind: delivery.FailProtocol}},
		"other form":           {lines(`{"message":"x"}`), delivery.Failure{Kind: delivery.FailProtocol}},
		"a list":               {lines(`[]`), delivery.Failure{Kind: delivery.FailProtocol}},
		"page":                 {providertest.Raw("text/html", "<!doctype html><title>Welcome</title>"), delivery.Failure{Kind: delivery.FailProtocol}},
		"detail in a 200":      {lines(`{"detail":"Input should be a valid string"}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"runner gone":          {lines(said("x"), reply("model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details")), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"picture inside":       {lines(reply("this model does not support image input")), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"blind cloud":          {status(400, reply("this model does not support image input")), delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassBlind}},
		"blind runner":         {status(500, reply("image input is not supported - hint: if this is unexpected, you may need to provide the mmproj")), delivery.Failure{Kind: delivery.FailRefused, Status: 500, Class: delivery.ClassBlind}},
		"no such model":        {status(404, reply(`model "x" not found, try pulling it first`)), delivery.Failure{Kind: delivery.FailRefused, Status: 404}},
		"no tools":             {status(400, reply("registry.ollama.ai/library/llava:latest does not support tools")), delivery.Failure{Kind: delivery.FailRefused, Status: 400}},
		"busy":                 {status(503, reply("server busy, please try again.  maximum pending requests exceeded")), delivery.Failure{Kind: delivery.FailServer, Status: 503}},
		"model's context":      {status(400, reply("input length (5000 tokens) exceeds the model's maximum context length (4096 tokens)")), delivery.Failure{Kind: delivery.FailOverflow, Status: 400}},
		"context overflow":     {status(400, reply("request (5302 tokens) exceeds the available context size (4096 tokens), try increasing it")), delivery.Failure{Kind: delivery.FailOverflow, Status: 400}},
		"overflow before 0.18": {status(400, reply("the input length exceeds the context length")), delivery.Failure{Kind: delivery.FailOverflow, Status: 400}},
	} {
		t.Run(name, func(t *testing.T) {
			p := adapter(providertest.NewRecorder(t, tc.reply).URL, ollama.Config{})
			h := listen(t.Context(), t, p, hello(t, p))
			if h.Err == nil {
				t.Fatalf("no error: %+v", h)
			}
			got := h.Err.Failure
			if got.Kind == delivery.FailOverflow {
				got.Learned = delivery.Learned{} // what is learned of the context is held elsewhere
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%v\n%s", h.Err, diff)
			}
		})
	}
}

// Calls without an identifier get one that the same answer always gets, that no
// other call of it has, and that a later answer does not get.
func TestMissingCallIDs(t *testing.T) {
	answer := func(time string) string {
		return `{"created_at":"` + time + `","message":{"tool_calls":[{"function":{"name":"x","arguments":{}}},{"function":{"name":"x","arguments":{}}},{"id":"dup","function":{"name":"x"}},{"id":"dup","function":{"name":"x"}}]},"done":true}`
	}
	a, b := listen(t.Context(), t, hearing(answer("1")), provider.Body{}), listen(t.Context(), t, hearing(answer("1")), provider.Body{})
	if diff := cmp.Diff(a.Calls, b.Calls); diff != "" {
		t.Errorf("the same answer gives other identifiers\n%s", diff)
	}
	seen := map[string]bool{}
	for _, c := range append(a.Calls, listen(t.Context(), t, hearing(answer("2")), provider.Body{}).Calls...) {
		if c.ID == "" || seen[c.ID] && c.ID != "dup" {
			t.Errorf("identifier %q", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d identifiers, want 7", len(seen))
	}
}

func TestCancelInTheMiddle(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.HangAfter())
	p := adapter(rec.URL, ollama.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for ev, err := range p.Stream(ctx, hello(t, p)) {
		var e *provider.Error
		if !errors.As(err, &e) || e.Failure.Kind != delivery.FailCancelled {
			t.Errorf("event %v, error %v", ev, err)
		}
	}
}

// Through the adapter no picture is lost in silence: a context that is too small
// is an error, and a larger one holds all.
func TestNoPictureIsLeftOutInSilence(t *testing.T) {
	var blobs providertest.Blobs
	server := &providertest.OllamaServer{Capabilities: []string{"completion", "vision"}}
	s := httptest.NewServer(server)
	defer s.Close()
	messages := []content.Message{
		providertest.User(text("text-1", "one [img-0]"), picture(&blobs, "image-1.png", "PNG one")),
		providertest.Say(content.ToolCall{ID: "c", Name: "n"}),
		providertest.Results(content.ToolResult{CallID: "c", Name: "n", Blocks: []content.Block{picture(&blobs, "image-2.png", "PNG two")}}),
		providertest.Say(content.Text{Body: "[img]"}),
		providertest.User(text("text-2", "three"), picture(&blobs, "image-3.png", "PNG three")),
	}
	req := provider.Request{Prompt: providertest.Settle(t, profile(), &blobs, messages...), Blobs: &blobs}
	send := func(context int) heard {
		p := adapter(s.URL, ollama.Config{Context: context})
		body, err := p.Encode(req)
		if err != nil {
			t.Fatal(err)
		}
		return listen(t.Context(), t, p, body)
	}
	if h := send(2048); h.Err == nil || h.Err.Failure.Kind != delivery.FailOverflow {
		t.Errorf("too small a context: %+v", h)
	}
	if h := send(4096); h.Err != nil || h.Text != "I was shown 3 pictures." {
		t.Errorf("%+v", h)
	}
	sights := server.Sights()
	if len(sights) != 1 || sights[0].Dropped != 0 || string(bytes.Join(sights[0].Pictures, []byte(","))) != "PNG one,PNG two,PNG three" {
		t.Errorf("the model was given %+v", sights)
	}
}

// No answer makes the reader panic or break the contract, which listen checks.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(said("x") + "\n" + providertest.OllamaLine(`{"thinking":"t","tool_calls":[{"function":{"name":"n","arguments":{"k":1}}}]}`) + "\n" + end("length")))
	f.Add([]byte(`{"error":"boom"}`))
	f.Add([]byte("<html>"))
	f.Add([]byte("\xEF\xBB\xBF{\"message\":{\"content\":\"x\",\"images\":[1]},\"done\":true,\"eval_count\":1e3}"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := listen(t.Context(), t, hearing(string(wire)), provider.Body{})
		ids := map[string]bool{}
		for _, c := range h.Calls {
			if c.ID == "" || c.Arguments == "" || ids[c.ID] {
				t.Errorf("call %+v", c)
			}
			ids[c.ID] = true
		}
	})
}

func BenchmarkStream(b *testing.B) {
	var wire bytes.Buffer
	for range 1000 {
		wire.WriteString(said("some words ") + "\n")
	}
	wire.WriteString(end("stop") + "\n")
	p := hearing(wire.String())
	b.SetBytes(int64(wire.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if h := listen(b.Context(), b, p, provider.Body{}); h.Err != nil {
			b.Fatal(h.Err)
		}
	}
}
