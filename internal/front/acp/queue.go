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
