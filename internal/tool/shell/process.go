package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// drain is how long an output is waited for once its command has ended.
	drain = 250 * time.Millisecond
	// look is how often it is looked whether the rest of a group is gone.
	look = 20 * time.Millisecond
	// rest is the same for what runs on behind the turn.
	rest = 2 * time.Second
)

// process is a command that runs, or has.
type process struct {
	cmd   *exec.Cmd
	group *group
	out   *output
	read  *os.File
	grace time.Duration
	now   func() time.Time
	start time.Time

	done  chan struct{} // closed when the shell has ended
	eof   chan struct{} // closed when nobody writes any more
	took  time.Duration // valid after done
	state *os.ProcessState

	endOnce sync.Once
	ended   chan struct{} // closed when the group is gone
}

// begin starts cmd with its output going to out.
func begin(cmd *exec.Cmd, out *output, grace time.Duration, now func() time.Time) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	start := now()
	g, err := startGroup(cmd, grace)
	if err = errors.Join(err, w.Close()); err != nil {
		if g != nil {
			g.kill()
			err = errors.Join(err, cmd.Wait(), g.close())
		}
		return nil, errors.Join(err, r.Close())
	}
	p := &process{
		cmd: cmd, group: g, out: out, read: r, grace: grace, now: now, start: start,
		done: make(chan struct{}), eof: make(chan struct{}), ended: make(chan struct{}),
	}
	// It ends when the last writer does, or when the pipe is closed.
	go p.copy()
	// It ends with the shell.
	go p.wait()
	return p, nil
}

func (p *process) copy() {
	defer close(p.eof)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.read.Read(buf)
		_, _ = p.out.Write(buf[:n]) // it never fails
		if err != nil {
			return // the end, or the pipe was closed
		}
	}
}

func (p *process) wait() {
	_ = p.cmd.Wait() // what it says stands in the state
	p.state, p.took = p.cmd.ProcessState, p.now().Sub(p.start)
	close(p.done)
}

// within waits for a channel, not longer than d.
func within(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// why a command ended.
type why uint8

const (
	byItself why = iota
	timedOut
	cancelled
	closing
)

// await waits for the end of the shell and stops the group when it is time to.
func (p *process) await(ctx context.Context, gone <-chan struct{}, limit time.Duration) why {
	t := time.NewTimer(limit)
	defer t.Stop()
	w := byItself
	select {
	case <-p.done:
		return w
	case <-ctx.Done():
		w = cancelled
	case <-gone:
		w = closing
	case <-t.C:
		w = timedOut
	}
	p.stop()
	return w
}

// stop asks the group to end, and ends it when the grace is over.
func (p *process) stop() {
	select {
	case <-p.ended:
		return
	default:
	}
	p.group.ask()
	over := time.NewTimer(p.grace)
	defer over.Stop()
	select {
	case <-p.done:
		select {
		case <-p.eof:
		case <-over.C:
		}
	case <-over.C:
	}
	p.end()
}

// end kills who is left of the group and lets go of everything.
func (p *process) end() {
	p.endOnce.Do(func() {
		p.group.kill()
		<-p.done
		if !within(p.eof, drain) {
			_ = p.read.Close() // somebody who left the group still holds it
			<-p.eof
		} else {
			_ = p.read.Close() // nothing comes any more
		}
		_ = p.group.close() // the guard is gone
		close(p.ended)
	})
	<-p.ended
}

// settle is called when the shell has ended: it waits a moment for the rest of
// its group and returns who is left. Where nobody is, the group is gone.
func (p *process) settle() []string {
	_ = within(p.eof, drain) // who is left is told below
	deadline := time.NewTimer(drain)
	defer deadline.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		left := p.group.left()
		if len(left) == 0 {
			p.end()
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return left
		}
	}
}

// follow waits until the whole group is gone.
func (p *process) follow() {
	<-p.done
	if len(p.settle()) == 0 {
		return
	}
	tick := time.NewTicker(rest)
	defer tick.Stop()
	eof := p.eof
	for p.running() {
		select {
		case <-p.ended:
		case <-eof:
			eof = nil
		case <-tick.C:
		}
	}
}

// running reports whether the shell or anybody of its group still runs.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	case <-p.done:
		if len(p.group.left()) > 0 {
			return true
		}
		p.end()
		return false
	default:
		return true
	}
}

// verdict tells how the shell ended. It is called after done.
func (p *process) verdict(w why, limit time.Duration) string {
	took := seconds(p.took)
	switch w {
	case timedOut:
		return fmt.Sprintf("[stopped: the time limit of %s was over; give timeout_ms, or background for what goes on]", seconds(limit))
	case cancelled:
		return fmt.Sprintf("[stopped by the user after %s]", took)
	case closing:
		return fmt.Sprintf("[stopped after %s: the session ends]", took)
	case byItself:
	}
	return p.exit()
}

// exit tells the exit code or the signal, and the time.
func (p *process) exit() string {
	if s := signalOf(p.state); s != "" {
		return fmt.Sprintf("[ended by a signal (%s) after %s]", s, seconds(p.took))
	}
	return fmt.Sprintf("[exit code %d after %s]", p.state.ExitCode(), seconds(p.took))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// leftover tells who still runs.
func leftover(left []string, id string) string {
	const most = 5
	if len(left) > most {
		left = append(left[:most:most], fmt.Sprintf("and %d more", len(left)-most))
	}
	return fmt.Sprintf("[still running as %s: %s; bash_output reads it, bash_kill stops it]", id, strings.Join(left, ", "))
}
