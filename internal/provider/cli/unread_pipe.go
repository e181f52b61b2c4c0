//go:build linux || darwin

package cli

import "os"

// measures: the system tells how much of what lies in a pipe was not read.
const measures = true

// unread is how much lies in a pipe, in bytes; 0 where that cannot be told.
func unread(r *os.File) int64 {
	conn, err := r.SyscallConn()
	if err != nil {
		return 0
	}
	var n int64
	err = conn.Control(func(fd uintptr) {
		if left, err := ioctlUnread(int(fd)); err == nil {
			n = left
		}
	})
	if err != nil {
		return 0
	}
	return n
}
