//go:build unix && !linux

package cli

import "syscall"

// attributes make the program lead a group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
