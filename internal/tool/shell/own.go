package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const (
	// ownPrefix begins the names of private folders, ownLock ends those of the
	// files beside them that their owner holds locked while it lives.
	ownPrefix = "tote-shell-"
	ownLock   = ".lock"
	// maxTries bounds the names that are tried for a folder, each of which
	// somebody who sweeps may take away between two steps.
	maxTries = 16
)

// own is a private folder with the lock that says that its owner lives.
type own struct {
	dir  string
	lock *os.File
}

// makeOwn makes a private folder in base.
func makeOwn(base string) (own, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return own{}, plain(err)
	}
	for range maxTries {
		f, err := os.CreateTemp(base, ownPrefix+"*"+ownLock)
		if err != nil {
			return own{}, plain(err)
		}
		name := f.Name()
		if err := f.Close(); err != nil {
			return own{}, plain(err)
		}
		lock, err := tryLock(name)
		if err != nil || !isStill(lock, name) {
			if lock != nil {
				_ = lock.Close() // nothing was written
			}
			continue // it was taken for one whose owner is dead
		}
		dir := strings.TrimSuffix(name, ownLock)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return own{}, errors.Join(plain(err), lock.Close(), os.Remove(name))
		}
		return own{dir: dir, lock: lock}, nil
	}
	return own{}, errors.New("every name for it was taken away")
}

// isStill reports whether an open file is the one that stands under the name.
func isStill(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}

// remove removes the folder and gives up the lock.
func (o own) remove() error {
	if o.lock == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(o.dir), o.lock.Close(), os.Remove(o.lock.Name()))
}

// sweep removes the private folders in base whose owner is dead: it was killed
// before it could do so itself. What cannot be removed is left for the next one.
func sweep(base string) {
	names, err := filepath.Glob(filepath.Join(globQuote(base), ownPrefix+"*"+ownLock))
	if err != nil {
		return // a base that is no pattern has nothing to sweep
	}
	for _, name := range names {
		lock, err := tryLock(name)
		if err != nil {
			continue // its owner lives, or it is somebody else's
		}
		if isStill(lock, name) {
			_ = own{dir: strings.TrimSuffix(name, ownLock), lock: lock}.remove() // the next one tries again
		} else {
			_ = lock.Close() // nothing was written
		}
	}
}

// globQuote makes a pattern of a path that matches it alone.
func globQuote(p string) string {
	if filepath.Separator == '\\' {
		return p // a backslash quotes nothing there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}
