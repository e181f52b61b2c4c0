package agent

import (
	"context"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// draftEvery is how much streamed text a crash may cost at most.
const draftEvery = time.Second

// streamed is one step of a stream.
type streamed struct {
	event provider.Event
	err   error
}

// stream sends a body and gives what comes back, the first error last. The
// channel is closed when the stream or ctx ends.
func stream(ctx context.Context, p provider.Provider, body provider.Body) <-chan streamed {
	steps := make(chan streamed, 64)
	// It ends with the stream, which ends with ctx at the latest.
	go func() {
		defer close(steps)
		for ev, err := range p.Stream(ctx, body) {
			select {
			case steps <- streamed{ev, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return steps
}

// send sends a request once and shows what comes back as it comes. The answer
// is never nil; with an error it is what had arrived.
func (t *turn) send(ctx context.Context, ready settled) (*answer, *provider.Error) {
	a := &answer{id: t.s.a.o.NewID(), stop: content.StopEndTurn}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps := stream(ctx, t.model.Provider, ready.body)
	tick := time.NewTicker(draftEvery)
	defer tick.Stop()
	saved := 0
	for {
		select {
		case step, open := <-steps:
			if !open {
				return a, ended(ctx, a)
			}
			if step.err != nil {
				return a, broken(ctx, step.err)
			}
			t.take(a, step.event)
		case <-tick.C:
			if text := a.text(); len(text) > saved {
				saved = len(text)
				// A draft is a safety net: the whole message is
				// recorded at the end, and that write is checked.
				_ = t.s.a.o.Turns.SaveDraft(ctx, t.s.ID(), t.id, text)
			}
		}
	}
}

// broken is the error of a stream: whatever it says, a cancelled turn was
// cancelled.
func broken(ctx context.Context, err error) *provider.Error {
	if ctx.Err() != nil {
		return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: ctx.Err()}
	}
	return asError(err)
}

// ended checks that a stream which stopped without an error was whole.
func ended(ctx context.Context, a *answer) *provider.Error {
	switch {
	case a.finished:
		return nil
	case ctx.Err() != nil:
		return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: ctx.Err()}
	}
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailStream}, Message: "the answer broke off"}
}
