package delivery

import (
	"strconv"

	"tote/internal/content"
)

// This file leaves out whole turns of history, the oldest first, where it does
// not suffice that their attachments give way. What is left out of a lane never
// comes back into it, so that the prefix stays stable.

// leftOutHandle is where the ledger remembers how many leading messages are
// left out. No block can have it: it has no number.
const leftOutHandle content.Handle = "left-out"

// LeftOut returns how many leading messages of the conversation the lane leaves
// out.
func (l Ledger) LeftOut() int {
	e, ok := l.entries[leftOutHandle]
	if !ok {
		return 0
	}
	return max(0, e.leftOut())
}

// leftOut is the count in the entry of leftOutHandle, -1 for none.
func (e LedgerEntry) leftOut() int {
	n, err := strconv.Atoi(e.Detail)
	if err != nil || n < 0 || e.Disposition != Placeholder {
		return -1
	}
	return n
}

// CanLeaveOut reports whether an earlier turn is in the request that could still
// be left out.
func (p Plan) CanLeaveOut() bool {
	d := p.decider()
	for i := p.left + 1; i <= p.in.Current; i++ {
		if d.opens(i) {
			return true
		}
	}
	return false
}

// opens reports whether message i opens a turn, up to the current one.
func (d *decider) opens(i int) bool {
	if i > d.in.Current || i >= len(d.in.Messages) {
		return false
	}
	r := d.in.Messages[i].Role
	return r != content.RoleAssistant && r != content.RoleTool
}

// leaveRemembered leaves out what the lane left out before. A count that is not
// at the start of a turn is of a damaged row.
func (d *decider) leaveRemembered() {
	e, ok := d.remembered(leftOutHandle)
	if !ok {
		return
	}
	if n := d.turnStart(d.in.Ledger.LeftOut()); n > d.left {
		d.leave(n, e.Reason)
	}
}

// turnStart is the last message up to n that opens a turn, 0 for none.
func (d *decider) turnStart(n int) int {
	n = min(n, d.in.Current, len(d.in.Messages))
	for n > 0 && !d.opens(n) {
		n--
	}
	return max(0, n)
}

// leave takes the first n messages out of the request.
func (d *decider) leave(n int, why Reason) {
	d.left, d.leftWhy = n, why
	for i := range d.orders {
		o := &d.orders[i]
		if o.message >= n {
			return
		}
		if o.out {
			if o.block.Kind() == content.KindText && o.message >= d.covered && o.Reason != ReasonDetached {
				o.Reason = why // the ledger has no rows of prose to keep another
			}
			continue
		}
		out := Order{Disposition: Placeholder, Reason: why}
		e, ok := d.remembered(o.Handle)
		switch {
		case o.Reason == ReasonDetached:
			out.Reason = ReasonDetached
		case ok && e.Disposition.rank() == rankStub:
			out.Disposition, out.Reason, out.Detail = e.Disposition, e.Reason, e.Detail
		case o.Disposition == Placeholder || o.Disposition == Refused:
			out.Disposition, out.Reason, out.Detail = o.Disposition, o.Reason, o.Detail
		}
		out.stand(o)
		out.out = true
		*o = out
	}
}

// oldest finds how many leading messages have to go until the sum is at most
// goal, or nothing but the current turn is left, and the sum that is left then.
func (d *decider) oldest(s squeeze, goal int64) (cut int, rest int64) {
	cut, rest = d.left, s.sum
	next, sum := 0, s.sum
	for i := d.left; i < min(d.in.Current, len(d.in.Messages)) && rest > goal; i++ {
		for _, p := range d.in.Messages[i].Parts {
			sum -= s.prose(i, p)
		}
		for ; next < len(d.orders) && d.orders[next].message <= i; next++ {
			sum -= s.order(&d.orders[next])
		}
		if d.opens(i + 1) {
			cut, rest = i+1, sum
		}
	}
	return cut, rest
}

// skip accounts for the blocks of a message that is left out.
func (s *settler) skip(m content.Message) {
	for _, p := range m.Parts {
		if r, ok := p.(content.ToolResult); ok {
			for _, b := range r.Blocks {
				s.omit(b)
			}
		} else if b, ok := p.(content.Block); ok && m.Role != content.RoleAssistant {
			s.omit(b)
		}
	}
}

func (s *settler) omit(b content.Block) {
	o := &s.plan.orders[s.next]
	s.next++
	s.account(o, b)
}

// leftOut is what stands in the place of the messages that are left out.
func (s *settler) leftOut() content.Text {
	n, which := s.plan.left-s.plan.covered, " earlier"
	if s.plan.covered > 0 {
		which = " further"
	}
	if n == 0 {
		return content.Text{Body: s.plan.head}
	}
	what := " messages of this conversation were"
	if n == 1 {
		what = " message of this conversation was"
	}
	line := "[" + strconv.Itoa(n) + which + what + " left out to keep the request small enough]"
	if s.plan.head != "" {
		line = s.plan.head + "\n" + line
	}
	return content.Text{Body: line}
}

// rememberLeftOut keeps the count for the requests to come.
func (s *settler) rememberLeftOut() {
	if n := s.plan.left; n != s.ledger.LeftOut() {
		s.remember(leftOutHandle, LedgerEntry{Disposition: Placeholder, Reason: s.plan.leftWhy, Detail: strconv.Itoa(n)})
	}
}
