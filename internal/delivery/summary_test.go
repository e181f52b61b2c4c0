package delivery_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// looked is a conversation with an attachment of every kind in its first turn, a
// second turn, and a current prompt at message 6.
func looked() delivery.Input {
	return delivery.Input{Profile: sees(), Current: 6, Messages: []content.Message{
		user(prose(1, "look"), picture(1), recording(1), document(1), link()),
		assistant(call("a")), results(result("a", resource(1), prose(2, "done"), picture(2, faulty(content.FaultDamaged)))),
		assistant(content.Text{Body: "seen"}),
		user(prose(3, "more"), picture(3)), assistant(content.Text{Body: "ok"}),
		user(prose(4, "now"), picture(4)),
	}}
}

func TestSummaryStandsForTurns(t *testing.T) {
	in := looked()
	in.Facts.View = "view_image"
	in.Facts.Summary = delivery.Summary{Messages: 4, Text: "  They looked.\n"}
	in.Facts.Detached = map[content.Handle]bool{"audio-1.wav": true}
	p, rs, ledger := settle(in)
	want := []string{
		"user: [summary of the 4 earlier messages, which are not shown any more]\nThey looked.\n[end of the summary]\n" +
			"[image-1.png: shot.png, image/png, 800x600, 100000 bytes, no longer in view; call view_image with image-1.png to see it again]\n" +
			"[audio-1.wav: memo.wav, audio/wav, 2.5 s, 200000 bytes, not shown: the user took it out of the conversation]\n" +
			"[document-1.pdf: paper.pdf, application/pdf, 3 pages, 300000 bytes, no longer in view]\n" +
			"[link-1: page <https://example.invalid/a?b=c>]\n" +
			"[resource-1.txt: file:///notes.txt, text/plain, 5000 bytes, no longer in view]\n" +
			"[image-2.png: shot.png, image/png, 800x600, 100000 bytes, not shown: the file is damaged (detail of the fault)]",
		"user: more", "user: [image-3.png: shot.png, image/png, 800x600]", "user: <image-3.png>", "assistant: ok",
		"user: now", "user: [image-4.png: shot.png, image/png, 800x600]", "user: <image-4.png>",
	}
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"text-1 placeholder summarised", "image-1.png placeholder summarised", "audio-1.wav placeholder detached",
		"document-1.pdf placeholder summarised", "link-1 placeholder summarised", "resource-1.txt placeholder summarised",
		"text-2 placeholder summarised", "image-2.png placeholder damaged", "text-3 inline fits", "image-3.png inline fits",
		"text-4 inline fits", "image-4.png inline fits",
	}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Error(diff)
	}
	// The conversation goes on: what stood before is the same.
	in.Ledger = ledger
	in.Messages = append(in.Messages, assistant(content.Text{Body: "well"}), user(prose(5, "next")))
	in.Current = 8
	again, _, _ := settle(in)
	if a, b := wire(t, p), wire(t, again); !strings.HasPrefix(b, a) {
		t.Errorf("the prefix differs:\n%s", cmp.Diff(a, b))
	}
	// Further turns had to go: the summary stands.
	in.Ledger = remembers(delivery.LeftOutHandle, leftOut("6"))
	more, rs, _ := settle(in)
	first := texts(again)[0] + "\n[2 further messages of this conversation were left out to keep the request small enough]"
	if diff := cmp.Diff(first, texts(more)[0]); diff != "" {
		t.Error(diff)
	}
	if rs[8].Reason != delivery.ReasonContextSize || rs[0].Reason != delivery.ReasonSummarised {
		t.Error(fates(rs))
	}
}

func TestSummaryKeepsToTurns(t *testing.T) {
	for _, tt := range []struct {
		messages, want int
		text           string
	}{
		{4, 4, "x"},
		{5, 4, "x"},
		{3, 0, "x"},
		{0, 0, "x"},
		{-1, 0, "x"},
		{99, 6, "x"},
		{4, 0, " \n"},
	} {
		in := looked()
		in.Facts.Summary = delivery.Summary{Messages: tt.messages, Text: tt.text}
		if got := delivery.Decide(in).Covered(); got != tt.want {
			t.Errorf("a summary of %d messages, %q, stands for %d, want %d", tt.messages, tt.text, got, tt.want)
		}
	}
	in := delivery.Input{Profile: sees(), Current: 1, Messages: []content.Message{user(prose(1, "a")), user(prose(2, "b"))}}
	in.Facts.Summary = delivery.Summary{Messages: 1, Text: "x"}
	p, _, _ := settle(in)
	if got := texts(p)[0]; got != "user: [summary of the earlier message, which is not shown any more]\nx\n[end of the summary]" {
		t.Errorf("one message: %q", got)
	}
}

// A model that does not see is told who does.
func TestSummaryNamesLookers(t *testing.T) {
	in := looked()
	in.Profile = sees(blind)
	in.Facts.View, in.Facts.Lookers = "view_image", []string{"eagle", "owl"}
	in.Facts.Summary = delivery.Summary{Messages: 4, Text: "x"}
	p, _, _ := settle(in)
	const want = "100000 bytes, not shown: you cannot see pictures; to have it looked at, call look with image-1.png and a question (eagle, owl see pictures)]"
	if got := texts(p)[0]; !strings.Contains(got, want) || strings.Contains(got, "view_image") {
		t.Errorf("got %s\nwant a line like %s", got, want)
	}
}

