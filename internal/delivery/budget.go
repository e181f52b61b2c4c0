package delivery

import "tote/internal/content"

// This file holds the whole request against its limits. What gives way for them,
// and in which order, is in ladder.go.

// whole reports whether the block itself goes out.
func (o *Order) whole() bool { return o.Disposition.rank() == rankWhole }

// carriesMedia reports whether a blob goes out as it is.
func (o *Order) carriesMedia() bool {
	return o.whole() && (o.Cut != nil || !o.Send.IsZero())
}

// carries reports whether a blob of kind k goes out as it is.
func (o *Order) carries(k content.Kind) bool { return o.block.Kind() == k && o.carriesMedia() }

// loadsText reports whether a stored text is put into the prompt.
func (o *Order) loadsText() bool { return o.whole() && !o.Load.IsZero() }

// past reports whether the block belongs to an earlier turn.
func (o *Order) past() bool { return o.route == RouteHistory }

// rawSize is the most that the order's media take in bytes before base64.
func (o *Order) rawSize() int64 {
	switch {
	case o.spare != nil: // only what has fewer bytes takes its place
		return o.spare.Send.Size
	case o.Cut != nil:
		return o.Cut.MaxBytes
	}
	return o.Send.Size
}

// stand puts an order in the place of another for the same block.
func (o *Order) stand(of *Order) {
	o.block, o.Handle, o.route, o.result = of.block, of.Handle, of.route, of.result
	o.message, o.out, o.seq, o.was = of.message, of.out, of.seq, of.was
}

// demote pushes one block down to a file or a line.
func (d *decider) demote(i int, why Reason, detail string) {
	o := &d.orders[i]
	a, _ := content.AttachmentOf(o.block)
	low := d.lower(a, why, detail)
	low.stand(o)
	*o = low
}

func (d *decider) applyBudgets() {
	if d.in.Facts.DropHistory {
		for i := range d.orders {
			if o := &d.orders[i]; o.past() && o.carriesMedia() {
				d.demote(i, ReasonRequestSize, "")
			}
		}
	}
	d.applyCounts()
	d.applyManyRule()
	d.applyHistoryBudget()
	d.squeeze(d.bytes())
	if limit := d.tokenLimit(); limit > 0 {
		d.squeeze(d.window(limit))
		d.wantsSummary = d.wantsSummary || d.crowded(limit)
	}
}

// applyManyRule bounds every picture of a request that holds many.
func (d *decider) applyManyRule() {
	l := &d.in.Profile.ImageLimits
	if l.ManyCount == 0 || l.ManyEdge == 0 || d.count(content.KindImage) <= l.ManyCount {
		return
	}
	for i := range d.orders {
		o := &d.orders[i]
		b, ok := o.block.(content.Image)
		if !ok || !o.carriesMedia() {
			continue
		}
		switch {
		case o.Cut != nil:
			tight := *o.Cut
			tight.MaxEdge = int(least(int64(tight.MaxEdge), int64(l.ManyEdge)))
			o.Cut = &tight
			if s := o.Spare(); max(s.Width, s.Height) > l.ManyEdge {
				o.spare = nil
			}
		case max(o.Send.Width, o.Send.Height) <= l.ManyEdge:
		case b.Fault == content.FaultTooManyPixels:
			d.demote(i, ReasonTooManyPixels, b.Detail)
		case d.gone(b.Original) || d.uncut(o.Handle):
			d.demote(i, ReasonPrepareFailed, "")
		default:
			d.result = o.result
			tight := d.bounds(b)
			tight.MaxEdge = int(least(int64(tight.MaxEdge), int64(l.ManyEdge)))
			o.Disposition, o.Reason, o.Detail = Shrunk, ReasonPathLimit, preparedDetail(b)
			o.Send, o.Cut = content.Blob{}, &tight
		}
	}
}

