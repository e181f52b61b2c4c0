package headless

import (
	"errors"
	"io"
	"syscall"
)

// sink is where an answer goes. It remembers that a write failed, and ends the
// turn then: nobody reads what is still to come.
type sink struct {
	w    io.Writer
	stop func()
	err  error
}

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	if err != nil {
		s.err = err
		s.stop()
	}
	return n, err
}

// gone reports whether err says that the reader of a pipe went away, which is
// its right.
func gone(err error) bool { return errors.Is(err, syscall.EPIPE) }
