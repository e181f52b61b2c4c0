package agent

import "tote/internal/delivery"

// unthink answers a refusal of a model's thinking that was sent back: the key or
// the model behind the address has changed, or another server signed it. From then
// on none is sent back in this session. It reports whether the request is to be
// sent again.
func (t *turn) unthink(r *request, got *answer) bool {
	last := r.attempts[len(r.attempts)-1]
	if last.Failure.Class != delivery.ClassReasoning || t.model.Profile.Placement.NoReasoning || len(r.attempts) >= delivery.MaxSends {
		return false
	}
	t.s.forgetful = true
	t.adopt(t.model)
	if got != nil {
		got.withdrawn = true
	}
	t.front.Voided(Voided{Message: idOf(got), Attempt: len(r.attempts) + 1, Reason: last.Failure.Kind.String()})
	t.notice(delivery.SeverityInfo, "the backend does not take back the model's earlier thinking", "going on without it")
	return true
}

func idOf(a *answer) string {
	if a == nil {
		return ""
	}
	return a.id
}
