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
var partChecks = map[string]func(t *testing.T, p content.Part, w wire, reasons bool){
	"Reasoning": func(t *testing.T, p content.Part, w wire, reasons bool) {
		r, _ := p.(content.Reasoning)
		if got := slices.Contains(w.thoughts, r.Text); got != reasons {
			t.Errorf("reasoning on the wire: %v, want %v (%q)", got, reasons, w.thoughts)
		}
	},
	"ToolCall": func(t *testing.T, p content.Part, w wire, _ bool) {
		want, _ := p.(content.ToolCall)
		if !slices.Contains(w.calls, want) {
			t.Errorf("calls on the wire: %+v, want %+v among them", w.calls, want)
		}
	},
	"ToolResult": func(t *testing.T, p content.Part, w wire, _ bool) {
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

// Parts that only a model or a tool makes arrive too, reasoning where it came
// from and where the path takes it back.
func TestPartsArrive(t *testing.T) {
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
		for _, c := range []struct {
			name, madeBy string
			drop         bool
			reasons      bool
		}{
			{"own reasoning", a.path, false, true},
			{"own reasoning where none is taken", a.path, true, false},
			{"reasoning of another path", "another", false, false},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				said := []content.Part{}
				results := content.Message{Role: content.RoleTool}
				parts := contenttest.Parts()
				for i, p := range parts {
					if r, ok := p.(content.ToolResult); ok {
						results.Parts = append(results.Parts, r)
						continue
					}
					if r, ok := p.(content.Reasoning); ok {
						r.Path, r.Signature = c.madeBy, "reasoning_content"
						parts[i] = r
					}
					said = append(said, parts[i])
				}
				said = append(said, content.ToolCall{ID: "call-lost", Name: "list"})
				profile := everything(a)
				profile.Placement.NoReasoning = c.drop
				w := sendMessages(t, a, profile, providertest.User(say(1, "go")), providertest.Say(said...), results,
					providertest.Say(content.Reasoning{Text: "only thinking", Path: c.madeBy}), providertest.User(say(2, "and?")))
				for _, p := range parts {
					check, ok := partChecks[typeName(p)]
					if !ok {
						t.Errorf("nothing here checks a %s", typeName(p))
						continue
					}
					check(t, p, w, c.reasons)
				}
				if !slices.Contains(w.results, "call-lost") {
					t.Errorf("a call without a result is not answered: %q", w.results)
				}
			})
		}
	}
}

func sendMessages(t *testing.T, a adapter, p delivery.Profile, messages ...content.Message) wire {
	t.Helper()
	var s shelf
	prompt := providertest.Settle(t, p, &s.Blobs, messages...)
	return send(t, a, providertest.NewRecorder(t), request{shelf: &s, prompt: prompt})
}

// TestTheNextRequestBeginsAsTheLast sends every block twice on one lane: first in
// the prompt, then as history. Without an eviction the earlier part is the same
// to the byte, and the receipts hold again.
func TestTheNextRequestBeginsAsTheLast(t *testing.T) {
	evicting := []string{"fewer", "tight", "no history"}
	var s shelf
	crowd := s.crowd(t)
	for name, a := range adapters {
		for _, c := range conditions() {
			if slices.ContainsFunc(evicting, func(x string) bool { return strings.HasPrefix(c.name, x) }) {
				continue
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				rec := providertest.NewRecorder(t)
				first := settle(t, &s, c, a, placings[0], crowd)
				before := send(t, a, rec, first)
				later := placing{name: "lane", route: delivery.RouteHistory, make: func(blocks []content.Block) ([]content.Message, int) {
					messages, _ := placings[0].make(blocks)
					return append(messages, providertest.Say(content.Text{Body: "seen"}), providertest.User(say(2, "once more"))), len(messages) + 1
				}}
				c.ledger = first.ledger
				second := settle(t, &s, c, a, later, crowd)
				after := send(t, a, rec, second)
				checkWire(t, second, after)
				prefix := earlier(before.body)
				if !bytes.HasPrefix(after.body, prefix) {
					t.Errorf("the next request does not begin with the %d bytes of the last", len(prefix))
				}
			})
		}
	}
}

// earlier is a request's body up to the end of its last message.
func earlier(body []byte) []byte {
	return body[:bytes.LastIndexByte(body, ']')]
}

// The built-in backend decodes what it is sent in the program itself, without a
// server on loopback: each picture that a receipt promises is seen, no other.
func TestOfflineSeesWhatTheReceiptsSay(t *testing.T) {
	var s shelf
	p := offline.New(offline.Options{MaxRetries: -1})
	a := adapters["offline"]
	for _, c := range conditions() {
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
