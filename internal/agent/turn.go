package agent

import (
	"context"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// run asks the model until it calls no more tools.
func (t *turn) run(ctx context.Context) (content.StopReason, error) {
	t.equip(ctx)
	if err := t.learn(ctx); err != nil {
		return content.StopFailed, err
	}
	limit := t.policy.MaxSteps
	if limit == 0 {
		limit = DefaultMaxSteps
	}
	for t.steps = 1; t.steps <= limit; t.steps++ {
		a, err := t.answer(ctx)
		if err != nil {
			return content.StopFailed, err
		}
		calls := a.calls()
		if len(calls) == 0 {
			t.ended(a)
			t.hook(ctx, HookEvent{Name: hookStop, Text: a.text()})
			return a.stop, nil
		}
		results := t.runTools(ctx, calls)
		if err := t.keepResults(ctx, results); err != nil {
			return content.StopFailed, err
		}
		if ctx.Err() != nil {
			return content.StopCancelled, nil
		}
	}
	t.notice(delivery.SeverityWarning, fmt.Sprintf("stopped after %d requests in one turn", limit), "ask it to go on, or raise limits.max_steps")
	return content.StopMaxSteps, nil
}

// answer asks once and records what came of it, also with an error.
func (t *turn) answer(ctx context.Context) (*answer, error) {
	a, err := t.ask(ctx)
	if a == nil {
		return nil, err
	}
	if err != nil {
		a.finished = false // its calls will not be run
	}
	if kerr := t.keepAnswer(ctx, a); kerr != nil {
		return nil, kerr
	}
	return a, err
}

// ended says what is odd about the answer that ends a turn.
func (t *turn) ended(a *answer) {
	if a.stop == content.StopEndTurn && strings.TrimSpace(a.text()) == "" {
		t.notice(delivery.SeverityWarning, "the model answered nothing", "ask again, or choose another model")
	}
}

// keepAnswer records what the model said, also when the turn was cancelled.
func (t *turn) keepAnswer(ctx context.Context, a *answer) error {
	m := a.message()
	if len(m.Parts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return t.keep(ctx, m)
}

func (t *turn) notice(s delivery.Severity, title, detail string) {
	t.front.Noticed(Noticed{Notice: delivery.Notice{Severity: s, Title: title, Detail: detail}})
}

// learn loads what is known about the endpoint, and the lane's ledger.
func (t *turn) learn(ctx context.Context) error {
	facts, err := t.s.a.o.Endpoints.Facts(ctx, t.model.Profile.Endpoint)
	if err != nil {
		return fmt.Errorf("read what is known about the model: %w", err)
	}
	facts.Stripped, facts.Failed, facts.Missing = t.stripped, map[content.Handle]delivery.Failed{}, map[content.Digest]bool{}
	if facts.Proven == nil {
		facts.Proven = map[content.Digest]bool{}
	}
	facts.Files = t.tools.has("read")
	facts.Fixed = int64(len(t.system))
	for _, s := range t.tools.specs {
		facts.Fixed += int64(len(s.Name) + len(s.Description) + len(s.Schema))
	}
	// What this turn has learned so far holds to its end.
	facts.Overhead, facts.DropHistory, facts.MaxTokens = t.facts.Overhead, t.facts.DropHistory, t.facts.MaxTokens
	if n := t.facts.MaxRequest; n > 0 && (facts.MaxRequest == 0 || n < facts.MaxRequest) {
		facts.MaxRequest = n
	}
	context := t.facts.Context
	t.facts = facts
	t.lowerContext(context)
	return t.s.enterLane(ctx, t.model)
}

// lowerContext takes a context window in tokens that the backend named; 0 is none.
func (t *turn) lowerContext(n int) {
	if n > 0 && (t.facts.Context == 0 || n < t.facts.Context) {
		t.facts.Context = n
	}
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

// enterLane loads the ledger of the lane, or opens a new generation when the
// model or the evidence about it has changed.
func (s *Session) enterLane(ctx context.Context, m Model) error {
	key := laneKey(m.Profile)
	s.mu.Lock()
	stored, current := s.stored, s.lane
	s.mu.Unlock()
	if current.loaded && current.key.Endpoint == key {
		return nil
	}
	next := Lane{Endpoint: key, Generation: stored.Generation}
	if current.loaded {
		next.Generation++
	}
	rows, err := s.a.o.Lanes.Ledger(ctx, stored.ID, next)
	if err != nil {
		return fmt.Errorf("read what was sent: %w", err)
	}
	if !current.loaded && len(rows) == 0 && len(s.Turns()) > 1 {
		next.Generation++
	}
	if err := s.update(ctx, func(st *Stored) { st.Generation = next.Generation }); err != nil {
		return fmt.Errorf("open a lane: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane = lane{key: next, agent: m.Name, ledger: delivery.NewLedger(rows), loaded: true}
	return nil
}

func (s *Session) ledger() (Lane, delivery.Ledger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lane.key, s.lane.ledger
}

// remember keeps the ledger after a request was settled.
func (s *Session) remember(ctx context.Context, l delivery.Ledger) error {
	key, old := s.ledger()
	if rows := l.Changed(old); len(rows) > 0 {
		if err := s.a.o.Lanes.SaveLedger(ctx, s.ID(), key, rows); err != nil {
			return fmt.Errorf("record what is sent: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane.ledger = l
	return nil
}
