package delegate

import (
	"context"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
)

// relay is the front of delegated work: it shows in a few lines what is done, asks
// whoever watches, and remembers what did not arrive whole.
type relay struct {
	name string
	live func(string)
	ask  Asker

	mu   sync.Mutex
	less []string
}

// maxLess bounds what is named of what did not arrive whole.
const maxLess = 10

var _ agent.Front = (*relay)(nil)

func (r *relay) show(line string) {
	if r.live != nil {
		r.live("[" + r.name + "] " + line + "\n")
	}
}

// lost names what did not arrive whole, "" for nothing.
func (r *relay) lost() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.less, "; ")
}

// Ask implements agent.Front.
func (r *relay) Ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	q.Title = r.name + ": " + q.Title
	q.Call = content.ToolCall{} // a call of the child, which the parent's front does not know
	return r.ask(ctx, q)
}

// Receipts implements agent.Visitor.
func (r *relay) Receipts(e agent.Receipts) {
	for _, x := range e.List {
		if !x.Degraded() || x.Kind == content.KindText {
			continue
		}
		line := string(x.Handle) + ": " + x.Disposition.String() + ", " + x.Reason.User()
		r.show(line)
		r.mu.Lock()
		if len(r.less) < maxLess {
			r.less = append(r.less, line)
		}
		r.mu.Unlock()
	}
}

// ToolStarted implements agent.Visitor.
func (r *relay) ToolStarted(e agent.ToolStarted) { r.show(e.Title) }

// Noticed implements agent.Visitor.
func (r *relay) Noticed(e agent.Noticed) { r.show(e.Notice.Title) }

// Retrying implements agent.Visitor.
func (r *relay) Retrying(e agent.Retrying) { r.show("trying again: " + e.Why) }

// Accepted implements agent.Visitor.
func (*relay) Accepted(agent.Accepted) {}

// Text implements agent.Visitor. The answer is taken whole, at the end.
func (*relay) Text(agent.Text) {}

// Thought implements agent.Visitor.
func (*relay) Thought(agent.Thought) {}

// Voided implements agent.Visitor.
func (*relay) Voided(agent.Voided) {}

// ToolRunning implements agent.Visitor.
func (*relay) ToolRunning(agent.ToolRunning) {}

// ToolOutput implements agent.Visitor.
func (*relay) ToolOutput(agent.ToolOutput) {}

// Planned implements agent.Visitor.
func (*relay) Planned(agent.Planned) {}

// JobChanged implements agent.Visitor.
func (r *relay) JobChanged(e agent.JobChanged) { r.show("job " + e.Job.ID + " " + e.Job.State) }

// ToolFinished implements agent.Visitor.
func (*relay) ToolFinished(agent.ToolFinished) {}

// Used implements agent.Visitor.
func (*relay) Used(agent.Used) {}

// Ended implements agent.Visitor.
func (*relay) Ended(agent.Ended) {}
