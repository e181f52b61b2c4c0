package provider

import (
	"fmt"
	"strings"
	"time"

	"tote/internal/delivery"
)

// Error is a request that failed.
type Error struct {
	// Failure is what recovery decides on.
	Failure delivery.Failure
	// Message is the backend's own sentence, cleaned and cut, "" for none.
	Message string
	// Hint says what the user can do, "" for nothing better than trying
	// again.
	Hint string
	// RetryAfter is what the backend asked for, 0 for nothing.
	RetryAfter time.Duration
	// Err is the cause below, nil for an answer with an error status.
	Err error
	// Local: the fault lies on this machine, in its settings, files or programs.
	// The words begin with what is wrong then; the kind's, which are about
	// backends, are left out.
	Local bool
}

// Error implements error.
func (e *Error) Error() string {
	var parts []string
	switch {
	case e.Failure.Status != 0:
		parts = append(parts, fmt.Sprintf("%s (HTTP %d)", e.Failure.Kind, e.Failure.Status))
	case !e.Local || e.Message == "" && e.Err == nil:
		parts = append(parts, e.Failure.Kind.String())
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
