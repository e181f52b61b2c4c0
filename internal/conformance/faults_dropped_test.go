package conformance_test

import (
	"bytes"
	"net/http"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/provider/providertest"
)

// blindly is a usage that says: no picture was looked at.
func blindly() providertest.Usage {
	return providertest.Usage{Prompt: 1000, Completion: 7, Image: 0, Cached: -1}
}

// hangUp breaks the connection without a word.
func hangUp(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }

// TestDroppedPicture has servers report zero tokens for a picture. The same bytes
// are sent again, at most twice; what was withdrawn costs nothing; where a later
// attempt breaks on the way, the earlier answer stands.
func TestDroppedPicture(t *testing.T) {
	for _, g := range tongues() {
		if !g.counts {
			continue
		}
		seeing := providertest.Usage{Prompt: 1500, Completion: 9, Image: 500, Cached: -1}
		answer := func(u providertest.Usage, words string) providertest.Reply { return g.said(u, words) }
		for _, c := range []struct {
			name    string
			script  []providertest.Reply
			shown   string
			sent    int
			output  int64
			doubted bool
		}{
			{"seen at once", []providertest.Reply{answer(seeing, "one")}, "one", 1, 9, false},
			{"seen the second time", []providertest.Reply{answer(blindly(), "one"), answer(seeing, "two")}, "two", 2, 9, false},
			{"seen the third time", []providertest.Reply{answer(blindly(), "one"), answer(blindly(), "two"), answer(seeing, "three")}, "three", 3, 9, false},
			{"never seen", []providertest.Reply{answer(blindly(), "one"), answer(blindly(), "two"), answer(blindly(), "three")}, "three", 3, 7, true},
			{"the second attempt breaks", []providertest.Reply{answer(blindly(), "one"), hangUp}, "one", 2, 7, true},
			{"the third attempt breaks", []providertest.Reply{answer(blindly(), "one"), answer(blindly(), "two"), hangUp}, "two", 3, 7, true},
			{"the second attempt is refused", []providertest.Reply{answer(blindly(), "one"), g.rejects(400, "", "no")}, "one", 2, 7, true},
		} {
			t.Run(g.kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, g)
				const model = "m"
				r.on(model, func(n int, _ letter) providertest.Reply {
					if n < len(c.script) {
						return c.script[n]
					}
					return answer(blindly(), "later")
				})
				w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
				p := w.launch()
				defer p.stop()
				s := p.with(model)
				shot, data := w.snap("shot.png", 20, 20, 1)
				f, res, err := p.ask(s, shot, prose("look"))
				if err != nil {
					t.Fatal(err)
				}
				got := r.got(model)
				if f.Shown() != c.shown || len(got) != c.sent {
					t.Errorf("%q is shown after %d attempts, want %q after %d", f.Shown(), len(got), c.shown, c.sent)
				}
				for _, l := range got {
					if !bytes.Equal(l.body, got[0].body) || !l.holds(data) {
						t.Error("an attempt is not the first one to the byte")
					}
				}
				if res.Usage.Output.N != c.output {
					t.Errorf("charged for %d tokens of output, want %d", res.Usage.Output.N, c.output)
				}
				if n := len(told(f, "may have been given without the picture")); (n == 1) != c.doubted || n > 1 {
					t.Errorf("told %d times: %q", n, f.Notices())
				}
				// A picture that was sent before is no first sending.
				before := len(got)
				noRetry(t, p.prompt(s, prose("and now?")))
				if n := len(r.got(model)); n != before+1 {
					t.Errorf("%d more requests for a text", n-before)
				}
			})
		}
	}
}

// TestNoAccountIsNoDrop has every wire answer without a count of pictures: nothing
// is sent twice.
func TestNoAccountIsNoDrop(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			const plain, few = "plain", "few"
			r.on(few, func(int, letter) providertest.Reply {
				return g.said(providertest.Usage{Prompt: 20, Completion: 5, Image: -1, Cached: -1}, "I looked.")
			})
			w := newWorld(t, r.settings(g.roomy(), "", bind{model: plain, vision: "true"}, bind{model: few, vision: "true"}))
			p := w.launch()
			defer p.stop()
			shot, _ := w.snap("shot.png", 20, 20, 1)
			f := p.prompt(p.with(plain), shot, prose("look"))
			if n := len(r.got(plain)); n != 1 || len(f.Notices()) != 0 {
				t.Errorf("%d requests, %q", n, f.Notices())
			}
			ignoredPicture(t, p, r, few)
		})
	}
}

// ignoredPicture has a server answer with far fewer tokens than a picture costs,
// which is warned of once and never tried again.
func ignoredPicture(t *testing.T, p *process, r *rig, model string) {
	t.Helper()
	large := flagged(p.file("large.png", agenttest.PNG(600, 600, 3)))
	s := p.with(model)
	f := p.prompt(s, large, prose("look"))
	if n := len(told(f, "large.png")); n != 1 || len(told(f, "may have ignored")) != 1 {
		t.Errorf("%d warnings: %q", n, f.Notices())
	}
	noRetry(t, f)
	f = p.prompt(s, prose("and now?"))
	noRetry(t, f)
	if len(told(f, "may have ignored")) != 0 {
		t.Errorf("warned twice: %q", f.Notices())
	}
	if n := len(r.got(model)); n != 2 {
		t.Errorf("%d requests for two turns", n)
	}
}
