package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

func lacks(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if strings.Contains(text, w) {
			t.Errorf("%q is in:\n%s", w, text)
		}
	}
}

// noticed reports whether some notice holds the words.
func noticed(f *agenttest.Front, words string) bool {
	return slices.ContainsFunc(f.Notices(), func(n delivery.Notice) bool {
		return strings.Contains(n.Title+"\n"+n.Detail, words)
	})
}

// handles are the media of every request, one string a request.
func handles(p *agenttest.Provider) []string {
	var out []string
	for _, r := range p.Requests() {
		out = append(out, r.Handles())
	}
	return out
}

func sent(t *testing.T, b *agenttest.Bench, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, handles(b.Provider)); diff != "" {
		t.Errorf("media per request (-want +got):\n%s", diff)
	}
}

// consistent checks that every recorded call has exactly one result in the
// message after it.
func consistent(t *testing.T, turns []content.Turn) {
	t.Helper()
	for _, turn := range turns {
		var open []string
		for _, m := range turn.Messages {
			if m.Role != content.RoleTool && len(open) > 0 {
				t.Errorf("turn %s: calls %v have no result", turn.ID, open)
			}
			for _, p := range m.Parts {
				if call, ok := p.(content.ToolCall); ok {
					open = append(open, call.ID)
				}
				if r, ok := p.(content.ToolResult); ok {
					i := slices.Index(open, r.CallID)
					if i < 0 {
						t.Errorf("turn %s: a result for %q, which is not open", turn.ID, r.CallID)
						continue
					}
					open = slices.Delete(open, i, i+1)
				}
			}
		}
		if len(open) > 0 {
			t.Errorf("turn %s ends with open calls %v", turn.ID, open)
		}
	}
}

func TestTurn(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{agenttest.Think("hm"), agenttest.Say("Hello"), agenttest.Say(", you"), agenttest.Tokens(100, 7)},
	)})
	r := b.Must(t.Context(), "  hi there \n")
	want := []string{
		"accepted 1", "receipts 1.1 text-1=inline", "thought hm", "text Hello", "text , you", "used", "ended end_turn",
	}
	if diff := cmp.Diff(want, b.Front.Lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	contains(t, b.Last().Body, `text "  hi there \n"`, "tool list\ntool read\n", `system "You are tote`)
	if r.Usage.Input.N != 100 || r.Usage.Output.N != 7 || r.Degraded {
		t.Errorf("result = %+v", r)
	}
	turns := b.Disk.Turns(b.Session.ID())
	got := turns[0].Messages[1].Parts
	if diff := cmp.Diff([]content.Part{content.Reasoning{Text: "hm"}, content.Text{Body: "Hello, you"}}, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if turns[0].Stop != content.StopEndTurn || turns[0].Usage != r.Usage || turns[0].ID != r.Turn {
		t.Errorf("recorded turn = %+v", turns[0])
	}
	if s := b.Session.Stored(); s.Title != "  hi there " || s.Turns != 1 {
		t.Errorf("listed as %+v", s)
	}
}

// How hard a model should think is said with every request of a turn.
func TestEffort(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(agenttest.Call("c1", "list", "{}")))})
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Sees(agenttest.Endpoint), Effort: provider.EffortHigh})
	b.Must(t.Context(), "go")
	for _, r := range b.Provider.Requests() {
		contains(t, r.Body, "effort high\n")
	}
}

func TestEmptyPrompt(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	if _, err := b.Prompt(t.Context()); !errors.Is(err, agent.ErrEmpty) {
		t.Errorf("err = %v", err)
	}
	if n := len(b.Provider.Requests()) + len(b.Front.Events()); n != 0 {
		t.Errorf("%d requests and events", n)
	}
}

// A prompt of pictures alone, or with a blank caption, has no empty text part.
func TestPicturesOnly(t *testing.T) {
	for _, parts := range [][]any{{agenttest.PNG(9, 9, 1)}, {agenttest.PNG(9, 9, 1), "  \n"}} {
		b := agenttest.New(t, agenttest.Options{})
		b.Must(t.Context(), parts...)
		sent(t, b, "image-1.png")
		lacks(t, b.Last().Body, `text ""`, `text "  \n"`)
	}
}

