package agent

import (
	"context"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// draftEvery is how much streamed text a crash may cost at most.
const draftEvery = time.Second

// answer is what a model said in one sending.
type answer struct {
	// id names the message; it is the same in a replay of the session.
	id        string
	text      strings.Builder
	thinking  strings.Builder
	thoughts  []content.Reasoning
	calls     []content.ToolCall
	usage     content.Usage
	stop      content.StopReason
	finished  bool
	withdrawn bool
}

func (a *answer) empty() bool {
	return a.text.Len() == 0 && len(a.thoughts) == 0 && a.thinking.Len() == 0 && len(a.calls) == 0
}

// message is the answer as it is recorded. Calls of an answer that broke off
// were never run and are left out.
func (a *answer) message() content.Message {
	m := content.Message{Role: content.RoleAssistant}
	thoughts := a.thoughts
	if len(thoughts) == 0 && a.thinking.Len() > 0 {
		thoughts = []content.Reasoning{{Text: a.thinking.String()}}
	}
	for _, r := range thoughts {
		m.Parts = append(m.Parts, r)
	}
	if a.text.Len() > 0 {
		m.Parts = append(m.Parts, content.Text{Body: a.text.String()})
	}
	if a.finished {
		for _, c := range a.calls {
			m.Parts = append(m.Parts, c)
		}
	}
	return m
}

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
			if a.text.Len() > saved {
				saved = a.text.Len()
				// A draft is a safety net: the whole message is
				// recorded at the end, and that write is checked.
				_ = t.s.a.o.Turns.SaveDraft(ctx, t.s.ID(), t.id, a.text.String())
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

// take books one event of the stream and shows it.
func (t *turn) take(a *answer, ev provider.Event) {
	switch ev := ev.(type) {
	case provider.TextDelta:
		a.text.WriteString(ev.Text)
		t.front.Text(Text{Turn: t.id, Message: a.id, Text: ev.Text})
	case provider.ThoughtDelta:
		a.thinking.WriteString(ev.Text)
		t.front.Thought(Thought{Turn: t.id, Message: a.id, Text: ev.Text})
	case provider.Thought:
		a.thoughts = append(a.thoughts, ev.Reasoning)
	case provider.Call:
		a.calls = append(a.calls, ev.Call)
	case provider.UsageReport:
		a.usage = ev.Usage
	case provider.Retry:
		t.front.Retrying(Retrying(ev))
	case provider.Remark:
		severity := delivery.SeverityInfo
		if ev.Lost {
			severity = delivery.SeverityWarning
		}
		t.notice(severity, "the backend says: "+ev.Text, "")
	case provider.Finish:
		a.stop, a.finished = ev.Stop, true
	}
}
