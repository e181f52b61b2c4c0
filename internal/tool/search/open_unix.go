//go:build unix

package search

import (
	"os"
	"syscall"
)

// openFlags keep a FIFO that took a file's place from hanging the search.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
