package agenttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
)

// The errors of a Store.
var (
	ErrLost    = errors.New("no such blob")
	ErrDamaged = errors.New("the bytes do not match the digest")
)

// Store keeps blobs in memory.
type Store struct {
	mu    sync.Mutex
	blobs map[content.Digest][]byte
	full  error
}

var _ agent.Store = (*Store)(nil)

// NewStore makes an empty store.
func NewStore() *Store { return &Store{blobs: map[content.Digest][]byte{}} }

// PutBytes stores data.
func (s *Store) PutBytes(ctx context.Context, data []byte) (content.Digest, error) {
	if err := ctx.Err(); err != nil {
		return content.Digest{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full != nil {
		return content.Digest{}, s.full
	}
	d := content.Digest(sha256.Sum256(data))
	s.blobs[d] = bytes.Clone(data)
	return d, nil
}

// Fill makes every write fail with err; nil makes room again.
func (s *Store) Fill(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = err
}

// Lose removes a blob.
func (s *Store) Lose(d content.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, d)
}

// Damage turns a bit of a blob.
func (s *Store) Damage(d content.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.blobs[d]; len(b) > 0 {
		b[len(b)/2] ^= 1
	}
}

// Len is how many blobs there are.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.blobs)
}

// ReadAll returns the bytes of a blob after checking them.
func (s *Store) ReadAll(d content.Digest, limit int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	switch {
	case !ok:
		return nil, fmt.Errorf("read blob %s: %w", d.Short(), ErrLost)
	case content.Digest(sha256.Sum256(b)) != d:
		return nil, fmt.Errorf("read blob %s: %w", d.Short(), ErrDamaged)
	case limit > 0 && int64(len(b)) > limit:
		return nil, fmt.Errorf("read blob %s: more than %d bytes", d.Short(), limit)
	}
	return bytes.Clone(b), nil
}

// Open implements agent.Store.
func (s *Store) Open(d content.Digest) (io.ReadCloser, error) {
	b, err := s.ReadAll(d, 0)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Check implements agent.Store.
func (s *Store) Check(d content.Digest) error {
	_, err := s.ReadAll(d, 0)
	return err
}
