package mcp

import "syscall"

// attributes make the server lead a group, and have the kernel ask it to end when
// this program does.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
