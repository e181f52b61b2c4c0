package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/tool"
)

// small is a bench with a small window, in which conversations are summarised.
func small(t *testing.T, summary func(n int) agenttest.Reply) *agenttest.Bench {
	t.Helper()
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context = 8_000
	n := 0
	return agenttest.New(t, agenttest.Options{Profile: p, With: agenttest.Reduces, Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if strings.Contains(r.Text, "<transcript>") {
			n++
			return summary(n)
		}
		return agenttest.Reply{agenttest.Say(strings.Repeat("well ", 100))}
	}})
}

func summaries(b *agenttest.Bench) []agenttest.Received {
	var out []agenttest.Received
	for _, r := range b.Provider.Requests() {
		if strings.Contains(r.Text, "<transcript>") {
			out = append(out, r)
		}
	}
	return out
}

func TestSummarisesOldTurns(t *testing.T) {
	b := small(t, func(n int) agenttest.Reply {
		return agenttest.Reply{agenttest.Say(spelt("SUMMARY", n)), agenttest.Tokens(500, 20)}
	})
	b.Must(t.Context(), "the first wish", agenttest.PNG(9, 9, 1))
	for i := 0; len(summaries(b)) < 2; i++ {
		if i == 60 {
			t.Fatal("nothing was summarised")
		}
		b.Must(t.Context(), fmt.Sprintf("prompt %d ", i)+strings.Repeat("word ", 200))
	}
	all := summaries(b)
	contains(t, all[0].Text, "the first wish", "[attached image: image-1.png (image/png)]", "Every attachment by its label")
	contains(t, all[1].Text, "<summary>\nSUMMARY 1 of")
	lacks(t, all[1].Text, "the first wish")
	for _, r := range all {
		if len(r.Media) > 0 || strings.Contains(r.Body, "\ntool ") || strings.Contains(r.Text, "You are tote") {
			t.Errorf("a request for a summary held %s", r.Body)
		}
		current := b.Session.Turns()[len(b.Session.Turns())-1].Messages[0]
		if strings.Contains(r.Text, content.Compact(current.Blocks())) {
			t.Error("a summary is of the current prompt")
		}
	}
	last := b.Last().Text
	contains(t, last, "SUMMARY 2", "image-1.png")
	lacks(t, last, "SUMMARY 1", "the first wish", "left out to keep")
	sum, err := b.Disk.Summary(t.Context(), b.Session.ID())
	if err != nil || !strings.HasPrefix(sum.Text, "SUMMARY 2 ") || sum.Model != "model-main-endpoint" || sum.Turns == 0 || sum.Created.IsZero() {
		t.Errorf("summary %+v, %v", sum, err)
	}
	if !noticed(b.Front, fmt.Sprintf("the oldest %d turns were summarised by model-main-endpoint", sum.Turns)) || noticed(b.Front, "are not sent any more") {
		t.Errorf("notices %v", b.Front.Notices())
	}
	b.Must(t.Context(), "go on")
	before := b.Last()
	b.Restart()
	b.Must(t.Context(), "and on")
	if len(summaries(b)) == 2 && !strings.HasPrefix(b.Last().Body, before.Prefix()) {
		t.Error("after a restart the prefix is another")
	}
	contains(t, b.Last().Text, "SUMMARY ")
}

// spelt is a summary that is long enough to be one.
func spelt(name string, n int) string {
	return fmt.Sprintf("%s %d ", name, n) + strings.Repeat("of what was said ", 20)
}

