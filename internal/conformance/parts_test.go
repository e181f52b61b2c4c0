package conformance_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/offline"
	"tote/internal/provider/providertest"
)

// partChecks has a check for every part that is no block.
var partChecks = map[string]func(t *testing.T, p content.Part, w wire){
	"Reasoning": func(t *testing.T, p content.Part, w wire) {
		if r, _ := p.(content.Reasoning); bytes.Contains(w.body, []byte(r.Text)) {
			t.Errorf("reasoning that the codec did not read is on the wire: %q", w.thoughts)
		}
	},
	"ToolCall": func(t *testing.T, p content.Part, w wire) {
		want, _ := p.(content.ToolCall)
		if !hasCall(w, want) {
			t.Errorf("calls on the wire: %+v, want %+v among them", w.calls, want)
		}
		if bytes.Contains(w.body, []byte(want.Signature)) {
			t.Errorf("signature %q, which the codec did not read, is on the wire", want.Signature)
		}
	},
	"ToolResult": func(t *testing.T, p content.Part, w wire) {
		r, _ := p.(content.ToolResult)
		if !slices.Contains(w.results, r.CallID) {
			t.Errorf("answered calls on the wire: %q, want %s among them", w.results, r.CallID)
		}
		for _, b := range r.Blocks {
			if body := content.Compact([]content.Block{b}); !strings.Contains(w.flat, body) {
				t.Errorf("the result's %q is not on the wire", body)
			}
		}
	},
}

// hasCall finds a call by what every wire can say of it.
func hasCall(w wire, want content.ToolCall) bool {
	return slices.ContainsFunc(w.calls, func(c content.ToolCall) bool {
		return c.ID == want.ID && c.Name == want.Name && c.Arguments == want.Arguments
	})
}

// Parts that only a model or a tool makes arrive on every path, those of another
// path among them. Signatures are for TestThinkingGoesHome.
func TestPartsArrive(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range contenttest.Parts() {
		names = append(names, typeName(p))
	}
	for _, b := range contenttest.Blocks() {
		names = append(names, typeName(b))
	}
	slices.Sort(names)
	if diff := cmp.Diff(declared(t, "part"), names); diff != "" {
		t.Errorf("declared parts and samples differ (-declared +sampled):\n%s", diff)
	}
	for name, a := range adapters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []content.Part
			results := content.Message{Role: content.RoleTool}
			for _, p := range contenttest.Parts() {
				switch p := p.(type) {
				case content.ToolResult:
					results.Parts = append(results.Parts, p)
				case content.Reasoning:
					p.Path = "another"
					said = append(said, p)
				case content.ToolCall:
					p.Path = "another"
					said = append(said, p)
				case content.Text, content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
				}
			}
			said = append(said, content.ToolCall{ID: "call-lost", Name: "list", Arguments: "{}"})
			w := converse(t, stand(t, a), everything(a), providertest.User(say(1, "go")), providertest.Say(said...), results,
				providertest.Say(content.Reasoning{Text: "only thinking", Path: "another"}), providertest.User(say(2, "and?")))
			for _, p := range contenttest.Parts() {
				check, ok := partChecks[typeName(p)]
				if !ok {
					t.Errorf("nothing here checks a %s", typeName(p))
					continue
				}
				check(t, p, w)
			}
			if !slices.Contains(w.results, "call-lost") {
				t.Errorf("a call without a result is not answered: %q", w.results)
			}
		})
	}
}

// converse sends a conversation.
func converse(t *testing.T, st *station, p delivery.Profile, messages ...content.Message) wire {
	t.Helper()
	var s shelf
	prompt := providertest.Settle(t, p, &s.Blobs, messages...)
	return post(t, st, provider.Request{Prompt: prompt, Blobs: &s})
}

// listen has the codec read a thinking answer, and returns what it gave as an
// agent keeps it.
func listen(t *testing.T, st *station) []content.Part {
	t.Helper()
	var s shelf
	body, err := st.p.Encode(provider.Request{Prompt: providertest.Settle(t, everything(st.adapter), &s.Blobs, providertest.User(say(1, "go"))), Blobs: &s})
	if err != nil {
		t.Fatal(err)
	}
	var out []content.Part
	text, began := -1, -1
	for e, err := range st.p.Stream(t.Context(), body) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case provider.ThoughtDelta:
			if began < 0 { // a thought stands where it began, also where it ends with the answer
				began = len(out)
				out = append(out, content.Reasoning{})
			}
		case provider.Thought:
			if began < 0 {
				began = len(out)
				out = append(out, content.Reasoning{})
			}
			out[began] = e.Reasoning
		case provider.Call:
			out = append(out, e.Call)
		case provider.TextDelta:
			if text < 0 {
				text = len(out)
				out = append(out, content.Text{})
			}
			said, _ := out[text].(content.Text)
			out[text] = content.Text{Body: said.Body + e.Text}
		case provider.UsageReport, provider.Retry, provider.Remark, provider.Finish:
		}
	}
	return out
}

