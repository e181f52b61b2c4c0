package delivery_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// A summary that takes the place of the oldest turns makes nothing of the others
// larger: with the lane's rows behind it no part takes more than in the request
// before, and neither does the whole but for the summary and the new turn.
func TestNothingGrowsBehindASummary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	tried, gave := 0, 0
	for range 3000 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		w := newWorld(data)
		in := delivery.Input{Profile: w.profile(), Budgets: w.budgets(), Messages: w.messages(nil, 16), Facts: w.facts()}
		in.Facts.Summary, in.Facts.Reported = delivery.Summary{}, delivery.Reported{}
		in.Current = len(in.Messages)
		for in.Current > 0 && (in.Current == len(in.Messages) || in.Messages[in.Current].Role != content.RoleUser) {
			in.Current--
		}
		if in.Current == 0 {
			continue
		}
		in.Budgets.Tokens = max(1, int(delivery.Decide(in).Tokens())*(30+rng.IntN(80))/100)
		before := delivery.Decide(in)
		_, _, ledger := delivery.Settle(before, carryOut(before, nil))
		n := max(in.Current-rng.IntN(in.Current+1), before.LeftOut())
		for n < in.Current && in.Messages[n].Role != content.RoleUser {
			n++
		}
		old := before.Usage()
		in.Ledger = ledger.Behind(in.Messages[:n])
		in.Facts.Summary = delivery.Summary{Messages: n, Text: "what was"}
		in.Messages = append(in.Messages, assistant(content.Text{Body: "ok"}), user(prose(900, "and on")))
		in.Current = len(in.Messages) - 1
		after := delivery.Decide(in)
		now := after.Usage()
		tried++
		grown := int64(0)
		for i, p := range now.Parts {
			if i >= len(old.Parts) {
				grown += p.Tokens
				continue
			}
			if p.Tokens < old.Parts[i].Tokens {
				gave++
			}
			if !p.LeftOut && p.Tokens > old.Parts[i].Tokens && p.Reason != delivery.ReasonDetached {
				t.Fatalf("%s took %d tokens (%v %v) and takes %d (%v %v)", p.Handle, old.Parts[i].Tokens, old.Parts[i].Disposition, old.Parts[i].Reason, p.Tokens, p.Disposition, p.Reason)
			}
		}
		if was, is := before.Estimates().Whole, after.Estimates().Whole; is > was+now.Summary+grown {
			t.Fatalf("%d tokens before, %d with a summary of %d and a turn of %d", was, is, now.Summary, grown)
		}
	}
	if tried < 1000 || gave == 0 {
		t.Errorf("%d conversations were tried, %d parts gave way: this proves nothing", tried, gave)
	}
}

// What was cut out of the newest turns stays cut when a summary stands for the
// others; what the summary is of is forgotten.
func TestBehind(t *testing.T) {
	trimmed := delivery.LedgerEntry{Disposition: delivery.Inline, Reason: delivery.ReasonTrimmed}
	l := delivery.NewLedger(map[content.Handle]delivery.LedgerEntry{"text-2": trimmed, "text-3": trimmed, delivery.LeftOutHandle: leftOut("3")})
	ms := work(2, 4_000)
	for n, want := range map[int]string{0: "text-2 text-3 3", 3: "text-3 0", 5: "0"} {
		got := ""
		b := l.Behind(ms[:n])
		for _, h := range []content.Handle{"text-2", "text-3"} {
			if _, ok := b.Lookup(h); ok {
				got += string(h) + " "
			}
		}
		if got += fmt.Sprint(b.LeftOut()); got != want {
			t.Errorf("behind %d messages: %q, want %q", n, got, want)
		}
	}
	if l.Len() != 3 {
		t.Error("the ledger itself has changed")
	}
}

