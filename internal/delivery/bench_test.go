package delivery_test

import (
	"strconv"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// conversation is a lane of n blocks over n/5 messages, three of ten pictures,
// with what was sent before in the ledger.
func conversation(n int) (delivery.Input, delivery.Results) {
	in := delivery.Input{Profile: sees(limits(func(l *delivery.Limits) { l.MaxEdge = 8000 }))}
	in.Facts.Files = true
	in.Budgets = delivery.Budgets{History: delivery.Unlimited, Request: delivery.Unlimited, Tokens: 1 << 40}
	block := 0
	for m := range n / 5 {
		var parts []content.Part
		for range 5 {
			block++
			if block%10 < 3 {
				parts = append(parts, picture(block, sized(int64(100_000+block))))
				continue
			}
			parts = append(parts, prose(block, "some words of the user, number "+strconv.Itoa(block)))
		}
		if m%2 == 1 {
			id := "call-" + strconv.Itoa(m)
			r := result(id)
			for _, p := range parts {
				b, _ := p.(content.Block)
				r.Blocks = append(r.Blocks, b)
			}
			in.Messages = append(in.Messages, assistant(content.Text{Body: "well"}, call(id)), results(r))
			continue
		}
		in.Messages = append(in.Messages, user(parts...))
	}
	in.Current = len(in.Messages) - 1
	plan := delivery.Decide(in)
	r := carryOut(plan, nil)
	_, _, in.Ledger = delivery.Settle(plan, r)
	return in, r
}

func BenchmarkDecideSettle(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			in, r := conversation(n)
			b.ReportAllocs()
			for b.Loop() {
				delivery.Settle(delivery.Decide(in), r)
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	in, r := conversation(1_000)
	p, _, _ := delivery.Settle(delivery.Decide(in), r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := delivery.Render(p, plain{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReduce decides a turn of 500 calls that is over its window, with a
// summary before it and a count of the backend.
func BenchmarkReduce(b *testing.B) {
	in := delivery.Input{Profile: sees(), Messages: append(talk(100).Messages[:200:200], work(500, 2_000)...), Current: 200}
	in.Facts.Summary = delivery.Summary{Messages: 100, Text: "they talked"}
	_, _, ledger := settle(in)
	in.Facts.Reported = delivery.Reported{Messages: len(in.Messages) - 1, Tokens: delivery.Decide(in).Tokens() * 9 / 10, Ledger: &ledger}
	in.Budgets.Tokens = int(in.Facts.Reported.Tokens) - 1
	plan := delivery.Decide(in)
	if plan.Tokens() > plan.TokenLimit() || len(trimmed(plan)) == 0 {
		b.Fatalf("%d tokens, limit %d", plan.Tokens(), plan.TokenLimit())
	}
	r := carryOut(plan, nil)
	b.ReportAllocs()
	for b.Loop() {
		delivery.Settle(delivery.Decide(in), r)
	}
}