// A summary that cannot be had replaces nothing: while there is room all stays, and
// then an outline of the record stands for the oldest turns.
func TestSummaryFails(t *testing.T) {
	for name, reply := range map[string]agenttest.Reply{
		"refused": {agenttest.Refusing()}, "empty": {agenttest.Say("\n")}, "broken": {agenttest.Say("SUMM"), agenttest.Cut{}},
		"a refusal in words": {agenttest.Say("I'm sorry, I can't help with that. SUMM")},
		"filtered":           {agenttest.Say(spelt("SUMM", 1)), finish(content.StopRefusal)},
		"much too long":      {agenttest.Say(strings.Repeat("SUMM ", 20_000))},
	} {
		t.Run(name, func(t *testing.T) {
			b := small(t, func(int) agenttest.Reply { return reply })
			b.Must(t.Context(), "the first wish", agenttest.PNG(9, 9, 1))
			for i := 0; !noticed(b.Front, "gets an outline"); i++ {
				if i == 60 {
					t.Fatal("nothing gave way")
				}
				lacks(t, b.Last().Text, "No summary could be made")
				b.Must(t.Context(), fmt.Sprintf("prompt %d ", i)+strings.Repeat("word ", 200))
			}
			if !noticed(b.Front, "stay as they are as long as there is room") || !noticed(b.Front, "an outline takes their place") {
				t.Errorf("notices %v", b.Front.Notices())
			}
			if n := len(summaries(b)); n > 4 {
				t.Errorf("%d requests for a summary", n)
			}
			contains(t, b.Last().Text, "No summary could be made", "User: the first wish", "User: prompt 1 word", "answered: well well", "[image-1.png")
			lacks(t, b.Last().Text, "SUMM", "left out to keep")
			before := b.Session.Stored()
			if made, err := b.Session.Summarise(t.Context(), b.Front); err == nil || made {
				t.Errorf("by hand: %v, %v", made, err)
			}
			sum, err := b.Disk.Summary(t.Context(), b.Session.ID())
			if diff := cmp.Diff(before, b.Session.Stored()); diff != "" || err != nil || sum.Model != "the record" {
				t.Errorf("%+v, %v, %s", sum, err, diff)
			}
			for range 20 { // outlines of outlines
				b.Must(t.Context(), strings.Repeat("word ", 200))
			}
			if n := strings.Count(b.Last().Text, "No summary could be made"); n != 1 || len(b.Last().Text) > 32_000 {
				t.Errorf("%d outlines, %d bytes", n, len(b.Last().Text))
			}
		})
	}
}

