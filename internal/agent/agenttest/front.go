package agenttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/delivery"
)

// Front keeps every event in order.
type Front struct {
	// Answer answers questions; nil denies.
	Answer func(context.Context, agent.Question) (agent.Permit, error)
	// On is called with every event after it was kept; nil is nothing.
	On func(agent.Event)

	mu        sync.Mutex
	events    []agent.Event
	questions []agent.Question
}

var _ agent.Front = (*Front)(nil)

func (f *Front) keep(e agent.Event) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	if f.On != nil {
		f.On(e)
	}
}

// Accepted implements agent.Visitor.
func (f *Front) Accepted(e agent.Accepted) { f.keep(e) }

// Receipts implements agent.Visitor.
func (f *Front) Receipts(e agent.Receipts) { f.keep(e) }

// Text implements agent.Visitor.
func (f *Front) Text(e agent.Text) { f.keep(e) }

// Thought implements agent.Visitor.
func (f *Front) Thought(e agent.Thought) { f.keep(e) }

// Voided implements agent.Visitor.
func (f *Front) Voided(e agent.Voided) { f.keep(e) }

// ToolStarted implements agent.Visitor.
func (f *Front) ToolStarted(e agent.ToolStarted) { f.keep(e) }

// ToolRunning implements agent.Visitor.
func (f *Front) ToolRunning(e agent.ToolRunning) { f.keep(e) }

// ToolOutput implements agent.Visitor.
func (f *Front) ToolOutput(e agent.ToolOutput) { f.keep(e) }

// Planned implements agent.Visitor.
func (f *Front) Planned(e agent.Planned) { f.keep(e) }

// JobChanged implements agent.Visitor.
func (f *Front) JobChanged(e agent.JobChanged) { f.keep(e) }

// ToolFinished implements agent.Visitor.
func (f *Front) ToolFinished(e agent.ToolFinished) { f.keep(e) }

// Noticed implements agent.Visitor.
func (f *Front) Noticed(e agent.Noticed) { f.keep(e) }

// Retrying implements agent.Visitor.
func (f *Front) Retrying(e agent.Retrying) { f.keep(e) }

// Used implements agent.Visitor.
func (f *Front) Used(e agent.Used) { f.keep(e) }

// Ended implements agent.Visitor.
func (f *Front) Ended(e agent.Ended) { f.keep(e) }

// Ask implements agent.Front.
func (f *Front) Ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	f.mu.Lock()
	f.questions = append(f.questions, q)
	f.mu.Unlock()
	if f.Answer == nil {
		return agent.PermitDeny, nil
	}
	return f.Answer(ctx, q)
}

// Events are the events so far.
func (f *Front) Events() []agent.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// Questions are the questions so far.
func (f *Front) Questions() []agent.Question {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.questions)
}

// Forget drops what was kept.
func (f *Front) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events, f.questions = nil, nil
}

// Notices are the notices so far.
func (f *Front) Notices() []delivery.Notice {
	var out []delivery.Notice
	for _, e := range f.Events() {
		if n, ok := e.(agent.Noticed); ok {
			out = append(out, n.Notice)
		}
	}
	return out
}

// Shown is the text that a reader sees in the end: what was withdrawn is gone.
// Messages are divided by a line.
func (f *Front) Shown() string {
	type message struct{ id, text string }
	var all []message
	for _, e := range f.Events() {
		if said, ok := e.(agent.Text); ok {
			if n := len(all); n == 0 || all[n-1].id != said.Message {
				all = append(all, message{id: said.Message})
			}
			all[len(all)-1].text += said.Text
		}
		if gone, ok := e.(agent.Voided); ok {
			all = slices.DeleteFunc(all, func(m message) bool { return m.id == gone.Message })
		}
	}
	var texts []string
	for _, m := range all {
		texts = append(texts, m.text)
	}
	return strings.Join(texts, "\n")
}

// Lines are the events as short lines, for comparing their order.
func (f *Front) Lines() []string {
	var out []string
	for _, e := range f.Events() {
		out = append(out, Line(e))
	}
	return out
}

// Line is an event as a short line.
func Line(e agent.Event) string {
	switch e := e.(type) {
	case agent.Accepted:
		return fmt.Sprintf("accepted %d", len(e.Blocks))
	case agent.Receipts:
		var sb strings.Builder
		fmt.Fprintf(&sb, "receipts %d.%d", e.Request, e.Attempt)
		for _, r := range e.List {
			fmt.Fprintf(&sb, " %s=%s", r.Handle, r.Disposition)
		}
		return sb.String()
	case agent.Text:
		return "text " + e.Text
	case agent.Thought:
		return "thought " + e.Text
	case agent.Voided:
		return fmt.Sprintf("voided before %d: %s", e.Attempt, e.Reason)
	case agent.ToolStarted:
		return "started " + e.Call.ID
	case agent.ToolRunning:
		return "running " + e.Call.ID
	case agent.ToolOutput:
		return "output " + e.Call.ID
	case agent.Planned:
		return fmt.Sprintf("planned %d", len(e.Steps))
	case agent.JobChanged:
		return "job " + e.Job.ID + " " + e.Job.State
	case agent.ToolFinished:
		return fmt.Sprintf("finished %s error=%v", e.Call.ID, e.IsError)
	case agent.Noticed:
		return "notice " + e.Notice.Title
	case agent.Retrying:
		return "retrying " + e.Why
	case agent.Used:
		return "used"
	case agent.Ended:
		return "ended " + e.Stop.String()
	}
	return "?"
}
