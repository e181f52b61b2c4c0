package delivery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// A backend's count stands for what it covers; what came after is estimated.
func TestReportedBeatsTheEstimate(t *testing.T) {
	in := spent(sees(), picture(1), picture(2), prose(1, strings.Repeat("x", 4_000)))
	_, _, first := settle(delivery.Input{Profile: in.Profile, Messages: in.Messages[:3], Current: 2})
	in.Ledger = first
	all := delivery.Decide(in).Tokens()
	covered := delivery.Decide(delivery.Input{Profile: in.Profile, Messages: in.Messages[:3], Current: 2}).Tokens()
	after := all - covered
	for _, tt := range []struct {
		name     string
		reported delivery.Reported
		in       func(*delivery.Input)
		want     int64
	}{
		{"nothing", delivery.Reported{}, nil, all},
		{"less than estimated", delivery.Reported{Messages: 3, Tokens: 900}, nil, 900 + after},
		{"more than estimated", delivery.Reported{Messages: 3, Tokens: 50_000}, nil, 50_000 + 2*after},
		{"never less than what came after", delivery.Reported{Messages: 3, Tokens: 1}, nil, 1 + after},
		{"of more messages than there are", delivery.Reported{Messages: 6, Tokens: 900}, nil, all},
		{"of none", delivery.Reported{Tokens: 900}, nil, all},
		{"of more than any window holds", delivery.Reported{Messages: 3, Tokens: 900}, func(in *delivery.Input) {
			in.Facts.Fixed, in.Budgets.Request = 1<<40, delivery.Unlimited
		}, all + 1<<38},
		{"negative", delivery.Reported{Messages: 3, Tokens: -5}, nil, all},
		{"a picture has gone since then", delivery.Reported{Messages: 3, Tokens: covered + 1_000}, func(in *delivery.Input) {
			in.Facts.Detached = map[content.Handle]bool{"image-1.png": true}
		}, covered + 1_000 - 4_000 + after*(covered+1_000)/covered},
		{"what was estimated too dear frees less", delivery.Reported{Messages: 3, Tokens: covered / 2}, func(in *delivery.Input) {
			in.Facts.Detached = map[content.Handle]bool{"image-1.png": true}
		}, covered/2 + after - 2_000},
		{"the system prompt is in the count", delivery.Reported{Messages: 3, Tokens: 900}, func(in *delivery.Input) { in.Facts.Fixed = 80_000 }, 900 + after},
	} {
		in := in
		in.Facts.Reported = tt.reported
		if tt.in != nil {
			tt.in(&in)
		}
		plan := delivery.Decide(in)
		if got := plan.Tokens(); got < tt.want-1 || got > tt.want+1 {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
		}
		if got := plan.Usage(); got.Tokens != plan.Tokens() || got.Reported != (tt.want < all || tt.want > all && tt.want < 1<<30) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// A count that is older than the ledger frees nothing twice, and nothing is taken
// off that it has not counted.
func TestReportedWithItsLedger(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: append(work(10, 4_000), assistant(content.Text{Body: "done"}), user(prose(20, "now")))}
	in.Current = len(in.Messages) - 1
	_, _, before := settle(in)
	count := delivery.Decide(in).Tokens() + 500
	in.Facts.Reported = delivery.Reported{Messages: in.Current, Tokens: count, Ledger: &before}
	in.Budgets.Tokens = int(count) - 1
	plan := delivery.Decide(in)
	n := len(trimmed(plan))
	_, _, in.Ledger = delivery.Settle(plan, carryOut(plan, nil))
	again := delivery.Decide(in) // with the same count
	if n == 0 || len(trimmed(again)) != n || again.Tokens() != plan.Tokens() {
		t.Errorf("%d are cut for %d tokens, then %d for %d", n, plan.Tokens(), len(trimmed(again)), again.Tokens())
	}
	after := in.Ledger
	in.Facts.Reported = delivery.Reported{Messages: in.Current, Tokens: plan.Tokens() - 3, Ledger: &after}
	if got := delivery.Decide(in).Tokens(); got < plan.Tokens()-3 || got > plan.Tokens()+10 {
		t.Errorf("a new count of %d: %d tokens", plan.Tokens()-3, got)
	}
}

// What a user reads about the window.
func TestUsage(t *testing.T) {
	in := looked()
	in.Profile.Context, in.Profile.Output = 100_000, 8_000
	in.Messages = append(in.Messages[:7:7], assistant(content.Reasoning{Text: "hm", Path: "openai-chat"}, content.Reasoning{Text: "hm", Path: "x"}, call("b")),
		results(result("b", prose(5, strings.Repeat("o", 2_000)))))
	in.Facts.Fixed = 4_000
	in.Facts.Summary = delivery.Summary{Messages: 4, Text: "They looked."}
	in.Facts.Detached = map[content.Handle]bool{"image-3.png": true}
	in.Ledger = remembers("text-5", delivery.LedgerEntry{Disposition: delivery.Inline, Reason: delivery.ReasonTrimmed})
	plan := delivery.Decide(in)
	u := plan.Usage()
	parts := u.Parts
	u.Parts = nil
	want := delivery.Usage{
		Fixed: 1_000, Summary: 144, Media: 4_040, Text: 300, Tokens: plan.Tokens(), LeftOut: 4, Summarised: 4,
		Window: 100_000, Limit: 92_000, Wire: plan.WireSize(), WireLimit: delivery.DefaultRequest,
	}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, p := range parts[9:] {
		s := strings.Join(strings.Fields(p.What.String()+" "+string(p.Handle)+" "+p.Name+" "+p.Reason.String()), " ")
		if p.Trimmed {
			s += " trimmed"
		}
		if p.Detached {
			s += " detached"
		}
		got = append(got, s)
	}
	wantParts := []string{
		"answer reason(0)", "block text-3 fits", "block image-3.png shot.png detached detached", "answer reason(0)", "block text-4 fits",
		"block image-4.png shot.png fits", "reasoning reason(0)", "call read reason(0)", "block text-5 trimmed trimmed",
	}
	if diff := cmp.Diff(wantParts, got); diff != "" {
		t.Error(diff)
	}
	for i, p := range parts {
		if p.LeftOut != (p.Message < 4) || p.LeftOut != (p.Tokens == 0) || p.LeftOut != (p.Bytes == 0) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
	last := parts[len(parts)-1]
	if last.Message != 8 || last.Turn != 3 || last.Route != delivery.RouteResult || last.Role != content.RoleTool || last.Tokens > 220 {
		t.Errorf("%+v", last)
	}
}
