package conformance_test

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// TestLadderFallback has the chosen model go down in the middle of a session. What
// becomes of the pictures is decided for the model that is asked in its place, and
// the chosen one goes on later where it was.
func TestLadderFallback(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			main, spare, see := newRig(t, g), newRig(t, tongueOf("openai-chat")), eyes(t)
			var down atomic.Bool
			main.on("main", func(int, letter) providertest.Reply {
				if down.Load() {
					return g.rejects(503, "", "down for good")
				}
				return nil
			})
			w := newWorld(t, cast("",
				main.plays("main", "true", `,"fallbacks":["spare"]`), spare.plays("spare", "false", `,"describer":"eyes"`), see.plays("eyes", "true", "")))
			p := w.launch()
			defer p.stop()
			s := p.with("main")
			one, dataOne := w.snap("one.png", 60, 50, 1)
			two, dataTwo := w.snap("two.png", 61, 50, 2)
			p.prompt(s, one, prose("the first"))

			down.Store(true)
			f := p.prompt(s, two, prose("the second"))
			decidedFor(t, f)
			for _, r := range spare.wires(t, "spare") {
				holdsExactly(t, "the model that stands in", r)
			}
			if l := spare.last(t, "spare"); bytes.Count(l.body, []byte(words)) != 2 {
				t.Errorf("%d descriptions", bytes.Count(l.body, []byte(words)))
			}
			if n := len(see.got("eyes")); n != 2 {
				t.Errorf("%d pictures were looked at", n)
			}
			if s.Stored().Agent != "main" {
				t.Errorf("the session is on %q now", s.Stored().Agent)
			}

			down.Store(false)
			before := len(spare.got("spare"))
			f = p.prompt(s, prose("the third"))
			noRetry(t, f)
			if len(spare.got("spare")) != before || len(see.got("eyes")) != 2 {
				t.Error("the next turn went elsewhere than to the chosen model")
			}
			// One of its requests was made smaller, since it broke down with a new
			// picture. It was not answered and binds nothing.
			list := slices.DeleteFunc(main.got("main"), func(l letter) bool {
				return l.holds(dataOne) && bytes.Contains(l.body, []byte("the second")) && !l.holds(dataTwo)
			})
			if n := breaks(t, &g, list); n != 0 || len(list) != 3 {
				t.Errorf("the chosen model's prefix changed %d times in %d requests", n, len(list))
			}
			all := main.wires(t, "main")
			holdsExactly(t, "the chosen model", all[len(all)-1], given{"image-1.png", dataOne}, given{"image-2.png", dataTwo})
		})
	}
}

// decidedFor checks the receipts of a turn that two models were asked in: each
// names the model that its decision was for.
func decidedFor(t *testing.T, f *agenttest.Front) {
	t.Helper()
	type decided struct {
		model string
		as    delivery.Disposition
	}
	by := map[decided][]string{}
	for _, e := range f.Events() {
		list, _ := e.(agent.Receipts) // anything else has none
		for _, x := range list.List {
			if x.Handle != "image-1.png" && x.Handle != "image-2.png" {
				continue
			}
			at := decided{x.Model, x.Disposition}
			by[at] = append(by[at], string(x.Handle))
		}
	}
	whole, blind := by[decided{"main", delivery.Inline}], by[decided{"spare", delivery.Described}]
	mixed := len(by[decided{"main", delivery.Described}]) + len(by[decided{"spare", delivery.Inline}])
	if !slices.Equal(whole, []string{"image-2.png"}) || !slices.Equal(blind, []string{"image-1.png", "image-2.png"}) || mixed > 0 {
		t.Errorf("receipts by model: %v", by)
	}
	if len(told(f, "main could not answer: going on with spare")) != 1 {
		t.Errorf("nobody is told that another model answers: %q", f.Notices())
	}
}
