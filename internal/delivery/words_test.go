package delivery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

func TestReasonsHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range delivery.Reasons() {
		if r.String() == "" || strings.Contains(r.String(), "(") || seen[r.String()] {
			t.Errorf("reason %d has no code of its own: %q", r, r)
		}
		seen[r.String()] = true
		for _, s := range []string{r.User(), r.Model()} {
			if strings.HasSuffix(s, ".") || strings.Contains(s, "\n") {
				t.Errorf("%v: %q is not a sentence without a full stop", r, s)
			}
		}
		if r.User() == "" {
			t.Errorf("%v has no sentence for the user", r)
		}
	}
	if delivery.Reason(200).User() != "" || delivery.Reason(200).Model() != "" {
		t.Error("a reason that is none has words")
	}
}

// The reasons that a block which is not sent may have are all of those that do
// not say how it was sent.
func TestDegradedReasonsHaveWordsForTheModel(t *testing.T) {
	sent := []delivery.Reason{
		delivery.ReasonFits, delivery.ReasonBlank, delivery.ReasonPrepared, delivery.ReasonPathLimit, delivery.ReasonFormat,
		delivery.ReasonTextForm, delivery.ReasonLink, delivery.ReasonTrimmed,
	}
	for _, r := range delivery.Reasons() {
		if (r.Model() == "") != slices.Contains(sent, r) {
			t.Errorf("%v: words for the model %q", r, r.Model())
		}
	}
}

func TestDispositionsHaveWords(t *testing.T) {
	for _, d := range delivery.Dispositions() {
		if delivery.Fate(d) == "?" || delivery.Fate(d) == "" {
			t.Errorf("%v has no fate", d)
		}
		whole := d == delivery.Inline || d == delivery.Shrunk || d == delivery.Converted
		if d.Degraded() == whole {
			t.Errorf("%v is degraded: %v", d, d.Degraded())
		}
	}
	if n := len(delivery.Dispositions()); delivery.Disposition(n).String() != "refused" || !strings.Contains(delivery.Disposition(n+1).String(), "(") {
		t.Errorf("Dispositions lists %d", n)
	}
	if delivery.Fate(0) != "?" {
		t.Error("no disposition has a fate")
	}
}

func TestNamesOfSets(t *testing.T) {
	names := map[string]bool{}
	add := func(s string) {
		if s == "" || strings.HasSuffix(s, "?") || names[s] {
			t.Errorf("name %q is missing or used twice", s)
		}
		names[s] = true
	}
	for _, k := range delivery.Failures() {
		add("failure " + k.String())
	}
	for a := delivery.ActFail; a <= delivery.ActEvict; a++ {
		add("action " + a.String())
	}
	for r := delivery.RoutePrompt; r <= delivery.RouteResult; r++ {
		add("route " + r.String())
	}
	for e := delivery.EvidenceNone; e <= delivery.EvidenceServer; e++ {
		add("evidence " + e.String())
	}
	for a := delivery.Unknown; a <= delivery.No; a++ {
		add("answer " + a.String())
	}
	for k := delivery.PartBlock; k <= delivery.PartCall; k++ {
		add("part " + k.String())
	}
	for s := delivery.SeverityInfo; s <= delivery.SeverityError; s++ {
		add("severity " + s.String())
	}
	for _, s := range []string{
		delivery.FailureKind(99).String(), delivery.Action(99).String(), delivery.Route(0).String(), delivery.Route(99).String(),
		delivery.Evidence(99).String(), delivery.Answer(99).String(), delivery.Severity(99).String(),
		delivery.PartKind(0).String(),
	} {
		if !strings.HasSuffix(s, "?") {
			t.Errorf("a value outside the set is called %q", s)
		}
	}
}

func receipt(h content.Handle, k content.Kind, d delivery.Disposition, r delivery.Reason) delivery.Receipt {
	return delivery.Receipt{Handle: h, Name: "n-" + string(h), Kind: k, Disposition: d, Reason: r}
}

