package anthropic_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/providertest"
)

// heard is an answer put together. Order has a letter for each event but deltas
// of the same kind in a row.
type heard struct {
	Text, Thoughts, Order string
	Thinking              []content.Reasoning
	Calls                 []content.ToolCall
	Usage                 content.Usage
	Raw                   string
	Stop                  content.StopReason
	Note                  string
	Err                   *provider.Error
}

func (h *heard) note(letter string) {
	if !strings.HasSuffix(h.Order, letter) || strings.ContainsAny(letter, "TC") {
		h.Order += letter
	}
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
			h.note("x")
		case provider.ThoughtDelta:
			h.Thoughts += ev.Text
			h.note("t")
		case provider.Thought:
			h.Thinking = append(h.Thinking, ev.Reasoning)
			h.note("T")
		case provider.Call:
			h.Calls = append(h.Calls, ev.Call)
			h.note("C")
		case provider.UsageReport:
			h.Usage, h.Raw = ev.Usage, string(ev.Raw)
		case provider.Retry, provider.Remark:
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

func at(url string) provider.Provider {
	return anthropic.New(provider.Options{BaseURL: url, MaxRetries: -1}, anthropic.Config{Model: "m"})
}

func hello(tb testing.TB, p provider.Provider) provider.Body {
	tb.Helper()
	body, err := p.Encode(provider.Request{Prompt: providertest.Settle(tb, profile(native), nil, hi(nil)...)})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// replay is a transport that gives one answer.
type replay []byte

func (a replay) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body) // what it holds does not matter here
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a)), Request: r}, nil
}

// over reads events as a stream.
func over(tb testing.TB, events ...[]string) heard {
	tb.Helper()
	var wire strings.Builder
	for _, e := range events {
		wire.WriteString(providertest.AnthropicWire(e...))
	}
	return overWire(tb, wire.String())
}

func overWire(tb testing.TB, wire string) heard {
	tb.Helper()
	p := anthropic.New(provider.Options{BaseURL: "http://h", Transport: replay(wire)}, anthropic.Config{Model: "m"})
	return listen(tb.Context(), tb, p, provider.Body{})
}

func known(n int64) content.Count { return content.Reported(n) }

// none reports nothing.
var none = providertest.AnthropicUsage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1}

func start() []string { return []string{providertest.AnthropicStart(none)} }

func ends(reason string) []string { return providertest.AnthropicEnd(reason, none) }

// quiet drops the usage, which is "{}" in all answers of none.
func quiet(h heard) heard {
	h.Raw = strings.TrimPrefix(h.Raw, "{}")
	return h
}

