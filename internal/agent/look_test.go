package agent_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// eyes is a bench whose agent is blind and has "eyes" describe pictures.
func eyes(t *testing.T, see func(n int, r agenttest.Received) agenttest.Reply) (*agenttest.Bench, *agenttest.Provider) {
	t.Helper()
	b := agenttest.New(t, agenttest.Options{Profile: agenttest.Blind(agenttest.Endpoint), With: func(o *agent.Options) {
		o.Directory = agenttest.Directory{{Name: "eyes", Sees: delivery.Yes}, {Name: "mole", Sees: delivery.No}}
		o.Prices = agenttest.Prices{}
	}, Tools: toolsOf(agenttest.Tool{Name: "look"}, agenttest.Tool{Name: "read"})})
	p := &agenttest.Provider{Script: see}
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Blind(agenttest.Endpoint), Describer: "eyes"})
	b.Models.Set("eyes", agent.Model{Provider: p, Profile: agenttest.Sees("eyes-endpoint")})
	b.Models.Set("mole", agent.Model{Provider: p, Profile: agenttest.Blind("mole-endpoint")})
	return b, p
}

func TestDescribed(t *testing.T) {
	b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say("a red square that says STOP"), agenttest.Seen(90)}
	})
	r := b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1), agenttest.PNG(8, 8, 2))
	contains(t, b.Last().Text, "image-1.png", "described by model-eyes-endpoint:\na red square that says STOP", "image-2.png")
	sent(t, b, "")
	all := p.Requests()
	if len(all) != 2 {
		t.Fatalf("%d pictures were looked at", len(all))
	}
	for _, got := range all {
		contains(t, got.Text, "Transcribe all visible text")
		lacks(t, got.Text, "what?")
		if len(got.Media) != 1 {
			t.Errorf("it was sent %s", got.Handles())
		}
	}
	n := 0
	for _, notice := range b.Front.Notices() {
		if strings.Contains(notice.Title, "image-1.png, image-2.png were described by model-eyes-endpoint") {
			n++
		}
	}
	if n != 1 || r.Usage.Image.N != 180 {
		t.Errorf("%d notices, usage %+v, %v", n, r.Usage, b.Front.Notices())
	}
	for _, e := range b.Front.Events() {
		if u, ok := e.(agent.Used); ok && (u.Dollars != 0.002 || !u.Priced) {
			t.Errorf("used = %+v", u)
		}
	}
	b.Must(t.Context(), "and now?", agenttest.PNG(9, 9, 1)) // the same picture again
	b.Restart()
	b.Must(t.Context(), "still?")
	if len(p.Requests()) != 2 {
		t.Errorf("it was looked at again: %d", len(p.Requests()))
	}
	contains(t, b.Last().Text, "image-3.png", "STOP")
	if breaks := prefixes(b.Provider.Requests()); breaks != nil {
		t.Errorf("the prefix changed at %v", breaks)
	}
}

// What cannot be described goes by path, and is not tried again in the turn.
func TestNotDescribed(t *testing.T) {
	for name, reply := range map[string]agenttest.Reply{
		"fails":       {agenttest.Failing(delivery.FailServer, 500, "down")},
		"says nought": {agenttest.Say(" ")},
		"was blind":   {agenttest.Say("a cat"), agenttest.Seen(0)},
		"breaks off":  {agenttest.Say("a ca"), agenttest.Cut{}},
		"hangs":       {agenttest.Hang{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply { return reply })
				start := time.Now()
				b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1))
				contains(t, b.Last().Text, "[image-1.png", "not shown", "call look with image-1.png and a question (eyes sees pictures)", "Its file: @")
				lacks(t, b.Last().Text, "a ca", "described by")
				if !noticed(b.Front, "image-1.png could not be described by model-eyes-endpoint") || len(p.Requests()) != 1 {
					t.Errorf("%d requests, notices %v", len(p.Requests()), b.Front.Notices())
				}
				if waited := time.Since(start); waited > time.Minute {
					t.Errorf("it took %v", waited)
				}
			})
		})
	}
}

func TestDescribedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Wait(time.Second), agenttest.Say("x")}
		})
		var sources []any
		for i := range 15 {
			sources = append(sources, agenttest.PNG(9, 9, uint64(i)))
		}
		start := time.Now()
		b.Must(t.Context(), sources...)
		if took := time.Since(start); took != 3*time.Second || len(p.Requests()) != 12 {
			t.Errorf("%d looks took %v", len(p.Requests()), took)
		}
		if !noticed(b.Front, "3 older pictures are not described") {
			t.Errorf("notices %v", b.Front.Notices())
		}
	})
}

func TestLook(t *testing.T) {
	var n atomic.Int32
	b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say(strings.Repeat("x", int(n.Add(1)))), agenttest.Seen(5)}
	})
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Blind(agenttest.Endpoint)}) // nobody describes by itself
	b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1), agenttest.Paste("a.txt", []byte("text")), agenttest.Paste("bad.png", agenttest.PNG(9, 9, 2)[:60]))
	look := func(h content.Handle, question, name string) (string, content.Usage, error) {
		d, u, err := b.Session.Look(t.Context(), b.Front, h, question, name)
		return d.Text, u, err
	}
	for _, tt := range []struct {
		h              content.Handle
		question, name string
		want, err      string
		free           bool
	}{
		{h: "image-1.png", question: "how many?", want: "x"},
		{h: "image-1.png", question: "how many?", want: "x", free: true},
		{h: "image-1.png", question: "which colour?", name: "eyes", want: "xx"},
		{h: "image-1", want: "xxx"},
		{h: "1", want: "xxx", free: true},
		{h: "image-9.png", err: "use a label such as image-1.png"},
		{h: "resource-1.txt", err: "is no picture"},
		{h: "image-2.png", err: "cannot be looked at: damaged"},
		{h: "image-1.png", name: "mole", err: "does not see pictures; those that do: eyes"},
	} {
		text, u, err := look(tt.h, tt.question, tt.name)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.h, err)
			}
			continue
		}
		if err != nil || text != tt.want || tt.free != (u == content.Usage{}) {
			t.Errorf("%+v: %q, %+v, %v", tt, text, u, err)
		}
	}
	for _, r := range p.Requests() {
		if r.Handles() != "image-1.png" {
			t.Errorf("it was sent %q", r.Handles())
		}
	}
	if r := b.Must(t.Context(), "thanks"); r.Usage.Image.N != 15 {
		t.Errorf("the turn was charged with %+v", r.Usage)
	}
}

func TestFallback(t *testing.T) {
	down := agenttest.Reply{agenttest.Say("half an ans"), agenttest.Failing(delivery.FailServer, 500, "down")}
	b := agenttest.New(t, agenttest.Options{Script: func(n int, _ agenttest.Received) agenttest.Reply {
		if n == 1 {
			return down
		}
		return agenttest.Reply{agenttest.Say("main answers")}
	}})
	second := &agenttest.Provider{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say("second answers")}
	}}
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Sees(agenttest.Endpoint), Fallbacks: []string{"nobody", "broken", "second"}})
	b.Models.Set("broken", agent.Model{Provider: second, Profile: agenttest.Sees("x"), Unusable: errors.New("no key")})
	blind := agenttest.Blind("second-endpoint")
	b.Models.Set("second", agent.Model{Provider: second, Profile: blind})

	b.Must(t.Context(), "one", agenttest.PNG(9, 9, 1))
	b.Front.Forget()
	r := b.Must(t.Context(), "two")
	if got := b.Front.Shown(); got != "second answers" {
		t.Errorf("shown %q", got)
	}
	lacks(t, content.Compact(texts(b.Session.Turns()[1])), "half an")
	if len(second.Requests()) != 1 || second.Requests()[0].Handles() != "" {
		t.Fatalf("the second got %d requests", len(second.Requests()))
	}
	contains(t, second.Requests()[0].Text, "not shown: you cannot see pictures")
	if !noticed(b.Front, "main could not answer: going on with second for this turn") || !noticed(b.Front, "agent broken cannot stand in") {
		t.Errorf("notices %v", b.Front.Notices())
	}
	found := false
	for _, rec := range b.Disk.Receipts(b.Session.ID()) {
		found = found || rec.Turn == r.Turn && rec.Model == "model-second-endpoint" && rec.Handle == "image-1.png"
	}
	if st := b.Session.Stored(); !found || st.Agent != "main" || st.Generation != 1 {
		t.Errorf("stored %+v, receipts %v", st, found)
	}
	b.Must(t.Context(), "three")
	all := b.Provider.Requests()
	if got := all[len(all)-1].Handles(); got != "image-1.png" {
		t.Errorf("the first model got %q", got)
	}
	if !strings.HasPrefix(all[2].Body, all[1].Prefix()) {
		t.Error("the prefix of the first model has changed")
	}
}

