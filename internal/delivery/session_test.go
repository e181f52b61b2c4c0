package delivery_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// session is a long one on a small window: turns of prose, tool output and
// pictures, one request for every step of a turn.
type session struct {
	t                       *testing.T
	rng                     *rand.Rand
	in                      delivery.Input
	texts, pictures, calls  int
	summarises, counts      bool
	last                    string
	requests, stable        int
	share                   float64
	downs, summaries, drops int
	tight                   int
}

func (s *session) prose(n int) content.Text {
	s.texts++
	return prose(s.texts, fmt.Sprintf("text %d ", s.texts)+strings.Repeat("lorem ipsum ", n/12))
}

func (s *session) picture() content.Image {
	s.pictures++
	return picture(s.pictures, sized(int64(20_000+s.rng.IntN(60_000))))
}

// turn adds one: a prompt, some steps of tool calls, an answer.
func (s *session) turn() {
	s.in.Current = len(s.in.Messages)
	parts := []content.Part{s.prose(100 + s.rng.IntN(400))}
	if s.rng.IntN(4) == 0 {
		parts = append(parts, s.picture())
	}
	s.in.Messages = append(s.in.Messages, user(parts...))
	for range s.rng.IntN(5) {
		s.request()
		var calls, outputs []content.Part
		for range 1 + s.rng.IntN(2) {
			s.calls++
			id := fmt.Sprintf("c%d", s.calls)
			r := result(id, s.prose(200+s.rng.IntN(6_000)))
			if s.rng.IntN(8) == 0 {
				r.Blocks = append(r.Blocks, s.picture())
			}
			calls, outputs = append(calls, call(id)), append(outputs, r)
		}
		s.in.Messages = append(s.in.Messages, assistant(calls...), results(outputs...))
	}
	s.request()
	s.in.Messages = append(s.in.Messages, assistant(content.Text{Body: strings.Repeat("well ", 20+s.rng.IntN(100))}))
}

// request sends what there is, as an agent does.
func (s *session) request() {
	s.t.Helper()
	plan := delivery.Decide(s.in)
	if s.summarises && plan.WantsSummary() {
		s.summaries++
		n := plan.SummaryUpTo()
		s.in.Facts.Summary = delivery.Summary{Messages: n, Text: fmt.Sprintf("what was done in %d messages: %s", n, strings.Repeat("so ", 300))}
		s.in.Ledger, s.in.Facts.Reported, s.last = delivery.Ledger{}, delivery.Reported{}, "" // a new lane
		plan = delivery.Decide(s.in)
	}
	old := s.in.Ledger
	p, rs, ledger := delivery.Settle(plan, carryOut(plan, nil))
	s.check(plan, rs)
	s.requests++
	if plan.LeftOut() > old.LeftOut() && plan.LeftOut() > plan.Covered() {
		s.drops++
	}
	body := wire(s.t, p)
	if s.last != "" {
		n := 0
		for n < len(s.last) && n < len(body) && s.last[n] == body[n] {
			n++
		}
		share := float64(n) / float64(len(s.last))
		s.share += share
		s.stable++
		if share < 1 {
			s.downs++
			if n := plan.Tokens(); n > plan.TokenLimit()*81/100 {
				s.tight++
			}
		}
	}
	s.last, s.in.Ledger = body, ledger
	if s.counts {
		s.in.Facts.Reported = delivery.Reported{Messages: len(s.in.Messages), Tokens: delivery.Decide(delivery.Input{
			Profile: s.in.Profile, Ledger: ledger, Messages: s.in.Messages, Current: s.in.Current,
			Budgets: delivery.Budgets{Tokens: 1 << 40}, Facts: delivery.Facts{Fixed: s.in.Facts.Fixed, Summary: s.in.Facts.Summary},
		}).Tokens() * 85 / 100, Ledger: &ledger}
	}
}

func (s *session) check(plan delivery.Plan, rs []delivery.Receipt) {
	s.t.Helper()
	if n := plan.Tokens(); n > plan.TokenLimit() {
		s.t.Fatalf("request %d: %d tokens, limit %d", s.requests, n, plan.TokenLimit())
	}
	for i, o := range plan.Orders() {
		if o.Route() == delivery.RoutePrompt && (o.Disposition != delivery.Inline || rs[i].Degraded()) {
			s.t.Fatalf("request %d: %s of the current prompt is %v %v", s.requests, o.Handle, o.Disposition, o.Reason)
		}
	}
}

func TestLongSessions(t *testing.T) {
	for _, tt := range []struct {
		name               string
		turns              int
		summarises, counts bool
	}{
		{"estimates", 300, false, false},
		{"counts", 80, false, true},
		{"summaries", 80, true, false},
		{"summaries and counts", 80, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &session{t: t, rng: rand.New(rand.NewPCG(3, 4)), summarises: tt.summarises, counts: tt.counts}
			s.in.Profile = sees(func(p *delivery.Profile) {
				p.Context, p.Output = 40_000, 4_000
				p.Tokens = delivery.TokenModel{Flat: 1_000}
				p.Placement.HoistResults = true
			})
			s.in.Facts.Fixed, s.in.Facts.View = 12_000, "view_image"
			for range tt.turns {
				s.turn()
			}
			share := s.share / float64(s.stable)
			t.Logf("%d requests, %.3f of the prefix the same, %d changed it, %d summaries, %d drops, %d tight", s.requests, share, s.downs, s.summaries, s.drops, s.tight)
			if share < 0.9 {
				t.Errorf("%.3f of the prefix is the same from request to request", share)
			}
			if s.downs*8 > s.requests || s.tight > 0 {
				t.Errorf("%d of %d requests changed what stood before, %d of them left no room for the next", s.downs, s.requests, s.tight)
			}
			if tt.summarises && (s.summaries == 0 || s.drops > 0) || !tt.summarises && s.drops == 0 {
				t.Errorf("%d summaries, turns were left out %d times", s.summaries, s.drops)
			}
		})
	}
}
