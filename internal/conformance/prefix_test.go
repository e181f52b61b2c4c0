package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"tote/internal/content"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// thinks answers with a thought and then with words, or with a call where name is
// not "".
func (g *tongue) thinks(n int, name, arguments string) providertest.Reply {
	id, thought, words := fmt.Sprintf("call-%d", n), fmt.Sprintf("hm %d", n), fmt.Sprintf("So much for %d.", n)
	call := content.ToolCall{ID: id, Name: name, Arguments: arguments}
	switch g.kind {
	case "openai-chat":
		data := []string{providertest.Delta(`{"role":"assistant","reasoning_content":` + spell(thought) + `}`)}
		reason := "stop"
		if name == "" {
			data = append(data, providertest.Delta(`{"content":`+spell(words)+`}`))
		} else {
			data = append(data, providertest.Delta(fmt.Sprintf(
				`{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, id, name, spell(arguments))))
			reason = "tool_calls"
		}
		return providertest.Events(append(data, providertest.End(reason), providertest.Report(plenty()), providertest.Done)...)
	case "openai-responses":
		item := providertest.ResponsesCall("fc_"+id, id, name, arguments)
		if name == "" {
			item = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":` + spell(words) + `,"annotations":[]}]}`
		}
		return providertest.ResponsesItems(plenty(), providertest.ResponsesReasoning(fmt.Sprintf("rs_%d", n), thought, "sealed"), item)
	case "anthropic":
		u := providertest.AnthropicUsage{Input: 90_000, Output: 5, CacheRead: 0, CacheWrite: 0}
		data := append([]string{providertest.AnthropicStart(u)}, providertest.AnthropicThinkingBlock(0, thought, fmt.Sprintf("sig-%d", n))...)
		if name == "" {
			data = append(data, providertest.AnthropicTextBlock(1, words)...)
			return providertest.AnthropicEvents(append(data, providertest.AnthropicEnd("end_turn", u)...)...)
		}
		data = append(data, providertest.AnthropicCallBlock(1, call)...)
		return providertest.AnthropicEvents(append(data, providertest.AnthropicEnd("tool_use", u)...)...)
	case "gemini":
		part := `{"text":` + spell(words) + `,"thoughtSignature":"c2ln"}`
		if name != "" {
			part = fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s},"thoughtSignature":"c2ln"}`, id, name, arguments)
		}
		return providertest.Events(providertest.GeminiChunk(`{"text":`+spell(thought)+`,"thought":true}`), providertest.GeminiChunk(part),
			providertest.GeminiEnd("STOP", providertest.GeminiUsageJSON(plenty())))
	case "ollama":
		message := `{"role":"assistant","content":` + spell(words) + `}`
		if name != "" {
			message = fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":%q,"function":{"index":0,"name":%q,"arguments":%s}}]}`, id, name, arguments)
		}
		return providertest.Lines(providertest.OllamaLine(`{"role":"assistant","content":"","thinking":`+spell(thought)+`}`),
			providertest.OllamaLine(message), providertest.OllamaEnd("stop", plenty()))
	}
	return converseThinks(thought, words, call)
}

func converseThinks(thought, words string, call content.ToolCall) providertest.Reply {
	event := providertest.ConverseFrame
	frames := [][]byte{
		event("messageStart", `{"role":"assistant"}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":`+spell(thought)+`}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`),
		event("contentBlockStop", `{"contentBlockIndex":0}`),
	}
	reason := "end_turn"
	if call.Name == "" {
		frames = append(frames, event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":`+spell(words)+`}}`))
	} else {
		reason = "tool_use"
		frames = append(frames,
			event("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":%q,"name":%q}}}`, call.ID, call.Name)),
			event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":`+spell(call.Arguments)+`}}}`))
	}
	return providertest.ConverseFrames(append(frames,
		event("contentBlockStop", `{"contentBlockIndex":1}`), event("messageStop", `{"stopReason":"`+reason+`"}`),
		event("metadata", `{"metrics":{"latencyMs":1},"usage":{"inputTokens":90000,"outputTokens":5,"totalTokens":90005}}`))...)
}

// spelledMarks are what asks a server to cache a prompt up to there, with what
// divides it from its neighbour.
var spelledMarks = [][]byte{[]byte(`,"cache_control":{"type":"ephemeral"}`), []byte(`,{"cachePoint":{"type":"default"}}`)}

// spine is what a body begins with, to the end of its conversation and without
// marks. marks are the places in it at which marks stood.
func spine(t *testing.T, g *tongue, body []byte) (head []byte, marks []int) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	grows := members[g.conversation]
	at := bytes.Index(body, grows)
	if len(grows) < 3 || at < 0 {
		t.Fatalf("%s: no %s in the request", g.kind, g.conversation)
	}
	body = body[:at+len(grows)-1]
	for len(body) > 0 {
		next, mark := len(body), []byte(nil)
		for _, m := range spelledMarks {
			if i := bytes.Index(body, m); i >= 0 && i < next {
				next, mark = i, m
			}
		}
		head = append(head, body[:next]...)
		if mark != nil {
			marks = append(marks, len(head))
		}
		body = body[next+len(mark):]
	}
	return head, marks
}

// breaks counts the requests that do not go on from the one before. It checks the
// marks of those that do.
func breaks(t *testing.T, g *tongue, list []letter) int {
	t.Helper()
	n := 0
	var before []byte
	var last int
	for i, l := range list {
		head, marks := spine(t, g, l.body)
		if len(marks) > 4 {
			t.Errorf("request %d has %d marks", i, len(marks))
		}
		switch {
		case i > 0 && !bytes.HasPrefix(head, before):
			n++
			t.Logf("request %d leaves the one before at byte %d of %d", i, agree(head, before), len(before))
		case i > 0 && len(marks) > 0 && !slices.Contains(marks, last):
			t.Errorf("request %d marks %v, and the last mark before was %d", i, marks, last)
		}
		before = head
		if len(marks) > 0 {
			last = marks[len(marks)-1]
		}
	}
	return n
}

