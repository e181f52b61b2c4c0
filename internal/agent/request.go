package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// smallBody is where a request limit starts that an endpoint never named.
const smallBody = 900_000

// request is one request to the model, over all its sendings.
type request struct {
	number   int
	seed     int64
	attempts []delivery.Attempt
	// first is the error that the user is shown when nothing helps.
	first *provider.Error
	// buffered is the newest whole answer.
	buffered *answer
	// suspects are what was taken out after a refusal, pictures how many the
	// refused request held, refusal what was said.
	suspects []delivery.Sent
	pictures int
	refusal  delivery.Failure
	// words are the backend's own about the refusal.
	words string
	// proven are the media types of which the refused request held one that
	// the endpoint has taken before.
	proven map[string]bool
	// limit is a body size that an endpoint refused to take, to be
	// remembered when a smaller one was answered.
	limit int64
	// doubtedLimit: only the connection broke at that size.
	doubtedLimit bool
	size         int64
	// context is the context window that it named.
	context int
	// hoisted: the media of tool results are sent after them.
	hoisted bool
	// said is what the backend said of the last failure, for a notice.
	said string
}

// ask sends one request until it is answered or nothing helps any more. The
// answer may be set with an error: it is what had arrived.
func (t *turn) ask(ctx context.Context) (*answer, error) {
	number, err := t.s.a.o.Lanes.NextRequest(ctx, t.s.ID())
	if err != nil {
		return nil, fmt.Errorf("number the request: %w", err)
	}
	t.facts.MaxTokens = 0 // what gave way to it stays so by the ledger
	r := &request{number: number, seed: int64(t.s.a.o.Rand() & math.MaxInt32)}
	step := delivery.StepPlain
	var ready settled
	for {
		if ready, err = t.again(ctx, r, ready, step); err != nil {
			return nil, err
		}
		got, failure := t.try(ctx, r, ready, step)
		if failure == nil {
			return got, t.answered(ctx, r, ready, got)
		}
		if t.unthink(r, got) {
			step = delivery.StepPlain
			continue
		}
		action := t.next(r)
		switch action {
		case delivery.ActAccept:
			return t.accept(ctx, r, ready, got)
		case delivery.ActFail:
			t.charge(got)
			return got, r.worst(failure)
		case delivery.ActReplay, delivery.ActResend, delivery.ActStripNew, delivery.ActStripAll, delivery.ActEvict:
		}
		if step, err = t.recover(ctx, r, ready, action, failure); err != nil {
			return nil, err
		}
		t.void(r, got, failure)
	}
}

// again prepares the next sending: the same bytes, or what is decided anew.
func (t *turn) again(ctx context.Context, r *request, ready settled, step delivery.Step) (settled, error) {
	if step == delivery.StepReplay || step == delivery.StepResend {
		return ready, nil
	}
	ready, err := t.ready(ctx, r)
	if err != nil {
		return ready, err
	}
	if step == delivery.StepEvict {
		if ready.body.Len() >= r.size {
			return ready, r.first // nothing was left to give way: never the same again
		}
		t.notice(delivery.SeverityWarning, "the backend did not take a request of that size", "trying again with less"+r.said)
	}
	r.size = ready.body.Len()
	return ready, nil
}

// worst is the error that the user is shown: the first, unless they stopped it.
func (r *request) worst(last *provider.Error) *provider.Error {
	if last.Failure.Kind == delivery.FailCancelled {
		return last
	}
	return r.first
}

// next is what recovery does, within the user's own bound on sendings.
func (t *turn) next(r *request) delivery.Action {
	action := delivery.Next(r.attempts)
	if t.policy.MaxSends == 0 || len(r.attempts) < t.policy.MaxSends || action == delivery.ActFail {
		return action
	}
	if r.buffered != nil {
		return delivery.ActAccept
	}
	return delivery.ActFail
}

// try sends a request once. A failure, also a picture that was dropped, becomes
// an attempt of r.
func (t *turn) try(ctx context.Context, r *request, ready settled, step delivery.Step) (*answer, *provider.Error) {
	got, failure := t.send(ctx, ready)
	attempt := delivery.Attempt{Step: step, Media: len(ready.prompt.Media()), Fresh: ready.prompt.Fresh(), Began: got.began(), Old: t.freshBefore(ready.prompt)}
	if failure == nil {
		if failure = t.dropped(ready, got); failure == nil {
			return got, nil
		}
		attempt.Buffered, r.buffered = true, got
	}
	if r.first == nil {
		r.first = failure
	}
	attempt.Failure = failure.Failure
	r.attempts = append(r.attempts, attempt)
	if r.aboutMedia() {
		r.attempts[len(r.attempts)-1].Failure.Kind = delivery.FailRefused
	}
	return got, failure
}

