package anthropic_test

import (
	"maps"
	"strings"
	"testing"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider"
	toteanthropic "tote/internal/provider/anthropic"
)

const (
	base = "https://api.anthropic.com"
	key  = "sk-ant-test"
)

// generation is one of the API and the SDK that speaks it.
type generation struct {
	version string
	// key is the header in which the SDK sends the key, and what is in it. tote
	// sends x-api-key with both, which both take.
	key, keyValue string
	// respell has the SDK read a request and spell it again.
	respell func([]byte) ([]byte, error)
	// send has the SDK send a request that it read, and read the answer.
	send func(*testing.T, *sdk.Wire, []byte) sdk.Answer
	// types are values of the SDK's types for answers.
	types types
}

// types make parts of an answer in an SDK's own types.
type types struct {
	start, begin, delta, stop, end, last func() any

	thinking  func() any
	redacted  func(data string) any
	text      func() any
	call      func(id, name string) any
	thinks    func(string) any
	signs     func(string) any
	says      func(string) any
	writes    func(string) any
	usage     func(in, out, cached, written, thought int64) any
	deltas    func(in, out, cached, written, thought int64) any
	stopsWith func(reason string) any
}

var generations = map[string]generation{toteanthropic.Version2023: first, toteanthropic.Version2026: second}

// streams is the member that the SDK's client adds by itself.
var streams = sdk.Exception{
	Place: ".stream", How: "does not know",
	Reason: "the SDK's client sets it for a stream, after the parameters; the next comparison has it",
}

func config(s *sdk.Stage, g *generation, model string) toteanthropic.Config {
	c := toteanthropic.Config{
		Model: model, Version: g.version, MaxOutput: s.Wire.MaxOutput, NoCache: !s.Wire.CachePoints,
		NoToolCache: s.Wire.NoToolCache, AllowEmptySignature: s.Wire.EmptySignatures,
	}
	switch s.Wire.Effort {
	case profile.EffortBudget:
		c.Thinking = toteanthropic.ThinkingBudget
	case profile.EffortAdaptive:
		c.Thinking = toteanthropic.ThinkingAdaptive
	}
	return c
}

// ask holds the next request of a conversation against the SDK, sends it by both
// clients, and returns the answer.
func ask(t *testing.T, g *generation, s *sdk.Stage, e provider.Effort, c toteanthropic.Config, answer []byte) sdk.Reply {
	t.Helper()
	w := sdk.NewWire(t, "text/event-stream", answer)
	p := toteanthropic.New(provider.Options{
		BaseURL: base, Transport: w, KeyHeader: s.Wire.KeyHeader, Key: func() (string, error) { return key, nil },
	}, c)
	body, data := sdk.Body(t, p, s.Request(t, e))
	theirs, err := g.respell(data)
	if err != nil {
		t.Fatal(err)
	}
	sdk.Expect(t, sdk.Diff(longhand(sdk.Tree(t, data)), sdk.Tree(t, theirs)), streams)

	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	read := g.send(t, w, data)
	sent := w.Last(t)
	sdk.Heads(t, ours, sent, "Content-Type", "Anthropic-Version")
	if got := ours.Header.Get("X-Api-Key"); got != key {
		t.Errorf("the key is %q", got)
	}
	if got := sent.Header.Get(g.key); got != g.keyValue {
		t.Errorf("the SDK sends %s %q", g.key, got)
	}
	sdk.Expect(t, sdk.Diff(longhand(sdk.Tree(t, ours.Body)), sdk.Tree(t, sent.Body)))
	sdk.Same(t, reply, read)
	return reply
}

// longhand puts a list of one text in place of a tool result's content that is a
// string. Both are right and the same
// (https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls,
// read 2026-11-30); the SDK's type has the list alone.
func longhand(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = longhand(v[k])
		}
		if text, ok := v["content"].(string); ok && v["type"] == "tool_result" {
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
	case []any:
		for i := range v {
			v[i] = longhand(v[i])
		}
	}
	return v
}

// script spells an answer.
type script struct {
	t      *testing.T
	types  *types
	events [][2]string
	blocks int
}

func (s *script) add(event any, more map[string]any) {
	s.t.Helper()
	tree := s.lean(event)
	maps.Copy(tree, more)
	name, ok := tree["type"].(string)
	if !ok {
		s.t.Fatalf("%T has no type", event)
	}
	s.events = append(s.events, [2]string{name, string(sdk.JSON(s.t, tree))})
}

// lean is an object as the server sends it: with the texts that are empty.
func (s *script) lean(v any) map[string]any {
	s.t.Helper()
	tree, ok := sdk.Lean(sdk.Tree(s.t, sdk.JSON(s.t, v))).(map[string]any)
	if !ok {
		s.t.Fatalf("%T is no object", v)
	}
	kind, _ := tree["type"].(string) // a usage has none
	for k, e := range map[string]map[string]any{
		"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": map[string]any{}},
	}[kind] {
		if _, ok := tree[k]; !ok {
			tree[k] = e
		}
	}
	return tree
}

func begin(t *testing.T, g *generation) *script {
	s := &script{t: t, types: &g.types}
	message := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": s.lean(g.types.usage(1200, 1, 640, 12, 0)),
	}
	s.add(g.types.start(), map[string]any{"message": message})
	s.events = append(s.events, [2]string{"ping", `{"type":"ping"}`})
	return s
}

func (s *script) block(begun any, deltas ...any) {
	index := map[string]any{"index": s.blocks}
	with := func(name string, v any) map[string]any { return map[string]any{"index": s.blocks, name: s.lean(v)} }
	s.add(s.types.begin(), with("content_block", begun))
	for _, d := range deltas {
		s.add(s.types.delta(), with("delta", d))
	}
	s.add(s.types.stop(), index)
	s.blocks++
}

