package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"tote/internal/content"
)

// tempFile is what writing a blob needs of a file.
type tempFile interface {
	io.WriteCloser
	Sync() error
	Stat() (os.FileInfo, error)
}

func createTemp(root *os.Root, name string) (tempFile, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// copySize is the unit of copying in bytes; a cancelled context is seen
// between two units.
const copySize = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

// Put stores what r holds and returns its digest and size. More than limit
// bytes are a *LimitError; a limit of 0 is none. r should be a source that does
// not wait for people: a collection waits until Put is done.
func (s *Store) Put(ctx context.Context, r io.Reader, limit int64) (content.Digest, int64, error) {
	d, n, err := s.put(ctx, r, limit)
	if err != nil {
		return content.Digest{}, 0, fmt.Errorf("store attachment: %w", err)
	}
	return d, n, nil
}

// PutBytes stores b and returns its digest. Nothing is written when the same
// bytes are already there and sound.
func (s *Store) PutBytes(ctx context.Context, b []byte) (content.Digest, error) {
	d := content.Digest(sha256.Sum256(b))
	if err := s.putBytes(ctx, d, b); err != nil {
		return content.Digest{}, fmt.Errorf("store attachment: %w", err)
	}
	return d, nil
}

func (s *Store) putBytes(ctx context.Context, d content.Digest, b []byte) (err error) {
	l, err := s.shared(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	there, err := s.present(d, int64(len(b)))
	if err != nil || there {
		return err
	}
	t, err := s.writeTemp(ctx, bytes.NewReader(b), 0)
	if err != nil {
		return err
	}
	return s.commit(t)
}

func (s *Store) put(ctx context.Context, r io.Reader, limit int64) (_ content.Digest, _ int64, err error) {
	l, err := s.shared(ctx)
	if err != nil {
		return content.Digest{}, 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	t, err := s.writeTemp(ctx, r, limit)
	if err != nil {
		return content.Digest{}, 0, err
	}
	there, err := s.present(t.digest, t.size)
	if err != nil || there {
		return t.digest, t.size, errors.Join(err, s.discard(t))
	}
	return t.digest, t.size, s.commit(t)
}

// temp is a written blob that has no name yet.
type temp struct {
	name   string
	file   tempFile
	digest content.Digest
	size   int64
}

// writeTemp leaves nothing behind when it returns an error.
func (s *Store) writeTemp(ctx context.Context, r io.Reader, limit int64) (*temp, error) {
	name := tempName()
	f, err := s.create(s.root, name)
	if err != nil {
		return nil, err
	}
	t := &temp{name: name, file: f}
	h := sha256.New()
	var src io.Reader = contextReader{ctx, r}
	if limit > 0 {
		src = io.LimitReader(src, limit+1)
	}
	buf := copyBuffers.Get().(*[copySize]byte)
	defer copyBuffers.Put(buf)
	t.size, err = io.CopyBuffer(io.MultiWriter(h, f), src, buf[:])
	if err == nil && limit > 0 && t.size > limit {
		err = &LimitError{Limit: limit}
	}
	if err != nil {
		return nil, errors.Join(err, s.discard(t))
	}
	h.Sum(t.digest[:0])
	return t, nil
}

func (s *Store) discard(t *temp) error {
	return errors.Join(t.file.Close(), s.root.Remove(t.name))
}

// commit gives a written blob its name, durably.
func (s *Store) commit(t *temp) error {
	if err := t.file.Sync(); err != nil {
		return errors.Join(err, s.discard(t))
	}
	info, err := t.file.Stat()
	if err != nil {
		return errors.Join(err, s.discard(t))
	}
	if err := t.file.Close(); err != nil {
		return errors.Join(err, s.root.Remove(t.name))
	}
	now := s.now()
	if err := s.root.Chtimes(t.name, now, now); err != nil {
		return errors.Join(err, s.root.Remove(t.name))
	}
	if err := s.root.Rename(t.name, t.digest.String()); err != nil {
		return errors.Join(err, s.root.Remove(t.name))
	}
	if err := syncDir(s.root); err != nil {
		return err
	}
	return s.recall(t.digest, info)
}

// present reports whether the blob is stored and sound; if so, its time is
// refreshed, so that a collection spares it for another grace period.
func (s *Store) present(d content.Digest, size int64) (bool, error) {
	info, err := s.root.Lstat(d.String())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return false, nil
	}
	err = s.verify(d)
	if errors.Is(err, ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now := s.now()
	if err := s.root.Chtimes(d.String(), now, now); err != nil {
		return false, err
	}
	return true, s.recall(d, info)
}

// contextReader ends a copy when its context does. It is made for one call,
// so it may hold the context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives for one copy only
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