// thinkingAnswers are what the codecs read of thinking answers, by path.
func thinkingAnswers(t *testing.T) map[string][]content.Part {
	t.Helper()
	out := map[string][]content.Part{}
	for path, a := range adapters {
		if a.think.reply == nil {
			continue
		}
		out[path] = listen(t, stand(t, a, a.think.reply))
		var kinds []string
		for _, p := range out[path] {
			kinds = append(kinds, typeName(p))
		}
		if !slices.Equal(kinds, []string{"Reasoning", "Text", "ToolCall"}) {
			t.Errorf("%s: the codec read %q of an answer with thinking, words and a call", path, kinds)
		}
	}
	return out
}

// thinkingTurn is a turn with such an answer in it, and one with thinking alone.
func thinkingTurn(said []content.Part) []content.Message {
	return []content.Message{
		providertest.User(say(1, "go")), providertest.Say(said...),
		providertest.Results(content.ToolResult{CallID: thinkingCall.ID, Name: "read", Blocks: []content.Block{say(2, "a file")}}),
		providertest.Say(content.Text{Body: "done"}), providertest.User(say(3, "and?")),
		providertest.Say(said[0]), providertest.User(say(4, "what?")),
	}
}

// TestThinkingGoesHome: thinking and signatures go back to the path that they
// came from, as they came, and nowhere else. What they belong to goes anywhere.
func TestThinkingGoesHome(t *testing.T) {
	t.Parallel()
	answers := thinkingAnswers(t)
	for path, a := range adapters {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			none := func(t *testing.T, w wire) {
				t.Helper()
				for _, s := range []string{thoughtText, thoughtSign, callSign} {
					if bytes.Contains(w.body, []byte(s)) {
						t.Errorf("%s is on the wire", s)
					}
				}
				if len(w.thoughts) > 0 {
					t.Errorf("thoughts on the wire: %q", w.thoughts)
				}
				wordsArrive(t, w)
			}
			p := everything(a)
			if a.runner != "" { // all at once, since to start a program is dear
				var all []content.Message
				for _, said := range answers {
					all = append(append(all, thinkingTurn(said)...), providertest.Say(content.Text{Body: "next"}))
				}
				none(t, converse(t, stand(t, a), p, all[:len(all)-1]...))
				return
			}
			for from, said := range answers {
				if from != path {
					t.Run("from "+from, func(t *testing.T) { none(t, converse(t, stand(t, a), p, thinkingTurn(said)...)) })
				}
			}
			if a.think.reply == nil {
				return
			}
			st := stand(t, a, a.think.reply)
			said := listen(t, st)
			t.Run("own", func(t *testing.T) { comesHome(t, a, converse(t, st, p, thinkingTurn(said)...)) })
			t.Run("own of another server", func(t *testing.T) { wordsArrive(t, converse(t, stand(t, a), p, thinkingTurn(said)...)) })
			p.Placement.NoReasoning = true
			t.Run("own where none is taken", func(t *testing.T) { none(t, converse(t, st, p, thinkingTurn(said)...)) })
		})
	}
}

// comesHome checks that thinking stands before the words that it led to, as it
// came.
func comesHome(t *testing.T, a adapter, w wire) {
	t.Helper()
	want := thought{a.think.text, a.think.signature}
	if !slices.Equal(w.thoughts, []thought{want, want}) {
		t.Errorf("thoughts on the wire: %q, want two times %q", w.thoughts, want)
	}
	if a.think.call != "" && bytes.Count(w.body, []byte(a.think.call)) != 1 {
		t.Error("the signature of the call is not there, or twice")
	}
	// Members of one message may stand in any order.
	if a.apart != apartEverywhere && a.path != "openai-chat" && bytes.Index(w.body, []byte(thoughtText)) > bytes.Index(w.body, []byte(saidText)) {
		t.Error("the thought stands behind what it led to")
	}
	wordsArrive(t, w)
}

func wordsArrive(t *testing.T, w wire) {
	t.Helper()
	if !strings.Contains(w.flat, saidText) {
		t.Errorf("what the model said is not on the wire: %q", w.flat)
	}
	if !hasCall(w, thinkingCall) || !slices.Contains(w.results, thinkingCall.ID) {
		t.Errorf("its call is not on the wire, or not answered: %+v, %q", w.calls, w.results)
	}
	if strings.TrimSpace(w.flat) == "" || len(w.speakers) < 7 {
		t.Errorf("speakers: %q", w.speakers)
	}
}

