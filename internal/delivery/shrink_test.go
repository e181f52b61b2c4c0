package delivery_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// The rules of the vendors, as profiles hold them.
var (
	claudeStandard = delivery.Fit{MaxEdge: 1568, Patch: 28, MaxPatches: 1568, Padded: true}
	claudeHigh     = delivery.Fit{MaxEdge: 2576, Patch: 28, MaxPatches: 4784, Padded: true}
	openAITiles    = delivery.Fit{MaxEdge: 2048, MaxShort: 768}
	openAIPatches  = delivery.Fit{MaxEdge: 2048, Patch: 32, MaxPatches: 1536}
	openAIHigh     = delivery.Fit{MaxEdge: 2048, Patch: 32, MaxPatches: 2500}
)

type side struct{ w, h int }

func TestFitSize(t *testing.T) {
	tests := []struct {
		name string
		fit  delivery.Fit
		in   side
		want side
	}{
		{"no rule", delivery.Fit{}, side{9000, 9000}, side{9000, 9000}},
		{"nothing", claudeStandard, side{0, 0}, side{0, 0}},
		{"no height", claudeStandard, side{5000, 0}, side{5000, 0}},

		{"standard", claudeStandard, side{1075, 1520}, side{924, 1307}},
		{"standard", claudeStandard, side{1920, 1080}, side{1456, 819}},
		{"standard", claudeStandard, side{3840, 2160}, side{1456, 819}},
		{"standard", claudeStandard, side{4032, 3024}, side{1270, 952}},
		{"standard", claudeStandard, side{2000, 2000}, side{1092, 1092}},
		{"standard", claudeStandard, side{1080, 2400}, side{706, 1568}},
		{"high", claudeHigh, side{1075, 1520}, side{1075, 1520}},
		{"high", claudeHigh, side{1920, 1080}, side{1920, 1080}},
		{"high", claudeHigh, side{3840, 2160}, side{2576, 1449}},
		{"high", claudeHigh, side{4032, 3024}, side{2212, 1659}},
		{"high", claudeHigh, side{2000, 2000}, side{1932, 1932}},
		{"high", claudeHigh, side{1080, 2400}, side{1080, 2400}},

		{"patches of high", openAIHigh, side{2048, 1152}, side{2048, 1152}},
		{"patches of high", openAIHigh, side{1600, 1600}, side{1600, 1600}},
		{"patches of high", openAIHigh, side{2048, 1536}, side{1835, 1376}},
		{"patches of high", openAIHigh, side{4000, 1000}, side{2048, 512}},
		{"patches", openAIPatches, side{1568, 882}, side{1568, 882}},
		{"patches", openAIPatches, side{2000, 2000}, side{1248, 1248}},
		{"tiles", openAITiles, side{4000, 3000}, side{1024, 768}},
		{"tiles", openAITiles, side{3000, 4000}, side{768, 1024}},
		{"tiles", openAITiles, side{4096, 512}, side{2048, 256}},
		{"tiles", openAITiles, side{1024, 768}, side{1024, 768}},

		{"thinner than a pixel", openAITiles, side{100_000, 3}, side{2048, 1}},
		{"half to even, down", delivery.Fit{MaxEdge: 2}, side{4, 1}, side{2, 1}},
		{"half to even", delivery.Fit{MaxEdge: 10}, side{20, 5}, side{10, 2}},
		{"half to even", delivery.Fit{MaxEdge: 10}, side{20, 7}, side{10, 4}},
		{"nothing holds", delivery.Fit{MaxEdge: 8, Patch: 28, Padded: true}, side{100, 50}, side{1, 1}},
	}
	for _, tt := range tests {
		var got side
		got.w, got.h = tt.fit.Size(tt.in.w, tt.in.h)
		if got != tt.want {
			t.Errorf("%s: %v becomes %v, want %v", tt.name, tt.in, got, tt.want)
		}
	}
	tokens := delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100}
	for _, tt := range []struct{ w, h, want int }{
		{924, 1307, 1551},
		{1456, 819, 1560},
		{2576, 1449, 4784},
		{1270, 952, 1564},
		{2212, 1659, 4740},
		{1092, 1092, 1521},
		{1932, 1932, 4761},
		{706, 1568, 1456},
	} {
		if got := tokens.PictureTokens(tt.w, tt.h); got != tt.want {
			t.Errorf("%dx%d costs %d tokens, want %d", tt.w, tt.h, got, tt.want)
		}
	}
}