func texts(turn content.Turn) []content.Block {
	var out []content.Block
	for _, m := range turn.Messages {
		for _, p := range m.Parts {
			if b, ok := p.(content.Block); ok {
				out = append(out, b)
			}
		}
	}
	return out
}

// Not every failure is one that another model may mend.
func TestNoFallback(t *testing.T) {
	for _, k := range delivery.Failures() {
		b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Fail{Err: &provider.Error{Failure: delivery.Failure{Kind: k}, Message: "no"}}}
		}})
		second := &agenttest.Provider{}
		b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Sees(agenttest.Endpoint), Fallbacks: []string{"second"}})
		b.Models.Set("second", agent.Model{Provider: second, Profile: agenttest.Sees("second")})
		_, err := b.Prompt(t.Context(), "go")
		never := k == delivery.FailCancelled || k == delivery.FailSchema || k == delivery.FailRefused || k == delivery.FailDropped
		if never != (err != nil) || never != (len(second.Requests()) == 0) {
			t.Errorf("%v: %v, %d requests to the second", k, err, len(second.Requests()))
		}
		consistent(t, b.Disk.Turns(b.Session.ID()))
	}
}

func TestPreviewDescribes(t *testing.T) {
	b, p := eyes(t, nil)
	rs, _, err := b.Agent.Preview(t.Context(), "main", b.Cwd, b.Sources(agenttest.PNG(9, 9, 1)))
	if err != nil || len(rs) != 1 || rs[0].Disposition != delivery.Described || len(p.Requests()) != 0 {
		t.Errorf("%+v, %v", rs, err)
	}
}

// A description stands in the conversation and on the screen: what nobody sees of it
// is not there.
func TestDescriptionIsLegible(t *testing.T) {
	b, _ := eyes(t, func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say("a \x1b[2Jcat\x00\u202egod\u2066\r\n\tnext\rlast \u200f\xff"), agenttest.Seen(90)}
	})
	b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1))
	contains(t, b.Last().Text, "a [2Jcat[U+202E]god[U+2066]\n\tnext\nlast \u200f\ufffd")
}

// Who waits long for an agent that looks is told so.
func TestDescriberIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := eyes(t, func(int, agenttest.Received) agenttest.Reply { return agenttest.Reply{agenttest.Hang{}} })
		b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1))
		if !noticed(b.Front, "still waiting for model-eyes-endpoint to look at image-1.png") {
			t.Errorf("notices %v", b.Front.Notices())
		}
	})
}

