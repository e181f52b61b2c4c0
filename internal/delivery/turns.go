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
	d := decider{in: &p.in}
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
	n := min(d.in.Ledger.LeftOut(), len(d.in.Messages))
	for n > 0 && !d.opens(n) {
		n--
	}
	d.leave(n, e.Reason)
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
			if o.block.Kind() == content.KindText {
				o.Reason = why // the ledger has no rows of prose to keep another
			}
			continue
		}
		out := Order{Disposition: Placeholder, Reason: why}
		e, ok := d.remembered(o.Handle)
		switch {
		case ok && e.Disposition.rank() == rankStub:
			out.Disposition, out.Reason, out.Detail = e.Disposition, e.Reason, e.Detail
		case o.Disposition == Placeholder || o.Disposition == Refused:
			out.Disposition, out.Reason, out.Detail = o.Disposition, o.Reason, o.Detail
		}
		out.block, out.route, out.result, out.message, out.Handle, out.out = o.block, o.route, o.result, o.message, o.Handle, true
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
			sum -= s.prose(p)
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

// leaveTurns leaves out turns up to message cut and returns rest.
func (d *decider) leaveTurns(s squeeze, cut int, rest int64) int64 {
	if cut > d.left {
		d.leave(cut, s.why)
	}
	return rest
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
	n, what := s.plan.left, " earlier messages of this conversation were"
	if n == 1 {
		what = " earlier message of this conversation was"
	}
	return content.Text{Body: "[" + strconv.Itoa(n) + what + " left out to keep the request small enough]"}
}

// rememberLeftOut keeps the count for the requests to come.
func (s *settler) rememberLeftOut() {
	if n := s.plan.left; n != s.ledger.LeftOut() {
		s.remember(leftOutHandle, LedgerEntry{Disposition: Placeholder, Reason: s.plan.leftWhy, Detail: strconv.Itoa(n)})
	}
}