func FuzzFitSize(f *testing.F) {
	for _, r := range []delivery.Fit{claudeStandard, claudeHigh, openAITiles, openAIPatches, openAIHigh} {
		for _, s := range []side{{1920, 1080}, {1080, 2400}, {1, 60_000}, {4032, 3024}} {
			f.Add(uint16(r.MaxEdge), uint16(r.MaxShort), uint16(r.Patch), uint16(r.MaxPatches), r.Padded, uint32(s.w), uint32(s.h))
		}
	}
	f.Fuzz(func(t *testing.T, edge, short, patch, patches uint16, padded bool, width, height uint32) {
		r := delivery.Fit{MaxEdge: int(edge), MaxShort: int(short), Patch: int(patch), MaxPatches: int(patches), Padded: padded}
		w, h := int(width&math.MaxInt32), int(height&math.MaxInt32)
		x, y := r.Size(w, h)
		if x > w || y > h || x < min(w, 1) || y < min(h, 1) {
			t.Fatalf("%+v: %dx%d becomes %dx%d", r, w, h, x, y)
		}
		if again, and := r.Size(x, y); again != x || and != y {
			t.Errorf("%+v: %dx%d becomes %dx%d, and then %dx%d", r, w, h, x, y, again, and)
		}
		if yy, xx := r.Size(h, w); xx != x || yy != y {
			t.Errorf("%+v: %dx%d becomes %dx%d, turned it becomes %dx%d", r, w, h, x, y, yy, xx)
		}
		if w == 0 || h == 0 || max(x, y) == 1 {
			return
		}
		if !r.Holds(x, y) {
			t.Errorf("%+v: %dx%d becomes %dx%d, which does not hold", r, w, h, x, y)
		}
		// The short side follows the long one within half a pixel.
		exact := float64(min(w, h)) * float64(max(x, y)) / float64(max(w, h))
		if d := math.Abs(float64(min(x, y)) - exact); d > 0.5+1e-6 && min(x, y) > 1 {
			t.Errorf("%+v: %dx%d becomes %dx%d, the ratio is off by %.3f pixels", r, w, h, x, y, d)
		}
		if r.Holds(w, h) != (x == w && y == h) {
			t.Errorf("%+v: %dx%d becomes %dx%d", r, w, h, x, y)
		}
	})
}

// fits is a path that shrinks as standard Claude does.
func fits(l *delivery.Limits) { l.Fit = claudeStandard }

// A picture that the server would shrink is cut to that size before, unless that
// saves nothing or cannot be done.
func TestCutToFit(t *testing.T) {
	wide := picture(1, edge(1920, 1080))
	tests := []struct {
		name    string
		picture content.Image
		profile func(*delivery.Profile)
		facts   delivery.Facts
		goes    mishap
		want    string
		size    side
	}{
		{"over the size", wide, limits(fits), delivery.Facts{}, works, "image-1.png shrunk path_limit", side{1456, 819}},
		{"within the size", picture(1), limits(fits), delivery.Facts{}, works, "image-1.png inline fits", side{800, 600}},
		{"no rule", wide, known, delivery.Facts{}, works, "image-1.png inline fits", side{1920, 1080}},
		{"no fewer bytes", wide, limits(fits), delivery.Facts{}, heavy, "image-1.png inline fits", side{1920, 1080}},
		{"too many bytes", wide, limits(fits), delivery.Facts{}, tooLarge, "image-1.png inline fits", side{1920, 1080}},
		{"no variant", wide, limits(fits), delivery.Facts{}, forgets, "image-1.png inline fits", side{1920, 1080}},
		{"cutting fails", wide, limits(fits), delivery.Facts{}, fails, "image-1.png inline fits", side{1920, 1080}},
		{"cutting has failed", wide, limits(fits), delivery.Facts{
			Failed: map[content.Handle]delivery.Failed{"image-1.png": {Reason: delivery.ReasonPrepareFailed}},
		}, works, "image-1.png inline fits", side{1920, 1080}},
		{"a cutter that does not know the rule", wide, limits(fits), delivery.Facts{}, unfitted, "image-1.png shrunk path_limit", side{1456, 819}},
		{"the original is gone", picture(1, edge(1920, 1080), shrunk), limits(fits), delivery.Facts{
			Missing: map[content.Digest]bool{digest(5000 + 1001&0xff): true},
		}, works, "image-1.png shrunk prepared", side{1920, 1080}},
		{"the server looks at a smaller one than its limit", wide, limits(func(l *delivery.Limits) {
			l.Fit, l.MaxEdge = openAITiles, 1900
		}), delivery.Facts{}, works, "image-1.png shrunk path_limit", side{1366, 768}},
		{"the limit is smaller", wide, limits(func(l *delivery.Limits) { l.Fit, l.MaxEdge = openAITiles, 400 }), delivery.Facts{}, works, "image-1.png shrunk path_limit", side{400, 225}},
		{"never decoded whole", picture(1, faulty(content.FaultTooManyPixels), func(p *content.Image) {
			p.Original.Width, p.Original.Height = 9000, 9000
		}), limits(fits), delivery.Facts{}, works, "image-1.png inline fits", side{9000, 9000}},
		{"blind", wide, func(p *delivery.Profile) { blind(p); limits(fits)(p) }, delivery.Facts{}, works, "image-1.png placeholder no_images", side{1920, 1080}},
	}
	for _, tt := range tests {
		in := prompt(sees(tt.profile), tt.picture)
		in.Facts = tt.facts
		plan := delivery.Decide(in)
		p, rs, l := delivery.Settle(plan, carryOut(plan, func(content.Handle) mishap { return tt.goes }))
		if got := fates(rs)[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := (side{rs[0].Blob.Width, rs[0].Blob.Height}); got != tt.size {
			t.Errorf("%s: %v is sent, want %v", tt.name, got, tt.size)
		}
		// The lane keeps what it sent, and so the bytes of the next request.
		in.Ledger = l
		again, _, _ := settle(in)
		if diff := cmp.Diff(wire(t, p), wire(t, again)); diff != "" {
			t.Errorf("%s: the next request differs:\n%s", tt.name, diff)
		}
	}
}

// A picture costs what the size costs at which the backend looks at it, before
// and after it is cut.
func TestFittedPrice(t *testing.T) {
	in := prompt(sees(limits(fits), func(p *delivery.Profile) {
		p.Tokens = delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100}
	}), picture(1, edge(2000, 1500), shrunk))
	w, h := claudeStandard.Size(4000, 3000)
	want := in.Profile.Tokens.PictureTokens(w, h)
	plan := delivery.Decide(in)
	_, rs, _ := delivery.Settle(plan, carryOut(plan, nil))
	if got := rs[0].Tokens - 40; got != want || got > 1568 {
		t.Errorf("%d tokens, want %d", got, want)
	}
	if got, low := plan.Tokens(), int64(rs[0].Tokens); got < low || got > low+50 {
		t.Errorf("%d tokens are expected before, %d after", got, low)
	}
	_, rs, _ = delivery.Settle(plan, carryOut(plan, func(content.Handle) mishap { return fails }))
	if got := rs[0].Tokens - 40; got > 1568 {
		t.Errorf("%d tokens for what the server shrinks", got)
	}
}

