package agent

import (
	"context"
	"sync"

	"tote/internal/delivery"
)

// serial hands everything of a turn to its front one after the other: tools that
// run side by side show what they print while they run, and background jobs end
// when they please. After the turn's end it lets nothing through.
type serial struct {
	mu    sync.Mutex
	front Front
	ended bool
}

var _ Front = (*serial)(nil)

// oneAtATime wraps a front, once.
func oneAtATime(f Front) *serial {
	if s, ok := f.(*serial); ok {
		return s
	}
	return &serial{front: f}
}

// tell shows a notice where somebody watches.
func tell(f Front, n delivery.Notice) {
	if f != nil {
		f.Noticed(Noticed{Notice: n})
	}
}

// do reports whether the front was told.
func (s *serial) do(tell func(Front)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	tell(s.front)
	return true
}

// Accepted implements Visitor.
func (s *serial) Accepted(e Accepted) { s.do(func(f Front) { f.Accepted(e) }) }

// Receipts implements Visitor.
func (s *serial) Receipts(e Receipts) { s.do(func(f Front) { f.Receipts(e) }) }

// Text implements Visitor.
func (s *serial) Text(e Text) { s.do(func(f Front) { f.Text(e) }) }

// Thought implements Visitor.
func (s *serial) Thought(e Thought) { s.do(func(f Front) { f.Thought(e) }) }

// Voided implements Visitor.
func (s *serial) Voided(e Voided) { s.do(func(f Front) { f.Voided(e) }) }

// ToolStarted implements Visitor.
func (s *serial) ToolStarted(e ToolStarted) { s.do(func(f Front) { f.ToolStarted(e) }) }

// ToolRunning implements Visitor.
func (s *serial) ToolRunning(e ToolRunning) { s.do(func(f Front) { f.ToolRunning(e) }) }

// ToolOutput implements Visitor.
func (s *serial) ToolOutput(e ToolOutput) { s.do(func(f Front) { f.ToolOutput(e) }) }

// Planned implements Visitor.
func (s *serial) Planned(e Planned) { s.do(func(f Front) { f.Planned(e) }) }

// JobChanged implements Visitor.
func (s *serial) JobChanged(e JobChanged) { s.do(func(f Front) { f.JobChanged(e) }) }

// ToolFinished implements Visitor.
func (s *serial) ToolFinished(e ToolFinished) { s.do(func(f Front) { f.ToolFinished(e) }) }

// Noticed implements Visitor.
func (s *serial) Noticed(e Noticed) { s.do(func(f Front) { f.Noticed(e) }) }

// Retrying implements Visitor.
func (s *serial) Retrying(e Retrying) { s.do(func(f Front) { f.Retrying(e) }) }

// Used implements Visitor.
func (s *serial) Used(e Used) { s.do(func(f Front) { f.Used(e) }) }

// Ended implements Visitor.
func (s *serial) Ended(e Ended) {
	s.do(func(f Front) {
		s.ended = true
		f.Ended(e)
	})
}

// Ask implements Front. Whoever wants to tell something meanwhile waits for the
// user. After the turn's end nobody is there to be asked.
func (s *serial) Ask(ctx context.Context, q Question) (p Permit, err error) {
	if !s.do(func(f Front) { p, err = f.Ask(ctx, q) }) {
		return PermitDeny, ErrEnded
	}
	return p, err
}
