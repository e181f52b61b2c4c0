package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// heard is an answer put together.
type heard struct {
	Text, Thoughts string
	// Thought is the first, More are the others.
	Thought content.Reasoning
	More    []content.Reasoning
	Calls   []content.ToolCall
	Remarks []provider.Remark
	Usage   content.Usage
	Raw     string
	Stop    content.StopReason
	Note    string
	Err     *provider.Error
}

func listen(ctx context.Context, tb testing.TB, p provider.Provider, body provider.Body) heard {
	tb.Helper()
	var h heard
	finished := 0
	for ev, err := range p.Stream(ctx, body) {
		if err != nil {
			if !errors.As(err, &h.Err) {
				tb.Fatalf("not an *Error: %v", err)
			}
			continue
		}
		if h.Err != nil || finished > 0 {
			tb.Fatalf("%T behind the end", ev)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			h.Text += ev.Text
		case provider.ThoughtDelta:
			h.Thoughts += ev.Text
		case provider.Thought:
			if h.Thought.Path == "" {
				h.Thought = ev.Reasoning
			} else {
				h.More = append(h.More, ev.Reasoning)
			}
		case provider.Call:
			h.Calls = append(h.Calls, ev.Call)
		case provider.UsageReport:
			h.Usage, h.Raw = ev.Usage, string(ev.Raw)
		case provider.Remark:
			h.Remarks = append(h.Remarks, ev)
		case provider.Retry:
		case provider.Finish:
			h.Stop, h.Note = ev.Stop, ev.Note
			finished++
		}
	}
	if finished == 0 && h.Err == nil {
		tb.Fatal("neither a finish nor an error")
	}
	return h
}

func chat(url string) provider.Provider {
	return openai.New(provider.Options{BaseURL: url, MaxRetries: -1}, openai.Config{Model: "m"})
}

