package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// roles are the roles of a request's messages, in order.
func roles(r agenttest.Received) []string {
	var out []string
	for l := range strings.SplitSeq(r.Body, "\n") {
		if role, ok := strings.CutPrefix(l, "# "); ok {
			out = append(out, role)
		}
	}
	return out
}

// alternates checks that no two messages of a request follow each other that
// are of the same role, and that the first is the user's.
func alternates(t *testing.T, r agenttest.Received) {
	t.Helper()
	last := "assistant"
	for i, role := range roles(r) {
		if role == last {
			t.Fatalf("message %d is of %s again: %v", i, role, roles(r))
		}
		last = role
	}
}

// leftOutNotices counts what was said about messages that are left out.
func leftOutNotices(f *agenttest.Front) int {
	n := 0
	for _, x := range f.Notices() {
		if strings.Contains(x.Title, "messages of this conversation are not sent any more") {
			n++
		}
	}
	return n
}

const leftOutText = "earlier messages of this conversation were left out"

// Two hundred turns of text on a model that holds few of them: it never fails,
// the body stays small, and between two cuts each request begins with the one
// before it.
func TestLongConversationOfText(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context, p.Output = 8_000, 1_000
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Body) > 4*8_000 {
			return agenttest.Reply{agenttest.Failing(delivery.FailOverflow, 400, "context_length_exceeded")}
		}
		return agenttest.Reply{agenttest.Say(strings.Repeat("well ", 20))}
	}})
	for i := range 200 {
		b.Must(t.Context(), fmt.Sprintf("turn %d %s", i, strings.Repeat("word ", 200)))
	}
	b.Must(t.Context(), "hi")
	all := b.Provider.Requests()
	if len(all) != 201 {
		t.Fatalf("%d requests for 201 turns", len(all))
	}
	cuts := 0
	for i, r := range all {
		alternates(t, r)
		if i > 0 && !strings.HasPrefix(r.Prefix(), all[i-1].Prefix()) {
			cuts++
		}
	}
	if got := leftOutNotices(b.Front); cuts < 5 || cuts > 40 || got != cuts {
		t.Errorf("%d cuts, %d notices", cuts, got)
	}
	contains(t, b.Last().Text, leftOutText, "turn 199 ", "hi\n")
	lacks(t, b.Last().Text, "turn 100 ")
}

// A restart keeps what is left out.
func TestRestartKeepsTheCut(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context = 8_000
	b := agenttest.New(t, agenttest.Options{Profile: p})
	for i := 0; leftOutNotices(b.Front) == 0; i++ {
		b.Must(t.Context(), fmt.Sprintf("turn %d %s", i, strings.Repeat("word ", 200)))
	}
	before := b.Last()
	p.Context = 1_000_000
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: p})
	b.Restart()
	b.Must(t.Context(), "hi")
	if !strings.HasPrefix(b.Last().Prefix(), before.Prefix()) {
		t.Errorf("the request after a restart does not begin with the one before:\n%s", b.Last().Text)
	}
	if got := leftOutNotices(b.Front); got != 1 {
		t.Errorf("%d notices", got)
	}
}

// A backend that takes no more than 100 KB, with nothing but text in the way:
// one retry, and the turns after it go through at once.
func TestTextTooLargeForBackend(t *testing.T) {
	refusals := map[string]func(n int) agenttest.Act{
		"413": func(int) agenttest.Act { return agenttest.Failing(delivery.FailTooLarge, 413, "") },
		"413 with a number": func(int) agenttest.Act {
			return agenttest.Fail{Err: &provider.Error{Failure: delivery.Failure{
				Kind: delivery.FailTooLarge, Status: 413, Learned: delivery.Learned{MaxRequest: 100_000},
			}}}
		},
		"reset": func(int) agenttest.Act { return agenttest.Failing(delivery.FailUpload, 0, "connection reset") },
		"overflow": func(int) agenttest.Act {
			return agenttest.Failing(delivery.FailOverflow, 400, "context_length_exceeded")
		},
	}
	for name, refuse := range refusals {
		t.Run(name, func(t *testing.T) {
			failed := 0
			b := agenttest.New(t, agenttest.Options{Script: func(n int, r agenttest.Received) agenttest.Reply {
				if len(r.Body) > 100_000 {
					failed++
					return agenttest.Reply{refuse(n)}
				}
				return agenttest.Reply{agenttest.Say("ok")}
			}})
			turns := 0
			for ; failed == 0; turns++ {
				b.Must(t.Context(), fmt.Sprintf("turn %d %s", turns, strings.Repeat("word ", 1000)))
			}
			sends := 1
			if name == "reset" {
				sends = 2 // once more as it was
			}
			if n := len(b.Provider.Requests()); n != turns+sends || failed != sends {
				t.Fatalf("%d requests for %d turns, %d too large", n, turns, failed)
			}
			contains(t, b.Last().Text, leftOutText, fmt.Sprintf("turn %d ", turns-1))
			after := b.Last()
			b.Must(t.Context(), "hi")
			if n := len(b.Provider.Requests()); n != turns+sends+1 {
				t.Errorf("the next turn took %d requests", n-turns-sends)
			}
			if !strings.HasPrefix(b.Last().Prefix(), after.Prefix()) {
				t.Error("the next turn does not begin with what was answered")
			}
			if got := leftOutNotices(b.Front); got != 1 {
				t.Errorf("%d notices", got)
			}
		})
	}
}

// Text that grows on the wire is measured: it never goes out over a limit that
// is known.
func TestMeasuredText(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.MaxRequest = 60_000
	b := agenttest.New(t, agenttest.Options{Profile: p})
	for range 30 {
		b.Must(t.Context(), strings.Repeat("\x01", 1500)) // four bytes each
	}
	for i, r := range b.Provider.Requests() {
		if len(r.Body) > 60_000 {
			t.Errorf("request %d has %d bytes", i, len(r.Body))
		}
	}
}

// A turn that failed leaves a prompt without an answer, which no strict chat
// template takes before the next prompt.
func TestFailedTurnKeepsRolesInTurn(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{agenttest.Failing(delivery.FailAuth, 401, "who are you")},
		agenttest.Reply{agenttest.Failing(delivery.FailAuth, 401, "who are you")},
	)})
	for range 2 {
		_, err := b.Prompt(t.Context(), "hello")
		if _, ok := errors.AsType[*provider.Error](err); !ok {
			t.Fatalf("err = %v", err)
		}
	}
	b.Must(t.Context(), "again")
	alternates(t, b.Last())
	contains(t, b.Last().Text, "hello\n[no answer was given]\nhello\n[no answer was given]\nagain")
	before := b.Last()
	b.Restart()
	b.Must(t.Context(), "more")
	alternates(t, b.Last())
	if !strings.HasPrefix(b.Last().Prefix(), before.Prefix()) {
		t.Error("the next request does not begin with the last")
	}
}
