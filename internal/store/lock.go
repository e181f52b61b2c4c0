package store

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a held lock is tried again.
const lockPoll = 5 * time.Millisecond

// Every holder opens the lock file anew: locks belong to open files, so the
// goroutines of one process exclude each other as processes do.
func (s *Store) lockFile() *flock.Flock {
	return flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o600))
}

// shared locks out collections. The caller calls Close on what it returns.
func (s *Store) shared(ctx context.Context) (*flock.Flock, error) {
	l := s.lockFile()
	if _, err := l.TryRLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return l, nil
}

// exclusive locks out everybody who stores or collects.
func (s *Store) exclusive(ctx context.Context) (*flock.Flock, error) {
	l := s.lockFile()
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return l, nil
}
