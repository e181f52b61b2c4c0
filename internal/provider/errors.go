package provider

import (
	"fmt"
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
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Failure.Kind.String()
	if e.Failure.Status != 0 {
		s = fmt.Sprintf("%s (HTTP %d)", s, e.Failure.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