// freshBefore reports whether a prompt holds media of an earlier turn that the
// endpoint has not answered with.
func (t *turn) freshBefore(p delivery.Prompt) bool {
	if p.Fresh() == 0 {
		return false
	}
	current := handlesOf(t.conversation[t.opened:])
	return slices.ContainsFunc(p.Media(), func(m delivery.Sent) bool { return !m.Proven && !current[m.Handle] })
}

// aboutMedia reports whether the last failure complains of the size of the request
// and must mean its media: no backend refuses a request that small for its size,
// nor one that was made so much smaller before.
func (r *request) aboutMedia() bool {
	last := r.attempts[len(r.attempts)-1]
	k := last.Failure.Kind
	if k != delivery.FailTooLarge && k != delivery.FailUpload || last.Media == 0 {
		return false
	}
	evicted := slices.ContainsFunc(r.attempts, func(a delivery.Attempt) bool { return a.Step == delivery.StepEvict })
	return evicted || k == delivery.FailTooLarge && r.size < smallestLimit
}

// ready prepares a sending and tells what it will do, before the first token.
func (t *turn) ready(ctx context.Context, r *request) (settled, error) {
	ready, err := t.prepare(ctx, r.seed)
	if err != nil {
		return ready, err
	}
	news := t.news(ready)
	if len(news) > 0 {
		attempt := len(r.attempts) + 1
		if err := t.s.a.o.Lanes.SaveReceipts(ctx, t.s.ID(), t.id, r.number, attempt, news); err != nil {
			return ready, fmt.Errorf("record the receipts: %w", err)
		}
		t.front.Receipts(Receipts{Request: r.number, Attempt: attempt, List: news})
		for _, n := range delivery.Notices(slices.DeleteFunc(slices.Clone(news), stripped)) {
			t.front.Noticed(Noticed{Notice: n})
		}
	}
	for _, x := range ready.receipts {
		if x.Route == delivery.RoutePrompt && x.Degraded() {
			t.degraded = true
		}
	}
	if t.strict && t.degraded && t.steps == 1 && len(r.attempts) == 0 {
		return ready, ErrStrict
	}
	if n := ready.ledger.LeftOut(); n > max(t.ledger().LeftOut(), t.facts.Summary.Messages) {
		t.notice(delivery.SeverityWarning, fmt.Sprintf("the oldest %d messages of this conversation are not sent any more", n),
			"together with the rest they are more than this model or its backend takes; they stay in the session's record")
	}
	return ready, t.remember(ctx, ready.ledger)
}

// stripped are told with the refusal that took them out.
func stripped(r delivery.Receipt) bool { return r.Disposition == delivery.Stripped }

// news picks the receipts that are new or have changed.
func (t *turn) news(ready settled) []delivery.Receipt {
	old := t.ledger()
	changed := ready.ledger.Changed(old)
	var out []delivery.Receipt
	for _, r := range ready.receipts {
		_, inLedger := ready.ledger.Lookup(r.Handle)
		_, isNew := changed[r.Handle]
		fresh := (stripped(r) || !inLedger && r.Route != delivery.RouteHistory) && !t.told[r.Handle]
		if fresh || isNew {
			out = append(out, r)
		}
		if !inLedger || stripped(r) {
			t.told[r.Handle] = true
		}
	}
	return out
}

// recover adds the facts that an action stands for.
func (t *turn) recover(ctx context.Context, r *request, ready settled, action delivery.Action, e *provider.Error) (delivery.Step, error) {
	switch action {
	case delivery.ActReplay:
		return delivery.StepReplay, nil
	case delivery.ActResend:
		return delivery.StepResend, nil
	case delivery.ActStripNew, delivery.ActStripAll:
		if hoisted, err := t.hoist(ctx, r, ready, e); hoisted || err != nil {
			return delivery.StepPlain, err
		}
		r.words = e.Message
		r.refusal, r.pictures = e.Failure, count(ready.prompt, content.KindImage)
		r.proven = map[string]bool{}
		for _, m := range ready.prompt.Media() {
			if m.Proven {
				r.proven[m.Blob.MIME] = true
			}
			if m.Proven && action == delivery.ActStripNew {
				continue
			}
			t.stripped[m.Handle] = true
			r.suspects = append(r.suspects, m)
		}
		if action == delivery.ActStripNew {
			return delivery.StepStripNew, nil
		}
		return delivery.StepStripAll, nil
	case delivery.ActEvict:
		if e.Failure.Kind == delivery.FailOverflow {
			t.overflowed(r, ready, e.Failure.Learned.Context)
			return delivery.StepEvict, nil
		}
		t.facts.MaxRequest = r.smaller(ready.body.Len(), e.Failure)
		return delivery.StepEvict, nil
	case delivery.ActFail, delivery.ActAccept:
	}
	panic("agent: no step for action " + action.String())
}

