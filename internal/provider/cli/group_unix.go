//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a process group, which the program leads.
type group struct{}

func newGroup() *group { return &group{} }

func (*group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (*group) add(*os.Process) error { return nil }

// ask asks the whole group to end.
func (*group) ask(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// kill ends who is left in the group.
func (*group) kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // mostly nobody is
}

func (*group) close() error { return nil }
