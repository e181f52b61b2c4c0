package conformance_test

import (
	"fmt"
	"testing"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// every picks each n-th of a list for a short run.
func every[T any](list []T, n int) []T {
	if !testing.Short() {
		return list
	}
	var out []T
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

// refusal is a session in which one picture is refused.
type refusal struct {
	rejection
	model, session       string
	before1, before2     []byte
	culprit, after, last []byte
}

// TestRefusedPicture has every wire refuse one picture among others, in all the
// words that were ever seen and in some that were not. The turn is answered, one
// notice names the file, and neither the next turn nor the first one after a
// restart needs a second attempt.
func TestRefusedPicture(t *testing.T) {
	all := tongues()
	for i := range all {
		g := &all[i]
		var list []rejection
		for _, x := range every(rejections(all), 5) {
			if x.kind == g.kind {
				list = append(list, x)
			}
		}
		list = append(list, every(inventions(g), 3)...)
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, *g)
			cases := make([]*refusal, 0, len(list))
			agents := make([]bind, 0, len(list))
			for i, x := range list {
				c := &refusal{rejection: x, model: fmt.Sprintf("model-%d", i)}
				cases, agents = append(cases, c), append(agents, bind{model: c.model})
			}
			w := newWorld(t, r.settings("", "", agents...))
			p := w.launch()
			for i, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.before(t, p.in(t), r, uint64(i+1)) })
			}
			p.stop()
			p = w.launch()
			defer p.stop()
			for _, c := range cases {
				t.Run("restarted/"+c.name, func(t *testing.T) { c.resumed(t, p.in(t), r) })
			}
		})
	}
}

// before is everything up to the restart: two pictures are accepted, a third is
// refused, a text and a fourth go through.
func (c *refusal) before(t *testing.T, p *process, r *rig, seed uint64) {
	name := func(what string) string { return fmt.Sprintf("%s-%d.png", what, seed) }
	one, data := p.snap(name("one"), 20, 20, seed)
	c.before1 = data
	two, data := p.snap(name("two"), 21, 20, seed)
	c.before2 = data
	bad, data := p.snap(name("culprit"), 22, 20, seed)
	c.culprit = data
	good, data := p.snap(name("later"), 23, 20, seed)
	c.after = data
	r.on(c.model, func(_ int, l letter) providertest.Reply {
		if l.holds(c.culprit) {
			return c.reply
		}
		return nil
	})
	s := p.with(c.model)
	c.session = s.ID()
	p.prompt(s, one, two, prose("look at these"))
	if r.probes[c.model] != 1 {
		t.Errorf("%d test pictures were sent", r.probes[c.model])
	}

	f := p.prompt(s, bad, prose("and at this"))
	if n := len(told(f, name("culprit"))); n != 1 {
		t.Errorf("%d notices name the file: %q", n, f.Notices())
	}
	if n := voided(f); n != 1 {
		t.Errorf("%d attempts were withdrawn", n)
	}
	c.check(t, r.last(t, c.model), "the answered attempt")

	f = p.prompt(s, prose("and now?"))
	noRetry(t, f)
	c.check(t, r.last(t, c.model), "the next turn")

	f = p.prompt(s, good, prose("and this one?"))
	noRetry(t, f)
	c.last = c.after
	c.check(t, r.last(t, c.model), "the turn with a later picture")
	if m := p.learned(c.model); m.against() == 0 {
		t.Errorf("nothing was learned: %+v", m)
	}
}

// resumed is the first turn of another process.
func (c *refusal) resumed(t *testing.T, p *process, r *rig) {
	if c.session == "" {
		t.Fatal("there is no session to go on with")
	}
	f := p.prompt(p.open(c.session), prose("and after a restart?"))
	noRetry(t, f)
	c.check(t, r.last(t, c.model), "the first turn after a restart")
}

// check holds a request against what is known by now: everything but the culprit.
func (c *refusal) check(t *testing.T, l letter, when string) {
	t.Helper()
	for _, want := range [][]byte{c.before1, c.before2, c.last} {
		if len(want) > 0 && !l.holds(want) {
			t.Errorf("%s lacks a picture that was accepted", when)
		}
	}
	if l.holds(c.culprit) {
		t.Errorf("%s holds the refused picture", when)
	}
}

