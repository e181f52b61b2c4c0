package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// This file tells which processes still run: each holds the lock of a file of its
// own, which the system gives back when the process ends, however it ends.

func (a *App) ownerFile(owner string) string {
	return filepath.Join(a.dirs.Data, "locks", "process-"+owner+".lock")
}

// own takes the lock of this process. The caller holds a.mu.
func (a *App) own() error {
	for a.owner == nil {
		id := newID(a.o.Now())
		if err := os.MkdirAll(filepath.Dir(a.ownerFile(id)), 0o700); err != nil {
			return err
		}
		l := flock.New(a.ownerFile(id), flock.SetPermissions(0o600))
		if err := l.Lock(); err != nil {
			return err
		}
		if _, err := os.Stat(a.ownerFile(id)); errors.Is(err, fs.ErrNotExist) {
			_ = l.Close() // another start took it for one that is left over
			continue
		}
		a.ownerID, a.owner = id, l
	}
	return nil
}

// sweepOwners removes the files of processes that were killed.
func (a *App) sweepOwners() {
	names, err := filepath.Glob(a.ownerFile("*"))
	if err != nil {
		return // no folder is spelt so
	}
	for _, name := range names {
		owner := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "process-"), ".lock")
		if owner != a.ownerID {
			a.alive(owner) // which removes it
		}
	}
}

// disown gives the lock back and removes its file. The caller holds a.mu.
func (a *App) disown() {
	if a.owner == nil {
		return
	}
	path := a.owner.Path()
	_ = a.owner.Close() // the process that it names is about to end
	_ = os.Remove(path) // a file without a holder counts as dead
	a.owner = nil
}

// alive reports whether the process of that name still runs.
func (a *App) alive(owner string) bool {
	if owner == "" || filepath.Base(owner) != owner {
		return false
	}
	if _, err := os.Stat(a.ownerFile(owner)); err != nil {
		return false
	}
	l := flock.New(a.ownerFile(owner), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil || !got {
		return true
	}
	path := l.Path()
	_ = os.Remove(path) // as long as it is locked, so that nobody takes it in between
	_ = l.Close()
	_ = os.Remove(path) // where the system removes no open file
	return false
}
