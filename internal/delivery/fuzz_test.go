package delivery_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// FuzzDecide holds the heart against its properties on inputs of any shape.
func FuzzDecide(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		seed := make([]byte, rng.IntN(600))
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(checkProperties)
}

func checkProperties(t *testing.T, data []byte) {
	w := newWorld(data)
	in := w.input()
	goes := w.mishaps()
	plan := delivery.Decide(in)
	checkTotal(t, in, plan)
	checkUsage(t, in, plan)
	checkSummaryUpTo(t, in, plan)
	checkBudgets(t, in, plan)
	prompt, receipts, ledger := delivery.Settle(plan, carryOut(plan, goes))
	checkReceipts(t, plan, receipts)
	checkPrompt(t, prompt, receipts)
	checkAlternation(t, in, prompt)
	checkLeftOut(t, in, plan, prompt, ledger)
	checkDeterminism(t, in, goes, prompt, receipts)
	checkIdempotence(t, in, goes, prompt, receipts, ledger)
	checkNeverUp(t, w, in, ledger)
	checkMonotone(t, w, in)
	checkPrefix(t, w, in, goes)
}

// blocksOf lists what has to be accounted for, in order.
func blocksOf(ms []content.Message) []content.Block {
	var out []content.Block
	for _, m := range ms {
		if m.Role != content.RoleAssistant {
			out = append(out, m.Blocks()...)
		}
	}
	return out
}

func checkTotal(t *testing.T, in delivery.Input, plan delivery.Plan) {
	t.Helper()
	want := blocksOf(in.Messages)
	if len(plan.Orders()) != len(want) {
		t.Fatalf("%d orders for %d blocks", len(plan.Orders()), len(want))
	}
	for i, o := range plan.Orders() {
		if o.Handle != want[i].BlockHandle() || o.Block() == nil || o.Disposition.Rank() < 0 || o.Reason.User() == "" {
			t.Errorf("order %d: %+v for %v", i, o, want[i])
		}
		if o.Disposition.Degraded() && o.Reason.Model() == "" {
			t.Errorf("order %d: no words for the model: %v %v", i, o.Disposition, o.Reason)
		}
		if o.Disposition == delivery.Path && o.Stage.IsZero() {
			t.Errorf("order %d: a path with nothing to stage", i)
		}
		if o.Media() && !o.Stage.IsZero() {
			t.Errorf("order %d: a file is staged beside what is sent", i)
		}
		if a, ok := content.AttachmentOf(o.Block()); ok && o.Cut != nil && in.Facts.Missing[a.Original.Digest] {
			t.Errorf("order %d: wants a variant of an original that is gone", i)
		}
		for _, b := range []content.Blob{o.Send, o.Load, o.Stage, o.Spare()} {
			if in.Facts.Missing[b.Digest] {
				t.Errorf("order %d: wants a blob that is gone: %+v", i, o)
			}
		}
	}
}

// checkUsage: every part has a line, and the lines add up.
func checkUsage(t *testing.T, in delivery.Input, plan delivery.Plan) {
	t.Helper()
	u, next := plan.Usage(), 0
	var tokens, wire int64
	for i, p := range u.Parts {
		if p.Bytes < 0 || p.Tokens < 0 || p.LeftOut != (p.Message < u.LeftOut) || p.LeftOut && p.Tokens > 0 {
			t.Errorf("part %d: %+v", i, p)
		}
		tokens, wire = tokens+p.Tokens, wire+p.Bytes
		if p.What == delivery.PartBlock {
			if o := plan.Orders()[next]; o.Handle != p.Handle || o.Disposition != p.Disposition || o.Reason != p.Reason {
				t.Errorf("part %d is of another block: %+v", i, p)
			}
			next++
		}
	}
	if next != len(plan.Orders()) || tokens != u.Media+u.Text || u.Tokens != plan.Tokens() {
		t.Errorf("%d of %d blocks, %d tokens of %+v", next, len(plan.Orders()), tokens, u)
	}
	// The label of a tool result itself is of no part, and thoughts that are
	// not sent back are counted all the same.
	if all := u.Fixed + u.Summary + tokens; !u.Reported && 2*all+200*int64(len(in.Messages)) < u.Tokens {
		t.Errorf("the parts are %d tokens, the whole %d", all, u.Tokens)
	}
	if wire > u.Wire {
		t.Errorf("the parts are %d bytes, the whole %d", wire, u.Wire)
	}
}

