package delivery

import "tote/internal/content"

// This file counts the tokens of a request. What a backend has counted beats the
// estimate for the messages that it counted; what gave way since then is taken
// off, and what came after is estimated. Where the backend counted more than was
// estimated, so are the estimates of what it has not counted yet.

// gauge is a backend's count. The zero value is none.
type gauge struct {
	// from and upTo are the first message that it counted and the one behind
	// the last.
	from, upTo int
	// reported is the count, estimated the estimate of the same, in tokens. They
	// are a ratio alone where upTo is 0, and nothing at all where estimated is.
	reported, estimated int64
}

// mostTimes bounds the ratio that is taken over to estimates. A count of many times
// the estimate has its cause in what nobody here sees, such as a system prompt of
// the server, and not in the text.
const mostTimes = 2

// more is an estimate of n tokens that no backend has counted, corrected by what
// the backend counted of another. It is never less than n.
func (g *gauge) more(n int64) int64 {
	if n <= 0 || g.estimated <= 0 || g.reported <= g.estimated {
		return n
	}
	reported := min(g.reported, mostTimes*g.estimated)
	return n/g.estimated*reported + n%g.estimated*reported/g.estimated
}

// scale is what an estimate of n tokens in a message counts. Where the backend
// counted less than was estimated, what gives way frees less, too. It rounds
// down, so that nothing that gives way counts too much; an n under zero is what
// prose has less than its whole length.
func (g *gauge) scale(message int, n int64) int64 {
	switch {
	case message >= g.upTo && n < 0:
		return min(n, -g.more(-n+1)) // the next whole number
	case message >= g.upTo:
		return g.more(n)
	case g.reported >= g.estimated || n == 0:
		return n
	case n < 0:
		return -((min(-n, g.estimated)*g.reported + g.estimated - 1) / g.estimated)
	}
	return min(n, g.estimated) * g.reported / g.estimated
}

// mostEstimated is an estimate in tokens beyond any window. The square of it is
// still a number.
const mostEstimated = 1 << 31

// weigh takes up a backend's count. One of more messages than there are is of
// another conversation, and one of a request beyond any window is of none.
func (d *decider) weigh() {
	r := d.in.Facts.Reported
	if r.Messages == 0 && r.Tokens > 0 && r.Tokens < mostEstimated && r.Estimate > 0 && r.Estimate < mostEstimated {
		d.gauge = gauge{reported: r.Tokens, estimated: r.Estimate}
		return
	}
	if r.Ledger == nil {
		r.Ledger = &d.in.Ledger
	}
	from := max(d.covered, d.turnStart(r.Ledger.LeftOut()))
	if r.Tokens <= 0 || r.Messages <= from || r.Messages > len(d.in.Messages) {
		return
	}
	n := d.fixedTokens()
	for _, m := range d.in.Messages[from:r.Messages] {
		for _, p := range m.Parts {
			n += proseTokens(p)
		}
	}
	for i := range d.orders {
		o := &d.orders[i]
		if o.message >= r.Messages {
			break
		}
		if o.message >= from {
			o.was = d.was(o, r.Ledger)
			n += o.was
		}
	}
	if n < mostEstimated {
		d.gauge = gauge{from: from, upTo: r.Messages, reported: r.Tokens, estimated: n}
	}
}

// was is what an order cost when its block was sent as l has it. Prose has no row
// as long as it is whole; another block without one was not sent, or stripped.
func (d *decider) was(o *Order, l *Ledger) int64 {
	e, ok := l.Lookup(o.Handle)
	switch {
	case ok:
	case o.block.Kind() == content.KindText:
		return 0
	default:
		return labelTokens
	}
	before := Order{Disposition: e.Disposition, Reason: e.Reason, Note: e.Note, Send: e.Variant, block: o.block}
	if before.whole() && e.Variant.IsZero() {
		switch b := o.block.(type) {
		case content.Document:
			before.Load = b.Text
		case content.ResourceText:
			before.Load = b.Prepared
		case content.Text, content.Image, content.Audio, content.ResourceLink, content.Opaque:
		}
	}
	return int64(orderTokens(&d.in.Profile, &before))
}

// fixedTokens is what stands before the first message: system prompt and tools,
// and the summary.
func (d *decider) fixedTokens() int64 {
	return int64(textTokens(d.in.Facts.Fixed) + textTokens(int64(len(d.head))))
}

// tokens is what the request takes of the context.
func (d *decider) tokens() int64 {
	g := &d.gauge
	n, fresh := g.reported, int64(0)
	if g.upTo == 0 {
		n, fresh = 0, d.fixedTokens()
	}
	for i := g.from; i < min(d.left, g.upTo); i++ {
		for _, p := range d.in.Messages[i].Parts {
			n -= g.scale(i, proseTokens(p))
		}
	}
	orders := d.orders
	for len(orders) > 0 && orders[0].message < g.upTo {
		o := &orders[0]
		n -= g.scale(o.message, o.was-int64(orderTokens(&d.in.Profile, o)))
		orders = orders[1:]
	}
	n = max(0, n)
	for i := range orders {
		fresh += int64(orderTokens(&d.in.Profile, &orders[i]))
	}
	for _, m := range d.in.Messages[max(d.left, g.upTo):] {
		for _, p := range m.Parts {
			fresh += proseTokens(p)
		}
	}
	return n + g.more(fresh)
}