func TestPicturesAreLabelledAndNumberedOverTurns(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	one, two, three := agenttest.PNG(10, 10, 1), agenttest.PNG(11, 11, 2), agenttest.PNG(12, 12, 3)
	b.Must(t.Context(), "look", agenttest.Paste("cat.png", one), "and", two)
	b.Must(t.Context(), agenttest.WAV(200), three)
	sent(t, b, "image-1.png image-2.png", "image-1.png image-2.png image-3.png")
	contains(t, b.Last().Text, "[image-1.png: cat.png, image/png, 10x10]", "[audio-1.wav", "[image-3.png: image/png, 12x12]")
	for i, want := range [][]byte{one, two, three} {
		if string(b.Last().Media[i].Data) != string(want) {
			t.Errorf("picture %d did not arrive as it was", i+1)
		}
	}
	first := b.Provider.Requests()[0].Body
	order := []string{`"look"`, "[image-1.png", "image image-1.png", `"and"`, "[image-2.png", "image image-2.png"}
	at := 0
	for _, w := range order {
		i := strings.Index(first[at:], w)
		if i < 0 {
			t.Fatalf("%s is not in order", w)
		}
		at += i
	}
	if s := b.Session.Stored(); s.Pictures != 3 {
		t.Errorf("pictures = %d", s.Pictures)
	}
}

// Every block has one receipt when it is new, and none while nothing changes.
func TestReceiptsAreToldOnce(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{agenttest.Call("c1", "list", "{}")},
	)})
	b.Must(t.Context(), "a", agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "b")
	var got []string
	for _, l := range b.Front.Lines() {
		if strings.HasPrefix(l, "receipts") {
			got = append(got, l)
		}
	}
	want := []string{
		"receipts 1.1 text-1=inline image-1.png=inline", "receipts 2.1 text-2=inline", "receipts 3.1 text-3=inline",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	var stored []string
	for _, r := range b.Disk.Receipts(b.Session.ID()) {
		stored = append(stored, string(r.Handle))
	}
	if diff := cmp.Diff([]string{"text-1", "image-1.png", "text-2", "text-3"}, stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// A client's block is kept beside its part, and given back byte for byte.
func TestEnvelopes(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	raw := `{"type":"text","text":"see @a.txt","x":1}`
	b.File("a.txt", []byte("hello"))
	src := content.Source{
		Payload: content.Prose{Text: "see @a.txt"}, Inlet: content.InletACP, Chooser: content.ChosenByUser,
		Client: content.ClientBlock{Raw: []byte(raw)},
	}
	b.Must(t.Context(), src, agenttest.PNG(9, 9, 1))
	b.Restart()
	var got []string
	err := b.Session.Envelopes(t.Context(), func(turn string, n int, env content.Envelope) error {
		if env.IsZero() {
			got = append(got, "")
			return nil
		}
		back, err := b.Session.Restore(env)
		got = append(got, string(back))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The text, the file that it mentions, and the paste.
	if diff := cmp.Diff([]string{raw, "", ""}, got); diff != "" {
		t.Errorf("envelopes (-want +got):\n%s", diff)
	}
}

// A stream that breaks off fails the turn with the first error; what had
// arrived is kept, and calls that came with it are not run.
func TestStreamCut(t *testing.T) {
	for name, end := range map[string]agenttest.Act{
		"cut":   agenttest.Cut{},
		"error": agenttest.Failing(delivery.FailServer, 502, "bad gateway"),
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			b := agenttest.New(t, agenttest.Options{
				Tools: toolsOf(agenttest.Tool{Name: "go", Do: func(_ ctx, _ string) ([]content.Source, error) {
					ran = true
					return nil, nil
				}}),
				Script: agenttest.Replies(agenttest.Reply{
					agenttest.Say("half an"), agenttest.Call("c1", "go", "{}"), agenttest.Tokens(50, 3), end,
				}),
			})
			r, err := b.Prompt(t.Context(), "hi")
			var pe *provider.Error
			if !errors.As(err, &pe) || r.Stop != content.StopFailed || ran {
				t.Fatalf("stop %v, err %v, tool ran %v", r.Stop, err, ran)
			}
			if r.Usage.Input.N != 50 {
				t.Errorf("usage = %+v", r.Usage)
			}
			turns := b.Disk.Turns(b.Session.ID())
			consistent(t, turns)
			if got := content.Compact(blocksOf(turns[0].Messages[1])); got != "half an" {
				t.Errorf("recorded %q", got)
			}
			b.Must(t.Context(), "again")
			contains(t, b.Last().Text, "half an")
			lacks(t, b.Last().Body, "call c1")
		})
	}
}

func blocksOf(m content.Message) []content.Block { return m.Blocks() }

func TestMaxSteps(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Policy: agent.Policy{MaxSteps: 3},
		Script: func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Call("c", "list", "{}")}
		},
	})
	r, err := b.Prompt(t.Context(), "go on for ever")
	if err != nil || r.Stop != content.StopMaxSteps || len(b.Provider.Requests()) != 3 {
		t.Fatalf("%v, %v, %d requests", r.Stop, err, len(b.Provider.Requests()))
	}
	consistent(t, b.Disk.Turns(b.Session.ID()))
	if !noticed(b.Front, "stopped after 3 requests") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
}

