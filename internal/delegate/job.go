package delegate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/tool"
)

// maxReport bounds what a job's end puts into the conversation, in bytes. The whole
// answer stays in the job's own session.
const maxReport = 20_000

// errStopped is why a job that somebody stopped has ended.
var errStopped = errors.New("stopped")

// Start starts a job of the session s with exactly these sources, and returns its
// id. The job lives as long as the process; ctx bounds only its beginning.
func (c *Crew) Start(ctx context.Context, s *agent.Session, name, title string, sources []content.Source) (string, error) {
	if n, limit := len(c.Running(s.ID())), orDefault(c.o.Limits().Jobs, DefaultJobs); n >= limit {
		return "", fmt.Errorf("%d jobs of this session are running, the limit is %d: wait for one or stop one", n, limit)
	}
	child, err := c.child(ctx, s, kindJob, name)
	if err != nil {
		return "", err
	}
	r := &running{done: make(chan struct{})}
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.cancel = cancel
	r.record = Record{
		JobState: tool.JobState{Agent: name, Title: title, State: StateRunning, Started: c.o.Now(), Session: child.ID()},
		Parent:   s.ID(), Owner: c.o.Owner,
	}
	if r.record.ID, err = c.number(ctx, s.ID(), r); err != nil {
		cancel(err)
		return "", err
	}
	if err := c.o.Records.SaveJob(ctx, r.record); err != nil {
		c.drop(s.ID() + "/" + r.record.ID)
		cancel(err)
		return "", fmt.Errorf("record the job: %w", err)
	}
	s.JobChanged(r.record.JobState)
	id := r.record.ID
	// It ends with the job's turn, which ends when the job is stopped or the
	// crew is closed at the latest.
	go c.run(work, s, child, r, sources)
	return id, nil
}

// number gives a job the next id of its session and enters it.
func (c *Crew) number(ctx context.Context, session string, r *running) (string, error) {
	rows, err := c.o.Records.Jobs(ctx, session)
	if err != nil {
		return "", fmt.Errorf("number the job: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return "", ErrClosed
	}
	for n := len(rows) + 1; ; n++ {
		id := fmt.Sprintf("job-%d", n)
		if _, taken := c.jobs[session+"/"+id]; !taken {
			r.record.ID = id
			c.jobs[session+"/"+id] = r
			return id, nil
		}
	}
}

func (c *Crew) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, key)
}

// run is the life of a job.
func (c *Crew) run(ctx context.Context, s, child *agent.Session, r *running, sources []content.Source) {
	defer func() {
		close(r.done)
		c.drop(s.ID() + "/" + r.record.ID)
	}()
	f := &relay{name: r.record.Agent, ask: c.asker(s.ID())}
	_, err := child.Prompt(ctx, agent.Prompt{Sources: sources, Front: f})
	end := r.record
	end.Ended = c.o.Now()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopped):
		end.State, end.Report = StateStopped, "[stopped before it was done]"
	case cause != nil:
		end.State, end.Report = StateInterrupted, "[interrupted: "+cause.Error()+"]"
	case err != nil:
		end.State, end.Report = StateFailed, err.Error()
	default:
		end.State, end.Report = StateDone, short(answerOf(child), child.ID())
		if lost := f.lost(); lost != "" {
			end.Report = "[not all went to it whole: " + lost + "]\n" + end.Report
		}
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	_ = child.Close(after) // nothing goes on in it
	c.mu.Lock()
	r.record = end
	c.mu.Unlock()
	if err := c.o.Records.SaveJob(after, end); err != nil {
		end.Report += "\n[its end could not be recorded: " + err.Error() + "]"
	}
	s.JobChanged(end.JobState) // which tells the model too
}

// note is what the model is told of a job's end.
func note(j tool.JobState) string {
	return "[job " + j.ID + " (" + j.Title + ", agent " + j.Agent + ") " + j.State + "]\n" + j.Report
}

