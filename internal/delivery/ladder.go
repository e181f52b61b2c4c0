package delivery

import (
	"slices"

	"tote/internal/content"
)

// This file is the ladder: what gives way until a request fits. The output of
// tools goes before media, media before text, older before newer, history before
// the current turn, what tools gave in the current turn before what the user
// attached, whole turns of history where nothing else is left, and last what is left
// of the current turn's output. What the user wrote never gives way.

// form is what of a block an eviction is about.
type form uint8

const (
	formMedia  form = iota // a blob that goes out as it is
	formText               // a stored text, or another model's words
	formOutput             // the middle of a tool's output
	formRest               // what is left of a tool's output: a line stays
)

// evictable says which orders an eviction may push down.
type evictable struct {
	// kind is 0 for all kinds.
	kind  content.Kind
	route Route
	form  form
	// but is how many of the newest tool results are not touched.
	but int
}

func (d *decider) takesOut(e evictable, o *Order) bool {
	if o.route != e.route || e.kind != 0 && o.block.Kind() != e.kind || o.result && o.seq > d.results-e.but {
		return false
	}
	switch e.form {
	case formMedia:
		return o.carriesMedia()
	case formText:
		return o.loadsText() || o.Disposition == Described && !o.out
	case formOutput:
		return o.trimmable()
	case formRest:
		return o.droppable()
	}
	return false
}

// evict pushes down orders, oldest first, until sum is at most goal, and
// returns the sum that is left.
func (d *decider) evict(sum, goal int64, which evictable, cost func(*Order) int64, why Reason) int64 {
	for i := range d.orders {
		if sum <= goal {
			break
		}
		o := &d.orders[i]
		if !d.takesOut(which, o) {
			continue
		}
		sum -= cost(o)
		switch which.form {
		case formOutput:
			o.Reason = ReasonTrimmed
		case formRest:
			line := Order{Disposition: Placeholder, Reason: why}
			line.stand(o)
			*o = line
		case formMedia, formText:
			d.demote(i, why, "")
		}
	}
	return sum
}

// squeeze is one bound on the sum of all orders, and what each part of it costs.
type squeeze struct {
	limit int64
	// eased is what suffices once something has to give way, at most limit.
	eased int64
	why   Reason
	// measure is the sum as it is now.
	measure func() int64
	// cost is what an order has less after it gave way, by its form.
	cost [formRest + 1]func(*Order) int64
	// prose and order are what a part's own text, in a message, and a block
	// cost in all.
	prose func(int, content.Part) int64
	order func(*Order) int64
	// sum is what measure said last.
	sum int64
	// outputFirst: the output of tools gives way before media even where all of
	// it would not suffice.
	outputFirst bool
}

// bytes bounds the body.
func (d *decider) bytes() squeeze {
	limit := d.requestLimit()
	s := squeeze{
		limit: limit, eased: limit, why: ReasonRequestSize, measure: d.wireSize,
		prose: func(_ int, p content.Part) int64 { return proseSize(p) }, order: (*Order).wireSize,
	}
	s.cost[formMedia] = func(o *Order) int64 { return EncodedLen(o.rawSize()) }
	s.cost[formText] = func(o *Order) int64 { return o.Load.Size + o.wordsSize() }
	s.cost[formOutput] = (*Order).saves
	s.cost[formRest] = (*Order).rest
	return s
}

// window bounds the tokens.
func (d *decider) window(limit int64) squeeze {
	less := func(o *Order) int64 {
		return d.gauge.scale(o.message, int64(orderTokens(&d.in.Profile, o)-labelTokens))
	}
	s := squeeze{
		limit: limit, eased: percent(limit, easedAt), why: ReasonContextSize, measure: d.tokens, outputFirst: true,
		prose: func(i int, p content.Part) int64 { return d.gauge.scale(i, proseTokens(p)) },
		order: func(o *Order) int64 { return d.gauge.scale(o.message, int64(orderTokens(&d.in.Profile, o))) },
	}
	s.cost[formMedia], s.cost[formText] = less, less
	s.cost[formOutput] = func(o *Order) int64 { return d.gauge.scale(o.message, o.saves()/bytesPerToken) }
	s.cost[formRest] = func(o *Order) int64 { return d.gauge.scale(o.message, o.rest()/bytesPerToken-labelTokens) }
	return s
}