func TestBoundsKey(t *testing.T) {
	all := []delivery.Bounds{
		{},
		{MaxEdge: 1},
		{MaxPixels: 1},
		{MaxBytes: 1},
		{MIMEs: []string{png}},
		{MIMEs: []string{png, jpeg}},
		{MIMEs: []string{jpeg, png}},
		{Fit: claudeStandard},
		{Fit: claudeHigh},
		{Fit: openAITiles},
		{Fit: delivery.Fit{MaxShort: 1}},
		{Fit: delivery.Fit{Padded: true}},
	}
	seen := map[string]int{}
	for i, b := range all {
		if j, twice := seen[b.Key()]; twice {
			t.Errorf("%+v has the key of %+v", b, all[j])
		}
		seen[b.Key()] = i
		same := b
		same.MIMEs = strings.Fields(strings.Join(b.MIMEs, " "))
		if same.Key() != b.Key() {
			t.Errorf("%+v has two keys", b)
		}
	}
}

// many is a path that takes long pictures, but not in a request of many.
func many(l *delivery.Limits) { l.MaxEdge, l.ManyCount, l.ManyEdge = 8000, 20, 2000 }

// longs is a conversation of n turns with a picture of 3000 px each.
func longs(p delivery.Profile, n int) delivery.Input {
	var blocks []content.Block
	for i := range n {
		blocks = append(blocks, picture(i+1, edge(3000, 1500)))
	}
	return spent(p, blocks...)
}

// The rule for many pictures is about all pictures of a request, so the picture
// that makes them many has the older ones cut, once.
func TestManyRuleInALane(t *testing.T) {
	in := longs(sees(limits(many)), 20)
	first, rs, ledger := settle(in)
	for _, r := range rs {
		if r.Disposition != delivery.Inline {
			t.Fatalf("20 are not many: %v", fates(rs))
		}
	}
	in = longs(sees(limits(many)), 21)
	in.Ledger = ledger
	second, rs, ledger := settle(in)
	for _, r := range rs {
		if r.Disposition != delivery.Shrunk || r.Reason != delivery.ReasonPathLimit || max(r.Blob.Width, r.Blob.Height) > 2000 {
			t.Errorf("%s: %v %v %dx%d", r.Handle, r.Disposition, r.Reason, r.Blob.Width, r.Blob.Height)
		}
	}
	if strings.HasPrefix(wire(t, second), wire(t, first)) {
		t.Error("the older pictures were not cut")
	}
	// From then on the earlier part stays as it is.
	in = longs(sees(limits(many)), 22)
	in.Ledger = ledger
	third, _, ledger := settle(in)
	if !strings.HasPrefix(wire(t, third), wire(t, second)) {
		t.Error("the earlier part changed once more")
	}
	// Also where there are few again: what was cut stays cut.
	in.Profile.ImageLimits.ManyCount = 40
	in.Ledger = ledger
	if again, _, _ := settle(in); wire(t, again) != wire(t, third) {
		t.Error("what was cut came back")
	}
}

