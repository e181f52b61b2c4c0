package delivery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// letters tells in one letter per block what was ordered: i(nline), s(hrunk),
// c(onverted), d(escribed), P(ath), _ (placeholder).
func letters(p delivery.Plan) string {
	var sb strings.Builder
	for _, o := range p.Orders() {
		switch o.Disposition {
		case delivery.Placeholder:
			sb.WriteByte('_')
		case delivery.Path:
			sb.WriteByte('P')
		case delivery.Inline, delivery.Shrunk, delivery.Converted, delivery.Described, delivery.Stripped, delivery.Refused:
			sb.WriteByte(o.Disposition.String()[0])
		}
	}
	return sb.String()
}

// row is a history of n pictures with one more in the current prompt.
func row(n int, change ...func(*content.Image)) []content.Block {
	var out []content.Block
	for i := range n + 1 {
		out = append(out, picture(i+1, change...))
	}
	return out
}

// started is a ledger of a lane that has begun with something else.
func started() delivery.Ledger {
	return remembers("link-99", delivery.LedgerEntry{Disposition: delivery.Inline, Reason: delivery.ReasonLink})
}

func TestHistoryBudget(t *testing.T) {
	mixed := []content.Block{
		picture(1, sized(10)), picture(2, sized(10)), picture(3, sized(300)), picture(4, sized(20)), picture(5, sized(20)), picture(6, sized(1000)),
	}
	tests := []struct {
		name    string
		blocks  []content.Block
		budget  int64
		started bool
		want    string
	}{
		{"all fit, the current prompt is not counted", row(3), 300_000, false, "iiii"},
		{"one byte over", row(3), 299_999, false, "_iii"},
		{"newest first", row(4), 200_000, false, "__iii"},
		{"the first that does not fit ends the walk", mixed, 100, false, "___iii"},
		{"nothing fits", row(3), 1, false, "___i"},
		{"default", row(301), 0, false, "_" + strings.Repeat("i", 301)},
		{"within a lane: under the budget", row(3), 300_000, true, "iiii"},
		{"within a lane: down to 60 percent at once", row(11), 1_000_000, true, "_____iiiiiii"},
		{"within a lane: oldest first, whatever its size", mixed, 300, true, "___iii"},
		{"unlimited", row(3), delivery.Unlimited, true, "iiii"},
	}
	for _, tt := range tests {
		in := spent(sees(), tt.blocks...)
		in.Budgets.History = tt.budget
		in.Budgets.Request = delivery.Unlimited
		if tt.started {
			in.Ledger = started()
		}
		plan := delivery.Decide(in)
		if got := letters(plan); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, o := range plan.Orders() {
			if o.Disposition == delivery.Placeholder && o.Reason != delivery.ReasonHistoryBudget {
				t.Errorf("%s: reason %v", tt.name, o.Reason)
			}
		}
	}
}

// A variant that is still to be cut counts with the most that it may take.
func TestHistoryBudgetCountsVariants(t *testing.T) {
	in := spent(sees(), row(2, inWebP)...)
	in.Budgets.History = 799_999
	if got := letters(delivery.Decide(in)); got != "_cc" {
		t.Errorf("got %s", got)
	}
	in.Budgets.History++
	if got := letters(delivery.Decide(in)); got != "ccc" {
		t.Errorf("got %s", got)
	}
}

