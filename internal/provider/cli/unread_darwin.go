package cli

import "golang.org/x/sys/unix"

// fionread is FIONREAD of sys/filio.h: _IOR('f', 127, int).
const fionread = 0x4004667f

// ioctlUnread asks how much lies in a pipe.
func ioctlUnread(fd int) (int64, error) {
	n, err := unix.IoctlGetInt(fd, fionread)
	return int64(n), err
}