// What the inlet prepares is never longer than 2000 px, so that the rule changes
// nothing but what was passed through because it is never decoded.
func TestManyRuleAndTheInlet(t *testing.T) {
	in := longs(sees(limits(many)), 0)
	var blocks []content.Block
	for i := range 25 {
		blocks = append(blocks, picture(i+1, edge(2000, 1500), shrunk))
	}
	huge := picture(26, faulty(content.FaultTooManyPixels))
	huge.Original = blob(9, png, 9_000_000, 8000, 7000)
	blocks = append(blocks, huge, picture(27))
	in = spent(in.Profile, blocks...)
	_, rs, _ := settle(in)
	for _, r := range rs {
		want := delivery.Shrunk
		switch r.Handle {
		case "image-26.png":
			want = delivery.Placeholder
		case "image-27.png":
			want = delivery.Inline
		}
		if r.Disposition != want || want == delivery.Placeholder && r.Reason != delivery.ReasonTooManyPixels {
			t.Errorf("%s: %v %v", r.Handle, r.Disposition, r.Reason)
		}
	}
	// A picture that could not be cut gives way; nobody asks for it for ever.
	in = longs(sees(limits(many)), 21)
	in.Facts.Failed = map[content.Handle]delivery.Failed{"image-3.png": {Reason: delivery.ReasonPrepareFailed, Detail: "why"}}
	if got := ordered(delivery.Decide(in))[2]; got != "image-3.png placeholder prepare_failed" {
		t.Errorf("got %q", got)
	}
}

// What a variant was to spare is not sent where it is too long in a request of
// many.
func TestManyRuleAndFit(t *testing.T) {
	p := sees(limits(many), limits(fits))
	in := longs(p, 21)
	plan := delivery.Decide(in)
	for _, o := range plan.Orders() {
		if o.Cut == nil || !o.Spare().IsZero() {
			t.Errorf("%s: %+v", o.Handle, o)
		}
	}
	_, rs, _ := delivery.Settle(plan, carryOut(plan, func(content.Handle) mishap { return forgets }))
	if got := fates(rs)[0]; got != "image-1.png placeholder prepare_failed" {
		t.Errorf("got %q", got)
	}
}

// Pictures, recordings and documents may be counted together.
func TestMaxMedia(t *testing.T) {
	in := prompt(sees(func(p *delivery.Profile) { p.MaxMedia = 3 }), picture(1), recording(1), document(1), resource(1), picture(2))
	if got := letters(delivery.Decide(in)); got != "_iiii" {
		t.Errorf("got %s", got)
	}
}

// Some kinds leave a tool result where pictures may stay.
func TestHoistByKind(t *testing.T) {
	pl := delivery.Placement{HoistAudio: true, HoistDocuments: true}
	in := delivery.Input{Profile: sees(places(pl)), Messages: []content.Message{
		user(content.Text{Body: "go"}), assistant(call("c1")), results(result("c1", picture(1), recording(1), document(1))),
	}}
	in.Profile.AudioLimits.ResultMIMEs = []string{"audio/none"}
	p, _, _ := settle(in)
	want := []string{
		"user: go", "assistant: call c1", "tool: result c1",
		"tool: [image-1.png: shot.png, image/png, 800x600, from tool call c1]", "tool: <image-1.png>",
		"tool: [audio-1.wav: shown in the next user message]", "tool: [document-1.pdf: shown in the next user message]",
	}
	got := texts(p)
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
	if last := got[len(got)-1]; last != "user: <document-1.pdf>" {
		t.Errorf("the last part is %q", last)
	}
}

// A learned window lowers what a prompt may take and never raises it.
func TestLearnedContext(t *testing.T) {
	for _, tt := range []struct {
		context, output, learned, budget int
		want                             int64
	}{
		{0, 0, 0, 0, 0},
		{0, 0, 8192, 0, 6144},
		{128_000, 0, 0, 0, 120_000},
		{16_000, 0, 0, 0, 12_000},
		{0, 1000, 8192, 0, 7192},
		{100_000, 1000, 8192, 0, 7192},
		{8192, 1000, 100_000, 0, 7192},
		{8192, 1000, 100_000, 5000, 5000},
		{100_000, 1000, 8192, 50_000, 7192},
		{100_000, 64_000, 8192, 0, 6144},
	} {
		in := prompt(sees(func(p *delivery.Profile) { p.Context, p.Output = tt.context, tt.output }), picture(1))
		in.Facts.Context, in.Budgets.Tokens = tt.learned, tt.budget
		if got := delivery.Decide(in).TokenLimit(); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}
