//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// group is a process group, which the program leads. A guard is in it too: a shell
// that waits for the end of this program and then ends the group. Nothing that the
// program has started in the group outlives us, even where we are killed.
//
// Who leaves the group gets away. Where there is no shell there is no guard, and
// a kill of this program is noticed on Linux only, and there by the program alone.
type group struct {
	grace time.Duration
	guard *exec.Cmd
	hold  *os.File // the guard reads the other end, which ends when we do
}

func newGroup(grace time.Duration) *group { return &group{grace: grace} }

func (*group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

// shell is where POSIX systems have one.
const shell = "/bin/sh"

// watch is the guard's script. It is in the group that it ends, so that no other
// group can have the same number. $1 is the grace in seconds.
const watch = `trap '' HUP INT QUIT TERM; read -r line; kill -s TERM 0; sleep "$1"; kill -s KILL 0`

// add puts a guard into the group. It is called before the program is waited for,
// so the group is there even when the program is gone.
func (g *group) add(p *os.Process) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // the guard's
	seconds := max(1, int((g.grace+time.Second-1)/time.Second))
	guard := exec.Command(shell, "-c", watch, "tote-guard", strconv.Itoa(seconds)) //nolint:noctx // it is to outlive this program
	guard.Dir, guard.Env, guard.Stdin = "/", []string{"PATH=/usr/bin:/bin"}, r
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.Pid}
	if err := guard.Start(); err != nil {
		return w.Close() // no guard, which [group] says what follows of
	}
	g.guard, g.hold = guard, w
	return nil
}

// ask asks the whole group to end.
func (*group) ask(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// kill ends who is left in the group, the guard at least.
func (*group) kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // without a guard mostly nobody is
}

// close is called when the group was killed.
func (g *group) close() error {
	if g.guard == nil {
		return nil
	}
	err := g.hold.Close()
	_ = g.guard.Wait() // it was killed
	return err
}
