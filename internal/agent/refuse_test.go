package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// picky refuses every request that holds one of the pictures, in the words
// given, and answers all others.
func picky(refusal agenttest.Act, bad ...[]byte) func(int, agenttest.Received) agenttest.Reply {
	return func(_ int, r agenttest.Received) agenttest.Reply {
		for _, m := range r.Media {
			for _, x := range bad {
				if string(m.Data) == string(x) {
					return agenttest.Reply{refusal}
				}
			}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
}

// A refusal in words that nobody has seen costs one retry in its own turn, is
// remembered, and never comes back.
func TestRefusedPicture(t *testing.T) {
	for _, refusal := range []agenttest.Act{
		agenttest.Failing(delivery.FailRefused, 400, "Das Bild gefällt mir nicht"),
		agenttest.Failing(delivery.FailRefused, 422, ""),
		agenttest.Failing(delivery.FailRefused, 0, "an error inside a 200"),
	} {
		t.Run(refusal.(agenttest.Fail).Err.Error(), func(t *testing.T) {
			bad, good := agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2)
			b := agenttest.New(t, agenttest.Options{Script: picky(refusal, bad)})
			r := b.Must(t.Context(), "look", agenttest.Paste("cat.png", bad))
			if !r.Degraded {
				t.Error("the turn counts as delivered")
			}
			contains(t, b.Last().Text, "[image-1.png: cat.png", "did not accept it")
			if !noticed(b.Front, "cat.png") {
				t.Errorf("no notice names the file: %v", b.Front.Notices())
			}
			contains(t, strings.Join(b.Front.Lines(), "\n"),
				"receipts 1.1 text-1=inline image-1.png=inline", "voided before 2: refused", "receipts 1.2 image-1.png=stripped")
			v, ok := b.Disk.Verdict(agenttest.Endpoint, b.Provider.Requests()[0].Media[0].Digest())
			if !ok || v.Accepted || v.Suspects != 1 {
				t.Errorf("verdict = %+v, %v", v, ok)
			}
			b.Must(t.Context(), "hi") // first try
			b.Restart()
			b.Must(t.Context(), "hi again") // first try
			b.Must(t.Context(), "and this one?", good)
			b.Must(t.Context(), "the first again", bad) // known to be refused
			sent(t, b, "image-1.png", "", "", "", "image-2.png", "image-2.png")
		})
	}
}

// What the endpoint has answered with stays; only what is new is taken out, and
// then all of it.
func TestRefusalTakesOutWhatIsNewFirst(t *testing.T) {
	a, c, bad := agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2), agenttest.PNG(20, 20, 3)
	b := agenttest.New(t, agenttest.Options{Script: picky(agenttest.Refusing(), bad)})
	b.Must(t.Context(), a, c)
	b.Must(t.Context(), bad)
	b.Must(t.Context(), "hi")
	sent(t, b, "image-1.png image-2.png", "image-1.png image-2.png image-3.png", "image-1.png image-2.png", "image-1.png image-2.png")

	// Now the endpoint takes no pictures at all any more.
	b.Provider.Script = func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Media) > 0 {
			return agenttest.Reply{agenttest.Refusing()}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
	before := len(b.Provider.Requests())
	b.Front.Forget()
	b.Must(t.Context(), agenttest.PNG(20, 20, 4))
	got := handles(b.Provider)[before:]
	want := "image-1.png image-2.png image-4.png|image-1.png image-2.png|"
	if strings.Join(got, "|") != want {
		t.Errorf("sent %q, want %q", strings.Join(got, "|"), want)
	}
	contains(t, strings.Join(b.Front.Lines(), "\n"), "4.2 image-4.png=stripped", "image-1.png=stripped image-2.png=stripped")
	b.Must(t.Context(), "hi") // first try
	if n := len(b.Provider.Requests()); n != before+4 {
		t.Errorf("the next turn took %d requests", n-before-3)
	}
}

// What is taken out stays out for the whole turn.
func TestStrippedForTheTurn(t *testing.T) {
	bad := agenttest.PNG(20, 20, 1)
	inner := picky(agenttest.Refusing(), bad)
	b := agenttest.New(t, agenttest.Options{Script: func(n int, r agenttest.Received) agenttest.Reply {
		if n == 1 {
			return calls(agenttest.Call("c1", "list", "{}"))
		}
		return inner(n, r)
	}})
	b.Must(t.Context(), bad)
	sent(t, b, "image-1.png", "", "")
}

// Errors that are not about the attachments take nothing out; the first one is
// shown, and nothing is learned.
func TestOtherErrorsStripNothing(t *testing.T) {
	for _, k := range []delivery.FailureKind{
		delivery.FailAuth, delivery.FailBilling, delivery.FailPermission, delivery.FailRateLimit, delivery.FailSchema,
		delivery.FailNetwork,
	} {
		t.Run(k.String(), func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{agenttest.Failing(k, 400, "first words")})})
			r, err := b.Prompt(t.Context(), "look", agenttest.PNG(9, 9, 1))
			var pe *provider.Error
			if !errors.As(err, &pe) || pe.Message != "first words" || r.Stop != content.StopFailed || r.Degraded {
				t.Fatalf("%+v, %v", r, err)
			}
			b.Must(t.Context(), "again")
			sent(t, b, "image-1.png", "image-1.png")
		})
	}
}