// checkSummaryUpTo: a summary stands for whole turns, none of them the current.
func checkSummaryUpTo(t *testing.T, in delivery.Input, plan delivery.Plan) {
	t.Helper()
	n := plan.SummaryUpTo()
	if n < plan.Covered() || n < plan.LeftOut() || n > in.Current || n > 0 && (n >= len(in.Messages) || in.Messages[n].Role != content.RoleUser) {
		t.Errorf("a summary should stand for %d messages of %d, %d covered, %d left out", n, len(in.Messages), plan.Covered(), plan.LeftOut())
	}
	if plan.WantsSummary() && n <= plan.Covered() {
		t.Errorf("a summary is wanted for %d messages, %d covered", n, plan.Covered())
	}
}

func least(vs ...int64) int64 {
	out := int64(0)
	for _, v := range vs {
		if v > 0 && (out == 0 || v < out) {
			out = v
		}
	}
	return out
}

func checkBudgets(t *testing.T, in delivery.Input, plan delivery.Plan) {
	t.Helper()
	var past int64
	var counts [content.KindOpaque + 1]int64
	reducible := plan.CanShrink()
	for i, o := range plan.Orders() {
		if (o.Media() || o.Text() || plan.CanLeaveOut()) && !reducible {
			t.Errorf("order %d: it can give way, and the plan says that nothing can", i)
		}
		if !o.Media() {
			continue
		}
		counts[o.Block().Kind()]++
		if o.Route() == delivery.RouteHistory {
			past += o.Raw()
			if in.Facts.DropHistory {
				t.Errorf("order %d: media of history", i)
			}
		}
		checkLimits(t, in, o)
	}
	history := in.Budgets.History
	if history == 0 {
		history = delivery.DefaultHistory
	}
	if past > history {
		t.Errorf("history media of %d bytes, budget %d", past, history)
	}
	p := &in.Profile
	for k, limit := range [...]int64{
		content.KindImage:    least(int64(p.ImageLimits.MaxCount), int64(in.Budgets.Count), int64(in.Facts.MaxCount)),
		content.KindAudio:    int64(p.AudioLimits.MaxCount),
		content.KindDocument: int64(p.DocumentLimits.MaxCount),
	} {
		if limit > 0 && counts[k] > limit {
			t.Errorf("%d of kind %v, limit %d", counts[k], content.Kind(k), limit)
		}
	}
	if all := counts[content.KindImage] + counts[content.KindAudio] + counts[content.KindDocument]; p.MaxMedia > 0 && all > int64(p.MaxMedia) {
		t.Errorf("%d media, limit %d", all, p.MaxMedia)
	}
	if l := p.ImageLimits; l.ManyCount > 0 && counts[content.KindImage] > int64(l.ManyCount) {
		for _, o := range plan.Orders() {
			if o.Block().Kind() == content.KindImage && o.Media() && (o.Cut == nil && max(o.Send.Width, o.Send.Height) > l.ManyEdge || o.Cut != nil && o.Cut.MaxEdge > l.ManyEdge) {
				t.Errorf("%s is too long in a request of many", o.Handle)
			}
			if s := o.Spare(); max(s.Width, s.Height) > l.ManyEdge && o.Media() {
				t.Errorf("%s has to spare what is too long in a request of many", o.Handle)
			}
		}
	}
	if reducible && plan.WireSize() > plan.RequestLimit() {
		t.Errorf("%d bytes on the wire, limit %d", plan.WireSize(), plan.RequestLimit())
	}
	if limit := plan.TokenLimit(); reducible && limit > 0 && plan.Tokens() > limit {
		t.Errorf("%d tokens, limit %d", plan.Tokens(), limit)
	}
}

// checkLimits holds one order that sends a blob against the limits of its kind.
func checkLimits(t *testing.T, in delivery.Input, o delivery.Order) {
	t.Helper()
	l, c := in.Profile.ImageLimits, in.Profile.Images
	bytes := least(l.MaxBytes, in.Facts.MaxBytes, in.Budgets.Picture, delivery.DefaultPicture)
	edge := least(int64(l.MaxEdge), int64(in.Facts.MaxEdge))
	switch o.Block().Kind() {
	case content.KindAudio:
		l, c = in.Profile.AudioLimits, in.Profile.Audio
		bytes, edge = l.MaxBytes, 0
	case content.KindDocument:
		l, c = in.Profile.DocumentLimits, in.Profile.Documents
		bytes, edge = l.MaxBytes, 0
	case content.KindImage, content.KindText, content.KindResourceText, content.KindResourceLink, content.KindOpaque:
	}
	mimes := l.MIMEs
	if o.InResult() && len(l.ResultMIMEs) > 0 && !in.Profile.Placement.Hoists(o.Block().Kind()) {
		mimes = l.ResultMIMEs
	}
	if c.Answer != delivery.Yes || len(mimes) == 0 {
		t.Errorf("%s is sent to a path that does not take it", o.Handle)
	}
	if o.Cut != nil {
		for _, m := range o.Cut.MIMEs {
			if !slices.Contains(mimes, m) || in.Facts.RefusedMIMEs[m] {
				t.Errorf("%s is cut as %s", o.Handle, m)
			}
		}
		if bytes > 0 && o.Cut.MaxBytes > bytes || edge > 0 && int64(o.Cut.MaxEdge) > edge || l.MaxPixels > 0 && o.Cut.MaxPixels != l.MaxPixels {
			t.Errorf("%s is cut to %+v", o.Handle, *o.Cut)
		}
		if o.Spare().IsZero() {
			return
		}
		o.Send = o.Spare()
	}
	b := delivery.Bounds{MaxBytes: bytes, MaxEdge: int(edge), MIMEs: mimes}
	if o.Block().Kind() == content.KindImage {
		b.MaxPixels = l.MaxPixels
	}
	if !delivery.Within(o.Send, b) || in.Facts.RefusedMIMEs[o.Send.MIME] || in.Facts.Refused[o.Send.Digest] {
		t.Errorf("%s is sent as %+v, limits %+v", o.Handle, o.Send, b)
	}
	if m := l.MaxEncoded; m > 3 && delivery.EncodedLen(o.Send.Size) > m {
		t.Errorf("%s takes %d bytes in base64, limit %d", o.Handle, delivery.EncodedLen(o.Send.Size), m)
	}
}

func checkReceipts(t *testing.T, plan delivery.Plan, receipts []delivery.Receipt) {
	t.Helper()
	if len(receipts) != len(plan.Orders()) {
		t.Fatalf("%d receipts for %d orders", len(receipts), len(plan.Orders()))
	}
	for i, o := range plan.Orders() {
		r := receipts[i]
		if r.Handle != o.Handle || r.Kind != o.Block().Kind() || r.Route != o.Route() {
			t.Errorf("receipt %d is of another block: %+v", i, r)
		}
		if r.Disposition.Rank() > o.Disposition.Rank() || r.Disposition.Degraded() && r.Reason.Model() == "" {
			t.Errorf("receipt %d: %v %v for order %v %v", i, r.Disposition, r.Reason, o.Disposition, o.Reason)
		}
	}
}

