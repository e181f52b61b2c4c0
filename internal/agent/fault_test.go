package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Whatever goes wrong with a later sending, the answer that has arrived is taken:
// on the second and on the third, with the same bytes each time, and only it is
// charged.
func TestLaterFailureTakesTheEarlierAnswer(t *testing.T) {
	for _, k := range []delivery.FailureKind{
		delivery.FailNetwork, delivery.FailStream, delivery.FailServer, delivery.FailProtocol, delivery.FailUpload, delivery.FailTooLarge,
		delivery.FailOverflow, delivery.FailRefused, delivery.FailRateLimit, delivery.FailAuth, delivery.FailBilling, delivery.FailSchema,
	} {
		for at := 2; at <= 3; at++ {
			t.Run(fmt.Sprintf("%v at %d", k, at), func(t *testing.T) {
				b := agenttest.New(t, agenttest.Options{Script: func(n int, _ agenttest.Received) agenttest.Reply {
					if n+1 == at {
						return agenttest.Reply{agenttest.Seen(7), agenttest.Say("cut"), agenttest.Failing(k, 500, "gone")}
					}
					return says(fmt.Sprintf("answer %d", n+1), 0)
				}})
				r := b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
				all := b.Provider.Requests()
				if len(all) != at {
					t.Fatalf("%d sends", len(all))
				}
				for i, x := range all {
					if x.Body != all[0].Body {
						t.Errorf("sending %d has other bytes", i+1)
					}
				}
				if got, want := b.Front.Shown(), fmt.Sprintf("answer %d", at-1); got != want {
					t.Errorf("shown %q, want %q", got, want)
				}
				if r.Usage.Input.N != 1000 || r.Usage.Output.N != 10 || r.Usage.Image.N != 0 {
					t.Errorf("charged %+v", r.Usage)
				}
				if !noticed(b.Front, "may have been given without the picture") {
					t.Errorf("notices = %v", b.Front.Notices())
				}
				if n := b.Disk.Learned(agenttest.Endpoint); n != 0 {
					t.Errorf("%d things were learned", n)
				}
			})
		}
	}
}

// Only the answer that counts is charged, also where attachments were taken out.
func TestDiscardedAttemptsAreNotCharged(t *testing.T) {
	bad := agenttest.PNG(20, 20, 1)
	b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Media) > 0 {
			return agenttest.Reply{agenttest.Tokens(5000, 50), agenttest.Refusing()}
		}
		return agenttest.Reply{agenttest.Say("ok"), agenttest.Tokens(100, 7)}
	}})
	r := b.Must(t.Context(), bad)
	if r.Usage.Input.N != 100 || r.Usage.Output.N != 7 || b.Disk.Turns(b.Session.ID())[0].Usage != r.Usage {
		t.Errorf("charged %+v", r.Usage)
	}
}

// An account without an entry for pictures is no evidence of anything.
func TestNoAccountNeverReplays(t *testing.T) {
	for name, u := range map[string]content.Usage{
		"nothing":                      {},
		"input":                        {Input: content.Reported(3)},
		"all but images":               {Input: content.Reported(0), Output: content.Reported(0), Cached: content.Reported(0), Reasoning: content.Reported(0), Audio: content.Reported(0)},
		"a zero that was not reported": {Input: content.Reported(900), Image: content.Count{}},
	} {
		b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Say("ok"), agenttest.Emit{Event: provider.UsageReport{Usage: u}}}
		}})
		b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
		if n := len(b.Provider.Requests()); n != 1 {
			t.Errorf("%s: %d sends", name, n)
		}
	}
}

