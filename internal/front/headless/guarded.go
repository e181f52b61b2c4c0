package headless

import (
	"context"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/tool"
)

// guarded keeps what jobs say, from goroutines of their own, apart from what is said
// beside a turn. Within a turn the agent keeps events apart.
type guarded struct {
	front
	mu sync.Mutex
}

func (g *guarded) session(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.session(id)
}

func (g *guarded) said(name, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.said(name, text)
}

func (g *guarded) reported(j tool.JobState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.reported(j)
}

func (g *guarded) fail(p Problem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.fail(p)
}

func (g *guarded) done(s content.StopReason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.done(s)
}

// Noticed implements agent.Visitor.
func (g *guarded) Noticed(e agent.Noticed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.Noticed(e)
}

// JobChanged implements agent.Visitor.
func (g *guarded) JobChanged(e agent.JobChanged) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.front.JobChanged(e)
}

// forJob asks a question of a background job. Others can say something meanwhile.
func (g *guarded) forJob(ctx context.Context, q agent.Question) (agent.Permit, error) {
	p, err := g.ask(ctx, q)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered(q, p)
	return p, err
}