// The user has the conversation summarised, by the agent that is there for it.
func TestSummariseByHand(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{With: agenttest.Reduces, Policy: agent.Policy{Summariser: "scribe"}})
	scribe := &agenttest.Provider{Script: func(n int, _ agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say(spelt("PART", n+1))}
	}}
	p := agenttest.Sees("scribe-endpoint")
	p.Context = 4000
	b.Models.Set("scribe", agent.Model{Provider: scribe, Profile: p})
	if made, err := b.Session.Summarise(t.Context(), b.Front); err != nil || made {
		t.Fatalf("%v, %v", err, b.Front.Notices())
	}
	b.Must(t.Context(), "one "+strings.Repeat("word ", 3000))
	b.Must(t.Context(), "two")
	if made, err := b.Session.Summarise(t.Context(), b.Front); err != nil || !made {
		t.Fatal(err)
	}
	if n := len(scribe.Requests()); n < 2 || n > 4 {
		t.Errorf("%d requests for a small window", n)
	}
	b.Must(t.Context(), "three")
	contains(t, b.Last().Text, fmt.Sprintf("PART %d", len(scribe.Requests())), "two", "three")
	lacks(t, b.Last().Text, "one word")
	report, err := b.Session.Context(t.Context())
	if err != nil || report.Usage.Summarised == 0 || report.Summary.Turns != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestDetach(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{With: agenttest.Reduces, Script: agenttest.Replies(
		agenttest.Reply{agenttest.Say("ok")}, calls(agenttest.Call("c1", "read", `{"path":"a.txt"}`)),
	)})
	b.File("a.txt", []byte("secret word\n"))
	b.Must(t.Context(), agenttest.PNG(9, 9, 1), agenttest.PNG(8, 8, 2))
	b.Must(t.Context(), "read it", agenttest.PNG(7, 7, 3))
	b.Must(t.Context(), "all there?")
	if got := b.Last().Handles(); got != "image-1.png image-2.png image-3.png" {
		t.Fatalf("sent %q", got)
	}
	detach := func(pick agent.Selector) string {
		t.Helper()
		changed, err := b.Session.Detach(t.Context(), pick)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(changed)
	}
	text := b.Session.Turns()[1].Messages[2].Blocks()[0].BlockHandle()
	generation := b.Session.Stored().Generation
	for _, tt := range []struct {
		pick       agent.Selector
		want, sent string
	}{
		{agent.Selector{Names: []string{"2", string(text)}}, "[image-2.png " + string(text) + "]", "image-1.png image-3.png"},
		{agent.Selector{Names: []string{"image-2"}}, "[]", "image-1.png image-3.png"},
		{agent.Selector{OlderThan: 4}, "[image-1.png]", "image-3.png"},
		{agent.Selector{Last: 1}, "[image-3.png]", ""},
		{agent.Selector{Names: []string{"[image-2.png]"}, On: true}, "[image-2.png]", "image-2.png"},
		{agent.Selector{OlderThan: 1, On: true}, "[image-1.png image-3.png]", "image-1.png image-2.png image-3.png"},
	} {
		if got := detach(tt.pick); got != tt.want {
			t.Errorf("%+v changed %s, want %s", tt.pick, got, tt.want)
		}
		b.Must(t.Context(), "next")
		if got := b.Last().Handles(); got != tt.sent {
			t.Errorf("after %+v: sent %q, want %q", tt.pick, got, tt.sent)
		}
		lacks(t, b.Last().Text, "secret word")
	}
	if g := b.Session.Stored().Generation; g == generation {
		t.Error("no new lane was opened")
	}
	report, err := b.Session.Context(t.Context())
	if err != nil || fmt.Sprint(report.Detached) != "["+string(text)+"]" || len(report.Usage.Parts) == 0 || report.Usage.Fixed == 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := b.Session.Detach(t.Context(), agent.Selector{Names: []string{"99"}}); err == nil {
		t.Error("an attachment was found that is not there")
	}
}

// What a backend counted is known for the next decision.
func TestCountedTokens(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say("ok"), agenttest.Tokens(1234, 1)}
	}})
	b.Must(t.Context(), "hello")
	report, err := b.Session.Context(t.Context())
	if err != nil || !report.Usage.Reported || report.Usage.Tokens < 1234 || report.Usage.Tokens > 1300 {
		t.Errorf("%+v, %v", report.Usage, err)
	}
	before := b.Session.Stored()
	if len(b.Provider.Requests()) != 1 || cmp.Diff(before, b.Session.Stored()) != "" {
		t.Error("asking has changed something")
	}
}

func undoBench(t *testing.T) *agenttest.Bench {
	t.Helper()
	points := &agenttest.Checkpoints{}
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "write", Alone: true, In: func(ctx ctx, args string, e tool.Env) (tool.Result, error) {
			name, text, _ := strings.Cut(args, "=")
			path := filepath.Join(e.Cwd, name)
			if err := e.Keep(ctx, path); err != nil {
				return tool.Result{}, err
			}
			if _, ok := e.Files.Seen(path); ok {
				text += " again"
			}
			return prose("ok"), os.WriteFile(path, []byte(text), 0o600)
		}}),
		Script: func(n int, r agenttest.Received) agenttest.Reply {
			if n%2 == 0 {
				return calls(agenttest.Call(fmt.Sprint(n), "write", fmt.Sprintf("a.txt=%d", n)), agenttest.Call(fmt.Sprint(n, "b"), "write", fmt.Sprintf("b%d.txt=x", n)))
			}
			return calls(agenttest.Say("ok"))
		},
		With: func(o *agent.Options) {
			agenttest.Reduces(o)
			o.Checkpoints = points
		},
	})
	return b
}

