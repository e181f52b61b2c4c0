package delivery_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// talk is n turns of text of 1,000 bytes each with an answer, and one more
// prompt.
func talk(n int) delivery.Input {
	in := delivery.Input{Profile: sees()}
	for i := range n {
		in.Messages = append(in.Messages, user(prose(i+1, fmt.Sprintf("turn %d ", i+1)+strings.Repeat("x", 990))), assistant(content.Text{Body: "ok"}))
	}
	in.Messages = append(in.Messages, user(prose(n+1, "now")))
	in.Current = 2 * n
	return in
}

func leftOut(detail string) delivery.LedgerEntry {
	return delivery.LedgerEntry{Disposition: delivery.Placeholder, Reason: delivery.ReasonContextSize, Detail: detail}
}

func TestLeavesOutTheOldestTurns(t *testing.T) {
	remembered := func(detail string) delivery.Ledger {
		return delivery.NewLedger(map[content.Handle]delivery.LedgerEntry{delivery.LeftOutHandle: leftOut(detail)})
	}
	wire, tokens := delivery.Decide(talk(10)).WireSize(), delivery.Decide(talk(10)).Tokens()
	tests := []struct {
		name string
		in   func(*delivery.Input)
		want int
	}{
		{"all fit", func(in *delivery.Input) { in.Budgets.Request, in.Budgets.Tokens = wire, int(tokens) }, 0},
		{"one byte over: down to 60 percent", func(in *delivery.Input) { in.Budgets.Request = wire - 1 }, 10},
		{"one token over", func(in *delivery.Input) { in.Budgets.Tokens = int(tokens) - 1 }, 10},
		{"the context, less the answer", func(in *delivery.Input) { in.Profile.Context, in.Profile.Output = int(tokens)+99, 100 }, 10},
		{"a fact of this request", func(in *delivery.Input) { in.Facts.MaxTokens = tokens / 2 }, 16},
		{"the smaller of fact and budget", func(in *delivery.Input) { in.Facts.MaxTokens, in.Budgets.Tokens = tokens-1, int(tokens/2) }, 16},
		{"a learned size", func(in *delivery.Input) { in.Facts.MaxRequest = wire / 2 }, 16},
		{"never the current turn", func(in *delivery.Input) { in.Budgets.Tokens = 1 }, 20},
		{"never what came last without a current turn", func(in *delivery.Input) { in.Budgets.Tokens, in.Current = 1, len(in.Messages) }, 20},
		{"no history", func(in *delivery.Input) { in.Budgets.Tokens, in.Current = 1, 0 }, 0},
		{"remembered", func(in *delivery.Input) { in.Ledger = remembered("4") }, 4},
		{"remembered, and more", func(in *delivery.Input) { in.Ledger, in.Budgets.Tokens = remembered("4"), int(tokens)/2 }, 16},
		{"remembered in the middle of a turn", func(in *delivery.Input) { in.Ledger = remembered("5") }, 4},
		{"remembered beyond the current turn", func(in *delivery.Input) { in.Ledger, in.Current = remembered("9"), 6 }, 6},
		{"remembered beyond the end", func(in *delivery.Input) { in.Ledger = remembered("99") }, 20},
		{"a damaged row", func(in *delivery.Input) { in.Ledger = remembered("x") }, 0},
		{"a negative row", func(in *delivery.Input) { in.Ledger = remembered("-4") }, 0},
	}
	for _, tt := range tests {
		in := talk(10)
		tt.in(&in)
		plan := delivery.Decide(in)
		_, rs, ledger := delivery.Settle(plan, carryOut(plan, nil))
		if plan.LeftOut() != tt.want || ledger.LeftOut() != tt.want || len(rs) != 11 {
			t.Errorf("%s: %d left out, %d remembered, want %d; %d receipts", tt.name, plan.LeftOut(), ledger.LeftOut(), tt.want, len(rs))
		}
	}
}

// What stands in the place of what is left out, and what the receipts say.
func TestLeftOutWords(t *testing.T) {
	in := delivery.Input{Profile: sees(), Current: 4, Messages: []content.Message{
		user(prose(1, "look"), picture(1), link()),
		assistant(call("a")), results(result("a", resource(1), prose(2, "done"))),
		assistant(content.Text{Body: "seen"}), user(prose(3, "now"), picture(2)),
	}}
	in.Budgets.Tokens = 6_000
	in.Facts.Fixed = 7_600
	p, rs, ledger := settle(in)
	want := []string{
		"user: [4 earlier messages of this conversation were left out to keep the request small enough]",
		"user: now", "user: [image-2.png: shot.png, image/png, 800x600]", "user: <image-2.png>",
	}
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"text-1 placeholder context_size", "image-1.png placeholder context_size", "link-1 placeholder context_size",
		"resource-1.txt placeholder context_size", "text-2 placeholder context_size", "text-3 inline fits", "image-2.png inline fits",
	}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Error(diff)
	}
	for _, r := range rs[:5] {
		if r.Tokens != 0 {
			t.Errorf("%s costs %d tokens", r.Handle, r.Tokens)
		}
	}
	// The same again, with room for all: what is left out stays out.
	in.Ledger, in.Budgets.Tokens = ledger, 0
	again, _, same := settle(in)
	if diff := cmp.Diff(wire(t, p), wire(t, again)); diff != "" {
		t.Error(diff)
	}
	if rows := same.Changed(ledger); len(rows) > 0 {
		t.Errorf("the ledger changed: %v", rows)
	}
}

// A prompt that is too large by itself does not cost the conversation.
func TestLargePromptKeepsHistory(t *testing.T) {
	in := talk(3)
	in.Messages[in.Current] = user(picture(1), picture(2))
	in.Budgets.Request = 100_000
	plan := delivery.Decide(in)
	if plan.LeftOut() != 0 || letters(plan) != "iii__" {
		t.Errorf("%d left out, %s", plan.LeftOut(), letters(plan))
	}
}

// Where nobody answered, a line says so between two prompts.
func TestNoAnswer(t *testing.T) {
	hoist := delivery.Placement{HoistResults: true}
	tests := []struct {
		name  string
		place delivery.Placement
		ms    []content.Message
		want  []string
	}{
		{
			"failed turns",
			delivery.Placement{},
			[]content.Message{user(prose(1, "a")), user(prose(2, "b")), user(prose(3, "c"))},
			[]string{"user: a", "assistant: [no answer was given]", "user: b", "assistant: [no answer was given]", "user: c"},
		},
		{
			"a hoisted picture before a prompt", hoist,
			[]content.Message{assistant(call("x")), results(result("x", picture(1))), user(prose(1, "b"))},
			[]string{
				"assistant: call x", "tool: result x", "tool: [image-1.png: shown in the next user message]",
				"user: [image-1.png: shot.png, image/png, 800x600, from tool call x]", "user: <image-1.png>",
				"assistant: [no answer was given]", "user: b",
			},
		},
		{
			"merged instead",
			delivery.Placement{MergeRoles: true},
			[]content.Message{user(prose(1, "a")), user(prose(2, "b"))},
			[]string{"user: a", "user: b"},
		},
	}
	for _, tt := range tests {
		p, _, _ := settle(delivery.Input{Profile: sees(places(tt.place)), Messages: tt.ms})
		if diff := cmp.Diff(tt.want, texts(p)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}
