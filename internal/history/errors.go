package history

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is wrapped by errors about a session, turn, handle or
	// request that the history does not hold.
	ErrNotFound = errors.New("not in the history")
	// ErrExists is wrapped by errors about an identifier that is taken.
	ErrExists = errors.New("already in the history")
	// ErrUndone is wrapped by errors about writing to a turn that was undone.
	ErrUndone = errors.New("the turn was undone")
	// ErrCursor is wrapped by errors about a cursor that Sessions never gave.
	ErrCursor = errors.New("not a cursor of the session list")
)

// VersionError says that a newer program made the database.
type VersionError struct {
	Path string
	// Found is the version of the file, Known the newest that this program
	// understands.
	Found, Known int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d and this tote knows up to %d: a newer tote wrote it", e.Path, e.Found, e.Known)
}

// UnknownKindError says that a record uses a word that this program does not
// know. The record is left as it is.
type UnknownKindError struct {
	// Session is the session that holds it, "" for what belongs to none.
	Session string
	// What names the vocabulary: "part", "inlet", "reason".
	What string
	// Kind is the unknown word.
	Kind string
}

func (e *UnknownKindError) Error() string {
	where := ""
	if e.Session != "" {
		where = "session " + e.Session + ": "
	}
	return fmt.Sprintf("%sunknown %s %q: a newer tote wrote it", where, e.What, e.Kind)
}
