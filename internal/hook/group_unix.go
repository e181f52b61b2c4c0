//go:build unix

package hook

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a process group, which the program leads.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (group) add(*os.Process) error { return nil }

func (group) kill(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func (group) close() {}
