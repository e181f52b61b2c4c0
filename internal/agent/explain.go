package agent

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// UnusableError is a prompt that was not taken in, because its agent lacks what it
// needs: that is for the user to mend.
type UnusableError struct {
	// Agent is its name in the configuration.
	Agent string
	Err   error
}

// Error implements error.
func (e *UnusableError) Error() string { return "agent " + e.Agent + ": " + e.Err.Error() }

// Unwrap returns what is missing.
func (e *UnusableError) Unwrap() error { return e.Err }

// Explain puts an error into the three things that a surface shows: a word that
// scripts may branch on, what went wrong, and what the user can do about it, ""
// for nothing. The kinds of failed requests are those of
// [delivery.FailureKind]; further ones are strict, empty, closed, config,
// denied, timeout, cancelled, storage and failed. The message keeps its line breaks and may hold
// any character, so a surface cleans it.
func Explain(err error) (kind, message, hint string) {
	var e *provider.Error
	var file *fs.PathError
	var unusable *UnusableError
	var denied *DeniedError
	switch {
	case errors.As(err, &denied):
		return "denied", err.Error(), "the commands under hooks in the configuration decide about that"
	case errors.As(err, &unusable):
		return "config", err.Error(), ""
	case errors.Is(err, ErrStrict):
		return "strict", "not sent: something would not be delivered whole", "the lines above and tote receipts say what; the prompt is not in the conversation. Leave out --strict to send it so"
	case errors.Is(err, ErrEmpty):
		return "empty", err.Error(), "give a prompt, a file, or both"
	case errors.Is(err, ErrClosed):
		return "closed", err.Error(), ""
	case errors.As(err, &e):
		return explainRequest(e)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", err.Error(), "allow more time"
	case errors.Is(err, context.Canceled):
		return "cancelled", err.Error(), ""
	case noSpace(err):
		return "storage", err.Error(), "make room on the disk that holds tote's data, and see whether it is sound"
	case errors.As(err, &file):
		return "storage", err.Error(), "look at the permissions and the free space of " + file.Path
	}
	return "failed", err.Error(), ""
}

func explainRequest(e *provider.Error) (kind, message, hint string) {
	kind, hint = e.Failure.Kind.String(), e.Hint
	if e.Failure.Kind == delivery.FailStream && hint == "" {
		hint = "what had arrived is kept; ask again, or ask it to go on"
	}
	return kind, e.Error(), hint
}

// noSpace tells a full disk also where a database reports it in words: its
// errors are not known here.
func noSpace(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	for _, s := range []string{"no space left", "database or disk is full", "disk I/O error"} {
		if strings.Contains(err.Error(), s) {
			return true
		}
	}
	return false
}
