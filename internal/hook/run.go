package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"
)

const (
	// maxOutput is how much of each output is kept, in bytes.
	maxOutput = 64 << 10
	// linger is the wait for the ends of the pipes after a program is gone, which
	// what it has started may still hold.
	linger = 500 * time.Millisecond
	// denies is the exit status of a hook that denies.
	denies = 2
)

// ask runs the command once. What is empty where the answer holds.
func (h Hook) ask(ctx context.Context, input []byte, cwd string, env []string) (a answer, what string) {
	limit := h.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(timed, h.Command[0], h.Command[1:]...)
	out, diag := &bounded{}, &bounded{}
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = cwd, env, bytes.NewReader(input), out, diag
	var g group
	g.prepare(cmd)
	cmd.Cancel = func() error { return g.kill(cmd.Process) }
	cmd.WaitDelay = linger
	err := cmd.Start()
	if err == nil {
		err = g.add(cmd.Process)
		if err != nil {
			cancel() // it is killed alone
			_ = cmd.Wait()
			return answer{}, "could not be put into a job: " + oneLine(err.Error(), maxWords)
		}
		err = cmd.Wait()
		_ = g.kill(cmd.Process) // what it left running; mostly nothing
	}
	g.close()
	switch {
	case ctx.Err() != nil:
		return answer{}, "was ended with the turn"
	case timed.Err() != nil && err != nil:
		return answer{}, fmt.Sprintf("took longer than %v and was ended", limit)
	case out.over || diag.over:
		return answer{}, fmt.Sprintf("wrote more than %d bytes", maxOutput)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() == denies {
			return answer{decision: Deny, Reason: reason(string(diag.kept))}, ""
		}
		return answer{}, exited(exit, string(diag.kept))
	}
	// Something it started holds the pipe: what it said itself is there.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return answer{}, unstarted(err)
	}
	return parse(out.kept)
}

// exited tells how a program ended, with the last line of what it complained of.
func exited(exit *exec.ExitError, diag string) string {
	what := "ended with " + exit.String()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(diag, "")), "\n")
	if last := oneLine(lines[len(lines)-1], maxWords); last != "" {
		what += ": " + last
	}
	return what
}

// unstarted tells why a program could not be run.
func unstarted(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "is not there: neither a file of that name nor a program of that name on the PATH"
	case errors.Is(err, fs.ErrPermission):
		return "may not be run: is it executable?"
	}
	return "could not be run: " + oneLine(err.Error(), maxWords)
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept []byte
	over bool
}

// Write never fails: a program that writes too much is left to end.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-len(b.kept))
	b.kept = append(b.kept, p[:room]...)
	b.over = b.over || room < len(p)
	return len(p), nil
}
