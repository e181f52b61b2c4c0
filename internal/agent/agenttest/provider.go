package agenttest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// An Act is one thing that a model does in an answer. The set is closed: Say,
// Think, Emit, Wait, Hang, Cut and Fail.
type Act interface{ act() }

// Say is text.
type Say string

// Think is a piece of thinking.
type Think string

// Emit is any event of the contract.
type Emit struct{ Event provider.Event }

// Wait lets time pass.
type Wait time.Duration

// Hang waits until the request is cancelled.
type Hang struct{}

// Cut ends the stream without an end of the answer.
type Cut struct{}

// Fail ends the stream with an error.
type Fail struct{ Err *provider.Error }

func (Say) act()   {}
func (Think) act() {}
func (Emit) act()  {}
func (Wait) act()  {}
func (Hang) act()  {}
func (Cut) act()   {}
func (Fail) act()  {}

// Call is a tool call.
func Call(id, name, arguments string) Act {
	return Emit{provider.Call{Call: content.ToolCall{ID: id, Name: name, Arguments: arguments}}}
}

// Tokens is an account of in input and out output tokens, without pictures.
func Tokens(in, out int64) Act {
	return Emit{provider.UsageReport{Usage: content.Usage{Input: content.Reported(in), Output: content.Reported(out)}}}
}

// Seen is an account of 1,000 input tokens, image of which are for pictures.
func Seen(image int64) Act {
	return Emit{provider.UsageReport{Usage: content.Usage{
		Input: content.Reported(1000), Output: content.Reported(10), Image: content.Reported(image),
	}}}
}

// Failing is an error of a kind.
func Failing(k delivery.FailureKind, status int, message string) Act {
	return Fail{&provider.Error{Failure: delivery.Failure{Kind: k, Status: status}, Message: message}}
}

// Refusing is a refusal whose words nobody has seen before.
func Refusing() Act { return Failing(delivery.FailRefused, 422, "computer says no") }

// A Reply is what a model does for one request, in order. An answer that neither
// fails nor is cut ends well.
type Reply []Act

// Provider is a path to a model that does what a script says.
type Provider struct {
	// Script gives the reply to the n-th request, from 0; nil says "ok".
	Script func(n int, r Received) Reply

	mu       sync.Mutex
	received []Received
	running  int
}

var _ provider.Provider = (*Provider)(nil)

// Replies makes a script of a list; afterwards it says "ok".
func Replies(list ...Reply) func(int, Received) Reply {
	return func(n int, _ Received) Reply {
		if n < len(list) {
			return list[n]
		}
		return Reply{Say("ok")}
	}
}

// Encode implements provider.Provider.
func (p *Provider) Encode(r provider.Request) (provider.Body, error) { return spell(r) }

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, b provider.Body) iter.Seq2[provider.Event, error] {
	return func(yield func(provider.Event, error) bool) {
		p.count(1)
		defer p.count(-1)
		r, err := receive(b)
		if err != nil {
			yield(nil, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Err: err})
			return
		}
		p.mu.Lock()
		n := len(p.received)
		p.received = append(p.received, r)
		p.mu.Unlock()
		reply := Reply{Say("ok")}
		if p.Script != nil {
			reply = p.Script(n, r)
		}
		for _, a := range reply {
			if ctx.Err() != nil {
				yield(nil, cancelledBy(ctx))
				return
			}
			if !perform(ctx, a, yield) {
				return
			}
			if e, ok := a.(Emit); ok {
				if _, finished := e.Event.(provider.Finish); finished {
					return
				}
			}
		}
		yield(provider.Finish{Stop: content.StopEndTurn}, nil)
	}
}

// perform does one act and reports whether the answer goes on.
func perform(ctx context.Context, a Act, yield func(provider.Event, error) bool) bool {
	switch a := a.(type) {
	case Say:
		return yield(provider.TextDelta{Text: string(a)}, nil)
	case Think:
		return yield(provider.ThoughtDelta{Text: string(a)}, nil)
	case Emit:
		return yield(a.Event, nil)
	case Wait:
		select {
		case <-time.After(time.Duration(a)):
			return true
		case <-ctx.Done():
			yield(nil, cancelledBy(ctx))
		}
	case Hang:
		<-ctx.Done()
		yield(nil, cancelledBy(ctx))
	case Fail:
		yield(nil, a.Err)
	case Cut:
	}
	return false
}

func cancelledBy(ctx context.Context) *provider.Error {
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: ctx.Err()}
}

func (p *Provider) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running += n
}

// Running is how many streams have not ended.
func (p *Provider) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running
}

// Requests are the requests so far.
func (p *Provider) Requests() []Received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// Trim drops what was received but the newest request, for long tests.
func (p *Provider) Trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = p.received[max(0, len(p.received)-1):]
}