// The list of what is no longer in view is bounded, the newest first, and so is
// the summary itself.
func TestSummaryIsBounded(t *testing.T) {
	in := delivery.Input{Profile: sees()}
	for i := range 150 {
		in.Messages = append(in.Messages, user(picture(i+1)), assistant(content.Text{Body: "ok"}))
	}
	in.Messages = append(in.Messages, user(prose(1, "now")))
	in.Current = 300
	in.Facts.Summary = delivery.Summary{Messages: 300, Text: strings.Repeat("画", 20_000)}
	for _, tt := range []struct{ context, stubs, most int }{{0, 100, 50_000}, {8_000, 25, 11_000}, {1_000, 12, 4_000}} {
		in.Profile.Context = tt.context
		p, _, _ := settle(in)
		head := texts(p)[0]
		if n := strings.Count(head, "no longer in view"); n != tt.stubs || len(head) > tt.most {
			t.Errorf("window of %d: %d stubs, %d bytes", tt.context, n, len(head))
		}
		if want := fmt.Sprintf("…\n[end of the summary]\n[older attachments that are not listed here: %d]\n[image-%d.png", 150-tt.stubs, 151-tt.stubs); !strings.Contains(head, want) || !strings.Contains(head, "[image-150.png") {
			t.Errorf("window of %d: no %q", tt.context, want)
		}
	}
}

func TestSummaryCounts(t *testing.T) {
	in := talk(10)
	in.Facts.Summary = delivery.Summary{Messages: 16, Text: strings.Repeat("x", 4_000)}
	with := delivery.Decide(in)
	in.Facts.Summary.Text = strings.Repeat("x", 8_000)
	if more := delivery.Decide(in); more.WireSize()-with.WireSize() != 4_000 || more.Tokens()-with.Tokens() != 1_000 {
		t.Errorf("%d bytes, %d tokens", more.WireSize()-with.WireSize(), more.Tokens()-with.Tokens())
	}
}

func TestWantsSummary(t *testing.T) {
	all := delivery.Decide(talk(20)).Tokens()
	tests := []struct {
		name string
		in   func(*delivery.Input)
		want bool
		upTo int
	}{
		{"no limit", func(*delivery.Input) {}, false, 28},
		{"room enough", func(in *delivery.Input) { in.Budgets.Tokens = int(all) * 2 }, false, 16},
		{"history takes more than 80 percent", func(in *delivery.Input) { in.Budgets.Tokens = int(all) * 120 / 100 }, true, 24},
		{"history takes less than 80 percent", func(in *delivery.Input) { in.Budgets.Tokens = int(all) * 130 / 100 }, false, 24},
		{"over the limit", func(in *delivery.Input) { in.Budgets.Tokens = int(all) - 1 }, true, 28},
		{"what can still give way does not count", func(in *delivery.Input) {
			in.Messages[0].Parts = append(in.Messages[0].Parts, picture(1))
			in.Budgets.Tokens = int(all) * 130 / 100
		}, false, 24},
		{"a summary is there, and history is long again", func(in *delivery.Input) {
			in.Facts.Summary = delivery.Summary{Messages: 4, Text: "x"}
			in.Budgets.Tokens = int(all)
		}, true, 28},
		{"a summary stands for all but the newest", func(in *delivery.Input) {
			in.Facts.Summary = delivery.Summary{Messages: 28, Text: "x"}
			in.Budgets.Tokens = int(all)
		}, false, 28},
		{"the current turn is what is large", func(in *delivery.Input) {
			in.Messages[40] = user(prose(21, strings.Repeat("z", 90_000)))
			in.Budgets.Tokens = int(all) + 22_000
		}, true, 40},
		{"nothing but a current turn", func(in *delivery.Input) {
			in.Messages, in.Current, in.Budgets.Tokens = in.Messages[40:], 0, 1
		}, false, 0},
	}
	for _, tt := range tests {
		in := talk(20)
		tt.in(&in)
		plan := delivery.Decide(in)
		if plan.WantsSummary() != tt.want || plan.SummaryUpTo() != tt.upTo {
			t.Errorf("%s: wants a summary: %v, of %d messages, want %v, %d", tt.name, plan.WantsSummary(), plan.SummaryUpTo(), tt.want, tt.upTo)
		}
		if got := plan.Wants() == delivery.WantsSummary; got != tt.want {
			t.Errorf("%s: wants %v", tt.name, plan.Wants())
		}
	}
	in := talk(20)
	in.Profile = sees(unknown)
	in.Messages[40].Parts = append(in.Messages[40].Parts, picture(1))
	in.Budgets.Tokens = int(all)
	if plan := delivery.Decide(in); plan.Wants() != delivery.WantsVision || !plan.WantsVision() || !plan.WantsSummary() {
		t.Errorf("wants %v, vision %v, summary %v", plan.Wants(), plan.WantsVision(), plan.WantsSummary())
	}
}