func hello(tb testing.TB, p provider.Provider) provider.Body {
	tb.Helper()
	body, err := p.Encode(provider.Request{Prompt: providertest.Settle(tb, providertest.Profile(openai.ChatPath), nil, providertest.User(text("text-1", "hi")))})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func known(n int64) content.Count { return content.Reported(n) }

func kind(h heard) delivery.FailureKind {
	if h.Err == nil {
		return delivery.FailNone
	}
	return h.Err.Failure.Kind
}

func TestAnswers(t *testing.T) {
	d, end, done := providertest.Delta, providertest.End, providertest.Done
	call := func(id, name, args string) content.ToolCall {
		return content.ToolCall{ID: id, Name: name, Arguments: args}
	}
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  heard
	}{
		"text and usage": {
			providertest.TextUsage(providertest.Usage{Prompt: 11, Completion: 3, Image: 7, Cached: 2}, "Hel", "lo ", "ä"),
			heard{Text: "Hello ä", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(11), Output: known(3), Cached: known(2), Image: known(7)}, Raw: providertest.Usage{Prompt: 11, Completion: 3, Image: 7, Cached: 2}.JSON()},
		},
		"zero is not absent": {
			providertest.TextUsage(providertest.Usage{Prompt: 1, Completion: 1, Image: 0, Cached: -1}, "x"),
			heard{Text: "x", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(1), Output: known(1), Image: known(0)}, Raw: providertest.Usage{Prompt: 1, Completion: 1, Image: 0, Cached: -1}.JSON()},
		},
		"length":         {providertest.Events(d(`{"content":"x"}`), end("length"), done), heard{Text: "x", Stop: content.StopMaxTokens}},
		"filter":         {providertest.Events(d(`{"content":"x"}`), end("content_filter"), done), heard{Text: "x", Stop: content.StopRefusal, Note: "content_filter"}},
		"refusal":        {providertest.Events(d(`{"refusal":"I will not."}`), end("stop"), done), heard{Text: "I will not.", Stop: content.StopRefusal, Note: "refusal"}},
		"own word":       {providertest.Events(d(`{"content":"x"}`), end("tired"), done), heard{Text: "x", Stop: content.StopEndTurn, Note: "tired"}},
		"no done":        {providertest.Events(d(`{"content":"x"}`), end("stop")), heard{Text: "x", Stop: content.StopEndTurn}},
		"no reason":      {providertest.Events(d(`{"content":"x"}`), done), heard{Text: "x", Stop: content.StopEndTurn}},
		"cut after end":  {providertest.Cut(10_000, providertest.Events(d(`{"content":"x"}`), end("stop"))), heard{Text: "x", Stop: content.StopEndTurn}},
		"reasoning":      {providertest.Events(d(`{"reasoning_content":"a","reasoning":"a"}`), d(`{"reasoning_content":"b"}`), d(`{"content":"x"}`), end("stop"), done), heard{Text: "x", Thoughts: "ab", Thought: content.Reasoning{Text: "ab", Signature: "reasoning_content", Path: openai.ChatPath}, Stop: content.StopEndTurn}},
		"short field":    {providertest.Events(d(`{"reasoning":"ab"}`), end("stop"), done), heard{Thoughts: "ab", Thought: content.Reasoning{Text: "ab", Signature: "reasoning", Path: openai.ChatPath}, Stop: content.StopEndTurn}},
		"typed content":  {providertest.Events(d(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"x"}]}`), end("stop"), done), heard{Text: "x", Thoughts: "t", Thought: content.Reasoning{Text: "t", Signature: "reasoning_content", Path: openai.ChatPath}, Stop: content.StopEndTurn}},
		"null fields":    {providertest.Events(d(`{"content":null,"tool_calls":null,"refusal":null}`), `{"choices":null,"usage":null,"error":null}`, d(`{"content":"x"}`), end("stop"), done), heard{Text: "x", Stop: content.StopEndTurn}},
		"other choice":   {providertest.Events(`{"choices":[{"index":1,"delta":{"content":"no"}}]}`, d(`{"content":"x"}`), end("stop"), done), heard{Text: "x", Stop: content.StopEndTurn}},
		"calls":          {providertest.Calls(call("a", "read", `{"p":1}`), call("b", "list", `{}`)), heard{Calls: []content.ToolCall{call("a", "read", `{"p":1}`), call("b", "list", `{}`)}, Stop: content.StopEndTurn, Usage: content.Usage{Input: known(10), Output: known(5)}, Raw: providertest.Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}.JSON()}},
		"whole calls":    {providertest.Events(d(`{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"k":1}}},{"id":"b","function":{"name":"y","arguments":""}}]}`), end("tool_calls"), done), heard{Calls: []content.ToolCall{call("a", "x", `{"k":1}`), call("b", "y", `{}`)}, Stop: content.StopEndTurn}},
		"all index zero": {providertest.Events(d(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`), d(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}`), end("stop"), done), heard{Calls: []content.ToolCall{call("a", "x", `{}`), call("b", "y", `{}`)}, Stop: content.StopEndTurn}},
		"name repeated":  {providertest.Events(d(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}]}`), d(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":":2}"}}]}`), end("tool_calls"), done), heard{Calls: []content.ToolCall{call("a", "x", `{"k":2}`)}, Stop: content.StopEndTurn}},
		"no index":       {providertest.Events(d(`{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{\"k\""}}]}`), d(`{"tool_calls":[{"function":{"arguments":":3}"}}]}`), end("tool_calls"), done), heard{Calls: []content.ToolCall{call("a", "x", `{"k":3}`)}, Stop: content.StopEndTurn}},
		"call cut off":   {providertest.Events(d(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k"}}]}`), end("length"), done), heard{Stop: content.StopMaxTokens, Note: "a tool call was cut off"}},
		"one piece":      {providertest.Raw("application/json", `{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4}}`), heard{Text: "x", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(4)}, Raw: `{"prompt_tokens":4}`}},
		"mislabelled":    {providertest.Raw("text/event-stream", "\n {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}"), heard{Text: "x", Stop: content.StopEndTurn}},
		"keepalive":      {providertest.Raw("text/event-stream", ": wait\n\n: wait\n\ndata: "+d(`{"content":"x"}`)+"\n\ndata: [DONE]\n\n"), heard{Text: "x", Stop: content.StopEndTurn}},
	} {
		t.Run(name, func(t *testing.T) {
			p := chat(providertest.NewRecorder(t, tc.reply).URL)
			if diff := cmp.Diff(tc.want, listen(t.Context(), t, p, hello(t, p))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUsageFields(t *testing.T) {
	for raw, want := range map[string]content.Usage{
		`{"prompt_tokens":9,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}`:                  {Input: known(9), Cached: known(4)},
		`{"prompt_tokens":9,"cached_tokens":3}`:                                                         {Input: known(9), Cached: known(3)},
		`{"prompt_tokens":9,"prompt_tokens_details":null}`:                                              {Input: known(9)},
		`{"prompt_tokens":9,"prompt_tokens_details":{"image_tokens":null,"audio_tokens":0}}`:            {Input: known(9), Audio: known(0)},
		`{"prompt_tokens":9.0,"prompt_tokens_details":{"cache_write_tokens":2}}`:                        {Input: known(9), CacheWrite: known(2)},
		`{"completion_tokens":8,"completion_tokens_details":{"reasoning_tokens":6}}`:                    {Output: known(8), Reasoning: known(6)},
		`{"prompt_tokens":-1,"completion_tokens":"many","prompt_tokens_details":{"image_tokens":"12"}}`: {Image: known(12)},
		`{"completion_tokens":2,"prompt_tokens_details":[],"completion_tokens_details":"none"}`:         {Output: known(2)},
		`{}`: {},
	} {
		p := chat(providertest.NewRecorder(t, providertest.Events(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":`+raw+`}`, providertest.Done)).URL)
		if diff := cmp.Diff(want, listen(t.Context(), t, p, hello(t, p)).Usage); diff != "" {
			t.Errorf("%s\n%s", raw, diff)
		}
	}
	for _, chunk := range []string{
		`{"choices":[],"x_groq":{"usage":{"prompt_tokens":9}}}`, `{"choices":[{"delta":{},"usage":{"prompt_tokens":9}}]}`,
	} {
		p := chat(providertest.NewRecorder(t, providertest.Events(providertest.End("stop"), chunk, providertest.Done)).URL)
		if got := listen(t.Context(), t, p, hello(t, p)).Usage.Input; got != known(9) {
			t.Errorf("%s: %v", chunk, got)
		}
	}
}

func TestFailures(t *testing.T) {
	d, end, done := providertest.Delta, providertest.End, providertest.Done
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.Failure
	}{
		"no end":              {providertest.Events(d(`{"content":"x"}`)), delivery.Failure{Kind: delivery.FailStream}},
		"nothing":             {providertest.Raw("text/event-stream", ""), delivery.Failure{Kind: delivery.FailStream}},
		"cut":                 {providertest.Cut(60, providertest.Text("hello")), delivery.Failure{Kind: delivery.FailStream}},
		"cut in whole":        {providertest.Cut(10, providertest.Raw("application/json", `{"choices":[{"message":{"content":"x"}}]}`)), delivery.Failure{Kind: delivery.FailStream}},
		"half an event":       {providertest.Raw("text/event-stream", "data: {\"choices\""), delivery.Failure{Kind: delivery.FailStream}},
		"error object":        {providertest.Events(`{"object":"error","message":"Qwen is not a multimodal model","code":400}`, done), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"no choice":           {providertest.Events(`{"id":"1"}`, done), delivery.Failure{Kind: delivery.FailProtocol}},
		"no JSON":             {providertest.Events("hello", done), delivery.Failure{Kind: delivery.FailProtocol}},
		"other form":          {providertest.Events(`{"choices":"x"}`, done), delivery.Failure{Kind: delivery.FailProtocol}},
		"page":                {providertest.Raw("text/html", "<!doctype html><title>Welcome</title>"), delivery.Failure{Kind: delivery.FailProtocol}},
		"error reason":        {providertest.Events(d(`{"content":"x"}`), end("error"), done), delivery.Failure{Kind: delivery.FailStream}},
		"no resources":        {providertest.Events(d(`{"content":"x"}`), end("insufficient_system_resource"), done), delivery.Failure{Kind: delivery.FailServer}},
		"error in the middle": {providertest.Events(d(`{"content":"x"}`), `{"error":{"message":"Could not process image","code":400}}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassDecode}},
		"error in a choice":   {providertest.Events(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}`), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"error event":         {providertest.Raw("text/event-stream", "event: error\ndata: {\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}\n\n"), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"error in a 200":      {providertest.Raw("application/json", `{"error":"Vision add-on is not loaded, but images were provided"}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"list in a 200":       {providertest.Raw("application/json", `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]`), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
		"detail in a 200":     {providertest.Raw("application/json", `{"detail":"Input should be a valid string"}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"status":              {providertest.Status(400, `{"error":{"message":"no"}}`), delivery.Failure{Kind: delivery.FailRefused, Status: 400}},
	} {
		t.Run(name, func(t *testing.T) {
			p := chat(providertest.NewRecorder(t, tc.reply).URL)
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
	rec := providertest.NewRecorder(t, providertest.Events(providertest.Report(providertest.Usage{Prompt: 3, Image: -1, Cached: -1}), providertest.Delta(`{"content":"x"}`)))
	h := listen(t.Context(), t, chat(rec.URL), hello(t, chat(rec.URL)))
	if kind(h) != delivery.FailStream || h.Usage.Input != known(3) {
		t.Errorf("usage %v, error %v", h.Usage, h.Err)
	}
}

// Calls without an identifier get one that the same answer always gets, and
// that no other call of it has.
func TestMissingCallIDs(t *testing.T) {
	reply := providertest.Events(
		providertest.Delta(`{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{}"}},{"index":1,"function":{"name":"x","arguments":"{}"}},{"index":2,"id":"dup","function":{"name":"x"}},{"index":3,"id":"dup","function":{"name":"x"}}]}`),
		providertest.End("tool_calls"), providertest.Done)
	rec := providertest.NewRecorder(t, reply)
	p := chat(rec.URL)
	a, b := listen(t.Context(), t, p, hello(t, p)), listen(t.Context(), t, p, hello(t, p))
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
	rec := providertest.NewRecorder(t, providertest.HangAfter(providertest.Delta(`{"content":"x"}`)))
	p := chat(rec.URL)
	ctx, cancel := context.WithCancel(t.Context())
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
	cancel()
	if diff := cmp.Diff([]string{"provider.TextDelta", "error"}, got); diff != "" {
		t.Error(diff)
	}
}

// A server that sends a byte a second is slow, not silent.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wire strings.Builder
		for _, d := range []string{providertest.Delta(`{"content":"hello"}`), providertest.End("stop"), providertest.Done} {
			wire.WriteString("data: " + d + "\n\n")
		}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // what it holds does not matter here
			for _, b := range []byte(wire.String()) {
				time.Sleep(time.Minute)
				_, _ = w.Write([]byte{b})
				_ = http.NewResponseController(w).Flush()
			}
		})
		tr := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() { _ = (&http.Server{Handler: h}).Serve(&one{conn: server}) }() // ends at the second Accept
			return client, nil
		}}
		p := openai.New(provider.Options{BaseURL: "http://h", Transport: tr}, openai.Config{Model: "m"})
		got := listen(t.Context(), t, p, hello(t, p))
		if got.Text != "hello" || got.Stop != content.StopEndTurn {
			t.Errorf("%+v", got)
		}
	})
}

type one struct{ conn net.Conn }

func (o *one) Accept() (net.Conn, error) {
	c := o.conn
	o.conn = nil
	if c == nil {
		return nil, io.EOF
	}
	return c, nil
}
func (o *one) Close() error   { return nil }
func (o *one) Addr() net.Addr { return &net.TCPAddr{} }

// answering is a transport that gives one answer.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body) // what it holds does not matter here
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a)), Request: r}, nil
}

// No answer makes the reader panic or break the contract, which listen checks.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("data: " + providertest.Delta(`{"content":"x","tool_calls":[{"index":1,"id":"a","function":{"name":"n","arguments":"{}"}}]}`) + "\n\ndata: [DONE]\n\n"))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"x"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte("<html>"))
	f.Add([]byte("\xEF\xBB\xBFdata: {\"error\":{\"message\":\"m\"}}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":{}}}]},\"finish_reason\":\"length\"}]}\n\n"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		p := openai.New(provider.Options{BaseURL: "http://h", Transport: answering(wire)}, openai.Config{Model: "m"})
		h := listen(t.Context(), t, p, provider.Body{})
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
		wire.WriteString("data: " + providertest.Delta(`{"content":"some words "}`) + "\n\n")
	}
	wire.WriteString("data: " + providertest.End("stop") + "\n\ndata: [DONE]\n\n")
	p := openai.New(provider.Options{BaseURL: "http://h", Transport: answering(wire.Bytes())}, openai.Config{Model: "m"})
	b.SetBytes(int64(wire.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if h := listen(b.Context(), b, p, provider.Body{}); h.Err != nil {
			b.Fatal(h.Err)
		}
	}
}
