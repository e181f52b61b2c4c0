package delegate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/tool"
)

// The kinds of children.
const (
	kindTask       = "task"
	kindJob        = "job"
	kindEscalation = "escalation"
)

// The states of jobs.
const (
	StateRunning     = "running"
	StateDone        = "done"
	StateFailed      = "failed"
	StateStopped     = "stopped"
	StateInterrupted = "interrupted"
)

// Record is a job as it is kept.
type Record struct {
	tool.JobState
	// Parent is the session that gave the work.
	Parent string
	// Owner names the process that runs it.
	Owner string
	// Reported: its end has been told to the model.
	Reported bool
}

// Records keep jobs.
type Records interface {
	SaveJob(ctx context.Context, r Record) error
	// Jobs are those of a parent session, oldest first.
	Jobs(ctx context.Context, parent string) ([]Record, error)
}

// Options wires a crew. All but Alive is required.
type Options struct {
	Directory agent.Directory
	Models    agent.Models
	Records   Records
	NewID     func() string
	Now       func() time.Time
	// Limits is asked whenever work is given.
	Limits func() Limits
	// Owner names this process; Alive says whether the one of that name still
	// runs. Without it every other one counts as dead.
	Owner string
	Alive func(owner string) bool
}

// Limits bound delegated work.
type Limits struct {
	// Depth is how deep delegated work may delegate: 0 takes DefaultDepth.
	Depth int
	// Jobs is how many jobs of one session run at a time: 0 takes
	// DefaultJobs.
	Jobs int
}

// The default limits.
const (
	DefaultDepth = 2
	DefaultJobs  = 8
)

// recordTimeout bounds the writes about a job that has ended.
const recordTimeout = 10 * time.Second

// Crew gives work to other agents. Its methods may be called from several
// goroutines.
type Crew struct {
	o     Options
	agent *agent.Agent

	mu     sync.Mutex
	jobs   map[string]*running
	closed bool
	// askers answer the questions of jobs, by their parent session.
	askers map[string]Asker
	// depths are how deep child sessions lie, by id.
	depths map[string]int
	// recalled are the sessions whose earlier jobs have been looked at.
	recalled map[string]bool
}

// Asker asks the user.
type Asker func(ctx context.Context, q agent.Question) (agent.Permit, error)

// running is a job of this process.
type running struct {
	record Record
	cancel context.CancelCauseFunc
	// done is closed when the job has ended and its record is written.
	done chan struct{}
}

// New makes a crew. Bind has to follow before work is given.
func New(o Options) *Crew {
	return &Crew{
		o: o, jobs: map[string]*running{}, askers: map[string]Asker{}, depths: map[string]int{}, recalled: map[string]bool{},
	}
}

// Bind names the agent whose sessions do the work. It is called once, before the
// crew is used.
func (c *Crew) Bind(a *agent.Agent) { c.agent = a }

// Attend says who answers for a session's jobs between its turns; nil is nobody.
func (c *Crew) Attend(session string, ask Asker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ask == nil {
		delete(c.askers, session)
		return
	}
	c.askers[session] = ask
}

// Host implements agent.Hosts.
func (c *Crew) Host(s *agent.Session, t agent.TurnInfo) tool.Host {
	c.Recall(s)
	if c.depth(s.ID()) >= orDefault(c.o.Limits().Depth, DefaultDepth) {
		return nil
	}
	return &host{c: c, s: s, t: t}
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

func (c *Crew) depth(session string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.depths[session]
}

// child makes the session of a piece of work.
func (c *Crew) child(ctx context.Context, parent *agent.Session, kind, name string) (*agent.Session, error) {
	s, err := c.agent.CreateChild(ctx, parent, kind, name)
	if err != nil {
		return nil, fmt.Errorf("give work to agent %q: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depths[s.ID()] = c.depths[parent.ID()] + 1
	return s, nil
}

// ErrClosed says that no more work is taken.
var ErrClosed = errors.New("no more work is taken: the program is about to end")

// Close stops all jobs and waits for them, or for the end of ctx.
func (c *Crew) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	all := make([]*running, 0, len(c.jobs))
	for _, r := range c.jobs {
		all = append(all, r)
	}
	c.mu.Unlock()
	for _, r := range all {
		r.cancel(errEnding)
	}
	for _, r := range all {
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("wait for the jobs to end: %w", ctx.Err())
		}
	}
	return nil
}

// Wait waits until no job of the session runs any more, or for the end of ctx.
func (c *Crew) Wait(ctx context.Context, session string) error {
	for _, r := range c.of(session) {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Running are the jobs of a session that run in this process.
func (c *Crew) Running(session string) []tool.JobState {
	var out []tool.JobState
	for _, r := range c.of(session) {
		select {
		case <-r.done:
		default:
			out = append(out, c.state(r))
		}
	}
	return out
}

// of are the jobs of a session in this process, oldest first.
func (c *Crew) of(session string) []*running {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*running
	for _, r := range c.jobs {
		if r.record.Parent == session {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *running) int { return strings.Compare(a.record.ID, b.record.ID) })
	return out
}

// answerOf is what the last turn of a session says in the end.
func answerOf(s *agent.Session) string {
	turns := s.Turns()
	if len(turns) == 0 {
		return ""
	}
	messages := turns[len(turns)-1].Messages
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role != content.RoleAssistant {
			continue
		}
		var parts []string
		for _, p := range messages[i].Parts {
			if t, ok := p.(content.Text); ok && strings.TrimSpace(t.Body) != "" {
				parts = append(parts, t.Body)
			}
		}
		if len(parts) > 0 {
			return strings.Join(parts, "\n\n")
		}
	}
	return ""
}
