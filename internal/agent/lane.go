package agent

import (
	"context"
	"fmt"
	"maps"

	"tote/internal/content"
	"tote/internal/delivery"
)

// This file keeps the memory of what was sent: one lane for the model that the
// session has chosen, and one for each that only stood in for it.

// lane is the memory of what was sent on one path.
type lane struct {
	key    Lane
	ledger delivery.Ledger
	loaded bool
	// reported is what the backend counted for the last request.
	reported delivery.Reported
	// doubted: the user knows that counts of this backend are not believed.
	doubted bool
	// balked is how many turns there were when a summary could last not be had.
	balked int
}

// laneKey names what decides how blocks are sent: the endpoint, and what is
// known about it.
func laneKey(p delivery.Profile) string {
	key := p.Endpoint + "/" + p.Images.Answer.String() + "/" + p.Audio.Answer.String() + "/" + p.Documents.Answer.String()
	if p.Placement.HoistResults {
		key += "/hoisted"
	}
	return key
}

// enter loads the lane of the turn's model.
func (t *turn) enter(ctx context.Context) error {
	if t.stead == nil {
		return t.s.enterLane(ctx, t.model)
	}
	return t.s.enterAside(ctx, t.stead, t.model)
}

// enterLane loads the ledger of the lane, or opens a new generation when the
// model or the evidence about it has changed.
func (s *Session) enterLane(ctx context.Context, m Model) error {
	next, moved, err := s.nextLane(ctx, m)
	if err != nil || !moved {
		return err
	}
	if err := s.update(ctx, func(st *Stored) { st.Generation = next.key.Generation }); err != nil {
		return fmt.Errorf("open a lane: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane = next
	return nil
}

// nextLane is the lane in which the next request to m stands; moved says that it
// is another than the current one.
func (s *Session) nextLane(ctx context.Context, m Model) (next lane, moved bool, err error) {
	key := laneKey(m.Profile)
	s.mu.Lock()
	stored, current := s.stored, s.lane
	s.mu.Unlock()
	if current.loaded && current.key.Endpoint == key {
		return current, false, nil
	}
	at := Lane{Endpoint: key, Generation: stored.Generation}
	if current.loaded {
		at.Generation++
	}
	rows, err := s.a.o.Lanes.Ledger(ctx, stored.ID, at)
	if err != nil {
		return lane{}, false, fmt.Errorf("read what was sent: %w", err)
	}
	if !current.loaded && len(rows) == 0 && len(s.Turns()) > 1 {
		at.Generation++
	}
	return lane{key: at, ledger: delivery.NewLedger(rows), loaded: true}, true, nil
}

// enterAside loads the lane of a model that stands in for the chosen one. It leaves
// the chosen one's as it is, so that a prompt cache there holds.
func (s *Session) enterAside(ctx context.Context, at *string, m Model) error {
	key := laneKey(m.Profile)
	*at = key
	s.mu.Lock()
	generation, id := s.stored.Generation, s.stored.ID
	known, ok := s.aside[key]
	s.mu.Unlock()
	if ok && known.key.Generation == generation {
		return nil
	}
	next := Lane{Endpoint: key, Generation: generation}
	rows, err := s.a.o.Lanes.Ledger(ctx, id, next)
	if err != nil {
		return fmt.Errorf("read what was sent: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aside == nil {
		s.aside = map[string]lane{}
	}
	s.aside[key] = lane{key: next, ledger: delivery.NewLedger(rows), loaded: true}
	return nil
}

// advance opens a new generation: what was decided so far does not bind the next
// request. Rules of folders are told anew, since they may be gone from view.
func (s *Session) advance(ctx context.Context) error {
	if err := s.update(ctx, func(st *Stored) { st.Generation++ }); err != nil {
		return fmt.Errorf("open a lane: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane, s.aside, s.ruled = lane{}, nil, nil
	return nil
}

// condense opens a new generation in which a summary stands for the leading messages
// in covered. What went with the others goes on to bind, so that nothing of them
// comes back larger than it was in the request before.
func (s *Session) condense(ctx context.Context, covered []content.Message) error {
	m, err := s.Model(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	at, aside := s.lane, maps.Clone(s.aside)
	s.mu.Unlock()
	if !at.loaded {
		if at, _, err = s.nextLane(ctx, m); err != nil {
			return err
		}
	}
	if err := s.advance(ctx); err != nil {
		return err
	}
	generation := s.Stored().Generation
	if at, err = s.follow(ctx, at, generation, covered); err != nil {
		return err
	}
	for key, l := range aside {
		if aside[key], err = s.follow(ctx, l, generation, covered); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane, s.aside = at, aside
	return nil
}

// follow is the lane that comes after l when a summary stands for covered.
func (s *Session) follow(ctx context.Context, l lane, generation int, covered []content.Message) (lane, error) {
	l.key.Generation = generation
	l.ledger, l.reported = l.ledger.Behind(covered), l.ratio()
	if rows := l.ledger.Changed(delivery.Ledger{}); len(rows) > 0 {
		if err := s.a.o.Lanes.SaveLedger(ctx, s.ID(), l.key, rows); err != nil {
			return l, fmt.Errorf("record what is sent: %w", err)
		}
	}
	return l, nil
}

// ratio is what stays of a count when what it counted is not sent any more.
func (l *lane) ratio() delivery.Reported {
	return delivery.Reported{Tokens: l.reported.Tokens, Estimate: l.reported.Estimate}
}

// lane is the lane of the turn's model.
func (t *turn) lane() lane {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.stead == nil {
		return t.s.lane
	}
	return t.s.aside[*t.stead]
}

// ledger is what was sent in the lane of the turn's model.
func (t *turn) ledger() delivery.Ledger { return t.lane().ledger }

// change changes the lane of the turn's model in memory.
func (t *turn) change(with func(*lane)) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.stead == nil {
		with(&t.s.lane)
		return
	}
	l := t.s.aside[*t.stead]
	with(&l)
	t.s.aside[*t.stead] = l
}

// remember keeps the ledger after a request was settled.
func (t *turn) remember(ctx context.Context, l delivery.Ledger) error {
	at := t.lane()
	if rows := l.Changed(at.ledger); len(rows) > 0 {
		if err := t.s.a.o.Lanes.SaveLedger(ctx, t.s.ID(), at.key, rows); err != nil {
			return fmt.Errorf("record what is sent: %w", err)
		}
	}
	t.change(func(at *lane) { at.ledger = l })
	return nil
}

// counted keeps what the backend counted for a request. A count that cannot be one of
// the whole request is not believed, which is told once, where it matters: that the
// window is filling.
func (t *turn) counted(ready settled, u content.Usage) {
	n := u.Input.N
	if u.Input.Known && n < u.Cached.N+u.CacheWrite.N { // it leaves out what a cache gave or took
		n += u.Cached.N + u.CacheWrite.N
	}
	if !u.Input.Known || n <= 0 {
		return
	}
	l, whole := ready.ledger, ready.estimates.Whole
	believed := ready.estimates.Plausible(n)
	window := int64(t.model.Profile.Context)
	tells := !believed && !t.lane().doubted && window > 0 && 2*whole > window && !t.model.Runner
	t.change(func(at *lane) {
		at.doubted = at.doubted || tells
		if believed {
			at.reported = delivery.Reported{Messages: ready.messages, Tokens: n, Estimate: whole, Ledger: &l}
		}
	})
	if tells {
		t.notice(delivery.SeverityInfo, "the backend's counts of tokens cannot be right: estimates are used instead",
			fmt.Sprintf("it counted %d for a request of about %d", n, whole))
	}
}
