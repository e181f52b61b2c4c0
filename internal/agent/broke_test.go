package agent_test

import (
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// A backend that begins to answer and breaks off whenever it is sent a picture
// costs the turn of that picture, and nothing after it.
func TestBrokenOffAnswersEnd(t *testing.T) {
	for name, cut := range map[string]agenttest.Reply{
		"words":    {agenttest.Say("Let me"), agenttest.Cut{}},
		"thoughts": {agenttest.Think("hm"), agenttest.Cut{}},
		"error":    {agenttest.Say("Let me"), agenttest.Failing(delivery.FailServer, 200, "Zorbl")},
	} {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply {
				if len(r.Media) > 0 {
					return cut
				}
				return agenttest.Reply{agenttest.Say("ok")}
			}})
			if _, err := b.Prompt(t.Context(), "look", agenttest.Paste("cat.png", agenttest.PNG(9, 9, 1))); err == nil {
				t.Fatal("no error of the turn with the picture")
			}
			b.Front.Forget()
			b.Must(t.Context(), "just text")
			if !noticed(b.Front, "cat.png") {
				t.Errorf("notices = %v", b.Front.Notices())
			}
			before := len(b.Provider.Requests())
			b.Must(t.Context(), "more text")
			b.Restart()
			b.Must(t.Context(), "and more")
			if n := len(b.Provider.Requests()) - before; n != 2 {
				t.Errorf("%d requests for two turns", n)
			}
		})
	}
}

// A backend that breaks down on pictures which it has taken before is asked once
// without them.
func TestBreaksDownOnProvenPictures(t *testing.T) {
	broken := false
	b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if broken && len(r.Media) > 0 {
			return agenttest.Reply{agenttest.Failing(delivery.FailServer, 500, "the runner has stopped")}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}})
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1), agenttest.PNG(9, 9, 2))
	broken = true
	b.Must(t.Context(), "and now?")
	before := len(b.Provider.Requests())
	b.Must(t.Context(), "and then?")
	if n := len(b.Provider.Requests()) - before; n != 1 {
		t.Errorf("%d requests for the turn after", n)
	}
}

// Words that could be about all pictures are about one where the endpoint has
// answered with others.
func TestOnePictureIsNotAll(t *testing.T) {
	bad := agenttest.PNG(20, 20, 9)
	b := agenttest.New(t, agenttest.Options{Script: refusing(400, `{"error":{"message":"This model does not support images larger than 4 megapixels."}}`, bad)})
	good, later := agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2)
	b.Must(t.Context(), "look", good)
	b.Must(t.Context(), "and this", bad)
	b.Must(t.Context(), "and that", later)
	if n := len(b.Last().Media); n != 2 {
		t.Errorf("%d pictures in the request, want the two good ones", n)
	}
}

// An answer of nothing is said to be one.
func TestAnswerOfNothing(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Think("hm")}
	}})
	if r := b.Must(t.Context(), "hello"); r.Stop != content.StopEndTurn || !noticed(b.Front, "answered nothing") {
		t.Errorf("%v, notices %v", r.Stop, b.Front.Notices())
	}
}

// finish ends an answer in another way than the usual one.
func finish(stop content.StopReason) agenttest.Act {
	return agenttest.Emit{Event: provider.Finish{Stop: stop}}
}

// An answer that was cut, or that nobody gave, says so.
func TestOddEnds(t *testing.T) {
	for name, c := range map[string]struct {
		reply agenttest.Reply
		want  string
	}{
		"cut":               {agenttest.Reply{agenttest.Say("a long"), finish(content.StopMaxTokens)}, "the answer was cut at its limit of 700 tokens (limits.output_tokens)"},
		"spent on thoughts": {agenttest.Reply{agenttest.Think("hm"), finish(content.StopMaxTokens)}, "before it said anything (limits.output_tokens)"},
		"spent on a call":   {agenttest.Reply{finish(content.StopMaxTokens)}, "before it said anything (limits.output_tokens)"},
		"silent refusal":    {agenttest.Reply{finish(content.StopRefusal)}, "refused to answer and gave no reason"},
		"silent filter":     {agenttest.Reply{agenttest.Emit{Event: provider.Finish{Stop: content.StopRefusal, Note: "content_filter"}}}, "refused to answer"},
		"filter in mid-answer": {
			agenttest.Reply{agenttest.Say("a long"), agenttest.Emit{Event: provider.Finish{Stop: content.StopRefusal, Note: "content_filter"}}}, "may not be whole",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := agenttest.Sees(agenttest.Endpoint)
			p.Output = 700
			b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(int, agenttest.Received) agenttest.Reply { return c.reply }})
			if _, err := b.Prompt(t.Context(), "hello"); err != nil || !noticed(b.Front, c.want) {
				t.Errorf("%v, notices %v", err, b.Front.Notices())
			}
		})
	}
}
