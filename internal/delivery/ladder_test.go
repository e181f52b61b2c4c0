package delivery_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// work is a turn of n calls whose outputs have size bytes each. The first of them
// is text-2.
func work(n, size int) []content.Message {
	ms := []content.Message{user(prose(1, "do it"))}
	for i := range n {
		id := fmt.Sprintf("c%d", i+1)
		ms = append(ms, assistant(call(id)), results(result(id, prose(i+2, fmt.Sprintf("%04d", i)+strings.Repeat("y", size-4)))))
	}
	return ms
}

func trimmed(p delivery.Plan) (out []content.Handle) {
	for _, o := range p.Orders() {
		if o.Reason == delivery.ReasonTrimmed {
			out = append(out, o.Handle)
		}
	}
	return out
}

func TestTrimCutsTheMiddle(t *testing.T) {
	ascii := strings.Repeat("a", 400) + strings.Repeat("b", 1_000) + strings.Repeat("c", 200)
	want := strings.Repeat("a", 400) + "\n[… 1000 bytes of this old output were left out; run the tool again to see them]\n" + strings.Repeat("c", 200)
	if got := delivery.Trim(ascii); got != want {
		t.Errorf("got %q", got)
	}
	runes := strings.Repeat("画", 1_000)
	for _, s := range []string{ascii, runes, "x" + runes, "xy" + runes, strings.Repeat("\x80", 2_000), strings.Repeat("z", 1_001), strings.Repeat("z", 100_000)} {
		got := delivery.Trim(s)
		if int64(len(s)-len(got)) != delivery.TrimSaves(s) || len(got) > 700 || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%.10q of %d bytes: %d bytes, said to save %d", s, len(s), len(got), delivery.TrimSaves(s))
		}
	}
	if n := delivery.TrimSaves(strings.Repeat("z", 1_000)); n != 0 {
		t.Errorf("a short text saves %d bytes", n)
	}
}

// Old output is the first to go, down to 60 percent at once, and stays cut.
func TestTrimsOldOutputFirst(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: append(work(10, 4_000), assistant(content.Text{Body: "done"}), user(prose(20, strings.Repeat("my own words ", 200)), picture(1)))}
	in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2))
	in.Current = len(in.Messages) - 1
	all := delivery.Decide(in).Tokens()
	in.Budgets.Tokens = int(all) - 1
	plan := delivery.Decide(in)
	// Six of ten are old, and not all six have to go.
	if diff := cmp.Diff([]content.Handle{"text-2", "text-3", "text-4", "text-5", "text-6", "text-7"}, trimmed(plan)); diff != "" {
		t.Error(diff)
	}
	p, rs, ledger := delivery.Settle(plan, carryOut(plan, nil))
	for _, r := range rs {
		cut := r.Reason == delivery.ReasonTrimmed
		if r.Partial != cut || r.Disposition != delivery.Inline || r.Degraded() != cut || cut && r.Tokens > 200 {
			t.Errorf("%+v", r)
		}
		e, ok := ledger.Lookup(r.Handle)
		if r.Kind == content.KindText && (ok != cut || cut && e != delivery.LedgerEntry{Disposition: delivery.Inline, Reason: delivery.ReasonTrimmed}) {
			t.Errorf("the ledger has %+v of %s", e, r.Handle)
		}
	}
	if n := strings.Count(wire(t, p), "of this old output were left out"); n != 6 {
		t.Errorf("%d marks", n)
	}
	in.Ledger, in.Budgets.Tokens = ledger, 0 // with room for all
	again, _, same := settle(in)
	if diff := cmp.Diff(wire(t, p), wire(t, again)); diff != "" {
		t.Error(diff)
	}
	if rows := same.Changed(ledger); len(rows) > 0 {
		t.Errorf("the ledger changed: %v", rows)
	}
}

// A turn of a hundred calls goes on: all but its newest results give way.
func TestLongTurnGoesOn(t *testing.T) {
	in := delivery.Input{Profile: sees(func(p *delivery.Profile) { p.Context, p.Output = 64_000, 4_000 })}
	changes := 0
	last := ""
	for n := 1; n <= 100; n++ {
		in.Messages = work(n, 6_000)
		plan := delivery.Decide(in)
		if plan.Tokens() > plan.TokenLimit() {
			t.Fatalf("%d calls: %d tokens, limit %d", n, plan.Tokens(), plan.TokenLimit())
		}
		for _, h := range trimmed(plan) {
			if _, i, _ := h.Ordinal(); i > n+1-delivery.Newest {
				t.Errorf("%d calls: %s is cut", n, h)
			}
		}
		p, _, ledger := delivery.Settle(plan, carryOut(plan, nil))
		body := wire(t, p)
		if !strings.HasPrefix(body, last) {
			changes++
		}
		last, in.Ledger = body, ledger
	}
	if changes == 0 || changes > 8 {
		t.Errorf("what stood before changed %d times", changes)
	}
}