// Where the price of a picture is known, an account far below it warns, once.
func TestWarningByThePrice(t *testing.T) {
	tiles := delivery.TokenModel{Rule: delivery.TokensTile, Base: 85, PerTile: 170}
	patches := delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100}
	for name, tt := range map[string]struct {
		model    delivery.TokenModel
		u        content.Usage
		pictures int
		warns    bool
	}{
		"tiles, far below":   {tiles, content.Usage{Input: content.Reported(150)}, 1, true}, // 765
		"tiles, plausible":   {tiles, content.Usage{Input: content.Reported(300)}, 1, false},
		"two pictures":       {tiles, content.Usage{Input: content.Reported(300)}, 2, true},
		"from a cache":       {tiles, content.Usage{Input: content.Reported(4), Cached: content.Reported(900)}, 1, false},
		"into a cache":       {tiles, content.Usage{Input: content.Reported(4), CacheWrite: content.Reported(900)}, 1, false},
		"patches, far below": {patches, content.Usage{Input: content.Reported(150)}, 1, true}, // 1,296
		"a flat price":       {delivery.TokenModel{Flat: 1120}, content.Usage{Input: content.Reported(200)}, 1, true},
		"no formula, little": {delivery.TokenModel{}, content.Usage{Input: content.Reported(40)}, 1, true},
		"no formula, enough": {delivery.TokenModel{}, content.Usage{Input: content.Reported(150)}, 1, false},
		"accounted for":      {tiles, content.Usage{Input: content.Reported(9), Image: content.Reported(5)}, 1, false},
	} {
		p := agenttest.Sees(agenttest.Endpoint)
		p.Tokens = tt.model
		b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Say("ok"), agenttest.Emit{Event: provider.UsageReport{Usage: tt.u}}}
		}})
		parts := []any{"look"}
		for i := range tt.pictures {
			parts = append(parts, agenttest.PNG(1000, 1000, uint64(i)))
		}
		b.Must(t.Context(), parts...)
		if got := noticed(b.Front, "may have ignored image-1.png"); got != tt.warns {
			t.Errorf("%s: warned = %v", name, got)
		}
		b.Front.Forget()
		b.Must(t.Context(), "more")
		if n := len(b.Provider.Requests()); noticed(b.Front, "may have ignored") || n != 2 {
			t.Errorf("%s: warned again, or %d requests", name, n)
		}
	}
}

// resultsRefused refuses every request that has a picture inside of a tool's
// result.
func resultsRefused(act agenttest.Act) func(int, agenttest.Received) agenttest.Reply {
	return func(n int, r agenttest.Received) agenttest.Reply {
		if n == 0 {
			return calls(agenttest.Call("c1", "read", `{"path":"b.png"}`))
		}
		_, after, _ := strings.Cut(r.Body, "result c1")
		inside, _, _ := strings.Cut(after, "\n# ")
		if strings.Contains(inside, "\nimage ") {
			return agenttest.Reply{act}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
}

func misplaced() agenttest.Act {
	return agenttest.Fail{Err: provider.Rejection(400, []byte(`{"error":{"message":"Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL."}}`))}
}

// Pictures that may not stand in results are sent after them, at once; it is
// remembered, and nothing is held against the picture.
func TestPicturesMayNotStandInResults(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Placement.HoistResults = false
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: resultsRefused(misplaced())})
	b.File("b.png", agenttest.PNG(30, 30, 2))
	r := b.Must(t.Context(), "look at b.png")
	sent(t, b, "", "image-1.png", "image-1.png")
	if r.Degraded || !noticed(b.Front, "takes no attachments in the results of tools") {
		t.Errorf("degraded %v, notices %v", r.Degraded, b.Front.Notices())
	}
	if got := b.Disk.Limit(agenttest.Endpoint, "hoist_results"); got != 1 || b.Disk.Learned(agenttest.Endpoint) != 1 {
		t.Errorf("hoist_results = %d, learned %d things", got, b.Disk.Learned(agenttest.Endpoint))
	}
	b.Must(t.Context(), "more")
	b.Restart()
	b.Must(t.Context(), "and more")
	all := b.Provider.Requests()
	if len(all) != 5 {
		t.Errorf("%d requests: %v", len(all), handles(b.Provider))
	}
	if breaks := prefixes(all[2:]); breaks != nil {
		t.Errorf("the prefix changed at requests %v", breaks)
	}
	contains(t, b.Last().Text, "[image-1.png: shown in the next user message]")
}

// Where another place does not help, the picture is taken out as ever, and the
// place is not remembered.
func TestAnotherPlaceDoesNotHelp(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Placement.HoistResults = false
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(n int, r agenttest.Received) agenttest.Reply {
		switch {
		case n == 0:
			return calls(agenttest.Call("c1", "read", `{"path":"b.png"}`))
		case len(r.Media) > 0:
			return agenttest.Reply{misplaced()}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}})
	b.File("b.png", agenttest.PNG(30, 30, 2))
	b.Must(t.Context(), "look at b.png")
	b.Must(t.Context(), "more")
	sent(t, b, "", "image-1.png", "image-1.png", "", "")
	if got := b.Disk.Limit(agenttest.Endpoint, "hoist_results"); got != 0 {
		t.Errorf("hoist_results = %d", got)
	}
}