// checkPrompt holds a settled prompt against what every path demands.
func checkPrompt(t *testing.T, p delivery.Prompt, receipts []delivery.Receipt) {
	t.Helper()
	var want, got []string
	for _, r := range receipts {
		media := r.Kind == content.KindImage || r.Kind == content.KindAudio || r.Kind == content.KindDocument
		asText := r.Kind == content.KindDocument && r.Reason == delivery.ReasonTextForm
		if media && !asText && !r.Disposition.Degraded() {
			want = append(want, string(r.Handle)+r.Blob.Digest.Short())
		}
	}
	for _, m := range p.Media() {
		got = append(got, string(m.Handle)+m.Blob.Digest.Short())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the media are not what the receipts say:\n%s", diff)
	}
	var open []string
	for i, m := range p.Messages() {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
		if (m.Role == content.RoleTool) != (len(open) > 0) {
			t.Errorf("message %d of role %v with calls %v open", i, m.Role, open)
		}
		for _, part := range m.Parts {
			open = checkPart(t, m.Role, part, open)
		}
		if m.Role == content.RoleTool && len(open) > 0 {
			t.Errorf("message %d leaves calls %v open", i, open)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %v are never answered", open)
	}
	wire(t, p)
}

func checkPart(t *testing.T, role content.Role, part content.Part, open []string) []string {
	t.Helper()
	switch part := part.(type) {
	case content.Text:
		if strings.TrimSpace(part.Body) == "" {
			t.Errorf("an empty text part of %v", role)
		}
	case content.ResourceText:
		if strings.TrimSpace(part.Body) == "" {
			t.Errorf("an empty resource")
		}
	case content.ToolCall:
		return append(open, part.ID)
	case content.ToolResult:
		i := slices.Index(open, part.CallID)
		if i < 0 || len(part.Blocks) == 0 {
			t.Errorf("result %s of no call, or empty", part.CallID)
			return open
		}
		for _, b := range part.Blocks {
			checkPart(t, role, b, nil)
		}
		return slices.Delete(open, i, i+1)
	case content.Image, content.Audio, content.Document, content.Reasoning:
	case content.ResourceLink, content.Opaque:
		t.Errorf("%T is left to an adapter", part)
	}
	return open
}

func checkDeterminism(t *testing.T, in delivery.Input, goes func(content.Handle) mishap, prompt delivery.Prompt, receipts []delivery.Receipt) {
	t.Helper()
	plan := delivery.Decide(in)
	p, rs, _ := delivery.Settle(plan, carryOut(plan, goes))
	if !reflect.DeepEqual(p, prompt) || !reflect.DeepEqual(rs, receipts) {
		t.Error("the same input gives another output")
	}
}

func checkIdempotence(t *testing.T, in delivery.Input, goes func(content.Handle) mishap, prompt delivery.Prompt, receipts []delivery.Receipt, ledger delivery.Ledger) {
	t.Helper()
	if in.Facts.Reported.Ledger == nil {
		was := in.Ledger
		in.Facts.Reported.Ledger = &was
	}
	in.Ledger = ledger
	plan := delivery.Decide(in)
	again, rs, _ := delivery.Settle(plan, carryOut(plan, goes))
	if diff := cmp.Diff(fates(receipts), fates(rs)); diff != "" {
		t.Errorf("deciding again changes receipts:\n%s", diff)
	}
	if diff := cmp.Diff(wire(t, prompt), wire(t, again)); diff != "" {
		t.Errorf("deciding again changes the prompt:\n%s", diff)
	}
}

// checkAlternation: no path refuses the request for the order of its roles.
func checkAlternation(t *testing.T, in delivery.Input, p delivery.Prompt) {
	t.Helper()
	for i, m := range p.Messages() {
		if i == 0 || m.Role != p.Messages()[i-1].Role {
			continue
		}
		if m.Role == content.RoleUser || in.Profile.Placement.MergeRoles {
			t.Errorf("messages %d and %d are both of %v", i-1, i, m.Role)
		}
	}
}

// checkLeftOut holds what is left out against the conversation and the prompt.
func checkLeftOut(t *testing.T, in delivery.Input, plan delivery.Plan, p delivery.Prompt, ledger delivery.Ledger) {
	t.Helper()
	n := plan.LeftOut()
	if n != ledger.LeftOut() {
		t.Errorf("%d messages are left out, %d remembered", n, ledger.LeftOut())
	}
	if n > in.Current || n > 0 && (n >= len(in.Messages) || in.Messages[n].Role != content.RoleUser) {
		t.Fatalf("%d messages are left out of %d, the current turn begins at %d", n, len(in.Messages), in.Current)
	}
	left := len(blocksOf(in.Messages[:n]))
	for i, o := range plan.Orders() {
		if o.Out() != (i < left) || o.Out() && o.Disposition != delivery.Placeholder && o.Disposition != delivery.Refused {
			t.Errorf("order %d: %v of a message that is left out: %v", i, o.Disposition, i < left)
		}
	}
	if diff := cmp.Diff(callsOf(in.Messages[n:]), callsOf(p.Messages())); diff != "" {
		t.Errorf("the calls are not those of what is left:\n%s", diff)
	}
	if n == 0 {
		return
	}
	first := p.Messages()[0]
	if text, ok := first.Parts[0].(content.Text); first.Role != content.RoleUser || !ok || strings.Contains(text.Body, "left out") != (n > plan.Covered()) || strings.Contains(text.Body, "[summary of the ") != (plan.Covered() > 0) {
		t.Errorf("the first message of %v begins with %v", first.Role, first.Parts[0])
	}
}

func callsOf(ms []content.Message) []string {
	var out []string
	for _, m := range ms {
		for _, p := range m.Parts {
			if c, ok := p.(content.ToolCall); ok && m.Role == content.RoleAssistant {
				out = append(out, c.ID)
			}
		}
	}
	return out
}

// checkNeverUp decides with other facts in the same lane.
func checkNeverUp(t *testing.T, w *world, in delivery.Input, ledger delivery.Ledger) {
	t.Helper()
	in.Ledger, in.Facts, in.Budgets = ledger, w.facts(), w.budgets()
	plan := delivery.Decide(in)
	if got, was := plan.LeftOut(), ledger.LeftOut(); got < was {
		t.Errorf("%d messages are left out, %d before", got, was)
	}
	for _, o := range plan.Orders() {
		e, ok := ledger.Lookup(o.Handle)
		if ok && o.Disposition.Rank() > e.Disposition.Rank() {
			t.Errorf("%s went up from %v to %v", o.Handle, e.Disposition, o.Disposition)
		}
		if text, is := o.Block().(content.Text); is && e.Reason == delivery.ReasonTrimmed && o.Reason == delivery.ReasonFits && len(text.Body) > delivery.TrimOver {
			t.Errorf("%s is whole again", o.Handle)
		}
	}
}

// unbounded takes away everything that depends on more than one block.
func unbounded(in delivery.Input) delivery.Input {
	in.Budgets.History, in.Budgets.Request, in.Budgets.Count, in.Budgets.Tokens = delivery.Unlimited, delivery.Unlimited, 0, 1<<40
	in.Profile.MaxRequest, in.Profile.Context, in.Profile.MaxMedia, in.Facts.Context = 0, 0, 0, 0
	for _, l := range []*delivery.Limits{&in.Profile.ImageLimits, &in.Profile.AudioLimits, &in.Profile.DocumentLimits} {
		l.MaxCount, l.ManyCount = 0, 0
	}
	in.Facts.MaxRequest, in.Facts.MaxCount, in.Facts.MaxTokens, in.Facts.DropHistory = 0, 0, 0, false
	in.Facts.Reported = delivery.Reported{}
	return in
}

// checkMonotone compares with a path that is more capable in some ways. Verdicts
// are the endpoint's own and have no place in the comparison.
func checkMonotone(t *testing.T, w *world, in delivery.Input) {
	t.Helper()
	in = unbounded(in)
	in.Ledger, in.Facts.Refused, in.Facts.RefusedMIMEs = delivery.Ledger{}, nil, nil
	better := in
	for _, c := range []*delivery.Capability{&better.Profile.Images, &better.Profile.Audio, &better.Profile.Documents} {
		if w.bit() {
			c.Answer = delivery.Yes
		}
	}
	for _, l := range []*delivery.Limits{&better.Profile.ImageLimits, &better.Profile.AudioLimits, &better.Profile.DocumentLimits} {
		if w.bit() {
			l.MIMEs = []string{png, jpeg, webp, "image/bmp", "audio/wav", "audio/mpeg", pdf, "application/zip"}
			l.ResultMIMEs = nil
		}
		if w.bit() {
			l.MaxBytes, l.MaxEncoded = 0, 0
		}
		if w.bit() {
			l.MaxEdge, l.MaxPixels, l.MaxPages = 0, 0, 0
		}
		if w.bit() {
			l.Fit = delivery.Fit{}
		}
	}
	low, high := delivery.Decide(in).Orders(), delivery.Decide(better).Orders()
	for i := range low {
		if high[i].Disposition.Rank() < low[i].Disposition.Rank() {
			t.Errorf("%s: %v %v on the lesser path, %v %v on the better", low[i].Handle, low[i].Disposition, low[i].Reason, high[i].Disposition, high[i].Reason)
		}
	}
}

// checkPrefix goes on with the conversation, where nothing has to give way.
func checkPrefix(t *testing.T, w *world, in delivery.Input, goes func(content.Handle) mishap) {
	t.Helper()
	in = unbounded(in)
	plan := delivery.Decide(in)
	in.Facts.Summary.Messages = plan.Covered() // the current turn of the next request may begin later
	before, _, ledger := delivery.Settle(plan, carryOut(plan, goes))
	w.open = nil
	in.Messages = w.messages(slices.Clone(in.Messages), 6)
	in.Ledger = ledger
	in.Current += w.n(len(in.Messages) + 1 - in.Current)
	plan = delivery.Decide(in)
	after, _, _ := delivery.Settle(plan, carryOut(plan, goes))
	if a, b := wire(t, before), wire(t, after); !strings.HasPrefix(b, a) {
		t.Errorf("the earlier part of the next request differs:\n%s", cmp.Diff(a, b))
	}
}