func TestCounts(t *testing.T) {
	max := func(n int) func(*delivery.Input) {
		return func(in *delivery.Input) { in.Profile.ImageLimits.MaxCount = n }
	}
	tests := []struct {
		name string
		n    int
		in   func(*delivery.Input)
		want string
	}{
		{"at the limit", 4, max(5), "iiiii"},
		{"over it: history goes down to 60 percent", 5, max(5), "___iii"},
		{"only the current prompt is left", 5, max(1), "_____i"},
		{"no limit", 5, max(0), "iiiiii"},
		{"learned", 5, func(in *delivery.Input) { in.Facts.MaxCount = 5 }, "___iii"},
		{"budget", 5, func(in *delivery.Input) { in.Budgets.Count = 5 }, "___iii"},
		{"the smallest holds", 5, func(in *delivery.Input) {
			max(9)(in)
			in.Facts.MaxCount, in.Budgets.Count = 5, 7
		}, "___iii"},
	}
	for _, tt := range tests {
		in := spent(sees(), row(tt.n)...)
		tt.in(&in)
		if got := letters(delivery.Decide(in)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	in := prompt(sees(), picture(1), picture(2), recording(1), recording(2), recording(3), document(1), document(2))
	in.Profile.ImageLimits.MaxCount, in.Profile.AudioLimits.MaxCount, in.Profile.DocumentLimits.MaxCount = 1, 2, 1
	if got := letters(delivery.Decide(in)); got != "_i_ii_i" {
		t.Errorf("each kind by itself, older first: %s", got)
	}
}

// The many rule counts after the count rule has evicted.
func TestManyRuleAfterCount(t *testing.T) {
	in := spent(sees(limits(func(l *delivery.Limits) { l.MaxCount, l.ManyCount, l.ManyEdge = 5, 3, 100 })), row(5)...)
	if got := letters(delivery.Decide(in)); got != "___iii" {
		t.Errorf("got %s", got)
	}
}

// fullHouse is history media, history text, current media, current text.
func fullHouse() delivery.Input {
	return delivery.Input{Profile: sees(), Current: 2, Messages: []content.Message{
		user(resource(1), picture(1), picture(2)), assistant(content.Text{Body: "ok"}), user(resource(2), picture(3), picture(4)),
	}}
}

func TestRequestSize(t *testing.T) {
	// Four pictures of 133,336 bytes in base64, two texts of 5,000, labels.
	base := func(in delivery.Input) int64 { return delivery.Decide(in).WireSize() }
	wire := base(fullHouse())
	const pic, text, turn = 133_336, 5_000, 482
	tests := []struct {
		name string
		in   func(*delivery.Input)
		want string
	}{
		{"fits", func(in *delivery.Input) { in.Budgets.Request = wire }, "iiiiii"},
		{"history media first, down to 60 percent", func(in *delivery.Input) { in.Budgets.Request = wire - 1 }, "i__iii"},
		{"then history text", func(in *delivery.Input) { in.Budgets.Request = wire - 2*pic - 1 }, "___iii"},
		{"then the turn", func(in *delivery.Input) { in.Budgets.Request = wire - 2*pic - text - 1 }, "___iii"},
		{"then current media, older first", func(in *delivery.Input) { in.Budgets.Request = wire - 2*pic - text - turn - 1 }, "___i_i"},
		{"then all current media", func(in *delivery.Input) { in.Budgets.Request = wire - 3*pic - text - 1 }, "___i__"},
		{"then current text", func(in *delivery.Input) { in.Budgets.Request = wire - 4*pic - text - 1 }, "______"},
		{"the profile's limit", func(in *delivery.Input) { in.Profile.MaxRequest = wire - 1 }, "i__iii"},
		{"the smaller of budget and profile", func(in *delivery.Input) { in.Profile.MaxRequest, in.Budgets.Request = wire-1, wire }, "i__iii"},
		{"a learned limit", func(in *delivery.Input) { in.Facts.MaxRequest = wire - 1 }, "i__iii"},
		{"a measured overhead", func(in *delivery.Input) { in.Facts.Overhead, in.Budgets.Request = 1, wire }, "i__iii"},
		{"system prompt and tools", func(in *delivery.Input) { in.Facts.Fixed, in.Budgets.Request = 1, wire }, "i__iii"},
		{"no history at all", func(in *delivery.Input) { in.Facts.DropHistory = true }, "i__iii"},
		{"default", func(in *delivery.Input) { in.Facts.Fixed = delivery.DefaultRequest - wire + 1 }, "i__iii"},
	}
	for _, tt := range tests {
		in := fullHouse()
		tt.in(&in)
		plan := delivery.Decide(in)
		if got := letters(plan); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, o := range plan.Orders() {
			if o.Disposition.Degraded() && o.Reason != delivery.ReasonRequestSize {
				t.Errorf("%s: reason %v", tt.name, o.Reason)
			}
		}
	}
}

// Prose alone may be over the limit: then nothing else is left to take out.
func TestRequestSizeOfProse(t *testing.T) {
	in := prompt(sees(), prose(1, strings.Repeat("x", 10_000)), picture(1), resource(1))
	in.Budgets.Request = 5_000
	if got := letters(delivery.Decide(in)); got != "i__" {
		t.Errorf("got %s", got)
	}
}

func TestTokens(t *testing.T) {
	in := fullHouse() // four pictures of 4,000, two texts of 1,250, labels
	all := delivery.Decide(in).Tokens()
	tests := []struct {
		name string
		in   func(*delivery.Input)
		want string
	}{
		{"fits", func(in *delivery.Input) { in.Budgets.Tokens = int(all) }, "iiiiii"},
		{"history media first", func(in *delivery.Input) { in.Budgets.Tokens = int(all) - 1 }, "i__iii"},
		{"then history text", func(in *delivery.Input) { in.Budgets.Tokens = int(all) - 8_001 }, "___iii"},
		{"then the turn", func(in *delivery.Input) { in.Budgets.Tokens = int(all) - 8_000 - 1_251 }, "___iii"},
		{"then current media", func(in *delivery.Input) { in.Budgets.Tokens = int(all) - 8_000 - 1_372 }, "___i_i"},
		{"then current text", func(in *delivery.Input) { in.Budgets.Tokens = 600 }, "______"},
		{"the context, less the answer", func(in *delivery.Input) {
			in.Profile.Context, in.Profile.Output = int(all)+999, 1000
		}, "i__iii"},
		{"an answer takes a quarter at most", func(in *delivery.Input) {
			in.Profile.Context, in.Profile.Output = int(all)*4/3+4, 1_000_000
		}, "iiiiii"},
		{"fixed", func(in *delivery.Input) { in.Facts.Fixed, in.Budgets.Tokens = 4, int(all) }, "i__iii"},
	}
	for _, tt := range tests {
		in := fullHouse()
		tt.in(&in)
		plan := delivery.Decide(in)
		if got := letters(plan); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, o := range plan.Orders() {
			if o.Disposition.Degraded() && o.Reason != delivery.ReasonContextSize {
				t.Errorf("%s: reason %v", tt.name, o.Reason)
			}
		}
	}
}

// What gives way is staged where the model has tools for it.
func TestEvictedGoByPath(t *testing.T) {
	in := spent(sees(), row(2)...)
	in.Budgets.History, in.Facts.Files = 100_000, true
	_, rs, l := settle(in)
	want := []string{"image-1.png path history_budget", "image-2.png inline fits", "image-3.png inline fits"}
	if diff := cmp.Diff(want, fates(rs)); diff != "" {
		t.Error(diff)
	}
	if e, _ := l.Lookup("image-1.png"); e.Note != "/scratch/s/image-1.png" {
		t.Errorf("the ledger has path %q", e.Note)
	}
}

// Another model's words count with a usual length before they are there, and
// with their own after.
func TestWordsCount(t *testing.T) {
	in := prompt(sees(blind), picture(1))
	in.Facts.Files = true
	bare := delivery.Decide(in)
	in.Facts.Describer = true
	asked := delivery.Decide(in)
	if got := asked.WireSize() - bare.WireSize(); got != delivery.DescribedSize {
		t.Errorf("before: %d bytes", got)
	}
	if got := asked.Tokens() - bare.Tokens(); got != delivery.DescribedSize/4 {
		t.Errorf("before: %d tokens", got)
	}
	_, _, l := settle(in)
	in.Ledger = l
	e, _ := l.Lookup("image-1.png")
	if got := delivery.Decide(in).WireSize() - bare.WireSize(); got != int64(len(e.Note)) {
		t.Errorf("after: %d bytes, want %d", got, len(e.Note))
	}
}

func TestPercent(t *testing.T) {
	for _, tt := range []struct{ n, p, want int64 }{{0, 60, 0}, {5, 60, 3}, {100, 60, 60}, {199, 60, 119}, {delivery.Unlimited, 60, delivery.Unlimited/100*60 + 36}} {
		if got := delivery.Percent(tt.n, tt.p); got != tt.want && tt.n != delivery.Unlimited || got < 0 {
			t.Errorf("percent(%d, %d) = %d, want %d", tt.n, tt.p, got, tt.want)
		}
	}
}
