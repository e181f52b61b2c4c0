package config

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUsage marks an error in what the user asked for on the command line or in
// the environment, as against one in a file.
var ErrUsage = errors.New("wrong usage")

// usageError is an ErrUsage that shows only its own text.
type usageError struct{ text string }

func (e *usageError) Error() string        { return e.text }
func (e *usageError) Is(target error) bool { return target == ErrUsage }

func usage(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// Error is a fault in a configuration file. It never holds a value from the file
// that may be secret.
type Error struct {
	File      string // as it was opened
	Line, Col int    // from 1; the column counts bytes. Zero if not known
	Path      string // the member, as in "agents.main.provider"; empty for the file
	Err       error  // what is wrong with it
}

// Error returns "file:line:col: path: what is wrong".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	b.WriteString(": ")
	if e.Path != "" {
		b.WriteString(clean(e.Path))
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// faults collects the errors of one pass, in the order of discovery.
type faults struct{ errs []error }

func (f *faults) add(at pos, path, format string, args ...any) {
	f.wrap(at, path, fmt.Errorf(format, args...))
}

func (f *faults) wrap(at pos, path string, err error) {
	f.errs = append(f.errs, &Error{File: at.file, Line: at.line, Col: at.col, Path: path, Err: err})
}

func (f *faults) err() error { return errors.Join(f.errs...) }
