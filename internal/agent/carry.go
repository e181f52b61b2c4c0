package agent

import (
	"context"
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// maxDecides bounds how often one request is decided: each time again needs a
// new fact, and there are few of them.
const maxDecides = 8

// settled is a request that is ready to be sent.
type settled struct {
	prompt   delivery.Prompt
	receipts []delivery.Receipt
	ledger   delivery.Ledger
	body     provider.Body
	// tokens is the estimate of what it takes of the context.
	tokens int64
	// estimates are the same without regard to what backends counted.
	estimates delivery.Estimates
	// messages is how much of the conversation it is about.
	messages int
}

// prepare decides, carries out and settles the conversation, and spells it.
// Blobs that are gone, evidence that is missing and a body that is larger than
// estimated are facts with which it decides again.
func (t *turn) prepare(ctx context.Context, seed int64) (settled, error) {
	for range maxDecides {
		facts := t.facts
		if t.facts.MaxTokens == 0 { // that limit is one of estimates
			facts.Reported = t.lane().reported
		}
		plan := delivery.Decide(delivery.Input{
			Profile: t.model.Profile, Ledger: t.ledger(), Messages: t.conversation, Current: t.opened,
			Budgets: t.policy.Budgets, Facts: facts,
		})
		again, err := t.inquire(ctx, plan)
		var results delivery.Results
		if !again && err == nil {
			results, again, err = t.carry(ctx, plan)
		}
		if err != nil {
			return settled{}, err
		}
		if again {
			continue
		}
		out := settled{tokens: plan.Tokens(), estimates: plan.Estimates(), messages: len(t.conversation)}
		out.prompt, out.receipts, out.ledger = delivery.Settle(plan, results)
		out.body, err = t.model.Provider.Encode(provider.Request{
			Prompt: out.prompt, Blobs: t.s.a.o.Store, System: t.system, Tools: t.tools.specs, Seed: seed, Effort: t.model.Effort,
		})
		if err != nil {
			return settled{}, fmt.Errorf("spell the request: %w", err)
		}
		if extra := out.body.Len() - plan.WireSize(); out.body.Len() > plan.RequestLimit() && extra > 0 && plan.CanShrink() {
			t.facts.Overhead += extra
			continue
		}
		out.body.Expect = out.body.Len() > expectOver && out.prompt.Fresh() > 0
		return out, nil
	}
	return settled{}, fmt.Errorf("settle the request: no decision held after %d tries", maxDecides)
}

// inquire gets the evidence that a plan lacks: the server's own word, then a
// probe. again says that what is known has changed.
func (t *turn) inquire(ctx context.Context, plan delivery.Plan) (again bool, err error) {
	if again, err = t.describe(ctx, plan); again || err != nil {
		return again, err
	}
	if plan.WantsSummary() && !t.summarised && !t.declines(plan) {
		if again, err = t.reduce(ctx, plan); again || err != nil {
			return again, err
		}
	}
	if !plan.WantsVision() || t.probed || !t.model.ProbeDue || t.policy.Probe == ProbeNever {
		return false, nil
	}
	t.probed = true
	return t.probe(ctx)
}

// declines reports whether a plan is one that a strict turn will not send. Nobody
// else is asked for it either.
func (t *turn) declines(plan delivery.Plan) bool {
	return t.strict && t.steps == 1 && plan.DegradesPrompt()
}

// expectOver is the body size in bytes above which an endpoint that has not
// proven to take it is asked first.
const expectOver = 900_000

// carry carries out a plan. again says that a blob is missing or that a picture
// cannot be cut, which is a new fact.
func (t *turn) carry(ctx context.Context, plan delivery.Plan) (r delivery.Results, again bool, err error) {
	r = delivery.Results{
		Variants: map[content.Handle]content.Blob{}, Texts: map[content.Handle]string{},
		Paths: map[content.Handle]string{}, Failed: map[content.Handle]delivery.Failed{},
	}
	var unseen []delivery.Order
	for _, o := range plan.Orders() {
		if err := ctx.Err(); err != nil {
			return r, false, err
		}
		if o.Describe {
			unseen = append(unseen, o)
		}
		switch {
		case o.Cut != nil:
			again = t.cut(ctx, o, &r) || again
			if spare := o.Spare(); !spare.IsZero() {
				again = t.lost(spare) || again
			}
		case !o.Send.IsZero():
			again = t.lost(o.Send) || again
		case !o.Load.IsZero():
			text, ok := t.load(o.Load)
			if !ok {
				again = true
				continue
			}
			r.Texts[o.Handle] = text
		case !o.Stage.IsZero():
			again = t.stage(ctx, o.Handle, o.Stage, &r) || again
		}
	}
	if len(unseen) > 0 && !again && !t.declines(plan) {
		t.describePictures(ctx, unseen, &r)
	}
	return r, again, ctx.Err()
}

// lost notes a blob that the store cannot give back whole.
func (t *turn) lost(b content.Blob) bool {
	if t.facts.Missing[b.Digest] {
		return false
	}
	if err := t.s.a.o.Store.Check(b.Digest); err != nil {
		t.facts.Missing[b.Digest] = true
		return true
	}
	return false
}

// cut makes a variant. Where that fails, deciding again with the cause finds
// the next lower form.
func (t *turn) cut(ctx context.Context, o delivery.Order, r *delivery.Results) (again bool) {
	a, _ := content.AttachmentOf(o.Block())
	v, err := t.s.a.o.Cutter.Cut(ctx, a.Original, *o.Cut)
	if err == nil {
		err = t.s.a.o.Store.Check(v.Digest)
	}
	switch {
	case err == nil:
		r.Variants[o.Handle] = v
		return false
	case ctx.Err() != nil:
		return false // the turn ends
	case t.lost(a.Original):
		return true
	}
	t.facts.Failed[o.Handle] = delivery.Failed{Reason: delivery.ReasonPrepareFailed, Detail: err.Error()}
	return true
}

func (t *turn) load(b content.Blob) (string, bool) {
	if t.lost(b) {
		return "", false
	}
	text, ok := t.s.a.loaded(b)
	if !ok {
		t.facts.Missing[b.Digest] = true
	}
	return text, ok
}

// stage gives the model's tools a file. What was restored from the disk is given
// under replayed/, and lies also where the conversation named it before: the
// model may still use that path.
func (t *turn) stage(ctx context.Context, h content.Handle, b content.Blob, r *delivery.Results) (again bool) {
	names := []string{string(h)}
	if t.s.restored[h] {
		names = append(names, "replayed/"+string(h))
	}
	for _, name := range names {
		path, err := t.s.a.o.Stager.Stage(ctx, t.s.ID(), name, b)
		if err != nil {
			delete(r.Paths, h)
			return t.lost(b) // else Settle falls to a line
		}
		r.Paths[h] = path
	}
	return false
}