func TestAnswers(t *testing.T) {
	block, words := providertest.AnthropicBlock, providertest.AnthropicTextBlock
	json := func(s string) string {
		return `{"type":"input_json_delta","partial_json":` + fmt.Sprintf("%q", s) + `}`
	}
	read := content.ToolCall{ID: "toolu_1", Name: "read", Arguments: `{"p":1}`}
	list := content.ToolCall{ID: "toolu_2", Name: "list", Arguments: `{}`}
	origin := over(t, start(), providertest.AnthropicThinkingBlock(0, "a", "S"), ends("end_turn")).Thinking[0].Signature
	sign := func(kind, sig string) string {
		return kind + strings.TrimSuffix(strings.TrimPrefix(origin, "thinking"), "S") + sig
	}
	thinking := func(text, sig string) content.Reasoning {
		return content.Reasoning{Text: text, Signature: sign("thinking", sig), Path: anthropic.Path}
	}
	tool := `{"type":"tool_use","id":"toolu_1","name":"read","input":{}}`
	for name, tc := range map[string]struct {
		events [][]string
		want   heard
	}{
		"text": {[][]string{start(), words(0, "Hel", "lo ", "ä"), ends("end_turn")}, heard{Text: "Hello ä", Order: "x", Stop: content.StopEndTurn}},
		"every part in order": {
			[][]string{
				start(), providertest.AnthropicThinkingBlock(0, "hm", "S+/="), words(1, "I look."),
				block(2, `{"type":"redacted_thinking","data":"D=="}`), providertest.AnthropicCallBlock(3, read), providertest.AnthropicThinkingBlock(4, "so", "S2"),
				providertest.AnthropicCallBlock(5, list), ends("tool_use"),
			},
			heard{
				Text: "I look.", Thoughts: "hmso", Order: "tTxTCtTC", Stop: content.StopEndTurn, Calls: []content.ToolCall{read, list},
				Thinking: []content.Reasoning{thinking("hm", "S+/="), {Signature: sign("redacted_thinking", "D=="), Path: anthropic.Path}, thinking("so", "S2")},
			},
		},
		"thinking without words": {
			[][]string{start(), block(0, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"S"}`, `{"type":"signature_delta","signature":"T"}`), words(1, "x"), ends("end_turn")},
			heard{Text: "x", Order: "Tx", Thinking: []content.Reasoning{thinking("", "ST")}, Stop: content.StopEndTurn},
		},
		"thinking without a signature": {
			[][]string{start(), block(0, `{"type":"thinking","thinking":"in "}`, `{"type":"thinking_delta","thinking":"full"}`), ends("end_turn")},
			heard{Thoughts: "in full", Order: "tT", Thinking: []content.Reasoning{thinking("in full", "")}, Stop: content.StopEndTurn},
		},
		"everything in the start": {
			[][]string{start(), block(0, `{"type":"text","text":"x"}`), block(1, `{"type":"tool_use","id":"toolu_1","name":"read","input":{"p":1}}`), ends("tool_use")},
			heard{Text: "x", Order: "xC", Calls: []content.ToolCall{read}, Stop: content.StopEndTurn},
		},
		"a call without input": {
			[][]string{start(), block(0, `{"type":"tool_use","id":"toolu_2","name":"list","input":{}}`, json("")), ends("tool_use")},
			heard{Order: "C", Calls: []content.ToolCall{list}, Stop: content.StopEndTurn},
		},
		"a broken call": {
			[][]string{start(), block(0, tool, json(`{"p`)), ends("tool_use")},
			heard{Order: "C", Calls: []content.ToolCall{{ID: "toolu_1", Name: "read", Arguments: `{"p`}}, Stop: content.StopEndTurn},
		},
		"a call cut off": {
			[][]string{start(), words(0, "x"), block(1, tool, json(`{"p`)), ends("max_tokens")},
			heard{Text: "x", Order: "x", Stop: content.StopMaxTokens, Note: "a tool call was cut off"},
		},
		"a call cut off at its beginning": {
			[][]string{start(), block(0, tool), ends("max_tokens")},
			heard{Stop: content.StopMaxTokens, Note: "a tool call was cut off"},
		},
		"a whole call, then the limit": {
			[][]string{start(), providertest.AnthropicCallBlock(0, read), ends("max_tokens")},
			heard{Order: "C", Calls: []content.ToolCall{read}, Stop: content.StopMaxTokens},
		},
		"blocks at the same time": {
			[][]string{
				start(),
				{`{"type":"content_block_start","index":0,"content_block":` + tool + `}`, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}`},
				{`{"type":"content_block_delta","index":1,"delta":` + json("{}") + `}`, `{"type":"content_block_stop","index":1}`},
				{`{"type":"content_block_delta","index":0,"delta":` + json(`{"p":1}`) + `}`, `{"type":"content_block_stop","index":0}`},
				ends("tool_use"),
			},
			heard{Order: "CC", Calls: []content.ToolCall{read, list}, Stop: content.StopEndTurn},
		},
		"unknown blocks and events": {
			[][]string{
				start(),
				{`{"type":"ping"}`, `{"type":"hologram","index":0}`, `{"type":"content_block_start","index":9}`},
				block(0, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, json(`{"q":1}`)),
				block(1, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`),
				block(2, `{"type":"text","text":""}`, `{"type":"citations_delta","citation":{"type":"char_location"}}`, `{"type":"text_delta","text":"x"}`, `{"type":"new_delta"}`), ends("end_turn"),
			},
			heard{Text: "x", Order: "x", Stop: content.StopEndTurn},
		},
		"no starts and no stops": {
			[][]string{start(), {`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}}`}, ends("end_turn")},
			heard{Text: "x", Thoughts: "t", Order: "txT", Thinking: []content.Reasoning{thinking("t", "")}, Stop: content.StopEndTurn},
		},
		"names and identifiers": {
			[][]string{start(), block(0, `{"type":"tool_use","id":"toolu_1","name":"a.b","input":{}}`, json("{}")), block(1, `{"type":"tool_use","id":"toolu_1","name":"","input":{}}`, json("{}")), ends("tool_use")},
			heard{Order: "CC", Calls: []content.ToolCall{{ID: "toolu_1", Name: "a_b", Arguments: "{}"}, {ID: "call_c41aa434a91ac71d", Name: "unnamed", Arguments: "{}"}}, Stop: content.StopEndTurn},
		},
		"nothing said":       {[][]string{start(), ends("end_turn")}, heard{Stop: content.StopEndTurn}},
		"stop sequence":      {[][]string{start(), words(0, "x"), ends("stop_sequence")}, heard{Text: "x", Order: "x", Stop: content.StopEndTurn}},
		"limit":              {[][]string{start(), words(0, "x"), ends("max_tokens")}, heard{Text: "x", Order: "x", Stop: content.StopMaxTokens}},
		"context":            {[][]string{start(), words(0, "x"), ends("model_context_window_exceeded")}, heard{Text: "x", Order: "x", Stop: content.StopMaxTokens, Note: "model_context_window_exceeded"}},
		"pause":              {[][]string{start(), words(0, "x"), ends("pause_turn")}, heard{Text: "x", Order: "x", Stop: content.StopEndTurn, Note: "pause_turn"}},
		"own word":           {[][]string{start(), words(0, "x"), ends("tired")}, heard{Text: "x", Order: "x", Stop: content.StopEndTurn, Note: "tired"}},
		"refusal":            {[][]string{start(), words(0, "x"), ends("refusal")}, heard{Text: "x", Order: "x", Stop: content.StopRefusal, Note: "refusal"}},
		"refusal with cause": {[][]string{start(), {`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":null}}}`, `{"type":"message_stop"}`}}, heard{Stop: content.StopRefusal, Note: "refusal: cyber"}},
		"no message_stop":    {[][]string{start(), words(0, "x"), ends("end_turn")[:1]}, heard{Text: "x", Order: "x", Stop: content.StopEndTurn}},
		"no stop reason":     {[][]string{start(), words(0, "x"), ends("end_turn")[1:]}, heard{Text: "x", Order: "x", Stop: content.StopEndTurn}},
		"fields of other types": {
			[][]string{{`{"type":"message_start","message":{"id":7,"usage":[]}}`}, {`{"type":"content_block_start","index":"0","content_block":{"type":"text","text":null}}`}, {`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`}, {`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_details":"none"},"usage":"none"}`}},
			heard{Text: "x", Order: "x", Stop: content.StopEndTurn},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, quiet(over(t, tc.events...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWholeAnswer(t *testing.T) {
	const answer = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"S"},{"type":"text","text":"x"},
		{"type":"new"},{"type":"tool_use","id":"a","name":"n","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":4,"cache_read_input_tokens":2,"output_tokens":1}}`
	for _, wire := range []string{answer, "\n " + answer} {
		h := overWire(t, wire)
		if h.Text != "x" || h.Thoughts != "t" || len(h.Thinking) != 1 || len(h.Calls) != 1 || h.Calls[0].Arguments != "{}" || h.Order != "tTxC" {
			t.Errorf("%+v", h)
		}
		if h.Usage.Input != known(6) || h.Usage.Cached != known(2) || h.Usage.CacheWrite.Known || h.Stop != content.StopEndTurn {
			t.Errorf("%+v", h)
		}
	}
}

func TestUsage(t *testing.T) {
	for name, tc := range map[string]struct {
		start, delta string
		want         content.Usage
		raw          string
	}{
		"totals replace":    {`{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}`, `{"output_tokens":5}`, content.Usage{Input: known(117), Cached: known(100), CacheWrite: known(7), Output: known(5)}, `{"cache_creation_input_tokens":7,"cache_read_input_tokens":100,"input_tokens":10,"output_tokens":5}`},
		"all in the end":    {`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":9,"cache_read_input_tokens":3,"output_tokens":5}`, content.Usage{Input: known(12), Cached: known(3), Output: known(5)}, `{"cache_read_input_tokens":3,"input_tokens":9,"output_tokens":5}`},
		"null is not zero":  {`{"input_tokens":4,"cache_read_input_tokens":null,"cache_creation_input_tokens":0}`, `{"output_tokens":null}`, content.Usage{Input: known(4), CacheWrite: known(0)}, `{"cache_creation_input_tokens":0,"cache_read_input_tokens":null,"input_tokens":4,"output_tokens":null}`},
		"null takes back":   {`{"input_tokens":4,"output_tokens":1}`, `{"input_tokens":null,"output_tokens":2}`, content.Usage{Input: known(4), Output: known(2)}, `{"input_tokens":4,"output_tokens":2}`},
		"thinking":          {`null`, `{"output_tokens":8,"output_tokens_details":{"thinking_tokens":6}}`, content.Usage{Output: known(8), Reasoning: known(6)}, `{"output_tokens":8,"output_tokens_details":{"thinking_tokens":6}}`},
		"cache only":        {`null`, `{"cache_read_input_tokens":6}`, content.Usage{Cached: known(6)}, `{"cache_read_input_tokens":6}`},
		"other types":       {`{"input_tokens":"12","output_tokens":-1}`, `{"output_tokens_details":[],"cache_read_input_tokens":"many"}`, content.Usage{Input: known(12)}, `{"cache_read_input_tokens":"many","input_tokens":"12","output_tokens":-1,"output_tokens_details":[]}`},
		"nothing":           {`null`, `null`, content.Usage{}, ``},
		"fields of its own": {`{"service_tier":"standard"}`, `{"input_tokens":1.0}`, content.Usage{Input: known(1)}, `{"input_tokens":1.0,"service_tier":"standard"}`},
	} {
		h := over(t, []string{`{"type":"message_start","message":{"id":"m","usage":` + tc.start + `}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + tc.delta + `}`})
		if diff := cmp.Diff(tc.want, h.Usage); diff != "" || h.Raw != tc.raw {
			t.Errorf("%s: raw %s\n%s", name, h.Raw, diff)
		}
	}
}

// Missing identifiers are made up, the same for the same answer and each once.
func TestMissingCallIDs(t *testing.T) {
	call := `{"type":"tool_use","name":"n","input":{"k":1}}`
	long := `{"type":"tool_use","id":"` + strings.Repeat("a", 300) + `","name":"n","input":{"k":1}}`
	events := [][]string{start(), providertest.AnthropicBlock(0, call), providertest.AnthropicBlock(1, call), providertest.AnthropicBlock(2, long), ends("tool_use")}
	a, b := over(t, events...), over(t, events...)
	if diff := cmp.Diff(a.Calls, b.Calls); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for _, c := range a.Calls {
		ids[c.ID] = true
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("identifiers %v", ids)
	}
}

// What an answer holds goes back as it came, to the model that gave it only.
func TestThinkingGoesBack(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.AnthropicEvents(slicesOf(
		start(), providertest.AnthropicThinkingBlock(0, "hm", "S:1"), providertest.AnthropicBlock(1, `{"type":"redacted_thinking","data":"D:2"}`),
		providertest.AnthropicTextBlock(2, "x"), ends("end_turn"))...)).Check("/v1/messages", check)
	p := at(rec.URL)
	h := listen(t.Context(), t, p, hello(t, p))
	say := content.Message{Role: content.RoleAssistant}
	for _, r := range h.Thinking {
		say.Parts = append(say.Parts, r)
	}
	say.Parts = append(say.Parts, content.Text{Body: h.Text})
	req := provider.Request{Prompt: providertest.Settle(t, profile(native), nil, hi(nil)[0], say, providertest.User(text("text-2", "more")))}
	got := readSent(t, spell(t, p, req)).Messages[1].Parts
	want := []providertest.SentPart{{Thought: "hm", Signature: "S:1"}, {Signature: "D:2"}, {Text: "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, other := range map[string]provider.Provider{
		"another model":  anthropic.New(provider.Options{BaseURL: rec.URL}, anthropic.Config{Model: "m2"}),
		"another server": anthropic.New(provider.Options{BaseURL: "http://h"}, anthropic.Config{Model: "m"}),
	} {
		if got := readSent(t, spell(t, other, req)).Messages[1].Parts; len(got) != 1 {
			t.Errorf("%s gets %+v", name, got)
		}
	}
}

func check(body []byte) error {
	_, err := providertest.ReadAnthropic(body)
	return err
}

func slicesOf(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// Both generations of the API are asked for by header, on the paths of both
// kinds of base URL.
func TestHeaders(t *testing.T) {
	for _, tc := range []struct {
		base, path string
		config     anthropic.Config
		version    string
		betas      string
	}{
		{"", "/v1/messages", anthropic.Config{}, "2023-06-01", ""},
		{"/anthropic", "/anthropic/v1/messages", anthropic.Config{Version: anthropic.Version2026, Betas: []string{"a-1", "b-2"}}, "2026-10-21", "a-1,b-2"},
	} {
		rec := providertest.NewRecorder(t, providertest.AnthropicTextUsage(providertest.AnthropicUsage{Input: 3, CacheRead: -1}, "ok")).Check("/v1/messages", check)
		tc.config.Model = "m"
		p := anthropic.New(provider.Options{
			BaseURL: rec.URL + tc.base, KeyHeader: "x-api-key", Key: func() (string, error) { return "sk-1", nil },
		}, tc.config)
		h := listen(t.Context(), t, p, hello(t, p))
		got := rec.Last()
		if h.Text != "ok" || got.Path != tc.path || got.Header.Get("X-Api-Key") != "sk-1" || got.Header.Get("Authorization") != "" {
			t.Errorf("%+v, %s %v", h, got.Path, got.Header)
		}
		if got.Header.Get("Anthropic-Version") != tc.version || got.Header.Get("Anthropic-Beta") != tc.betas {
			t.Errorf("headers %v", got.Header)
		}
		if h.Usage.Input != known(3) || h.Usage.CacheWrite != known(0) || h.Usage.Cached.Known {
			t.Errorf("usage %+v", h.Usage)
		}
	}
}

func TestCancelInTheMiddle(t *testing.T) {
	u := providertest.AnthropicUsage{Input: 3, CacheRead: -1, CacheWrite: -1}
	events := slicesOf([]string{providertest.AnthropicStart(u)}, providertest.AnthropicTextBlock(0, "x")[:2])
	rec := providertest.NewRecorder(t, providertest.HangAfter(events...))
	p := at(rec.URL)
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
		if _, ok := ev.(provider.TextDelta); ok {
			cancel()
		}
	}
	if diff := cmp.Diff([]string{"provider.UsageReport", "provider.TextDelta", "error"}, got); diff != "" {
		t.Error(diff)
	}
}

// No answer makes the reader panic or break the contract, which listen checks,
// and the calls of any answer can be sent back.
func FuzzAnswer(f *testing.F) {
	read := content.ToolCall{ID: "toolu_1", Name: "read", Arguments: `{"p":1}`}
	f.Add([]byte(providertest.AnthropicWire(slicesOf(start(), providertest.AnthropicThinkingBlock(0, "t", "S"), providertest.AnthropicTextBlock(1, "x"), providertest.AnthropicCallBlock(2, read), ends("tool_use"))...)))
	f.Add([]byte(`{"type":"message","content":[{"type":"tool_use","input":{"a":"\ud800"}},{"type":"text","text":"x"}],"usage":{"input_tokens":1}}`))
	f.Add([]byte(providertest.AnthropicWire(slicesOf(start(), []string{providertest.AnthropicErrorJSON("overloaded_error", "Overloaded", "")})...)))
	f.Add([]byte("<html>"))
	f.Add([]byte("event: content_block_start\ndata: {\"content_block\":{\"type\":\"tool_use\"}}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n"))
	f.Add([]byte("[{\"error\":1}]"))
	m := model(anthropic.Config{})
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := overWire(t, string(wire))
		say, results := content.Message{Role: content.RoleAssistant}, content.Message{Role: content.RoleTool}
		for _, r := range h.Thinking {
			say.Parts = append(say.Parts, r)
		}
		ids := map[string]bool{}
		for _, c := range h.Calls {
			if c.ID == "" || c.Arguments == "" || ids[c.ID] {
				t.Errorf("call %+v", c)
			}
			ids[c.ID] = true
			say.Parts = append(say.Parts, c)
			results.Parts = append(results.Parts, content.ToolResult{CallID: c.ID, Name: c.Name})
		}
		if h.Text != "" {
			say.Parts = append(say.Parts, content.Text{Body: h.Text})
		}
		messages := append(hi(nil), say)
		if len(h.Calls) > 0 {
			messages = append(messages, results)
		}
		messages = append(messages, providertest.User(text("text-2", "more")))
		readSent(t, spell(t, m, provider.Request{Prompt: providertest.Settle(t, profile(native), nil, messages...)}))
	})
}

func BenchmarkStream(b *testing.B) {
	var words []string
	for range 1000 {
		words = append(words, "some words ")
	}
	wire := []byte(providertest.AnthropicWire(slicesOf(start(), providertest.AnthropicTextBlock(0, words...), ends("end_turn"))...))
	p := anthropic.New(provider.Options{BaseURL: "http://h", Transport: replay(wire)}, anthropic.Config{Model: "m"})
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.Stream(b.Context(), provider.Body{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What a server wants said of pictures is said where there is one.
func TestPictureHeaders(t *testing.T) {
	var blobs providertest.Blobs
	m := anthropic.New(provider.Options{BaseURL: "http://127.0.0.1:1"}, anthropic.Config{Model: "m", PictureHeaders: map[string]string{"X-Vision": "true"}})
	for want, msg := range map[string]content.Message{
		"":     providertest.User(content.Text{Handle: "text-1", Body: "hello"}),
		"true": providertest.User(providertest.Picture("image-1.png", blobs.Put([]byte("png"), "image/png"), 3, 2)),
	} {
		body, err := m.Encode(provider.Request{Prompt: providertest.Settle(t, providertest.Profile(anthropic.Path), &blobs, msg), Blobs: &blobs})
		if err != nil || body.Header["X-Vision"] != want {
			t.Errorf("%q, %v, want %q", body.Header["X-Vision"], err, want)
		}
	}
}
