package cli

import "golang.org/x/sys/unix"

// ioctlUnread asks how much lies in a pipe. TIOCINQ is the kernel's other name for
// FIONREAD (https://man7.org/linux/man-pages/man7/pipe.7.html, read 2026-11-30).
func ioctlUnread(fd int) (int64, error) {
	n, err := unix.IoctlGetUint32(fd, unix.TIOCINQ)
	return int64(n), err
}