// Without a name the next agent that sees is asked where one fails, and the one that
// failed is not asked again in the turn.
func TestLookGoesOn(t *testing.T) {
	b, p := eyes(t, func(n int, _ agenttest.Received) agenttest.Reply {
		if n == 0 {
			return agenttest.Reply{agenttest.Say("something"), agenttest.Seen(90)}
		}
		return agenttest.Reply{agenttest.Refusing()}
	})
	other := &agenttest.Provider{Script: func(n int, _ agenttest.Received) agenttest.Reply {
		if n < 2 {
			return agenttest.Reply{agenttest.Say("a dog"), agenttest.Seen(90)}
		}
		return agenttest.Reply{agenttest.Failing(delivery.FailServer, 500, "down")}
	}}
	b.Models.Set("owl", agent.Model{Provider: other, Profile: agenttest.Sees("owl-endpoint")})
	b.With(func(o *agent.Options) {
		o.Directory = agenttest.Directory{{Name: "eyes", Sees: delivery.Yes}, {Name: "mole", Sees: delivery.Yes}, {Name: "owl", Sees: delivery.Yes}}
	})
	b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1))
	look := func(question string) (delivery.Description, error) {
		d, _, err := b.Session.Look(t.Context(), b.Front, "image-1.png", question, "")
		return d, err
	}
	for i, q := range []string{"a cat?", "a cow?"} {
		if d, err := look(q); err != nil || d.Text != "a dog" || d.Model != "model-owl-endpoint" {
			t.Errorf("%s: %+v, %v", q, d, err)
		}
		if n := len(p.Requests()); n != 2 {
			t.Errorf("question %d: the describer was asked %d times, want once for the description and once", i, n)
		}
	}
	_, err := look("a hen?")
	unseen, ok := errors.AsType[*agent.UnseenError](err)
	if !ok || len(unseen.Causes) != 2 {
		t.Fatalf("%v", err)
	}
	contains(t, err.Error(), "nobody could look at image-1.png: eyes failed before in this turn", "; owl: ", "down")
	lacks(t, err.Error(), "mole")
	if _, _, err := b.Session.Look(t.Context(), b.Front, "image-1.png", "a cow?", "eyes"); err == nil || len(p.Requests()) != 3 {
		t.Errorf("the one that is named is asked again, and nobody else: %v, %d requests", err, len(p.Requests()))
	}
	b.Must(t.Context(), "next")
	if _, err := look("an ox?"); err == nil || len(p.Requests()) != 4 {
		t.Errorf("in the next turn it is asked again: %v, %d requests", err, len(p.Requests()))
	}
}

// The describer comes first, then who sees, then who may see and is asked whether it
// does; who does not see is never asked.
func TestOrderOfLookers(t *testing.T) {
	b, p := eyes(t, func(int, agenttest.Received) agenttest.Reply { return agenttest.Reply{agenttest.Refusing()} })
	var order []string
	set := func(name string, m agent.Model, reply agenttest.Reply) {
		m.Provider = &agenttest.Provider{Script: func(int, agenttest.Received) agenttest.Reply {
			order = append(order, name)
			return reply
		}}
		b.Models.Set(name, m)
	}
	fails := agenttest.Reply{agenttest.Failing(delivery.FailServer, 500, "down")}
	unknown := func(endpoint string) delivery.Profile {
		p := agenttest.Sees(endpoint)
		p.Images = delivery.Capability{}
		return p
	}
	set("ant", agent.Model{Profile: unknown("ant-endpoint")}, fails)
	set("bee", agent.Model{Profile: unknown("bee-endpoint")}, fails)
	set("cat", agent.Model{Profile: agenttest.Sees("cat-endpoint")}, fails)
	set("dog", agent.Model{Profile: agenttest.Sees("dog-endpoint"), Unusable: errors.New("no key")}, fails)
	b.With(func(o *agent.Options) {
		o.Directory = agenttest.Directory{{Name: "ant"}, {Name: "bee"}, {Name: "cat"}, {Name: "dog"}, {Name: "eyes"}, {Name: "main"}, {Name: "mole"}, {Name: "nobody"}}
	})
	b.Must(t.Context(), "what?", agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "go on")
	probed := delivery.Capability{Evidence: delivery.EvidenceProbe}
	if err := b.Disk.SaveEvidence(t.Context(), "ant-endpoint", content.KindImage, probed); err != nil {
		t.Fatal(err)
	}
	asked := len(p.Requests())
	_, _, err := b.Session.Look(t.Context(), b.Front, "image-1.png", "a cat?", "")
	if err == nil {
		t.Fatal("somebody looked")
	}
	if n := len(p.Requests()); n != asked+1 {
		t.Errorf("the describer was asked %d times", n-asked)
	}
	contains(t, err.Error(), "image-1.png: eyes: ", "; cat: ", "; ant: it is not known whether it sees pictures: the user can run tote probe ant", "; bee: it could not be asked whether it sees pictures", "agent dog: no key", "nobody: ")
	lacks(t, err.Error(), "mole", "main")
	if strings.Join(order, " ") != "cat bee" {
		t.Errorf("asked %v", order)
	}
	if _, _, err := b.Session.Look(t.Context(), b.Front, "image-1.png", "a cat?", "bee"); err == nil || !strings.Contains(err.Error(), "whether it sees") {
		t.Errorf("%v", err)
	}
	if strings.Join(order, " ") != "cat bee bee" {
		t.Errorf("asked %v", order)
	}
}
