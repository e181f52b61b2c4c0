package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"tote/internal/content"
)

var (
	// ErrNotFound is wrapped by errors about a blob that is not stored.
	ErrNotFound = errors.New("not in the store")
	// ErrDamaged is wrapped by errors about a file whose bytes are not those
	// that its name promises.
	ErrDamaged = errors.New("stored bytes are damaged")
)

// LimitError says that a blob is larger than its caller takes.
type LimitError struct {
	// Limit is in bytes.
	Limit int64
}

func (e *LimitError) Error() string {
	return "more than " + strconv.FormatInt(e.Limit, 10) + " bytes"
}

const (
	tempPrefix = ".tmp-"
	lockName   = ".lock"
)

// Options are what a store needs besides its folder.
type Options struct {
	// Now is the clock for the times of files; nil takes time.Now.
	Now func() time.Time
}

// Store is a folder of blobs. It is safe for use by several goroutines.
type Store struct {
	dir  string
	root *os.Root
	now  func() time.Time
	// create makes a temporary file; tests replace it to fill up the disk.
	create func(root *os.Root, name string) (tempFile, error)

	mu sync.Mutex
	// verified holds how each checked file looked when it was checked.
	verified map[content.Digest]os.FileInfo
}

// Open opens the store in dir, and makes the folder when it is not there.
func Open(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &Store{
		dir: dir, root: root, now: now, create: createTemp,
		verified: make(map[content.Digest]os.FileInfo),
	}, nil
}

// Close releases the folder. Readers that are open stay usable.
func (s *Store) Close() error {
	if err := s.root.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// blobName returns the digest that a file name stands for.
func blobName(name string) (content.Digest, bool) {
	d, err := content.ParseDigest(name)
	return d, err == nil
}

func tempName() string { return tempPrefix + rand.Text() }

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }
