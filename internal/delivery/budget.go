package delivery

import "tote/internal/content"

// This file pushes blocks down until the whole request fits: history before
// the current prompt, older before newer, media before text.

// whole reports whether the block itself goes out.
func (o *Order) whole() bool { return o.Disposition.rank() == rankWhole }

// carriesMedia reports whether a blob goes out as it is.
func (o *Order) carriesMedia() bool {
	return o.whole() && (o.Cut != nil || !o.Send.IsZero())
}

// loadsText reports whether a stored text is put into the prompt.
func (o *Order) loadsText() bool { return o.whole() && !o.Load.IsZero() }

// rawSize is the most that the order's media take in bytes before base64.
func (o *Order) rawSize() int64 {
	if o.Cut == nil {
		return o.Send.Size
	}
	a, _ := content.AttachmentOf(o.block)
	known := a.Prepared.Size
	if known == 0 {
		known = a.Original.Size
	}
	return least(known, o.Cut.MaxBytes)
}

// demote pushes one block down to a file or a line.
func (d *decider) demote(i int, why Reason) {
	o := &d.orders[i]
	a, _ := content.AttachmentOf(o.block)
	low := d.lower(a, why, "")
	low.block, low.route, low.Handle = o.block, o.route, o.Handle
	*o = low
}

// applyManyRule bounds every picture of a request that holds many.
func (d *decider) applyManyRule() {
	l := &d.in.Profile.ImageLimits
	if l.ManyCount == 0 || d.pictures() <= l.ManyCount {
		return
	}
	for i := range d.orders {
		o := &d.orders[i]
		if o.block.Kind() != content.KindImage || !o.carriesMedia() {
			continue
		}
		if o.Cut != nil {
			tight := *o.Cut
			tight.MaxEdge = int(least(int64(tight.MaxEdge), int64(l.ManyEdge)))
			o.Cut = &tight
		} else if max(o.Send.Width, o.Send.Height) > l.ManyEdge {
			d.route = o.route
			b := d.bounds()
			b.MaxEdge = int(least(int64(b.MaxEdge), int64(l.ManyEdge)))
			o.Disposition, o.Reason, o.Send, o.Cut = Shrunk, ReasonPathLimit, content.Blob{}, &b
		}
	}
}

func (d *decider) pictures() int {
	n := 0
	for i := range d.orders {
		if d.orders[i].carriesMedia() && d.orders[i].block.Kind() == content.KindImage {
			n++
		}
	}
	return n
}

func (d *decider) applyBudgets() {
	if d.in.Facts.DropHistory {
		for i := range d.orders {
			if d.orders[i].route == RouteHistory && d.orders[i].carriesMedia() {
				d.demote(i, ReasonRequestSize)
			}
		}
	}
	d.applyHistoryBudget()
	d.applyCount()
	size := func(o *Order) int64 { return EncodedLen(o.rawSize()) }
	text := func(o *Order) int64 { return o.Load.Size }
	d.squeeze(d.wireSize(), d.requestLimit(), size, text, ReasonRequestSize)
	if limit := d.tokenLimit(); limit > 0 {
		price := func(o *Order) int64 { return int64(orderTokens(&d.in.Profile, o)) }
		d.squeeze(d.tokens(), limit, price, price, ReasonContextSize)
	}
}

// applyHistoryBudget bounds the media of earlier turns. At the start of a lane
// it walks newest first and the first that does not fit ends the walk; later,
// crossing the budget evicts the oldest down to EvictTo percent at once.
func (d *decider) applyHistoryBudget() {
	budget := orDefault(d.in.Budgets.History, DefaultHistory)
	var sum int64
	for i := range d.orders {
		if d.orders[i].route == RouteHistory && d.orders[i].carriesMedia() {
			sum += d.orders[i].rawSize()
		}
	}
	if sum <= budget {
		return
	}
	if d.in.Ledger.Len() > 0 {
		d.evictHistory(&sum, budget/100*EvictTo, (*Order).rawSize, ReasonHistoryBudget)
		return
	}
	var kept int64
	ended := false
	for i := len(d.orders) - 1; i >= 0; i-- {
		o := &d.orders[i]
		if o.route != RouteHistory || !o.carriesMedia() {
			continue
		}
		if ended = ended || kept+o.rawSize() > budget; ended {
			d.demote(i, ReasonHistoryBudget)
			continue
		}
		kept += o.rawSize()
	}
}