// smaller is the size to which a body of n bytes that did not get through is to be
// cut. It is the limit to remember.
func (r *request) smaller(n int64, f delivery.Failure) int64 {
	r.limit, r.doubtedLimit = min(smallBody, n/2), f.Kind == delivery.FailUpload
	if named := f.Learned.MaxRequest; named > 0 && named < n {
		r.limit, r.doubtedLimit = named, false
	}
	return r.limit
}

// void withdraws what a failed attempt has said.
func (t *turn) void(r *request, got *answer, e *provider.Error) {
	reason := e.Failure.Kind.String()
	if got != nil {
		got.withdrawn = true
	}
	r.said = ""
	if e.Message != "" {
		r.said = "; it said: " + e.Message
	}
	t.front.Voided(Voided{Message: idOf(got), Attempt: len(r.attempts) + 1, Reason: reason})
	switch last := r.attempts[len(r.attempts)-1]; last.Failure.Kind {
	case delivery.FailDropped:
		t.notice(delivery.SeverityWarning, "the backend reports that it saw no picture", "sending the same request again")
	case delivery.FailRefused:
		if r.hoisted && len(r.suspects) == 0 {
			t.notice(delivery.SeverityInfo, "the backend takes no attachments in the results of tools", "sending them after the results"+r.said)
			return
		}
		t.notice(delivery.SeverityWarning, "the backend refused the request with "+t.names(r.suspects), "trying again without"+r.said)
	case delivery.FailTooLarge, delivery.FailUpload, delivery.FailOverflow:
		// It is told when there is less to send, or when that helped.
	case delivery.FailServer, delivery.FailNetwork, delivery.FailStream, delivery.FailProtocol:
		t.notice(delivery.SeverityWarning, "the backend broke down on the request with "+t.names(r.suspects), "trying once without"+r.said)
	case delivery.FailNone, delivery.FailCancelled, delivery.FailAuth, delivery.FailBilling, delivery.FailPermission,
		delivery.FailRateLimit, delivery.FailSchema:
		// Next never sends again after these.
	}
}

func (t *turn) names(list []delivery.Sent) string {
	s := ""
	for i, m := range list {
		switch {
		case i == 3:
			return s + fmt.Sprintf(" and %d more", len(list)-3)
		case i > 0:
			s += ", "
		}
		s += string(m.Handle)
		if m.Name != "" && m.Name != string(m.Handle) {
			s += " (" + content.Clean(m.Name) + ")"
		}
	}
	if s == "" {
		return "earlier attachments"
	}
	return s
}

// accept takes the newest buffered answer after recovery has run out.
func (t *turn) accept(ctx context.Context, r *request, ready settled, got *answer) (*answer, error) {
	t.notice(delivery.SeverityWarning, "the answer may have been given without the picture",
		"the backend accepted "+t.names(ready.prompt.Media())+" and reports zero picture tokens; run tote probe, or choose another model")
	if r.buffered.withdrawn {
		if got != nil && got != r.buffered {
			t.front.Voided(Voided{Message: got.id, Attempt: len(r.attempts) + 1, Reason: "taking the earlier answer"})
		}
		r.buffered.show(t.id, t.front)
	}
	t.charge(r.buffered)
	t.report(r.buffered)
	// It was accepted, if not seen: the next request with it is no first
	// sending.
	return r.buffered, t.record(ctx, func(ctx context.Context) error {
		return t.saveVerdicts(ctx, t.proven(ready))
	})
}

// record runs a write that a cancelled turn makes too.
func (t *turn) record(ctx context.Context, write func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := write(ctx); err != nil {
		return fmt.Errorf("record what the model takes: %w", err)
	}
	return nil
}

// charge books an answer that counts. What was voided is charged to nobody.
func (t *turn) charge(a *answer) {
	t.usage = t.usage.Plus(a.usage)
	t.degraded = t.degraded || a.lost
}

// report tells what an answer cost, and what was asked beside the conversation
// since the last one.
func (t *turn) report(got *answer) {
	used := got.usage.Input.N + got.usage.Output.N
	e := Used{Usage: got.usage, ImageReported: got.usage.Image.Known, Context: used, Window: int64(t.model.Profile.Context)}
	if t.s.a.o.Prices != nil {
		e.Dollars, e.Priced = t.s.a.o.Prices.Cost(t.model, got.usage)
	}
	owed := t.pays()
	e.Dollars += owed.dollars
	e.Priced = e.Priced || owed.priced
	t.dollars += e.Dollars
	t.priced = t.priced || e.Priced
	t.front.Used(e)
}

// asError turns what Stream yields into the adapter's error type.
func asError(err error) *provider.Error {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		return e
	}
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Err: err}
}
