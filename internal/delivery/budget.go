package delivery

import "tote/internal/content"

// This file pushes blocks down until the whole request fits: history before
// the current prompt, older before newer, media before text, and whole turns of
// history last.

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

// demote pushes one block down to a file or a line.
func (d *decider) demote(i int, why Reason, detail string) {
	o := &d.orders[i]
	a, _ := content.AttachmentOf(o.block)
	low := d.lower(a, why, detail)
	low.block, low.route, low.result, low.message, low.Handle = o.block, o.route, o.result, o.message, o.Handle
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
	d.squeeze(squeeze{
		sum: d.wireSize(), limit: d.requestLimit(), why: ReasonRequestSize,
		media: func(o *Order) int64 { return EncodedLen(o.rawSize()) },
		text:  func(o *Order) int64 { return o.Load.Size },
		prose: proseSize, order: (*Order).wireSize,
	})
	if limit := d.tokenLimit(); limit > 0 {
		price := func(o *Order) int64 { return int64(orderTokens(&d.in.Profile, o) - labelTokens) }
		d.squeeze(squeeze{
			sum: d.tokens(), limit: limit, why: ReasonContextSize, media: price, text: price,
			prose: func(p content.Part) int64 { return int64(textTokens(proseSize(p))) },
			order: func(o *Order) int64 { return int64(orderTokens(&d.in.Profile, o)) },
		})
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
		d.evict(sum, percent(budget, EvictTo), evictable{past: true}, (*Order).rawSize, ReasonHistoryBudget)
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

// evictable says which orders an eviction may push down.
type evictable struct {
	// kind is 0 for all kinds.
	kind        content.Kind
	past, texts bool
}

func (e evictable) takes(o *Order) bool {
	if o.past() != e.past || e.kind != 0 && o.block.Kind() != e.kind {
		return false
	}
	if e.texts {
		return o.loadsText()
	}
	return o.carriesMedia()
}

// evict pushes down orders, oldest first, until sum is at most goal, and
// returns the sum that is left.
func (d *decider) evict(sum, goal int64, which evictable, cost func(*Order) int64, why Reason) int64 {
	for i := range d.orders {
		if sum <= goal {
			break
		}
		if o := &d.orders[i]; which.takes(o) {
			sum -= cost(o)
			d.demote(i, why, "")
		}
	}
	return sum
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
	n = d.evict(n, percent(limit, EvictTo), evictable{kind: k, past: true}, one, ReasonCountLimit)
	d.evict(n, limit, evictable{kind: k}, one, ReasonCountLimit)
}

// squeeze is one bound on the sum of all orders, and what each part of it costs.
type squeeze struct {
	sum, limit  int64
	media, text func(*Order) int64
	// prose and order are what a part's own text and a block cost in all.
	prose func(content.Part) int64
	order func(*Order) int64
	why   Reason
}

// squeeze brings the sum under the limit: media of history, then texts of
// history, then its oldest turns, down to EvictTo percent; then media, then
// texts of the current turn, no further than needed. Where all turns of history
// would not suffice, the current turn gives way before them: a prompt that is
// itself too large does not cost the conversation for nothing.
func (d *decider) squeeze(s squeeze) {
	low := percent(s.limit, EvictTo)
	for _, step := range []func() int64{
		func() int64 { return d.evict(s.sum, low, evictable{past: true}, s.media, s.why) },
		func() int64 { return d.evict(s.sum, low, evictable{past: true, texts: true}, s.text, s.why) },
		func() int64 {
			if cut, rest := d.oldest(s, low); rest <= s.limit {
				return d.leaveTurns(s, cut, rest)
			}
			return s.sum
		},
		func() int64 { return d.evict(s.sum, s.limit, evictable{}, s.media, s.why) },
		func() int64 { return d.evict(s.sum, s.limit, evictable{texts: true}, s.text, s.why) },
		func() int64 {
			cut, rest := d.oldest(s, low)
			return d.leaveTurns(s, cut, rest)
		},
	} {
		if s.sum <= s.limit {
			return
		}
		s.sum = step()
	}
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

// promptRoom is what a context window has for the prompt, 0 where the window is
// not known.
func promptRoom(context, output int) int64 {
	if context <= 0 {
		return 0
	}
	return int64(context - min(output, context/4))
}