// evictHistory pushes down media of earlier turns, oldest first, until sum is
// at most goal.
func (d *decider) evictHistory(sum *int64, goal int64, cost func(*Order) int64, why Reason) {
	for i := range d.orders {
		if *sum <= goal {
			return
		}
		if o := &d.orders[i]; o.route == RouteHistory && o.carriesMedia() {
			*sum -= cost(o)
			d.demote(i, why)
		}
	}
}

func (d *decider) applyCount() {
	limit := int(least(int64(d.in.Profile.ImageLimits.MaxCount), int64(d.in.Facts.MaxCount)))
	limit = int(least(int64(limit), int64(d.in.Budgets.Count)))
	n := d.pictures()
	if limit == 0 || n <= limit {
		return
	}
	goal := limit * EvictTo / 100
	for _, history := range []bool{true, false} {
		if !history {
			goal = limit
		}
		for i := range d.orders {
			o := &d.orders[i]
			if n <= goal {
				break
			}
			if (o.route == RouteHistory) == history && o.carriesMedia() && o.block.Kind() == content.KindImage {
				d.demote(i, ReasonCountLimit)
				n--
			}
		}
	}
}

// squeeze brings sum under limit: media of history down to EvictTo percent,
// then texts of history, then media and texts of the current turn.
func (d *decider) squeeze(sum, limit int64, media, text func(*Order) int64, why Reason) {
	if sum <= limit {
		return
	}
	d.evictHistory(&sum, limit/100*EvictTo, media, why)
	for _, step := range []struct {
		history, texts bool
	}{{true, true}, {false, false}, {false, true}} {
		for i := range d.orders {
			if sum <= limit {
				return
			}
			o := &d.orders[i]
			if (o.route == RouteHistory) != step.history {
				continue
			}
			switch {
			case step.texts && o.loadsText():
				sum -= text(o)
			case !step.texts && o.carriesMedia():
				sum -= media(o)
			default:
				continue
			}
			d.demote(i, why)
		}
	}
}

func (d *decider) requestLimit() int64 {
	limit := least(d.in.Budgets.Request, d.in.Profile.MaxRequest)
	return least(orDefault(limit, DefaultRequest), d.in.Facts.MaxRequest)
}

// labelSize is about what a label and the wire's own words take per part.
const labelSize = 160

// WireSize is what the plan's request is estimated to take on the wire, in bytes,
// with Facts.Overhead.
func (p Plan) WireSize() int64 {
	d := decider{in: &p.in, orders: p.orders}
	return d.wireSize()
}

// RequestLimit is the largest body that the plan's request may have, in bytes.
func (p Plan) RequestLimit() int64 {
	d := decider{in: &p.in}
	return d.requestLimit()
}

// wireSize estimates the body; a measured body corrects it through
// Facts.Overhead.
func (d *decider) wireSize() int64 {
	n := d.in.Facts.Fixed + d.in.Facts.Overhead
	for i := range d.orders {
		o := &d.orders[i]
		n += labelSize
		if o.carriesMedia() {
			n += EncodedLen(o.rawSize())
		}
		if o.loadsText() {
			n += o.Load.Size
		}
	}
	for _, m := range d.in.Messages {
		for _, p := range m.Parts {
			n += proseSize(p)
		}
	}
	return n
}

// proseSize is the length of what is text in itself, in bytes.
func proseSize(p content.Part) int64 {
	switch p := p.(type) {
	case content.Text:
		return int64(len(p.Body))
	case content.Reasoning:
		return int64(len(p.Text) + len(p.Signature))
	case content.ToolCall:
		return int64(len(p.Arguments) + len(p.Name) + len(p.ID))
	case content.ToolResult:
		var n int64
		for _, b := range p.Blocks {
			n += proseSize(b)
		}
		return n
	case content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
		return 0
	}
	return 0
}

// tokenLimit is what the prompt may cost, leaving room for the answer.
func (d *decider) tokenLimit() int64 {
	if d.in.Budgets.Tokens > 0 {
		return int64(d.in.Budgets.Tokens)
	}
	p := &d.in.Profile
	if p.Context == 0 {
		return 0
	}
	return int64(p.Context - min(p.Output, p.Context/4))
}

func (d *decider) tokens() int64 {
	n := textTokens(d.in.Facts.Fixed)
	for _, m := range d.in.Messages {
		for _, p := range m.Parts {
			n += textTokens(proseSize(p))
		}
	}
	for i := range d.orders {
		n += orderTokens(&d.in.Profile, &d.orders[i])
	}
	return int64(n)
}