// Strict: what would be degraded ends the turn before anything is sent, and the
// receipts say why.
func TestStrict(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Profile: agenttest.Blind(agenttest.Endpoint)})
	r, err := b.Session.Prompt(t.Context(), agent.Prompt{
		Sources: b.Sources("see", agenttest.PNG(9, 9, 1)), Front: b.Front, Strict: true,
	})
	if !errors.Is(err, agent.ErrStrict) || !r.Degraded || r.Stop != content.StopFailed {
		t.Fatalf("%+v, %v", r, err)
	}
	if n := len(b.Provider.Requests()); n != 0 {
		t.Fatalf("%d requests", n)
	}
	contains(t, strings.Join(b.Front.Lines(), "\n"), "image-1.png=path", "ended failed")
	r, err = b.Session.Prompt(t.Context(), agent.Prompt{Sources: b.Sources("hi"), Front: b.Front, Strict: true})
	if err != nil || r.Degraded {
		t.Errorf("the next prompt, which degrades nothing: %+v, %v", r, err)
	}
}

// What strict did not send is not in the conversation: the next prompt does not take
// it along, and nobody else is asked about it.
func TestStrictWithdraws(t *testing.T) {
	b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply { return agenttest.Reply{agenttest.Say("a cat")} })
	b.With(agenttest.Reduces)
	b.Must(t.Context(), "first")
	before := b.Disk.Turns(b.Session.ID())
	b.Session.AddNote("[note: a job has ended]")
	_, err := b.Session.Prompt(t.Context(), agent.Prompt{
		Sources: b.Sources("see", agenttest.PNG(9, 9, 1)), Front: b.Front, Strict: true,
	})
	if !errors.Is(err, agent.ErrStrict) || len(p.Requests()) != 0 {
		t.Fatalf("%v, %d requests to the describer", err, len(p.Requests()))
	}
	if got := b.Session.Turns(); len(got) != len(before) {
		t.Errorf("%d turns, want %d", len(got), len(before))
	}
	b.Must(t.Context(), "second")
	lacks(t, b.Last().Text, "see", "image-1.png")
	contains(t, b.Last().Text, "first", "second", "[note: a job has ended]")
	b.Restart()
	b.Must(t.Context(), "third")
	lacks(t, b.Last().Text, "image-1.png")
}

func TestReload(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Models.OnReload([]delivery.Notice{{Title: "the configuration changed"}}, nil)
	b.Must(t.Context(), "hi")
	if got := b.Front.Lines()[0]; got != "notice the configuration changed" {
		t.Errorf("first event = %q", got)
	}
	b.Models.OnReload(nil, errors.New("line 3"))
	if r, err := b.Prompt(t.Context(), "hi"); err == nil || r.Stop != content.StopFailed {
		t.Errorf("%+v, %v", r, err)
	}
	b.Must(t.Context(), "hi")
}
