package cli

import "syscall"

// attributes make the program lead a group, and have the kernel ask it to end when
// the thread that started it does.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