func (s *script) end(reason string) []byte {
	s.add(s.types.end(), map[string]any{
		"delta": s.lean(s.types.stopsWith(reason)), "usage": s.lean(s.types.deltas(1200, 88, 640, 12, 40)),
	})
	s.add(s.types.last(), nil)
	return sdk.Events(s.events...)
}

const (
	signature = "EqQBCkYIBxgCKkD+/abc=="
	redacted  = "EmwKAhgBEgy3va3pzix/LafPsn4="
)

func rich(t *testing.T, g *generation) []byte {
	t.Helper()
	s := begin(t, g)
	y := &g.types
	s.block(y.thinking(), y.thinks("Let me <look>"), y.thinks(" at \"it\"."), y.signs(signature))
	s.block(y.redacted(redacted))
	s.block(y.text(), y.says("I look at "), y.says("both \u2028\U0001f600."))
	s.block(y.call("toolu_01A", "read"), y.writes(""), y.writes(`{"path":"a.`), y.writes(`png","n":[1,{"x":null}]}`))
	s.block(y.call("toolu_01B", "read"), y.writes(`{"path":"b"}`))
	s.block(y.call("toolu_01C", "list"))
	return s.end("tool_use")
}

// hoisted is the placement on servers that stand in for Anthropic's.
func hoisted(p *delivery.Placement) { p.HoistResults, p.TextErrors = true, true }

// TestMessages holds conversations against the SDK of each generation: with media
// in the results of tools, as Anthropic's own server takes them, and hoisted.
func TestMessages(t *testing.T) {
	const inside, outside = ".messages.content.content.source.data", ".messages.content.source.data"
	for name, c := range map[string]struct {
		model     string
		place     func(*delivery.Placement)
		oversized bool
		want      string
	}{
		"adaptive":  {"claude-opus-5", nil, false, inside},
		"budget":    {"claude-sonnet-4-5", nil, false, inside},
		"oversized": {"claude-sonnet-4-6", nil, true, inside},
		"hoisted":   {"claude-opus-5", hoisted, false, outside},
	} {
		for version, g := range generations {
			t.Run(name+" "+version, func(t *testing.T) {
				s := sdk.NewStage(t, sdk.Vendor{Kind: toteanthropic.Path, Base: base, Model: c.model, Documents: true, Place: c.place})
				conf := config(s, &g, c.model)
				conf.OversizedError = c.oversized
				s.AddReply(t, ask(t, &g, s, provider.EffortLow, conf, rich(t, &g)))
				ask(t, &g, s, provider.EffortHigh, conf, rich(t, &g))
				s.AddStrangers()
				ask(t, &g, s, provider.EffortNone, conf, rich(t, &g))
				body, data := sdk.Body(t, toteanthropic.New(provider.Options{BaseURL: base}, conf), s.Request(t, provider.EffortLow))
				if body.Header["anthropic-version"] != g.version {
					t.Errorf("the version is %q", body.Header["anthropic-version"])
				}
				check(t, s, data, c.want)
				if blind := sdk.Blind(t, data, g.respell, ".messages.content.input", ".tools.input_schema"); len(blind) > 0 {
					t.Errorf("a strange member would not be found at %v", blind)
				}
			})
		}
	}
}

// check looks for what has to be in the last request.
func check(t *testing.T, s *sdk.Stage, data []byte, inside string) {
	t.Helper()
	results, failed := s.Whole(t, data)
	for _, at := range results {
		if at != inside {
			t.Errorf("a medium of a tool stands at %s", at)
		}
	}
	for _, at := range failed { // the API refuses media in the result of a call that failed
		if at != ".messages.content.source.data" {
			t.Errorf("a medium of a failed call stands at %s", at)
		}
	}
	for secret, member := range map[string]string{signature: ".signature", redacted: ".data"} {
		if at := sdk.Find(sdk.Tree(t, data), secret); len(at) != 1 || !strings.HasSuffix(at[0], member) {
			t.Errorf("thinking goes back at %v", at)
		}
	}
	if n := strings.Count(string(data), `"cache_control"`); n != 4 {
		t.Errorf("%d breakpoints of the cache", n)
	}
}

// TestEnds has both read the ends that are not the usual one.
func TestEnds(t *testing.T) {
	for reason, want := range map[string]content.StopReason{
		"end_turn": content.StopEndTurn, "max_tokens": content.StopMaxTokens, "model_context_window_exceeded": content.StopMaxTokens,
		"refusal": content.StopRefusal, "pause_turn": content.StopEndTurn, "stop_sequence": content.StopEndTurn,
	} {
		for version, g := range generations {
			t.Run(reason+" "+version, func(t *testing.T) {
				a := begin(t, &g)
				a.block(g.types.text(), g.types.says("and so"))
				s := sdk.NewStage(t, sdk.Vendor{Kind: toteanthropic.Path, Base: base, Model: "claude-opus-5"})
				reply := ask(t, &g, s, provider.EffortDefault, config(s, &g, "claude-opus-5"), a.end(reason))
				if reply.Stop != want {
					t.Errorf("it stops with %s", reply.Stop)
				}
			})
		}
	}
}

// stopOf is what a stop reason of the API comes to.
func stopOf(reason string) content.StopReason {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return content.StopMaxTokens
	case "refusal":
		return content.StopRefusal
	}
	return content.StopEndTurn
}

// usageOf is what the API accounts for; what came out of the cache and went into
// it was read too, and stands beside input_tokens.
func usageOf(in, out, cached, written, thought int64) content.Usage {
	return content.Usage{
		Input: content.Reported(in + cached + written), Output: content.Reported(out), Cached: content.Reported(cached),
		CacheWrite: content.Reported(written), Reasoning: content.Reported(thought),
	}
}
