package agent

import (
	"context"
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
)

// run asks the model until it calls no more tools.
func (t *turn) run(ctx context.Context) (content.StopReason, error) {
	t.equip(ctx)
	if err := t.learn(ctx); err != nil {
		return content.StopFailed, err
	}
	if why := t.model.Unusable; why != nil && !t.fallBack(ctx, missing(why)) {
		return content.StopFailed, &UnusableError{Agent: t.model.Name, Err: why}
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
	charged := t.usage
	a, err := t.ask(ctx)
	for err != nil && t.fallBack(ctx, err) {
		t.front.Voided(Voided{Message: idOf(a), Attempt: 1, Reason: "another model answers"})
		t.usage = charged // what was voided is charged to nobody
		a, err = t.ask(ctx)
	}
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
	facts, err := t.s.facts(ctx, t.model, &t.tools, t.system)
	if err != nil {
		return err
	}
	facts.Stripped, facts.Failed, facts.Missing = t.stripped, map[content.Handle]delivery.Failed{}, map[content.Digest]bool{}
	// What this turn has learned so far holds to its end.
	facts.Overhead, facts.DropHistory, facts.MaxTokens = t.facts.Overhead, t.facts.DropHistory, t.facts.MaxTokens
	if n := t.facts.MaxRequest; n > 0 && (facts.MaxRequest == 0 || n < facts.MaxRequest) {
		facts.MaxRequest = n
	}
	context := t.facts.Context
	t.facts = facts
	t.lowerContext(context)
	return t.enter(ctx)
}

// lowerContext takes a context window in tokens that the backend named; 0 is none.
func (t *turn) lowerContext(n int) {
	if n > 0 && (t.facts.Context == 0 || n < t.facts.Context) {
		t.facts.Context = n
	}
}