// Where a backend counted more than was estimated, what is new counts more too: by
// the ratio, and with a bound. Where it counted less, estimates stay.
func TestRatio(t *testing.T) {
	in := prompt(sees(), prose(1, strings.Repeat("x", 40_000)))
	in.Facts.Fixed = 4_000
	estimate := delivery.Decide(in).Tokens()
	for _, tt := range []struct{ tokens, estimate, want int64 }{
		{0, 0, estimate},
		{1_000, 1_000, estimate},
		{500, 1_000, estimate},
		{1_500, 1_000, estimate * 3 / 2},
		{9_000, 1_000, estimate * 2},
		{1_500, 0, estimate},
		{-5, 1_000, estimate},
		{1 << 40, 1 << 39, estimate},
	} {
		in.Facts.Reported = delivery.Reported{Tokens: tt.tokens, Estimate: tt.estimate}
		plan := delivery.Decide(in)
		if got := plan.Tokens(); got != tt.want || plan.Usage().Reported || plan.Estimates().Whole != estimate {
			t.Errorf("%d counted for %d: %d tokens, want %d", tt.tokens, tt.estimate, got, tt.want)
		}
	}
}

// What gives way by an estimate that is scaled is as much as has to.
func TestRatioKeepsTheLimit(t *testing.T) {
	in := delivery.Input{Profile: sees(func(p *delivery.Profile) { p.Context = 32_000 }), Messages: work(30, 6_000)}
	in.Facts.Reported = delivery.Reported{Tokens: 1_700, Estimate: 1_000}
	plan := delivery.Decide(in)
	if n, limit := plan.Tokens(), plan.TokenLimit(); n > limit || n < limit/3 {
		t.Errorf("%d tokens, the limit is %d", n, limit)
	}
}

// Counts that cannot be of the whole request, or of it alone.
func TestPlausible(t *testing.T) {
	e := delivery.Estimates{Whole: 80_000}
	want := map[int64]bool{-1: false, 0: false, 9_999: false, 10_000: true, 80_000: true, 340_000: true, 340_001: false}
	got := map[int64]bool{}
	for n := range want {
		got[n] = e.Plausible(n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A long turn in a window that holds little of it: after the middles of all its
// outputs the oldest outputs become lines, the newest stays, and what was given up
// stays so.
func TestLongTurnInATinyWindow(t *testing.T) {
	in := delivery.Input{Profile: sees(func(p *delivery.Profile) { p.Context = 8_000 })}
	in.Facts.Fixed = 8_000
	lines, last := 0, ""
	for n := 1; n <= 30; n++ {
		in.Messages = work(n, 3_000)
		plan := delivery.Decide(in)
		if plan.Tokens() > plan.TokenLimit() {
			t.Fatalf("%d calls: %d tokens, the limit is %d", n, plan.Tokens(), plan.TokenLimit())
		}
		p, rs, ledger := delivery.Settle(plan, carryOut(plan, nil))
		out := 0
		for i, r := range rs {
			if r.Disposition != delivery.Placeholder {
				continue
			}
			if out++; out != i { // text-1 is the prompt
				t.Errorf("%d calls: %s went before an older one", n, r.Handle)
			}
			if r.Reason != delivery.ReasonContextSize || !r.Degraded() {
				t.Errorf("%+v", r)
			}
		}
		if out < lines || out >= n {
			t.Errorf("%d calls: %d outputs are lines after %d", n, out, lines)
		}
		body := wire(t, p)
		if out == lines && last != "" && n > 1 && len(trimmed(plan)) == 0 && !strings.HasPrefix(body, last) {
			t.Errorf("%d calls: what stood before has changed", n)
		}
		if !strings.Contains(body, fmt.Sprintf("%04dy", n-1)) {
			t.Errorf("%d calls: the newest output is gone", n)
		}
		lines, last, in.Ledger = out, body, ledger
	}
	if lines == 0 {
		t.Error("nothing had to become a line: this proves nothing")
	}
	if !strings.Contains(last, "[text-2, 3000 bytes, not shown: it was left out to keep the context short enough]") {
		t.Error(last)
	}
}