// agree is how many bytes a and b begin with alike.
func agree(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// queue hands replies out in order.
type queue struct {
	mu   sync.Mutex
	list []providertest.Reply
}

func (q *queue) put(replies ...providertest.Reply) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, replies...)
}

func (q *queue) take() providertest.Reply {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	next := q.list[0]
	q.list = q.list[1:]
	return next
}

const longTalk = 13

// talk holds a session of pictures, tool rounds with pictures in their results
// and thinking, with a restart in its middle.
func talk(t *testing.T, r *rig, model, more string) {
	t.Helper()
	var q queue
	r.on(model, func(int, letter) providertest.Reply { return q.take() })
	w := newWorld(t, r.settings(`"context_tokens":200000`, more, bind{model: model, vision: "true", more: `,"effort":"medium"`}))
	p := w.launch()
	s := p.with(model)
	for i := range longTalk {
		if i == longTalk/2 {
			p.stop()
			p = w.launch()
			s = p.open(s.ID())
		}
		list := []content.Source{prose(fmt.Sprintf("turn %d, \"quoted\" <&> \u2713", i))}
		if i%2 == 0 {
			shot, _ := w.snap(fmt.Sprintf("given-%d.png", i), 60, 60, uint64(i))
			list = append(list, shot)
		}
		if i%3 == 1 {
			name := fmt.Sprintf("found-%d.png", i)
			w.snap(name, 61, 60, uint64(i))
			q.put(r.thinks(100+i, "read", `{"path":"`+name+`"}`))
		}
		q.put(r.thinks(i, "", ""))
		noRetry(t, p.prompt(s, list...))
	}
	p.stop()
}

// grownModels are names under which the wires use all that they have: results
// with pictures, thinking, marks.
var grownModels = map[string]string{
	"gemini": "gemini-3-pro-preview", "bedrock-converse": "us.anthropic.claude-sonnet-4-5-v1", "anthropic": "claude-sonnet-4-5",
}

// TestPrefixIsStable holds a long session over each wire: each request begins with
// the one before, to the byte, also after a restart.
func TestPrefixIsStable(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			model := grownModels[g.kind]
			if model == "" {
				model = "m"
			}
			talk(t, r, model, "")
			list := r.got(model)
			if len(list) < longTalk+4 || len(list[len(list)-1].media) != 11 {
				t.Errorf("%d requests, %d pictures in the last", len(list), len(list[len(list)-1].media))
			}
			if n := breaks(t, &g, list); n != 0 {
				t.Errorf("the prefix changed %d times", n)
			}
			_, marks := spine(t, &g, list[len(list)-1].body)
			if marked := g.kind == "anthropic" || g.kind == "bedrock-converse"; marked != (len(marks) > 0) {
				t.Errorf("%d marks", len(marks))
			}
			if signed := grownModels[g.kind] != ""; signed && !signs(list[len(list)-1].sent) {
				t.Error("no thinking comes back signed")
			}
		})
	}
}

// signs reports whether a request holds the signature of a thought.
func signs(s providertest.Sent) bool {
	return slices.ContainsFunc(s.Messages, func(m providertest.SentMessage) bool {
		return slices.ContainsFunc(m.Parts, func(p providertest.SentPart) bool { return p.Signature != "" })
	})
}

// TestEvictionBreaksThePrefixOnce crosses the budget of history in the middle of a
// session: much gives way at once, so that the prefix changes once.
func TestEvictionBreaksThePrefixOnce(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			model := grownModels[g.kind]
			if model == "" {
				model = "m"
			}
			talk(t, r, model, `,"limits":{"history_bytes":32000}`)
			if n := breaks(t, &g, r.got(model)); n != 1 {
				t.Errorf("the prefix changed %d times", n)
			}
		})
	}
}

// TestPrefixOfClaude does the same with what the claude program reads.
func TestPrefixOfClaude(t *testing.T) {
	t.Parallel()
	command, calls := clitest.Fake(t, "claude", clitest.OK)
	w := newWorld(t, bindClaude(t, command, "true", ""))
	p := w.launch()
	s := p.with("m")
	for i := range longTalk {
		if i == longTalk/2 {
			p.stop()
			p = w.launch()
			s = p.open(s.ID())
		}
		list := []content.Source{prose(fmt.Sprintf("turn %d", i))}
		if i%2 == 0 {
			shot, _ := w.snap(fmt.Sprintf("given-%d.png", i), 60, 60, uint64(i))
			list = append(list, shot)
		}
		p.prompt(s, list...)
	}
	p.stop()
	var before []byte
	list := calls()
	if len(list) != longTalk {
		t.Fatalf("%d calls for %d turns", len(list), longTalk)
	}
	for i, c := range list {
		sent, err := c.Sent()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(sent.Media()); n != i/2+1 {
			t.Errorf("call %d has %d pictures", i, n)
		}
		at := bytes.LastIndex(c.Stdin, []byte(`,{"type":"text"`)) // the closing words
		if at < 0 || !bytes.HasPrefix(c.Stdin[:at], before) {
			t.Errorf("call %d does not go on from the one before: it leaves it at byte %d of %d", i, agree(c.Stdin, before), len(before))
		}
		before = c.Stdin[:max(at, 0)]
	}
}
