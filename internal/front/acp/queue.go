package acp

import (
	"context"
	"slices"
	"sync"
)

// line is the queue of a session: prompts, and what must not run beside one. They
// are served one at a time, in the order in which they joined.
type line struct {
	mu     sync.Mutex
	places []*place
}

// place is one place in a line.
type place struct {
	line *line
	// turn is closed when everything before has left.
	turn chan struct{}
	// cancel ends the work of a prompt; nil for what is not cancelled.
	cancel context.CancelFunc
}

func (l *line) join(cancel context.CancelFunc) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(cancel)
}

// joinIdle is join for what is short, and does not wait behind prompts: it returns
// nil where one runs or waits.
func (l *line) joinIdle() *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.places, func(p *place) bool { return p.cancel != nil }) {
		return nil
	}
	return l.add(nil)
}

// add is join for the holder of mu.
func (l *line) add(cancel context.CancelFunc) *place {
	p := &place{line: l, turn: make(chan struct{}), cancel: cancel}
	l.places = append(l.places, p)
	if len(l.places) == 1 {
		close(p.turn)
	}
	return p
}

// wait waits until everything before has left, and reports whether it has before
// ctx ended.
func (p *place) wait(ctx context.Context) bool {
	select {
	case <-p.turn:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// leave gives the place up, also one whose turn has not come.
func (p *place) leave() {
	l := p.line
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.places, p)
	l.places = slices.Delete(l.places, i, i+1)
	if i == 0 && len(l.places) > 0 {
		close(l.places[0].turn)
	}
}

// cancelAll cancels the prompt that runs and those that wait.
func (l *line) cancelAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.places {
		if p.cancel != nil {
			p.cancel()
		}
	}
}