// short cuts a report to its size.
func short(answer, session string) string {
	if answer == "" {
		return "[it ended without a word]"
	}
	if len(answer) <= maxReport {
		return answer
	}
	n := maxReport
	for n > 0 && !utf8.RuneStart(answer[n]) {
		n--
	}
	return answer[:n] + fmt.Sprintf("\n[cut: the whole answer of %d bytes is in session %s]", len(answer), session)
}

// asker asks whoever watches the parent at that moment.
func (c *Crew) asker(parent string) Asker {
	return func(ctx context.Context, q agent.Question) (agent.Permit, error) {
		c.mu.Lock()
		ask := c.askers[parent]
		c.mu.Unlock()
		if ask == nil {
			return agent.PermitDeny, errors.New("nobody watches a job that runs in the background")
		}
		return ask(ctx, q)
	}
}

// Jobs are the jobs of a session, oldest first.
func (c *Crew) Jobs(ctx context.Context, session string) ([]tool.JobState, error) {
	rows, err := c.o.Records.Jobs(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("list the jobs: %w", err)
	}
	out := make([]tool.JobState, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.JobState)
	}
	return out, nil
}

func (c *Crew) find(session, id string) (*running, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.jobs[session+"/"+strings.TrimSpace(id)]
	return r, ok
}

// state is what is known of a job of this process.
func (c *Crew) state(r *running) tool.JobState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.record.JobState
}

// WaitJob waits for the end of a job, or for that of ctx.
func (c *Crew) WaitJob(ctx context.Context, session, id string) (tool.JobState, error) {
	if r, ok := c.find(session, id); ok {
		select {
		case <-r.done:
			return c.state(r), nil
		case <-ctx.Done():
			return c.state(r), ctx.Err()
		}
	}
	return c.recorded(ctx, session, id)
}

// recorded is a job that this process does not run.
func (c *Crew) recorded(ctx context.Context, session, id string) (tool.JobState, error) {
	all, err := c.Jobs(ctx, session)
	if err != nil {
		return tool.JobState{}, err
	}
	for _, j := range all {
		if j.ID == strings.TrimSpace(id) {
			return j, nil
		}
	}
	return tool.JobState{}, fmt.Errorf("there is no job %q in this session", content.Clean(id))
}

// StopJob stops a job and waits until it has ended. One that has ended already is
// no error.
func (c *Crew) StopJob(ctx context.Context, session, id string) error {
	r, ok := c.find(session, id)
	if !ok {
		j, err := c.recorded(ctx, session, id)
		if err == nil && j.State == StateRunning {
			err = fmt.Errorf("job %s runs in another process: stop it there", j.ID)
		}
		return err
	}
	r.cancel(errStopped)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Recall looks at the jobs of a session that this process did not start: those of a
// dead process are interrupted, and what was not told is told with the next prompt that
// is taken in. It also notes as told what this process has put into the conversation.
// It belongs after opening a session; every turn calls it too.
func (c *Crew) Recall(s *agent.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	c.mu.Lock()
	first := !c.recalled[s.ID()]
	c.recalled[s.ID()] = true
	c.mu.Unlock()
	rows, err := c.o.Records.Jobs(ctx, s.ID())
	if err != nil {
		return // the turn itself will meet the same fault
	}
	for _, r := range rows {
		mine := r.Owner == c.o.Owner
		if r.State == StateRunning && !mine && (c.o.Alive == nil || !c.o.Alive(r.Owner)) {
			r.State, r.Ended, r.Report = StateInterrupted, c.o.Now(), "[interrupted: the program that ran it is gone]"
			_ = c.o.Records.SaveJob(ctx, r) // else the next one finds it
		}
		switch {
		case r.State == StateRunning || r.Reported:
		case mine:
			c.reported(ctx, r)
		case first:
			s.AddNoteOnce(note(r.JobState), func() { c.reported(context.WithoutCancel(ctx), r) })
		}
	}
}

// reported notes that the model has been told of a job's end.
func (c *Crew) reported(ctx context.Context, r Record) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	r.Reported = true
	_ = c.o.Records.SaveJob(ctx, r) // else it is told once more
}
