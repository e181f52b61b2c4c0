//go:build unix

package tool

import (
	"os"
	"syscall"
)

// openFlags keep a FIFO from hanging the call.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