// The same words about a picture of the prompt are about the picture.
func TestMisplacedInThePrompt(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Placement.HoistResults = false
	bad := agenttest.PNG(9, 9, 1)
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: picky(misplaced(), bad)})
	b.Must(t.Context(), bad)
	b.Must(t.Context(), "more")
	sent(t, b, "image-1.png", "", "")
}

// What a backend left out by itself is a warning, and the turn has not delivered
// whole; what it merely shrank is told.
func TestRemarks(t *testing.T) {
	remark := func(lost bool) agenttest.Act {
		return agenttest.Emit{Event: provider.Remark{Text: "the oldest picture was removed", Lost: lost}}
	}
	for _, lost := range []bool{true, false} {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{remark(lost), agenttest.Say("ok")})})
		r := b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
		severity := b.Front.Notices()[0].Severity
		if r.Degraded != lost || (severity == delivery.SeverityWarning) != lost || !noticed(b.Front, "the oldest picture was removed") {
			t.Errorf("lost %v: degraded %v, %v", lost, r.Degraded, b.Front.Notices())
		}
		if r = b.Must(t.Context(), "more"); r.Degraded {
			t.Error("a later turn counts as degraded")
		}
	}
	// Of an attempt that was voided it says nothing about what was delivered.
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{remark(true), agenttest.Say("a"), agenttest.Seen(0)}, says("b", 9),
	)})
	if r := b.Must(t.Context(), agenttest.PNG(9, 9, 1)); r.Degraded {
		t.Error("a voided attempt degrades the turn")
	}
}

// A context window that the backend names is remembered once a smaller request
// went through, and kept from then on.
func TestContextIsLearned(t *testing.T) {
	const window = 6_000
	words := fmt.Sprintf(`{"error":{"message":"request (9000 tokens) exceeds the available context size (%d tokens), try increasing it","n_ctx":%d}}`, window, window)
	b := agenttest.New(t, agenttest.Options{})
	over := 0
	b.Provider.Script = func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Body) > 4*window {
			over++
			return agenttest.Reply{agenttest.Fail{Err: provider.Rejection(400, []byte(words))}}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
	for i := range 30 {
		b.Must(t.Context(), fmt.Sprintf("turn %d %s", i, strings.Repeat("word ", 400)))
		if i == 20 {
			b.Restart()
		}
	}
	if got := b.Disk.Limit(agenttest.Endpoint, "context"); got != window || over != 1 {
		t.Errorf("context = %d after %d overflows", got, over)
	}
	if !noticed(b.Front, "did not take a request of that size") {
		t.Error("nothing was said")
	}
}

// A window that was named of a request that never went through is not learned.
func TestContextOfAFailureIsNotLearned(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Fail{Err: provider.Rejection(400, []byte(`{"error":{"message":"n","n_ctx":512,"type":"exceed_context_size_error"}}`))}}
	}})
	if _, err := b.Prompt(t.Context(), "hi"); err == nil {
		t.Fatal("no error")
	}
	if n := b.Disk.Learned(agenttest.Endpoint); n != 0 {
		t.Errorf("%d things were learned", n)
	}
}

// "Too large" of a request that is tiny, or of one that was made smaller before,
// is about the picture.
func TestTooLargeIsAboutThePicture(t *testing.T) {
	bad, good := agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2)
	b := agenttest.New(t, agenttest.Options{Script: picky(agenttest.Failing(delivery.FailTooLarge, 413, "no"), bad)})
	b.Must(t.Context(), good)
	b.Must(t.Context(), agenttest.Paste("cat.png", bad))
	b.Must(t.Context(), "hi")
	sent(t, b, "image-1.png", "image-1.png image-2.png", "image-1.png", "image-1.png")
	if got := b.Disk.Limit(agenttest.Endpoint, "max_request"); got != 0 || !noticed(b.Front, "cat.png") {
		t.Errorf("max_request = %d, notices %v", got, b.Front.Notices())
	}

	// Each picture alone is over what the backend takes, and still less than
	// half of the request.
	limit := 200_000
	b = agenttest.New(t, agenttest.Options{Script: capped(limit, delivery.FailTooLarge)})
	b.Must(t.Context(), agenttest.PNG(400, 400, 1), agenttest.PNG(400, 400, 2), agenttest.PNG(400, 400, 3), agenttest.PNG(400, 400, 4))
	n := len(b.Provider.Requests())
	b.Must(t.Context(), "hi")
	if got := len(b.Provider.Requests()); got != n+1 {
		t.Errorf("the next turn took %d requests", got-n)
	}
}
