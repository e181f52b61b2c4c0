package delivery_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

func remembers(h content.Handle, e delivery.LedgerEntry) delivery.Ledger {
	return delivery.NewLedger(map[content.Handle]delivery.LedgerEntry{h: e})
}

// Within a lane a block never goes up, and goes down by facts alone.
func TestLedgerHolds(t *testing.T) {
	cut := blob(42, jpeg, 50_000, 400, 300)
	small := picture(1)
	entry := func(d delivery.Disposition, r delivery.Reason, v content.Blob, note string) delivery.LedgerEntry {
		return delivery.LedgerEntry{Disposition: d, Reason: r, Variant: v, Note: note}
	}
	whole := entry(delivery.Shrunk, delivery.ReasonPathLimit, cut, "")
	path := entry(delivery.Path, delivery.ReasonHistoryBudget, content.Blob{}, "/old")
	words := entry(delivery.Described, delivery.ReasonNoImages, content.Blob{}, "described by x:\na cat")
	stub := entry(delivery.Placeholder, delivery.ReasonCountLimit, content.Blob{}, "")
	text := entry(delivery.Converted, delivery.ReasonTextForm, content.Blob{}, "")
	files := func(in *delivery.Input) { in.Facts.Files = true }
	tests := []struct {
		name  string
		block content.Block
		entry delivery.LedgerEntry
		in    func(*delivery.Input)
		want  string
	}{
		{"keeps the variant", small, whole, files, "image-1.png shrunk path_limit"},
		{"variant is gone", small, whole, func(in *delivery.Input) { in.Facts.Missing = map[content.Digest]bool{digest(42): true} }, "image-1.png inline fits"},
		{"variant is over a learned limit", small, whole, func(in *delivery.Input) { in.Facts.MaxEdge = 399 }, "image-1.png shrunk path_limit"},
		{"verdict on the variant", small, whole, func(in *delivery.Input) { in.Facts.Refused = map[content.Digest]bool{digest(42): true} }, "image-1.png refused endpoint_refused"},
		{"path does not go up", small, path, files, "image-1.png path history_budget"},
		{"path without file tools", small, path, func(*delivery.Input) {}, "image-1.png placeholder history_budget"},
		{"path of a blob that is gone", small, path, func(in *delivery.Input) {
			files(in)
			in.Facts.Missing = map[content.Digest]bool{digest(1001): true}
		}, "image-1.png placeholder missing"},
		{"words do not go up", small, words, files, "image-1.png described no_images"},
		{"words stay without a describer", small, words, func(in *delivery.Input) { in.Profile.Images.Answer = delivery.No }, "image-1.png described no_images"},
		{"words give way to a fault", small, words, func(in *delivery.Input) {
			in.Facts.Failed = map[content.Handle]delivery.Failed{"image-1.png": {Reason: delivery.ReasonMissing}}
		}, "image-1.png placeholder missing"},
		{"stub does not go up", small, stub, files, "image-1.png placeholder count_limit"},
		{"stub is kept before another stub", small, stub, func(in *delivery.Input) { in.Profile.Images.Answer = delivery.No }, "image-1.png placeholder count_limit"},
		{"stripped for this turn", small, stub, func(in *delivery.Input) { in.Facts.Stripped = map[content.Handle]bool{"image-1.png": true} }, "image-1.png stripped turn_refused"},
		{"document stays text", document(1), text, files, "document-1.pdf converted text_form"},
		{"document whose text is gone", document(1), text, func(in *delivery.Input) { in.Facts.Missing = map[content.Digest]bool{digest(3501): true} }, "document-1.pdf inline fits"},
		{"document whose text is too long now", document(1), text, func(in *delivery.Input) { in.Budgets.Text = 10 }, "document-1.pdf inline fits"},
		{"sound", recording(1), path, files, "audio-1.wav path history_budget"},
		{"resource", resource(1), stub, files, "resource-1.txt placeholder count_limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := prompt(sees(), tt.block)
			in.Ledger = remembers(tt.block.BlockHandle(), tt.entry)
			tt.in(&in)
			o := delivery.Decide(in).Orders()[0]
			if got := string(o.Handle) + " " + o.Disposition.String() + " " + o.Reason.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.name == "keeps the variant" && o.Send != cut {
				t.Errorf("sends %v, want %v", o.Send, cut)
			}
			if o.Describe && o.Note != "" {
				t.Error("asks for a description that the lane has")
			}
			if o.Disposition == delivery.Path && o.Stage.IsZero() {
				t.Error("a path without a blob to stage")
			}
		})
	}
}