// spent are the rungs that cost only what a model has seen and left behind.
var spent = [...]evictable{
	{route: RouteHistory, form: formOutput, but: newest},
	{route: RouteHistory, form: formMedia},
	{route: RouteHistory, form: formText},
	{route: RouteResult, form: formOutput, but: newest},
	{route: RouteResult, form: formMedia, but: newest},
}

// current are the rungs within the current turn: no further than needed.
var current = [...]evictable{
	{route: RouteResult, form: formMedia},
	{route: RouteResult, form: formText},
	{route: RouteResult, form: formOutput},
	{route: RoutePrompt, form: formMedia},
	{route: RoutePrompt, form: formText},
}

// ofTools is how many of current are about what tools gave.
const ofTools = 3

// last is what is left to do when all else was not enough: the output of the
// current turn becomes lines, the newest last and never the very newest, so that a
// long turn in a small window still ends with an answer.
var last = evictable{route: RouteResult, form: formRest, but: 1}

// easedAt is how much of the window may be in use after something gave way, in
// percent, as long as there is more that can: the next request should not have to
// change what stands before it again.
const easedAt = 80

// squeeze brings the sum under the limit. What is spent goes down to EvictTo
// percent at once, then the oldest turns do where that suffices; then the current
// turn gives way, so that a prompt that is itself too large does not cost the
// conversation for nothing; then the turns all the same, and last what is left of the
// current turn's output.
func (d *decider) squeeze(s squeeze) {
	if s.sum = s.measure(); s.sum <= s.limit {
		return
	}
	low := percent(s.limit, EvictTo)
	rungs := spent
	if !s.outputFirst && s.sum-d.gain(s, rungs[0]) > s.limit {
		rungs[0], rungs[1] = rungs[1], rungs[0]
	}
	if d.climb(&s, rungs[:], low, s.eased) {
		return
	}
	cut, rest := d.oldest(s, low)
	if rest <= s.eased || rest <= s.limit && s.sum > s.limit {
		d.leaveTurns(s, cut)
		return
	}
	if s.sum <= s.limit {
		return
	}
	tools, prompt := current[:ofTools], current[ofTools:]
	if s.outputFirst { // what a user attached is worth more than old output, not so in bytes
		tools = append(slices.Clone(tools), last)
	}
	if d.climb(&s, tools, s.limit, s.limit) || d.climb(&s, prompt, s.limit, s.limit) {
		return
	}
	cut, rest = d.oldest(s, low)
	d.leaveTurns(s, cut)
	if rest > s.limit {
		s.sum = s.measure()
		d.climb(&s, []evictable{last}, low, s.limit)
	}
}

// climb lets rung after rung give way down to goal, as long as the sum is over
// what is enough, and reports whether it is not any more.
func (d *decider) climb(s *squeeze, rungs []evictable, goal, enough int64) bool {
	for _, r := range rungs {
		d.evict(s.sum, goal, r, s.cost[r.form], s.why)
		if s.sum = s.measure(); s.sum <= enough {
			return true
		}
	}
	return false
}

// gain is what a rung has to give in all.
func (d *decider) gain(s squeeze, which evictable) int64 {
	n := int64(0)
	for i := range d.orders {
		if o := &d.orders[i]; d.takesOut(which, o) {
			n += s.cost[which.form](o)
		}
	}
	return n
}

// leaveTurns leaves out turns up to message cut. Where they do not fit into the
// window, a summary would better stand for them.
func (d *decider) leaveTurns(s squeeze, cut int) {
	if cut <= d.left {
		return
	}
	if s.why == ReasonContextSize {
		d.wantsSummary = d.summaryHelps(s.limit)
	}
	d.leave(cut, s.why)
}

// CanShrink reports whether something in the plan's request can still give way.
func (p Plan) CanShrink() bool {
	for i := range p.orders {
		if o := &p.orders[i]; o.carriesMedia() || o.loadsText() || o.Disposition == Described && !o.out || o.route == RouteResult && (o.trimmable() || o.droppable() && o.seq < p.results) {
			return true
		}
	}
	return p.CanLeaveOut()
}
