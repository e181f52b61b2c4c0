package headless

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/slash"
	"tote/internal/tool"
)

// Exit codes of a turn.
const (
	ExitAnswered    = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDegraded    = 3
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Format is how a turn is shown.
type Format uint8

// The formats.
const (
	Plain Format = iota // text on Out, everything else on Err
	JSON                // one object a line on Out
)

// Streams are where a command writes, and where it can ask.
type Streams struct {
	Out, Err io.Writer
	// Live: Out is a terminal, so text is shown as it comes. Otherwise an
	// answer is written when it stands, so that what is withdrawn is never
	// in a pipe.
	Live bool
	// Terminal reads a person's answers, nil when there is no person.
	Terminal io.Reader
	Format   Format
}

// Turn is one turn to run.
type Turn struct {
	Session *agent.Session
	Sources []content.Source
	Strict  bool
	// Notices are shown before the turn.
	Notices []delivery.Notice
	// World is what /commands act on, nil for none.
	World *slash.World
}

// Run runs a turn and returns the exit code. An error has been shown already.
func Run(ctx context.Context, t Turn, s Streams) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &sink{w: s.Out, stop: cancel}
	s.Out = out
	f := &guarded{front: newFront(s, t.Session.Stored().Cwd)}
	f.session(t.Session.ID())
	for _, n := range t.Notices {
		f.Noticed(agent.Noticed{Notice: n})
	}
	code := work(ctx, t, f)
	switch {
	case out.err == nil:
		return code
	case !gone(out.err):
		_, _ = io.WriteString(s.Err, "tote: write the answer: "+oneLine(out.err.Error())+"\n") // a reader that is gone cannot be told so
	}
	return ExitFailed
}

// work carries out a command or runs a turn, then waits for the jobs that were
// started, and returns the exit code.
func work(ctx context.Context, t Turn, f *guarded) int {
	if t.World == nil {
		stop, code := turn(ctx, t, f)
		f.done(stop)
		return code
	}
	defer attend(t, f)()
	stop, code, job := content.StopEndTurn, ExitAnswered, ""
	if c, ok := slash.Read(t.Sources); ok {
		c.Front = f
		var out slash.Outcome
		if out, code = command(ctx, t, c, f); code != ExitAnswered {
			stop = content.StopFailed
		}
		t.Sources, job = out.Prompt, out.Job
	}
	if t.Sources != nil {
		stop, code = turn(ctx, t, f)
	}
	if !wait(ctx, t, f) {
		stop, code = interrupted(ctx, f)
	} else if job != "" && !report(ctx, t, job, f) {
		stop, code = content.StopFailed, ExitFailed
	}
	f.done(stop)
	return code
}

// report shows what a job came to that the user started with a command, and reports
// whether it did its work.
func report(ctx context.Context, t Turn, id string, f front) bool {
	j, err := t.World.Jobs.WaitJob(ctx, t.Session.ID(), id)
	if err != nil {
		f.fail(Explain(err))
		return false
	}
	if j.State != jobDone {
		f.fail(Problem{Kind: "job", Message: Clean(j.ID + " " + j.State + ": " + j.Report)})
		return false
	}
	f.reported(j)
	return true
}

// jobDone is the state of a job that did its work.
const jobDone = "done"

// attend answers for the jobs of the session and shows them, until it is undone.
func attend(t Turn, f *guarded) (undo func()) {
	jobs := t.World.Jobs
	if jobs == nil {
		return func() {}
	}
	jobs.Attend(t.Session.ID(), f.forJob)
	t.Session.WatchJobs(func(j tool.JobState) { f.JobChanged(agent.JobChanged{Job: j}) })
	return func() {
		jobs.Attend(t.Session.ID(), nil)
		t.Session.WatchJobs(nil)
	}
}

// wait waits for the jobs of the session. It reports whether they have all ended;
// those of a turn that was interrupted are not waited for.
func wait(ctx context.Context, t Turn, f front) bool {
	jobs := t.World.Jobs
	if jobs == nil || ctx.Err() != nil {
		return true
	}
	if n := len(jobs.Running(t.Session.ID())); n > 0 {
		f.Noticed(agent.Noticed{Notice: delivery.Notice{
			Severity: delivery.SeverityInfo, Title: fmt.Sprintf("waiting for background jobs: %d", n), Detail: "Ctrl-C stops them",
		}})
	}
	return jobs.Wait(ctx, t.Session.ID()) == nil
}

// command carries out a /command. The prompt of what it comes to is that of the turn
// that it wants, nil for none; a command that there is not leaves it as it is.
func command(ctx context.Context, t Turn, c slash.Call, f front) (out slash.Outcome, code int) {
	out, known, err := t.World.Run(ctx, c)
	switch {
	case err != nil:
		f.fail(Explain(err))
		return slash.Outcome{}, ExitFailed
	case !known:
		return slash.Outcome{Prompt: t.Sources}, ExitAnswered
	}
	if out.Text != "" {
		f.said(c.Name, out.Text)
	}
	if out.Session != "" {
		f.session(out.Session)
	}
	return out, ExitAnswered
}

// turn runs a turn and returns how it ended and the exit code.
func turn(ctx context.Context, t Turn, f front) (content.StopReason, int) {
	if t.World != nil {
		t.World.Ready()
	}
	result, err := t.Session.Prompt(ctx, agent.Prompt{Sources: t.Sources, Front: f, Strict: t.Strict})
	switch {
	case errors.Is(err, agent.ErrStrict):
		f.fail(Explain(err))
		return content.StopFailed, ExitDegraded
	case err != nil:
		f.fail(Explain(err))
		if unusable := (*agent.UnusableError)(nil); errors.As(err, &unusable) {
			return content.StopFailed, ExitUsage
		}
		return content.StopFailed, ExitFailed
	case result.Stop == content.StopCancelled:
		return interrupted(ctx, f)
	case result.Stop == content.StopFailed:
		return result.Stop, ExitFailed
	case t.Strict && result.Degraded:
		return result.Stop, ExitDegraded
	}
	return result.Stop, ExitAnswered
}

// interrupted is the end of what was cancelled: by the user, or by its time limit.
func interrupted(ctx context.Context, f front) (content.StopReason, int) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return content.StopCancelled, ExitInterrupted
	}
	f.fail(Problem{Kind: "timeout", Message: oneLine(context.Cause(ctx).Error()), Hint: "allow more time with --timeout"})
	return content.StopFailed, ExitFailed
}

// front shows a turn. Exactly one of its forms is behind it.
type front interface {
	agent.Front
	session(id string)
	// said shows what a /command has to say.
	said(name, text string)
	// reported shows the report of a job that the user started.
	reported(j tool.JobState)
	// ask asks a question without showing what was answered, which answered does.
	ask(ctx context.Context, q agent.Question) (agent.Permit, error)
	answered(q agent.Question, p agent.Permit)
	fail(Problem)
	done(content.StopReason)
}

func newFront(s Streams, folder string) front {
	if s.Format == JSON {
		return newJSONFront(s, folder)
	}
	return newPlainFront(s, folder)
}