// TestTheNextRequestBeginsAsTheLast sends every block twice on one lane: first in
// the prompt, then as history. Without an eviction the earlier part is the same
// to the byte, and the receipts hold again.
func TestTheNextRequestBeginsAsTheLast(t *testing.T) {
	t.Parallel()
	evicting := []string{"fewer", "tight", "no history"}
	var s shelf
	crowd := s.crowd(t)
	for name, a := range adapters {
		if !tried(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stand(t, a)
			for _, c := range a.conditions() {
				if slices.ContainsFunc(evicting, func(x string) bool { return strings.HasPrefix(c.name, x) }) {
					continue
				}
				if a.runner != "" && c.name != "own with files" && c.name != "text only" {
					continue // to start a program is dear
				}
				t.Run(c.name, func(t *testing.T) {
					first := settle(t, &s, c, a, placings[0], crowd)
					before := send(t, st, first)
					later := placing{name: "lane", route: delivery.RouteHistory, make: func(blocks []content.Block) ([]content.Message, int) {
						messages, _ := placings[0].make(blocks)
						return append(messages, providertest.Say(content.Text{Body: "seen"}), providertest.User(say(2, "once more"))), len(messages) + 1
					}}
					c.ledger = first.ledger
					second := settle(t, &s, c, a, later, crowd)
					after := send(t, st, second)
					checkWire(t, second, after)
					beginsAs(t, a, before.body, after.body)
				})
			}
		})
	}
}

// beginsAs checks that a request begins with the one before it.
func beginsAs(t *testing.T, a adapter, before, after []byte) {
	t.Helper()
	prefix := a.earlier(before)
	if after := unmarked(after); !bytes.HasPrefix(after, prefix) {
		n := 0
		for n < min(len(prefix), len(after)) && prefix[n] == after[n] {
			n++
		}
		t.Errorf("the next request does not begin with the %d bytes of the last: from %d on %.80q, want %.80q", len(prefix), n, after[n:], prefix[n:])
	}
}

// cacheMarks ask a server to keep the prompt up to them, and move on from one
// request to the next. They are no part of the prompt.
var cacheMarks = [][]byte{[]byte(`,"cache_control":{"type":"ephemeral"}`), []byte(`,{"cachePoint":{"type":"default"}}`)}

func unmarked(body []byte) []byte {
	for _, m := range cacheMarks {
		body = bytes.ReplaceAll(body, m, nil)
	}
	return body
}

// earlier is a request's body up to the end of its last message.
func (a adapter) earlier(body []byte) []byte {
	body = unmarked(body)
	if a.runner != "" {
		return body[:bytes.LastIndex(body, []byte("=== end of the conversation"))]
	}
	return body[:bytes.LastIndexByte(body, ']')]
}

// The built-in backend decodes what it is sent in the program itself, without a
// server on loopback: each picture that a receipt promises is seen, no other.
func TestOfflineSeesWhatTheReceiptsSay(t *testing.T) {
	var s shelf
	p := offline.New(offline.Options{MaxRetries: -1})
	a := adapters["offline"]
	for _, c := range a.conditions() {
		t.Run(c.name, func(t *testing.T) {
			r := settle(t, &s, c, a, placings[0], s.sounds(t))
			body, err := p.Encode(provider.Request{Prompt: r.prompt, Blobs: &s})
			if err != nil {
				t.Fatal(err)
			}
			var answer strings.Builder
			for e, err := range p.Stream(t.Context(), body) {
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := e.(provider.TextDelta); ok {
					answer.WriteString(d.Text)
				}
			}
			want := 0
			for _, x := range r.receipts {
				if x.Kind == content.KindImage && !x.Disposition.Degraded() {
					want++
				}
			}
			checkSight(t, answer.String(), want)
		})
	}
}

// checkSight checks what the offline backend says of the pictures of a turn.
func checkSight(t *testing.T, answer string, pictures int) {
	t.Helper()
	if got := strings.Count(answer, "\nPicture "); got != pictures {
		t.Errorf("the backend saw %d pictures, the receipts promise %d:\n%s", got, pictures, answer)
	}
	for _, bad := range []string{"does not decode", "is broken", "not come as a data URI", "was sent as"} {
		if strings.Contains(answer, bad) {
			t.Errorf("the backend could not take something:\n%s", answer)
		}
	}
}