func TestNotices(t *testing.T) {
	path := func(h content.Handle) delivery.Receipt {
		return receipt(h, content.KindImage, delivery.Path, delivery.ReasonHistoryBudget)
	}
	const gave = "older attachments gave way to the budget for history"
	line := func(h string) delivery.Notice {
		return delivery.Notice{Severity: delivery.SeverityWarning, Title: h + " (n-" + h + "): is not shown to the model, which gets the path of its file", Detail: gave}
	}
	tests := []struct {
		name string
		in   []delivery.Receipt
		want []delivery.Notice
	}{
		{"none", nil, nil},
		{"whole blocks say nothing", []delivery.Receipt{
			receipt("a", content.KindImage, delivery.Inline, delivery.ReasonFits), receipt("b", content.KindImage, delivery.Shrunk, delivery.ReasonPrepared),
		}, nil},
		{"three alike are told one by one", []delivery.Receipt{path("a"), path("b"), path("c")}, []delivery.Notice{line("a"), line("b"), line("c")}},
		{"four alike are one line", []delivery.Receipt{path("a"), path("b"), path("c"), path("d")}, []delivery.Notice{
			{Severity: delivery.SeverityWarning, Title: "4 attachments (a, b, c, …): is not shown to the model, which gets the path of its file", Detail: gave},
		}},
		{"alike in kind, disposition and reason", []delivery.Receipt{
			path("a"), path("b"), path("c"), receipt("x", content.KindAudio, delivery.Path, delivery.ReasonHistoryBudget),
		}, []delivery.Notice{line("a"), line("b"), line("c"), line("x")}},
		{"in order of the first of each", []delivery.Receipt{
			receipt("x", content.KindAudio, delivery.Placeholder, delivery.ReasonNoAudio), path("a"), path("b"), path("c"), path("d"),
		}, []delivery.Notice{
			{
				Severity: delivery.SeverityWarning, Title: "x (n-x): is not shown; the model is told so",
				Detail: "the chosen model is not known to take sound of this kind",
			},
			{Severity: delivery.SeverityWarning, Title: "4 attachments (a, b, c, …): is not shown to the model, which gets the path of its file", Detail: gave},
		}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, delivery.Notices(tt.in)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestNoticeOfOne(t *testing.T) {
	r := receipt("a", content.KindImage, delivery.Refused, delivery.ReasonDamaged)
	r.Name, r.Detail = "x\n]y", "row\x1b 3"
	want := delivery.Notice{Severity: delivery.SeverityWarning, Title: "a (x__y): is not sent", Detail: "it is damaged and does not decode to its end: row_ 3"}
	if diff := cmp.Diff(want, r.Notice()); diff != "" {
		t.Error(diff)
	}
	r = receipt("a", content.KindImage, delivery.Shrunk, delivery.ReasonPathLimit)
	r.Name = ""
	want = delivery.Notice{Severity: delivery.SeverityInfo, Title: "a: goes to the model as a smaller copy", Detail: "cut to what this backend takes"}
	if diff := cmp.Diff(want, r.Notice()); diff != "" {
		t.Error(diff)
	}
}

func TestNoticesOfTrimmedOutput(t *testing.T) {
	var rs []delivery.Receipt
	for _, h := range []content.Handle{"text-1", "text-2", "text-3", "text-4"} {
		rs = append(rs, delivery.Receipt{Handle: h, Kind: content.KindText, Disposition: delivery.Inline, Reason: delivery.ReasonTrimmed, Partial: true})
	}
	const detail = "old tool output gave way; its beginning and its end were sent"
	want := []delivery.Notice{{Severity: delivery.SeverityWarning, Title: "4 texts (text-1, text-2, text-3, …): goes to the model without its middle", Detail: detail}}
	if diff := cmp.Diff(want, delivery.Notices(rs)); diff != "" {
		t.Error(diff)
	}
	want[0].Title = "text-1: goes to the model without its middle"
	if diff := cmp.Diff(want, delivery.Notices(rs[:1])); diff != "" {
		t.Error(diff)
	}
}

func TestEstimates(t *testing.T) {
	patch := delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Cap: 1000}
	tile := delivery.TokenModel{Rule: delivery.TokensTile, Base: 85, PerTile: 170}
	tests := []struct {
		name string
		m    delivery.TokenModel
		w, h int
		want int
	}{
		{"no formula", delivery.TokenModel{}, 100, 100, delivery.DefaultPictureTokens},
		{"flat", delivery.TokenModel{Flat: 7}, 100, 100, 7},
		{"patch", patch, 29, 28, 2},
		{"patch, capped", patch, 4000, 4000, 1000},
		{"patch, times", delivery.TokenModel{Rule: delivery.TokensPatch, Size: 32, Percent: 162}, 320, 320, 162},
		{"patch without a size", delivery.TokenModel{Rule: delivery.TokensPatch}, 320, 320, delivery.DefaultPictureTokens},
		{"patch of unknown size", patch, 0, 0, delivery.DefaultPictureTokens},
		{"tile", tile, 512, 512, 255},
		{"tiles", tile, 1024, 1024, 765}, // the example of the vendor's page
		{"tiles of a long picture", tile, 2048, 4096, 1105},
		{"tiles of a thread", tile, 100_000, 1, 85 + 4*170},
		{"tiles of unknown size", tile, 0, 0, 255},
		{"no rule", delivery.TokenModel{Rule: 99}, 1, 1, delivery.DefaultPictureTokens},
	}
	for _, tt := range tests {
		if got := tt.m.PictureTokens(tt.w, tt.h); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	bare := content.Image{Attachment: content.Attachment{Original: blob(1, png, 10, 512, 512)}}
	pageless := document(1)
	pageless.Pages = 0
	blocks := []struct {
		b    content.Block
		want int
	}{
		{prose(1, "12345"), 2},
		{bare, 295},
		{picture(1), 85 + 2*2*170 + 40},
		{recording(1), 80 + 40},
		{document(1), 3*2250 + 40},
		{pageless, 2250 + 40},
		{resource(1), 1250 + 40},
		{content.Opaque{}, 40},
	}
	for _, tt := range blocks {
		if got := delivery.Estimate(tt.b, tile); got != tt.want {
			t.Errorf("Estimate(%v) = %d, want %d", tt.b.Kind(), got, tt.want)
		}
	}
}
