//go:build unix

package ingest

import (
	"errors"
	"os"
	"syscall"
)

// openFlags keeps an open from waiting for the other end of a named pipe.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// notFolder tells that a part of a path is a file, so nothing lies below it.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