// Where the newest results alone are too much, they are cut, and what the user
// wrote and attached is not.
func TestNewestOutputGivesWayBeforeThePrompt(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: work(2, 20_000)}
	in.Messages[0] = user(prose(1, strings.Repeat("long prompt ", 500)), picture(1), resource(1))
	in.Messages[4].Parts = []content.Part{result("c2", prose(3, strings.Repeat("y", 20_000)), picture(2), resource(2))}
	all := delivery.Decide(in).Tokens()
	for _, tt := range []struct {
		less int64
		want string
	}{
		{1, "text-1 fits, image-1.png fits, resource-1.txt text_form, text-2 fits, text-3 fits, image-2.png context_size, resource-2.txt text_form"},
		{4_001, "text-1 fits, image-1.png fits, resource-1.txt text_form, text-2 fits, text-3 fits, image-2.png context_size, resource-2.txt context_size"},
		{6_000, "text-1 fits, image-1.png fits, resource-1.txt text_form, text-2 trimmed, text-3 fits, image-2.png context_size, resource-2.txt context_size"},
		{12_000, "text-1 fits, image-1.png fits, resource-1.txt text_form, text-2 trimmed, text-3 trimmed, image-2.png context_size, resource-2.txt context_size"},
		{16_000, "text-1 fits, image-1.png context_size, resource-1.txt text_form, text-2 context_size, text-3 trimmed, image-2.png context_size, resource-2.txt context_size"},
	} {
		in.Budgets.Tokens = int(all - tt.less)
		var got []string
		for _, o := range delivery.Decide(in).Orders() {
			got = append(got, string(o.Handle)+" "+o.Reason.String())
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%d tokens less:\n%s", tt.less, diff)
		}
	}
}

// Pictures of tools give way, the oldest first, before the user's own.
func TestToolPicturesGiveWayFirst(t *testing.T) {
	in := delivery.Input{Profile: sees(limits(func(l *delivery.Limits) { l.MaxCount = 8 }))}
	in.Messages = []content.Message{user(picture(1), picture(2))}
	for i := range 7 {
		id := fmt.Sprintf("c%d", i)
		in.Messages = append(in.Messages, assistant(call(id)), results(result(id, picture(3+i))))
	}
	if got := letters(delivery.Decide(in)); got != "ii___iiii" {
		t.Errorf("by count: %s", got)
	}
	in.Profile = sees()
	in.Budgets.Tokens = int(delivery.Decide(in).Tokens()) - 1
	if got := letters(delivery.Decide(in)); got != "ii___iiii" {
		t.Errorf("by tokens: %s", got)
	}
	in.Budgets.Tokens = 13_000
	if got := letters(delivery.Decide(in)); got != "ii______i" {
		t.Errorf("by tokens, few: %s", got)
	}
}

// Output that would not help a body of pictures is left alone.
func TestRequestSizeTrimsWhereItHelps(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: append(work(9, 20_000), assistant(content.Text{Body: "ok"}))}
	for i := range 10 {
		in.Messages[0].Parts = append(in.Messages[0].Parts, picture(i+1))
	}
	in.Messages = append(in.Messages, user(prose(50, "now")))
	in.Current = len(in.Messages) - 1
	all := delivery.Decide(in).WireSize()
	in.Budgets.Request = all - 1
	if plan := delivery.Decide(in); len(trimmed(plan)) != 5 || strings.Contains(letters(plan), "_") {
		t.Errorf("one byte over: %v, %s", trimmed(plan), letters(plan))
	}
	in.Budgets.Request = all - 200_000
	if plan := delivery.Decide(in); len(trimmed(plan)) != 0 || !strings.Contains(letters(plan), "_") {
		t.Errorf("far over: %v, %s", trimmed(plan), letters(plan))
	}
}

// Another model's words give way like text.
func TestDescriptionsGiveWay(t *testing.T) {
	in := prompt(sees(blind), picture(1), picture(2), picture(3))
	in.Facts.Describer = true
	plan := delivery.Decide(in)
	if got := letters(plan); got != "ddd" {
		t.Errorf("all are described: %s", got)
	}
	r := carryOut(plan, nil)
	for h := range r.Descriptions {
		r.Descriptions[h] = delivery.Description{Model: "eye", Text: strings.Repeat("w", 20_000)}
	}
	_, _, in.Ledger = delivery.Settle(plan, r)
	if e, _ := in.Ledger.Lookup("image-1.png"); len(e.Note) > delivery.MaxDescription+100 {
		t.Errorf("a description of %d bytes", len(e.Note))
	}
	in.Budgets.Tokens = 9_000
	plan = delivery.Decide(in)
	if got := letters(plan); got != "_dd" || plan.Tokens() > 9_000 {
		t.Errorf("%s, %d tokens", got, plan.Tokens())
	}
}

