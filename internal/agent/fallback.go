package agent

import (
	"context"
	"errors"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// fallBack goes on with the next model that the chosen one names for when it cannot
// be asked. It reports whether there is one that may do better. The chosen model
// stays chosen, and its lane stays as it is.
func (t *turn) fallBack(ctx context.Context, failed error) bool {
	e, ok := errors.AsType[*provider.Error](failed)
	if !ok || ctx.Err() != nil || !othersMayHelp(e.Failure.Kind) {
		return false
	}
	if t.stead == nil && t.rest == nil {
		t.rest = t.model.Fallbacks
	}
	for len(t.rest) > 0 {
		name := t.rest[0]
		t.rest = append([]string{}, t.rest[1:]...) // not nil: the list is in use
		m, err := t.s.a.o.Models.Model(ctx, name)
		if err == nil {
			err = m.Unusable
		}
		if err != nil {
			t.notice(delivery.SeverityWarning, "agent "+name+" cannot stand in", err.Error())
			continue
		}
		before := t.model.Name
		if err := t.standIn(ctx, m); err != nil {
			t.notice(delivery.SeverityWarning, "agent "+name+" cannot stand in", err.Error())
			return false
		}
		t.notice(delivery.SeverityWarning, before+" could not answer: going on with "+m.Name+" for this turn", e.Error())
		return true
	}
	return false
}

// someStandIn reports whether one of a model's fallbacks can be asked.
func (s *Session) someStandIn(ctx context.Context, m Model) bool {
	for _, name := range m.Fallbacks {
		if f, err := s.a.o.Models.Model(ctx, name); err == nil && f.Unusable == nil {
			return true
		}
	}
	return false
}

// missing is the failure of a model that cannot be asked as things stand.
func missing(err error) *provider.Error {
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: err, Local: true}
}

// standIn makes another model the turn's. Everything is decided anew for it, and
// what was learned about the other does not hold for it.
func (t *turn) standIn(ctx context.Context, m Model) error {
	t.stead = new(string)
	t.stripped, t.told = map[content.Handle]bool{}, map[content.Handle]bool{}
	t.described, t.probed, t.hoisted = false, false, false
	t.facts = delivery.Facts{}
	t.adopt(m)
	return t.learn(ctx)
}

// othersMayHelp reports whether another model may answer where one failed so.
func othersMayHelp(k delivery.FailureKind) bool {
	switch k {
	case delivery.FailAuth, delivery.FailBilling, delivery.FailPermission, delivery.FailRateLimit, delivery.FailTooLarge, delivery.FailUpload,
		delivery.FailOverflow, delivery.FailServer, delivery.FailNetwork, delivery.FailStream, delivery.FailProtocol:
		return true
	case delivery.FailNone, delivery.FailCancelled, delivery.FailSchema, delivery.FailRefused, delivery.FailDropped:
		return false
	}
	return false
}