// A backend that breaks down on a picture (it crashes, answers nothing, or with a
// page) costs one more try, and never the session.
func TestBreakdownOnAPicture(t *testing.T) {
	reached := &provider.Error{Failure: delivery.Failure{Kind: delivery.FailNetwork, Reached: true}}
	for name, act := range map[string]agenttest.Act{
		"server": agenttest.Failing(delivery.FailServer, 500, "boom"), "stream": agenttest.Failing(delivery.FailStream, 0, "nothing came"),
		"protocol": agenttest.Failing(delivery.FailProtocol, 200, "a web page"), "network": agenttest.Fail{Err: reached},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := agenttest.PNG(9, 9, 1), agenttest.PNG(9, 9, 2)
			b := agenttest.New(t, agenttest.Options{Script: picky(act, bad)})
			b.Must(t.Context(), "look", bad)
			sent(t, b, "image-1.png", "")
			if !noticed(b.Front, "broke down on the request with image-1.png") {
				t.Errorf("notices = %v", b.Front.Notices())
			}
			b.Must(t.Context(), "again")
			b.Restart()
			b.Must(t.Context(), "and again", good)
			sent(t, b, "image-1.png", "", "", "image-2.png")
		})
	}
}

// What broke off in the middle of an answer broke for another reason.
func TestBreakdownInAnAnswer(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{
		agenttest.Say("I see"), agenttest.Failing(delivery.FailStream, 0, "gone"),
	})})
	if _, err := b.Prompt(t.Context(), "look", agenttest.PNG(9, 9, 1)); err == nil {
		t.Error("a broken answer was taken for a whole one")
	}
	sent(t, b, "image-1.png")
}

// An endpoint that took pictures and refuses them now, in unknown words: one try
// without any tells.
func TestProvenEndpointTurnsBlind(t *testing.T) {
	blind := false
	b := agenttest.New(t, agenttest.Options{})
	b.Provider.Script = func(_ int, r agenttest.Received) agenttest.Reply {
		if blind && len(r.Media) > 0 {
			return agenttest.Reply{agenttest.Refusing()}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	blind = true
	b.Must(t.Context(), "again")
	b.Must(t.Context(), "and again")
	sent(t, b, "image-1.png", "image-1.png", "", "")
}

// A refusal that stays a refusal without media teaches nothing.
func TestRefusalThatIsNotAboutMedia(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	n := 0
	b.Provider.Script = func(int, agenttest.Received) agenttest.Reply {
		n++
		return agenttest.Reply{agenttest.Failing(delivery.FailRefused, 400, fmt.Sprintf("words %d", n))}
	}
	_, err := b.Prompt(t.Context(), "look", agenttest.PNG(9, 9, 1))
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Message != "words 1" {
		t.Fatalf("err = %v", err)
	}
	sent(t, b, "image-1.png", "")
	b.Provider.Script = nil
	b.Must(t.Context(), "again")
	sent(t, b, "image-1.png", "", "image-1.png")
}

// Without media there is nothing to take out.
func TestRefusalOfText(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{agenttest.Refusing()})})
	if _, err := b.Prompt(t.Context(), "hi"); err == nil {
		t.Fatal("no error")
	}
	if n := len(b.Provider.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	consistent(t, b.Disk.Turns(b.Session.ID()))
	b.Must(t.Context(), "again")
}

// Words refine what is learned; they are never needed.
func TestWordsRefine(t *testing.T) {
	refusal := func(f delivery.Failure) agenttest.Act {
		f.Kind, f.Status = delivery.FailRefused, 400
		return agenttest.Fail{Err: &provider.Error{Failure: f}}
	}
	big, small := agenttest.PNG(300, 100, 1), agenttest.PNG(20, 20, 2)
	t.Run("edge", func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: picky(refusal(delivery.Failure{
			Class: delivery.ClassEdge, Learned: delivery.Learned{MaxEdge: 200},
		}), big)})
		b.Must(t.Context(), big, small)
		if got := b.Disk.Limit(agenttest.Endpoint, "max_edge"); got != 200 {
			t.Errorf("max_edge = %d", got)
		}
		b.Must(t.Context(), "hi")
		for _, m := range b.Last().Media {
			if m.Handle == "image-1.png" && string(m.Data) == string(big) {
				t.Error("the same bytes were sent again")
			}
		}
		if n := len(b.Provider.Requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
		contains(t, b.Last().Handles(), "image-1.png")
	})
	t.Run("blind", func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: picky(refusal(delivery.Failure{Class: delivery.ClassBlind}), big, small)})
		b.Must(t.Context(), big)
		b.Must(t.Context(), agenttest.PNG(9, 9, 9))
		sent(t, b, "image-1.png", "", "")
		if !b.Disk.RefusesType(agenttest.Endpoint, "image/*") {
			t.Error("the endpoint's own words were not believed")
		}
	})
	t.Run("blind, and yet it has looked at pictures", func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: func(n int, r agenttest.Received) agenttest.Reply {
			if n == 0 {
				return says("seen", 100)
			}
			return picky(refusal(delivery.Failure{Class: delivery.ClassBlind}), big)(n, r)
		}})
		b.Must(t.Context(), small)
		b.Must(t.Context(), big)
		if b.Disk.RefusesType(agenttest.Endpoint, "image/*") {
			t.Error("one bad file made a model that sees blind")
		}
	})
	t.Run("count", func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply {
			if len(r.Media) > 2 {
				return agenttest.Reply{refusal(delivery.Failure{Class: delivery.ClassCount, Learned: delivery.Learned{MaxCount: 2}})}
			}
			return says("ok", 10)
		}})
		b.Must(t.Context(), agenttest.PNG(9, 9, 1), agenttest.PNG(9, 9, 2), agenttest.PNG(9, 9, 3))
		b.Must(t.Context(), agenttest.PNG(9, 9, 4))
		if n := len(b.Provider.Requests()); n != 3 {
			t.Errorf("%d requests: %v", n, handles(b.Provider))
		}
		contains(t, b.Last().Handles(), "image-4.png")
	})
}