func TestCanShrink(t *testing.T) {
	plan := func(ms ...content.Message) delivery.Plan {
		return delivery.Decide(delivery.Input{Profile: sees(), Messages: ms, Current: 0})
	}
	if plan(user(prose(1, strings.Repeat("x", 9_000)))).CanShrink() {
		t.Error("the user's own words can give way")
	}
	for name, p := range map[string]delivery.Plan{
		"a picture": plan(user(picture(1))), "a text": plan(user(resource(1))), "output": plan(work(1, 2_000)...),
		"a turn": delivery.Decide(talk(1)),
	} {
		if !p.CanShrink() {
			t.Errorf("%s cannot give way", name)
		}
	}
}

// What the user takes out is a line; no file of it is given, and words of the
// user's own stay.
func TestDetached(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: []content.Message{
		user(prose(1, "look"), picture(1), recording(1), document(1), resource(1), link()),
		assistant(call("a")), results(result("a", prose(2, "secret output"), picture(2))),
	}}
	in.Facts.Files, in.Facts.View, in.Facts.Lookers = true, "view_image", []string{"eagle"}
	_, _, in.Ledger = settle(in)
	in.Facts.Detached = map[content.Handle]bool{}
	for _, o := range delivery.Decide(in).Orders() {
		in.Facts.Detached[o.Handle] = true
	}
	in.Facts.Stripped = map[content.Handle]bool{"image-1.png": true}
	p, rs, ledger := settle(in)
	want := []string{
		"text-1 inline fits", "image-1.png placeholder detached", "audio-1.wav placeholder detached", "document-1.pdf placeholder detached",
		"resource-1.txt placeholder detached", "link-1 inline link", "text-2 placeholder detached", "image-2.png placeholder detached",
	}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"user: look",
		"user: [image-1.png: shot.png, image/png, 800x600, 100000 bytes, not shown: the user took it out of the conversation]",
		"user: [audio-1.wav: memo.wav, audio/wav, 2.5 s, 200000 bytes, not shown: the user took it out of the conversation]",
		"user: [document-1.pdf: paper.pdf, application/pdf, 3 pages, 300000 bytes, not shown: the user took it out of the conversation]",
		"user: [resource-1.txt: file:///notes.txt, text/plain, 5000 bytes, not shown: the user took it out of the conversation]",
		"user: [link-1: page <https://example.invalid/a?b=c>]",
		"assistant: call a", "tool: result a",
		"tool: [text-2, 13 bytes, not shown: the user took it out of the conversation]",
		"tool: [image-2.png: shot.png, image/png, 800x600, 100000 bytes, not shown: the user took it out of the conversation]",
	}
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Error(diff)
	}
	in.Ledger, in.Facts.Detached, in.Facts.Stripped = ledger, nil, nil // the same lane: nothing comes back
	again, _, _ := settle(in)
	if diff := cmp.Diff(wire(t, p), wire(t, again)); diff != "" {
		t.Error(diff)
	}
	in.Ledger = delivery.Ledger{} // a new one
	if got := letters(delivery.Decide(in)); got != "iiiiiiii" {
		t.Errorf("in a new lane: %s", got)
	}
}

// A picture that waited for evidence no more, because it is out, wants none.
func TestNoEvidenceForWhatIsOut(t *testing.T) {
	in := spent(sees(unknown), picture(1), prose(1, "x"))
	if !delivery.Decide(in).WantsVision() {
		t.Error("a picture in view wants evidence")
	}
	in.Facts.Summary = delivery.Summary{Messages: 2, Text: "about a picture"}
	if delivery.Decide(in).WantsVision() {
		t.Error("a picture behind a summary wants evidence")
	}
	in.Facts.Summary = delivery.Summary{}
	in.Facts.Detached = map[content.Handle]bool{"image-1.png": true}
	if delivery.Decide(in).WantsVision() {
		t.Error("a picture that is taken out wants evidence")
	}
}

// Words that stand for a picture stay within their lane. A new lane of a model
// that sees gets the picture.
func TestDescribedGoesInlineInANewLane(t *testing.T) {
	in := prompt(sees(blind), picture(1), picture(2))
	in.Facts.Describer = true
	_, _, in.Ledger = settle(in)
	in.Profile = sees()
	if got := letters(delivery.Decide(in)); got != "dd" {
		t.Errorf("in the same lane: %s", got)
	}
	in.Ledger = delivery.Ledger{}
	if got := letters(delivery.Decide(in)); got != "ii" {
		t.Errorf("in a new lane: %s", got)
	}
}
