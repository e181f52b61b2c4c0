package headless

import (
	"context"
	"errors"
	"io"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
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
}

// Run runs a turn and returns the exit code. An error has been shown already.
func Run(ctx context.Context, t Turn, s Streams) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &sink{w: s.Out, stop: cancel}
	s.Out = out
	f := newFront(s)
	f.session(t.Session.ID())
	for _, n := range t.Notices {
		f.Noticed(agent.Noticed{Notice: n})
	}
	code := turn(ctx, t, f)
	switch {
	case out.err == nil:
		return code
	case !gone(out.err):
		_, _ = io.WriteString(s.Err, "tote: write the answer: "+oneLine(out.err.Error())+"\n") // a reader that is gone cannot be told so
	}
	return ExitFailed
}

// turn runs a turn, shows how it ended, and returns the exit code.
func turn(ctx context.Context, t Turn, f front) int {
	result, err := t.Session.Prompt(ctx, agent.Prompt{Sources: t.Sources, Front: f, Strict: t.Strict})
	switch {
	case errors.Is(err, agent.ErrStrict):
		f.fail(Explain(err))
		f.done(content.StopFailed)
		return ExitDegraded
	case err != nil:
		f.fail(Explain(err))
		f.done(content.StopFailed)
		if unusable := (*agent.UnusableError)(nil); errors.As(err, &unusable) {
			return ExitUsage
		}
		return ExitFailed
	case result.Stop == content.StopCancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.fail(Problem{Kind: "timeout", Message: oneLine(context.Cause(ctx).Error()), Hint: "allow more time with --timeout"})
		f.done(content.StopFailed)
		return ExitFailed
	case result.Stop == content.StopCancelled:
		f.done(result.Stop)
		return ExitInterrupted
	}
	f.done(result.Stop)
	switch {
	case result.Stop == content.StopFailed:
		return ExitFailed
	case t.Strict && result.Degraded:
		return ExitDegraded
	}
	return ExitAnswered
}

// front shows a turn. Exactly one of its forms is behind it.
type front interface {
	agent.Front
	session(id string)
	fail(Problem)
	done(content.StopReason)
}

func newFront(s Streams) front {
	if s.Format == JSON {
		return newJSONFront(s)
	}
	return newPlainFront(s)
}
