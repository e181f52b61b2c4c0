package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"tote/internal/content"
)

// Mode is whether a collection removes what it finds.
type Mode uint8

// The modes.
const (
	// Sweep removes.
	Sweep Mode = iota
	// DryRun only counts.
	DryRun
)

// Report is what a collection or a verification found.
type Report struct {
	// Kept counts the blobs that stay, Removed those that went, or would go
	// in a dry run.
	Kept, Removed int
	// Damaged counts the blobs that a verification found unsound.
	Damaged int
	// Temps counts the leftovers of writers that died.
	Temps int
	// Bytes is the size of what went, or of what a verification read.
	Bytes int64
}

// Usage is how much a store holds.
type Usage struct {
	Blobs int
	Bytes int64
}

// Collect removes the blobs that are not reachable and have not been stored or
// stored again for the grace period, and the leftovers of writers that died.
// Reachability may be taken before the call: what is stored after that is
// within the grace period.
func (s *Store) Collect(ctx context.Context, reachable func(content.Digest) bool, grace time.Duration, m Mode) (_ Report, err error) {
	l, err := s.exclusive(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("collect attachments: %w", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var rep Report
	oldest := s.now().Add(-grace)
	err = s.walk(ctx, func(name string, info os.FileInfo) error {
		d, isBlob := blobName(name)
		switch {
		case isTemp(name):
			rep.Temps++
		case isBlob && !reachable(d) && info.ModTime().Before(oldest):
			rep.Removed++
		case isBlob:
			rep.Kept++
			return nil
		default:
			return nil
		}
		rep.Bytes += info.Size()
		if m == DryRun {
			return nil
		}
		s.forget(d)
		return s.root.Remove(name)
	})
	if err != nil {
		return rep, fmt.Errorf("collect attachments: %w", err)
	}
	return rep, nil
}

// Verify reads every blob anew and calls fn for each, with nil for a sound one
// and an error that wraps ErrDamaged for another.
func (s *Store) Verify(ctx context.Context, fn func(content.Digest, error)) (Report, error) {
	var rep Report
	err := s.walk(ctx, func(name string, _ os.FileInfo) error {
		d, ok := blobName(name)
		if !ok {
			if isTemp(name) {
				rep.Temps++
			}
			return nil
		}
		s.forget(d)
		n, err := s.Size(d)
		if err == nil {
			err = s.Check(d)
		}
		if errors.Is(err, ErrNotFound) {
			return nil // collected since the folder was read
		}
		rep.Bytes += n
		if err != nil {
			rep.Damaged++
		} else {
			rep.Kept++
		}
		fn(d, err)
		return nil
	})
	if err != nil {
		return rep, fmt.Errorf("verify attachments: %w", err)
	}
	return rep, nil
}

// Stat counts what is stored.
func (s *Store) Stat() (Usage, error) {
	var u Usage
	err := s.walk(context.Background(), func(name string, info os.FileInfo) error {
		if _, ok := blobName(name); ok {
			u.Blobs++
			u.Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return Usage{}, fmt.Errorf("measure store: %w", err)
	}
	return u, nil
}

// Remove deletes a blob, whoever refers to it; the error wraps ErrNotFound when
// it is not there. It waits for writers that are storing something.
func (s *Store) Remove(d content.Digest) (err error) {
	l := s.lockFile()
	if err := l.Lock(); err != nil {
		return fmt.Errorf("remove blob %s: lock %s: %w", d.Short(), l.Path(), err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s.forget(d)
	err = s.root.Remove(d.String())
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err == nil {
		err = syncDir(s.root)
	}
	if err != nil {
		return fmt.Errorf("remove blob %s: %w", d.Short(), err)
	}
	return nil
}

// walkBatch is how many names are held at once.
const walkBatch = 1024

// walk calls fn for every file of the folder, in no order. Files that go away
// meanwhile are left out.
func (s *Store) walk(ctx context.Context, fn func(name string, info os.FileInfo) error) error {
	dir, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // read only
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := dir.Readdirnames(walkBatch)
		for _, name := range names {
			info, err := s.root.Lstat(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if err := fn(name, info); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
