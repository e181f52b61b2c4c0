//go:build unix && !linux

package mcp

import "syscall"

// attributes make the server lead a group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
