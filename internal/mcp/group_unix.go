//go:build unix

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// group is the process group that a server leads.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

func (group) add(*os.Process) {}

func (group) ask(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) } // nobody left is as well

func (group) kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // nobody left is as well

func (group) close() {}
