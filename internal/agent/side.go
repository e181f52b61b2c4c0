package agent

import (
	"context"
	"fmt"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// This file asks models beside a conversation: for the description of one picture,
// for a summary, whether they see. Such a request holds what it is given and never
// anything else of a conversation.

// sideTimeout bounds one such request.
const sideTimeout = 60 * time.Second

// once sends a request and returns the whole answer, which is never nil.
func once(ctx context.Context, m Model, r provider.Request) (*answer, *provider.Error) {
	out := &answer{}
	body, err := m.Provider.Encode(r)
	if err != nil {
		return out, asError(err)
	}
	for ev, err := range m.Provider.Stream(ctx, body) {
		if err != nil {
			return out, broken(ctx, err)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			out.say(ev.Text)
		case provider.UsageReport:
			out.usage = ev.Usage
		case provider.Remark:
			out.lost = out.lost || ev.Lost
		case provider.Finish:
			out.stop, out.finished = ev.Stop, true
		case provider.ThoughtDelta, provider.Thought, provider.Call, provider.Retry:
		}
	}
	return out, ended(ctx, out)
}

// sideOutput leaves room for a model that thinks before it answers, in tokens.
const sideOutput = 8000

// see asks a model about one picture. What it takes and refuses is decided for it
// as for any request of its own.
func (a *Agent) see(ctx context.Context, m Model, picture content.Image, question string) (string, content.Usage, error) {
	facts, err := a.o.Endpoints.Facts(ctx, m.Profile.Endpoint)
	if err != nil {
		return "", content.Usage{}, fmt.Errorf("read what is known about %s: %w", m.called(), err)
	}
	facts.Missing, facts.Failed = map[content.Digest]bool{}, map[content.Handle]delivery.Failed{}
	message := content.Message{Role: content.RoleUser, Parts: []content.Part{picture, content.Text{Handle: "text-1", Body: question}}}
	prompt, receipts, err := a.settle(ctx, delivery.Input{
		Profile: m.Profile, Messages: []content.Message{message}, Budgets: a.o.Policy().Budgets, Facts: facts,
	})
	if err != nil {
		return "", content.Usage{}, err
	}
	if len(prompt.Media()) != 1 {
		return "", content.Usage{}, fmt.Errorf("%s cannot be sent %s: %s", m.called(), picture.Handle, receipts[0].Reason.User())
	}
	got, failed := once(ctx, m, provider.Request{Prompt: prompt, Blobs: a.o.Store, MaxOutput: sideOutput})
	switch u := got.usage.Image; {
	case failed != nil:
		return "", got.usage, fmt.Errorf("ask %s: %w", m.called(), failed)
	case got.lost || u.Known && u.N == 0:
		return "", got.usage, fmt.Errorf("%s answered without having seen %s", m.called(), picture.Handle)
	}
	return got.text(), got.usage, nil
}

// settle decides a request of its own and carries it out. Nothing is staged for it:
// whoever answers it has no tools.
func (a *Agent) settle(ctx context.Context, in delivery.Input) (delivery.Prompt, []delivery.Receipt, error) {
	for range maxDecides {
		plan := delivery.Decide(in)
		r := delivery.Results{Variants: map[content.Handle]content.Blob{}, Texts: map[content.Handle]string{}}
		again := false
		for _, o := range plan.Orders() {
			again = a.carryAside(ctx, o, &in.Facts, &r) || again
		}
		if err := ctx.Err(); err != nil {
			return delivery.Prompt{}, nil, err
		}
		if !again {
			prompt, receipts, _ := delivery.Settle(plan, r)
			return prompt, receipts, nil
		}
	}
	return delivery.Prompt{}, nil, fmt.Errorf("settle a request: no decision held after %d tries", maxDecides)
}

// carryAside carries out one order of such a request. again says that there is a new
// fact.
func (a *Agent) carryAside(ctx context.Context, o delivery.Order, f *delivery.Facts, r *delivery.Results) (again bool) {
	switch {
	case o.Cut != nil:
		at, _ := content.AttachmentOf(o.Block())
		v, err := a.o.Cutter.Cut(ctx, at.Original, *o.Cut)
		if err == nil {
			err = a.o.Store.Check(v.Digest)
		}
		if err != nil {
			f.Failed[o.Handle] = delivery.Failed{Reason: delivery.ReasonPrepareFailed, Detail: err.Error()}
			return true
		}
		r.Variants[o.Handle] = v
		return a.gone(o.Spare(), f.Missing)
	case !o.Send.IsZero():
		return a.gone(o.Send, f.Missing)
	case !o.Load.IsZero():
		text, ok := a.loaded(o.Load)
		if r.Texts[o.Handle] = text; !ok {
			f.Missing[o.Load.Digest] = true
			return true
		}
	}
	return false
}

// gone notes a blob that the store cannot give back whole.
func (a *Agent) gone(b content.Blob, missing map[content.Digest]bool) bool {
	if b.IsZero() || missing[b.Digest] || a.o.Store.Check(b.Digest) == nil {
		return false
	}
	missing[b.Digest] = true
	return true
}

// owes books what was asked beside the conversation: the turn that runs, or the
// next one, is charged with it.
func (s *Session) owes(m Model, u content.Usage) {
	dollars, priced := 0.0, false
	if s.a.o.Prices != nil {
		dollars, priced = s.a.o.Prices.Cost(m, u)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed.usage = s.owed.usage.Plus(u)
	s.owed.dollars += dollars
	s.owed.priced = s.owed.priced || priced
}

// debt is what side requests cost and no turn has been charged with yet.
type debt struct {
	usage   content.Usage
	dollars float64
	priced  bool
}

// pays charges the turn with what is owed and returns it.
func (t *turn) pays() debt {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	d := t.s.owed
	t.s.owed = debt{}
	t.usage = t.usage.Plus(d.usage)
	return d
}