// count is how many blobs of kind k, 0 for all kinds, go out as they are.
func (d *decider) count(k content.Kind) int {
	n := 0
	for i := range d.orders {
		if o := &d.orders[i]; o.carriesMedia() && (k == 0 || o.block.Kind() == k) {
			n++
		}
	}
	return n
}

// percent is p percent of n, safe for the largest n.
func percent(n, p int64) int64 { return n/100*p + n%100*p/100 }

// applyHistoryBudget bounds the media of earlier turns. At the start of a lane
// it walks newest first and the first that does not fit ends the walk; later,
// crossing the budget evicts the oldest down to EvictTo percent at once.
func (d *decider) applyHistoryBudget() {
	budget := orDefault(d.in.Budgets.History, DefaultHistory)
	var sum int64
	for i := range d.orders {
		if o := &d.orders[i]; o.past() && o.carriesMedia() {
			sum += o.rawSize()
		}
	}
	if sum <= budget {
		return
	}
	if d.in.Ledger.Len() > 0 {
		d.evict(sum, percent(budget, EvictTo), evictable{route: RouteHistory}, (*Order).rawSize, ReasonHistoryBudget)
		return
	}
	var kept int64
	ended := false
	for i := len(d.orders) - 1; i >= 0; i-- {
		o := &d.orders[i]
		if !o.past() || !o.carriesMedia() {
			continue
		}
		if ended = ended || kept+o.rawSize() > budget; ended {
			d.demote(i, ReasonHistoryBudget, "")
			continue
		}
		kept += o.rawSize()
	}
}

// applyCounts bounds how many of each kind one request holds.
func (d *decider) applyCounts() {
	p := &d.in.Profile
	pictures := least(int64(p.ImageLimits.MaxCount), int64(d.in.Facts.MaxCount))
	d.applyCount(content.KindImage, least(pictures, int64(d.in.Budgets.Count)))
	d.applyCount(content.KindAudio, int64(p.AudioLimits.MaxCount))
	d.applyCount(content.KindDocument, int64(p.DocumentLimits.MaxCount))
	d.applyCount(0, int64(p.MaxMedia))
}

// applyCount bounds the media of kind k, 0 for all kinds together.
func (d *decider) applyCount(k content.Kind, limit int64) {
	n := int64(d.count(k))
	if limit == 0 || n <= limit {
		return
	}
	one := func(*Order) int64 { return 1 }
	low := percent(limit, EvictTo)
	n = d.evict(n, low, evictable{kind: k, route: RouteHistory}, one, ReasonCountLimit)
	if n > limit {
		n = d.evict(n, low, evictable{kind: k, route: RouteResult, but: newest}, one, ReasonCountLimit)
	}
	n = d.evict(n, limit, evictable{kind: k, route: RouteResult}, one, ReasonCountLimit)
	d.evict(n, limit, evictable{kind: k, route: RoutePrompt}, one, ReasonCountLimit)
}

func (d *decider) requestLimit() int64 {
	limit := least(d.in.Budgets.Request, d.in.Profile.MaxRequest)
	return least(orDefault(limit, DefaultRequest), d.in.Facts.MaxRequest)
}

// tokenLimit is what the prompt may cost, leaving room for the answer.
func (d *decider) tokenLimit() int64 {
	p := &d.in.Profile
	limit := int64(d.in.Budgets.Tokens)
	if limit <= 0 {
		limit = promptRoom(p.Context, p.Output)
	}
	return least(least(limit, promptRoom(d.in.Facts.Context, p.Output)), d.in.Facts.MaxTokens)
}

// defaultOutput is the room that is kept for an answer of which nobody knows how
// long it may get, in tokens. In a small window it is less.
const defaultOutput = 8_000

// promptRoom is what a context window has for the prompt, 0 where the window is
// not known. The answer gets at most a quarter of it.
func promptRoom(context, output int) int64 {
	if context <= 0 {
		return 0
	}
	return int64(context - min(int(orDefault(int64(output), defaultOutput)), context/4))
}
