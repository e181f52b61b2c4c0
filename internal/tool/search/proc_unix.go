//go:build unix

package search

import (
	"os/exec"
	"syscall"
)

// maxArguments is how many bytes of names go into one call. Systems take a
// megabyte at least, the environment included.
const maxArguments = 256 << 10

// ownGroup puts a program into a process group of its own, so that all of it
// ends when the search does.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
