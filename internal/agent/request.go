package agent

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	// limit is a body size that an endpoint refused to take, to be
	// remembered when a smaller one was answered.
	limit int64
	size  int64
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
		if step != delivery.StepReplay {
			if ready, err = t.ready(ctx, r); err != nil {
				return nil, err
			}
		}
		if step == delivery.StepEvict && ready.body.Len() >= r.size {
			return nil, r.first // nothing was left to give way: never the same again
		}
		if step == delivery.StepEvict {
			t.notice(delivery.SeverityWarning, "the backend did not take a request of that size", "trying again with less"+r.said)
		}
		r.size = ready.body.Len()
		got, failure := t.try(ctx, r, ready, step)
		if failure == nil {
			return got, t.answered(ctx, r, ready, got)
		}
		if failure.Failure.Kind == delivery.FailCancelled {
			t.usage = t.usage.Plus(got.usage)
			return got, failure
		}
		action := t.next(r)
		if action == delivery.ActAccept {
			return t.accept(ctx, r, ready, got)
		}
		if action == delivery.ActFail {
			t.usage = t.usage.Plus(got.usage)
			return got, r.first
		}
		step = t.recover(r, ready, action, failure)
		t.void(r, got, failure)
	}
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
	attempt := delivery.Attempt{Step: step, Media: len(ready.prompt.Media()), Fresh: ready.prompt.Fresh(), Began: !got.empty()}
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
	return got, failure
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
		for _, n := range delivery.Notices(news) {
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
	_, old := t.s.ledger()
	if n := ready.ledger.LeftOut(); n > old.LeftOut() {
		t.notice(delivery.SeverityWarning, fmt.Sprintf("the oldest %d messages of this conversation are not sent any more", n),
			"together with the rest they are more than this model or its backend takes; they stay in the session's record")
	}
	return ready, t.s.remember(ctx, ready.ledger)
}

// news picks the receipts that are new or have changed.
func (t *turn) news(ready settled) []delivery.Receipt {
	_, old := t.s.ledger()
	changed := ready.ledger.Changed(old)
	var out []delivery.Receipt
	for _, r := range ready.receipts {
		_, inLedger := ready.ledger.Lookup(r.Handle)
		_, isNew := changed[r.Handle]
		stripped := r.Disposition == delivery.Stripped
		fresh := (stripped || !inLedger && r.Route != delivery.RouteHistory) && !t.told[r.Handle]
		if fresh || isNew {
			out = append(out, r)
		}
		if !inLedger || stripped {
			t.told[r.Handle] = true
		}
	}
	return out
}

// recover adds the facts that an action stands for.
func (t *turn) recover(r *request, ready settled, action delivery.Action, e *provider.Error) delivery.Step {
	switch action {
	case delivery.ActReplay:
		return delivery.StepReplay
	case delivery.ActStripNew, delivery.ActStripAll:
		r.refusal, r.pictures = e.Failure, pictures(ready.prompt)
		for _, m := range ready.prompt.Media() {
			if m.Proven && action == delivery.ActStripNew {
				continue
			}
			t.stripped[m.Handle] = true
			r.suspects = append(r.suspects, m)
		}
		if action == delivery.ActStripNew {
			return delivery.StepStripNew
		}
		return delivery.StepStripAll
	case delivery.ActEvict:
		if e.Failure.Kind == delivery.FailOverflow {
			t.facts.DropHistory, t.facts.MaxTokens = true, max(1, ready.tokens/2)
			return delivery.StepEvict
		}
		r.limit = min(smallBody, ready.body.Len()/2)
		if n := e.Failure.Learned.MaxRequest; n > 0 && n < ready.body.Len() {
			r.limit = n
		}
		t.facts.MaxRequest = r.limit
		return delivery.StepEvict
	case delivery.ActFail, delivery.ActAccept:
	}
	panic("agent: no step for action " + action.String())
}

// void withdraws what a failed attempt has said.
func (t *turn) void(r *request, got *answer, e *provider.Error) {
	reason := e.Failure.Kind.String()
	message := ""
	if got != nil {
		message, got.withdrawn = got.id, true
	}
	r.said = ""
	if e.Message != "" {
		r.said = "; it said: " + e.Message
	}
	t.front.Voided(Voided{Message: message, Attempt: len(r.attempts) + 1, Reason: reason})
	switch last := r.attempts[len(r.attempts)-1]; last.Failure.Kind {
	case delivery.FailDropped:
		t.notice(delivery.SeverityWarning, "the backend reports that it saw no picture", "sending the same request again")
	case delivery.FailRefused:
		t.notice(delivery.SeverityWarning, "the backend refused the request with "+t.names(r.suspects), "trying again without"+r.said)
	case delivery.FailTooLarge, delivery.FailUpload, delivery.FailOverflow:
		// It is told when there is less to send.
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

// dropped is the positive evidence that a picture was lost on the way: the
// backend accounts for pictures and reports none, on the first sending of one.
func (t *turn) dropped(ready settled, got *answer) *provider.Error {
	image := got.usage.Image
	if !image.Known || image.N != 0 {
		return nil
	}
	for _, m := range ready.prompt.Media() {
		if m.Kind == content.KindImage && !m.Proven {
			return &provider.Error{
				Failure: delivery.Failure{Kind: delivery.FailDropped},
				Message: "the backend accounts for zero picture tokens",
			}
		}
	}
	return nil
}

// accept takes the newest buffered answer after recovery has run out.
func (t *turn) accept(ctx context.Context, r *request, ready settled, got *answer) (*answer, error) {
	t.notice(delivery.SeverityWarning, "the answer may have been given without the picture",
		"the backend accepted "+t.names(ready.prompt.Media())+" and reports zero picture tokens; run tote probe, or choose another model")
	if r.buffered.withdrawn {
		if got != nil && got != r.buffered {
			t.front.Voided(Voided{Message: got.id, Attempt: len(r.attempts) + 1, Reason: "taking the earlier answer"})
		}
		if r.buffered.thinking.Len() > 0 {
			t.front.Thought(Thought{Turn: t.id, Message: r.buffered.id, Text: r.buffered.thinking.String()})
		}
		t.front.Text(Text{Turn: t.id, Message: r.buffered.id, Text: r.buffered.text.String()})
	}
	t.usage = t.usage.Plus(r.buffered.usage)
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

// fewTokens is less than any backend charges for a picture.
const fewTokens = 50

// warnIgnored warns, on a first sending only, when the reported tokens are far
// below what the pictures alone must cost.
func (t *turn) warnIgnored(ready settled, got *answer) {
	in := got.usage.Input
	if !in.Known || got.usage.Image.Known {
		return
	}
	fresh := int64(0)
	for _, m := range ready.prompt.Media() {
		if m.Kind == content.KindImage && !m.Proven {
			fresh++
		}
	}
	if fresh > 0 && in.N+got.usage.Cached.N < fresh*fewTokens {
		t.notice(delivery.SeverityWarning, "the backend may have ignored the picture",
			fmt.Sprintf("it reports %d tokens for the whole request with %s", in.N, t.names(ready.prompt.Media())))
	}
}

func (t *turn) report(got *answer) {
	used := got.usage.Input.N + got.usage.Output.N
	t.front.Used(Used{Usage: got.usage, ImageReported: got.usage.Image.Known, Context: used, Window: int64(t.model.Profile.Context)})
}

// asError turns what Stream yields into the adapter's error type.
func asError(err error) *provider.Error {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		return e
	}
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Err: err}
}
