package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"tote/internal/content"
)

// Open returns the bytes of a blob. They have been checked against d; an error
// wraps ErrNotFound or ErrDamaged where it is one of these.
func (s *Store) Open(d content.Digest) (io.ReadCloser, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d.Short(), err)
	}
	return f, nil
}

// ReadAll returns all bytes of a blob. More than limit bytes are a *LimitError;
// a limit of 0 is none.
func (s *Store) ReadAll(d content.Digest, limit int64) ([]byte, error) {
	b, err := s.readAll(d, limit)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", d.Short(), err)
	}
	return b, nil
}

func (s *Store) readAll(d content.Digest, limit int64) ([]byte, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if limit > 0 && info.Size() > limit {
		return nil, &LimitError{Limit: limit}
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return b, nil
}

// Check verifies a blob without giving its bytes.
func (s *Store) Check(d content.Digest) error {
	if err := s.verify(d); err != nil {
		return fmt.Errorf("check blob %s: %w", d.Short(), err)
	}
	return nil
}

// Size returns the size of a blob in bytes, without verifying it.
func (s *Store) Size(d content.Digest) (int64, error) {
	info, err := s.stat(d)
	if err != nil {
		return 0, fmt.Errorf("measure blob %s: %w", d.Short(), err)
	}
	return info.Size(), nil
}

// Export copies a blob to the file name below root, which may exist. The copy
// belongs to whoever gets it: it shares nothing with the store, so that a
// program that edits it damages no blob.
func (s *Store) Export(d content.Digest, root *os.Root, name string) error {
	if err := s.export(d, root, name); err != nil {
		return fmt.Errorf("copy blob %s to %s: %w", d.Short(), name, err)
	}
	return nil
}

func (s *Store) export(d content.Digest, root *os.Root, name string) error {
	src, err := s.open(d)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only
	tmp := path.Join(path.Dir(name), tempName())
	dst, err := createTemp(root, tmp)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	if err := root.Rename(tmp, name); err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}

// stat describes the file of a blob.
func (s *Store) stat(d content.Digest) (os.FileInfo, error) {
	info, err := s.root.Lstat(d.String())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a file", ErrDamaged)
	}
	return info, nil
}

// open returns the verified file of a blob, at its start.
func (s *Store) open(d content.Digest) (*os.File, error) {
	f, info, err := s.openUnverified(d)
	if err != nil {
		return nil, err
	}
	if s.known(d, info) {
		return f, nil
	}
	if err := checkBytes(f, d); err != nil {
		_ = f.Close() // read only: the first error is the one to tell
		s.forget(d)
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, err
	}
	s.remember(d, info)
	return f, nil
}

// openUnverified asks before it opens, because opening a pipe would wait.
func (s *Store) openUnverified(d content.Digest) (*os.File, os.FileInfo, error) {
	if _, err := s.stat(d); err != nil {
		return nil, nil, err
	}
	f, err := s.root.Open(d.String())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (s *Store) verify(d content.Digest) error {
	f, err := s.open(d)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkBytes reads r to its end and compares.
func checkBytes(r io.Reader, d content.Digest) error {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return err
	}
	var got content.Digest
	h.Sum(got[:0])
	if got != d {
		return ErrDamaged
	}
	return nil
}

func (s *Store) known(d content.Digest, info os.FileInfo) bool {
	s.mu.Lock()
	old, ok := s.verified[d]
	s.mu.Unlock()
	return ok && sameFile(old, info) && old.ModTime().Equal(info.ModTime())
}

func (s *Store) remember(d content.Digest, info os.FileInfo) {
	s.mu.Lock()
	s.verified[d] = info
	s.mu.Unlock()
}

func (s *Store) forget(d content.Digest) {
	s.mu.Lock()
	delete(s.verified, d)
	s.mu.Unlock()
}

// recall remembers a file as verified whose time we have just set ourselves.
// before is the same file while its bytes were known to be right.
func (s *Store) recall(d content.Digest, before os.FileInfo) error {
	f, info, err := s.openUnverified(d)
	if err != nil {
		return err
	}
	if sameFile(before, info) {
		s.remember(d, info)
	}
	return f.Close()
}

func sameFile(a, b os.FileInfo) bool { return a.Size() == b.Size() && os.SameFile(a, b) }