// TestEndpointGoesBlind has a server refuse every picture from some moment on, as
// one that was loaded again without its vision part. The turn is answered without
// any, and later ones need no second attempt.
func TestEndpointGoesBlind(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			const model = "m"
			blind := false
			r.on(model, func(_ int, l letter) providertest.Reply {
				if blind && len(l.media) > 0 {
					return g.rejects(400, "", "no eyes left")
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: model}))
			p := w.launch()
			one, _ := w.snap("one.png", 20, 20, 1)
			two, _ := w.snap("two.png", 20, 20, 2)
			s := p.with(model)
			p.prompt(s, one, prose("look"))
			blind = true
			f := p.prompt(s, two, prose("and at this"))
			if n := voided(f); n != 2 {
				t.Errorf("%d attempts were withdrawn, want the one with all and the one without the new", n)
			}
			if len(told(f, "two.png")) == 0 {
				t.Errorf("nobody is told of two.png: %q", f.Notices())
			}
			noRetry(t, p.prompt(s, prose("and now?")))
			p.stop()
			p = w.launch()
			defer p.stop()
			noRetry(t, p.prompt(p.open(s.ID()), prose("and after a restart?")))
		})
	}
}

// TestRefusedInResult has models that take pictures in results of tools refuse
// one for its place. It is sent after the results, and is remembered so.
func TestRefusedInResult(t *testing.T) {
	for _, c := range []struct{ kind, model, words string }{
		{"gemini", "gemini-3-pro-preview", "Multimodal function responses are not supported for this model."},
		{"bedrock-converse", "us.anthropic.claude-sonnet-4-5-v1", "This model doesn't support the image field for user messages. Remove it and try again."},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			g := tongueOf(c.kind)
			r := newRig(t, g)
			inResult := func(l letter) bool {
				for _, m := range l.sent.Messages {
					for _, p := range m.Parts {
						if p.Result == nil {
							continue
						}
						for _, q := range p.Result.Parts {
							if q.Kind == content.KindImage {
								return true
							}
						}
					}
				}
				return false
			}
			asked := map[int]bool{0: true, 3: true}
			r.on(c.model, func(n int, l letter) providertest.Reply {
				switch {
				case inResult(l):
					return g.rejects(400, "", c.words)
				case asked[n]:
					return g.calls(content.ToolCall{ID: fmt.Sprintf("call-%d", n), Name: "read", Arguments: `{"path":"shot.png"}`})
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: c.model, vision: "true"}))
			_, shot := w.snap("shot.png", 20, 20, 1)
			p := w.launch()
			s := p.with(c.model)
			f := p.prompt(s, prose("read shot.png"))
			if n := voided(f); n != 1 || len(told(f, "takes no attachments in the results of tools")) != 1 {
				t.Errorf("%d attempts were withdrawn, %q", n, f.Notices())
			}
			if !r.last(t, c.model).holds(shot) {
				t.Error("the picture was lost")
			}
			if m := p.learned(c.model); m.against() != 0 || m.Limits[agent.LimitHoist] != 1 {
				t.Errorf("learned %+v", m)
			}
			p.stop()
			p = w.launch()
			defer p.stop()
			f = p.prompt(p.open(s.ID()), prose("read it again"))
			noRetry(t, f)
			if !r.last(t, c.model).holds(shot) {
				t.Error("the picture was lost after the restart")
			}
		})
	}
}

func tongueOf(kind string) tongue {
	for _, g := range tongues() {
		if g.kind == kind {
			return g
		}
	}
	panic("no tongue is called " + kind)
}

// TestVisionIsTheUsersWord has a user say that a model sees or does not. What he
// says is done, each time, and what comes of it is told.
func TestVisionIsTheUsersWord(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			const stubborn, capable = "refuses", "sees"
			r.on(stubborn, func(_ int, l letter) providertest.Reply {
				if len(l.media) > 0 {
					return g.rejects(400, "", "this model does not support image input")
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: stubborn, vision: "true"}, bind{model: capable, vision: "false"}))
			p := w.launch()
			s := p.with(stubborn)
			for i := range 3 {
				if i == 2 {
					p.stop()
					p = w.launch()
					s = p.open(s.ID())
				}
				name := fmt.Sprintf("shot-%d.png", i)
				shot, data := w.snap(name, 20, 20+i, 1)
				before := len(r.got(stubborn))
				f := p.prompt(s, shot, prose("look"))
				got := r.got(stubborn)[before:]
				if len(got) != 2 || !got[0].holds(data) || len(got[1].media) != 0 {
					t.Errorf("%s: %d requests; it was to be sent once, as the user says, and then left out", name, len(got))
				}
				if n := len(told(f, name)); n != 1 {
					t.Errorf("%d notices name %s: %q", n, name, f.Notices())
				}
			}
			defer p.stop()
			s = p.with(capable)
			shot, _ := w.snap("off.png", 20, 20, 9)
			f := p.prompt(s, shot, prose("look"))
			list := told(f, "off.png")
			if len(list) != 1 || list[0].Detail != delivery.ReasonUserOff.User() {
				t.Errorf("told %q", f.Notices())
			}
			p.prompt(s, prose("and now?"))
			if n := len(r.got(capable)); n != 2 {
				t.Errorf("%d requests", n)
			}
			for _, l := range r.got(capable) {
				if len(l.media) > 0 {
					t.Error("a picture was sent to a model that the user calls blind")
				}
			}
		})
	}
}