func TestUndo(t *testing.T) {
	b := undoBench(t)
	path := b.File("a.txt", []byte("old"))
	b.Must(t.Context(), "one", agenttest.PNG(9, 9, 1))
	b.Session.AddNote("[note: psst]")
	second := b.Must(t.Context(), "two", agenttest.PNG(8, 8, 2))
	b.Must(t.Context(), "three")
	write(t, filepath.Join(b.Cwd, "b4.txt"), []byte("mine"))
	got, err := b.Session.Undo(t.Context(), 2)
	if err != nil || got.Turn != second.Turn {
		t.Fatalf("%+v, %v", got, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "0" {
		t.Errorf("a.txt is %q, %v", data, err)
	}
	if len(got.Files.Kept) != 1 || filepath.Base(got.Files.Kept[0]) != "b4.txt" || len(got.Files.Removed) != 1 {
		t.Errorf("files %+v", got.Files)
	}
	if s := content.Compact(got.Blocks); s != "two\n[attached image: image-2.png (image/png)]" {
		t.Errorf("blocks %s", s)
	}
	if n := len(b.Session.Turns()); n != 1 || b.Session.Stored().Turns != 1 {
		t.Errorf("%d turns, %+v", n, b.Session.Stored())
	}
	r, err := b.Session.Prompt(t.Context(), agent.Prompt{Sources: append(b.Sources("anew", agenttest.PNG(7, 7, 3)), got.Sources...), Front: b.Front})
	if err != nil || r.Stop != content.StopEndTurn {
		t.Fatalf("%v, %v", r.Stop, err)
	}
	if h := b.Last().Handles(); h != "image-1.png image-3.png image-2.png" {
		t.Errorf("sent %q", h)
	}
	lacks(t, b.Last().Text, "three", "psst")
	b.Restart()
	if n := len(b.Session.Turns()); n != 2 {
		t.Errorf("%d turns after a restart", n)
	}
	if _, err := b.Session.Rewind(t.Context(), second.Turn); err == nil {
		t.Error("an undone turn was undone again")
	}
	if _, err := b.Session.Rewind(t.Context(), b.Session.Turns()[0].ID); err != nil || len(b.Session.Turns()) != 0 {
		t.Errorf("%v, %d turns", err, len(b.Session.Turns()))
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("a.txt is %q, %v", data, err)
	}
	if _, err := b.Session.Undo(t.Context(), 1); err == nil {
		t.Error("an undo of nothing")
	}
}

// What a child changes is undone with the turn that gave it the work.
func TestUndoOfAChild(t *testing.T) {
	b := undoBench(t)
	path := b.File("a.txt", []byte("old"))
	b.Provider.Script = func(n int, r agenttest.Received) agenttest.Reply {
		if n == 1 {
			return calls(agenttest.Call("c", "write", "a.txt=child"))
		}
		return calls(agenttest.Say("ok"))
	}
	r := b.Must(t.Context(), "one")
	c := child(t, b, "task")
	if _, err := c.Prompt(t.Context(), agent.Prompt{Sources: b.Sources("write"), Front: &agenttest.Front{}}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "child" {
		t.Fatalf("a.txt is %q", data)
	}
	if got, err := b.Session.Rewind(t.Context(), r.Turn); err != nil || len(got.Files.Files) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("a.txt is %q", data)
	}
}

func TestFork(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	first := b.Must(t.Context(), "one", agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "two")
	f, err := b.Agent.Fork(t.Context(), b.Session.ID(), first.Turn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Prompt(t.Context(), agent.Prompt{Sources: b.Sources("other", agenttest.PNG(9, 9, 2)), Front: b.Front}); err != nil {
		t.Fatal(err)
	}
	if h := b.Last().Handles(); h != "image-1.png image-2.png" || len(f.Turns()) != 2 || len(b.Session.Turns()) != 2 {
		t.Errorf("sent %q", h)
	}
	lacks(t, b.Last().Text, "two")
	if _, err := b.Agent.Fork(t.Context(), b.Session.ID(), "nothing"); err == nil {
		t.Error("forked at a turn that is not there")
	}
}
