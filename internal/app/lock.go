package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a session that another process works in is tried again.
const lockPoll = 20 * time.Millisecond

func (a *App) lockFile(id string) string { return filepath.Join(a.dirs.Data, "locks", id+".lock") }

// LockSession keeps other processes that ask for the same session out until
// release is called, so that each sees the whole turn of the one before. It
// waits as long as ctx lets it; busy is called once before it does.
func (a *App) LockSession(ctx context.Context, id string, busy func()) (release func(), err error) {
	path := a.lockFile(id)
	if filepath.Base(path) != id+".lock" {
		return nil, fmt.Errorf("lock session %q: it is no id", id)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock session %s: %w", id, err)
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err == nil && !got {
		busy()
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		_ = l.Close() // the first error is the one to show
		return nil, fmt.Errorf("lock session %s: %w", id, err)
	}
	return func() { _ = l.Close() }, nil // closing the file gives the lock back, whatever it reports
}

// dropLock removes the lock file of a session that is gone.
func (a *App) dropLock(id string) error {
	if err := os.Remove(a.lockFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the lock of session %s: %w", id, err)
	}
	return nil
}