// What is stripped is back in the next turn, as it was before.
func TestStrippedComesBack(t *testing.T) {
	in := prompt(sees(), picture(1), recording(2), document(3))
	_, _, first := settle(in)
	in.Ledger = first
	in.Facts.Stripped = map[content.Handle]bool{"image-1.png": true, "audio-2.wav": true, "document-3.pdf": true}
	_, rs, during := settle(in)
	want := []string{"image-1.png stripped turn_refused", "audio-2.wav stripped turn_refused", "document-3.pdf stripped turn_refused"}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Errorf("during the turn:\n%s", diff)
	}
	if len(during.Changed(first)) != 0 {
		t.Errorf("stripping is remembered: %v", during.Changed(first))
	}
	in.Ledger, in.Facts.Stripped = during, nil
	_, rs, _ = settle(in)
	want = []string{"image-1.png inline fits", "audio-2.wav inline fits", "document-3.pdf inline fits"}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Errorf("in the next turn:\n%s", diff)
	}
}

func TestSettleLeavesTheOldLedger(t *testing.T) {
	in := prompt(sees(), picture(1))
	_, _, first := settle(in)
	before, _ := first.Lookup("image-1.png")
	in.Ledger, in.Facts.MaxEdge = first, 10
	_, _, second := settle(in)
	if after, _ := first.Lookup("image-1.png"); after != before {
		t.Errorf("the old ledger changed from %v to %v", before, after)
	}
	changed := second.Changed(first)
	if len(changed) != 1 || changed["image-1.png"].Disposition != delivery.Shrunk {
		t.Errorf("changed = %v", changed)
	}
	if got := second.Changed(second); len(got) != 0 {
		t.Errorf("a ledger differs from itself: %v", got)
	}
}

// Rows come from a database. One that no lane can have written costs a prompt
// cache and no more.
func TestNewLedgerLeavesOutWhatCannotBe(t *testing.T) {
	rows := map[content.Handle]delivery.LedgerEntry{
		"a": {Disposition: 99, Reason: delivery.ReasonFits},
		"b": {Disposition: delivery.Inline, Reason: 250},
		"c": {Disposition: delivery.Stripped, Reason: delivery.ReasonTurnRefused},
		"d": {},
		"f": {Disposition: delivery.Path, Reason: delivery.ReasonFits},
		"h": {Disposition: delivery.Path, Reason: delivery.ReasonNoImages, Variant: blob(1, png, 1, 1, 1)},
		"g": {Disposition: delivery.Described, Reason: delivery.ReasonNoImages},
		"e": {Disposition: delivery.Inline, Reason: delivery.ReasonFits},
	}
	given := maps.Clone(rows)
	l := delivery.NewLedger(rows)
	if _, ok := l.Lookup("e"); l.Len() != 1 || !ok {
		t.Errorf("%d entries, want the sound one", l.Len())
	}
	if diff := cmp.Diff(given, rows); diff != "" {
		t.Errorf("the caller's rows changed:\n%s", diff)
	}
	in := prompt(sees(), picture(1))
	in.Ledger = remembers("image-1.png", delivery.LedgerEntry{Disposition: 99})
	if got := ordered(delivery.Decide(in))[0]; got != "image-1.png inline fits" {
		t.Errorf("got %q", got)
	}
}

// The words of a stub are the same in the next request, whatever its cause.
func TestStubsKeepTheirWords(t *testing.T) {
	in := prompt(sees(limits(func(l *delivery.Limits) { l.MaxEdge = 100 })), picture(1), document(2))
	in.Facts.Files = true
	plan := delivery.Decide(in)
	r := carryOut(plan, nil)
	r.Failed["image-1.png"] = delivery.Failed{Reason: delivery.ReasonDamaged, Detail: "row 17"}
	p1, _, l := delivery.Settle(plan, r)
	if w := wire(t, p1); !strings.Contains(w, "row 17") {
		t.Errorf("the detail is not told: %s", w)
	}
	in.Ledger = l
	p2, _, _ := delivery.Settle(delivery.Decide(in), carryOut(delivery.Decide(in), nil))
	if diff := cmp.Diff(wire(t, p1), wire(t, p2)); diff != "" {
		t.Errorf("the second request differs:\n%s", diff)
	}
}
