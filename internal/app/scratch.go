package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"tote/internal/content"
	"tote/internal/store"
)

// scratch keeps the files that the model's tools may open, one folder for each
// session. The model never sees a path of the store.
type scratch struct {
	dir   string
	store *store.Store

	mu     sync.Mutex
	copies map[copyKey]copied
}

// copyKey names the bytes that a session has a copy of.
type copyKey struct {
	session string
	digest  content.Digest
}

// copied is a file as it was written, so that a later change to it is seen.
type copied struct {
	name string
	info os.FileInfo
}

// maxCopies bounds the memory. What was forgotten is copied once more.
const maxCopies = 4096

// Dir returns a session's folder.
func (s *scratch) Dir(session string) string { return filepath.Join(s.dir, session) }

// Stage writes a blob to a file of that name, which may lie in a subfolder, and
// returns its path. A file that is there with the right size is kept. The same
// bytes under several names are one file with several links, where the file
// system has them: a session may show one picture a thousand times.
func (s *scratch) Stage(ctx context.Context, session, name string, b content.Blob) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	full := filepath.Join(s.Dir(session), filepath.FromSlash(name))
	if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() && info.Size() == b.Size {
		return full, nil
	}
	if err := s.write(session, name, b); err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	return full, nil
}

// Spill writes a text to a file of that name and returns its path.
func (s *scratch) Spill(ctx context.Context, session, name, text string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	dir := s.Dir(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = root.Close() }() // what was written is closed by itself
	if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return filepath.Join(dir, name), nil
}

func (s *scratch) write(session, name string, b content.Blob) error {
	dir := s.Dir(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is closed by itself
	if sub := path.Dir(name); sub != "." {
		if err := root.MkdirAll(sub, 0o700); err != nil {
			return err
		}
	}
	key := copyKey{session, b.Digest}
	if s.link(root, key, name) {
		return nil
	}
	if err := s.store.Export(b.Digest, root, name); err != nil {
		return err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copies == nil || len(s.copies) >= maxCopies {
		s.copies = map[copyKey]copied{}
	}
	s.copies[key] = copied{name, info}
	return nil
}

// link gives an earlier copy of the same bytes a further name, unless something
// has happened to it since. Where that does not work a copy is made.
func (s *scratch) link(root *os.Root, key copyKey, name string) bool {
	s.mu.Lock()
	earlier, ok := s.copies[key]
	s.mu.Unlock()
	if !ok {
		return false
	}
	info, err := root.Lstat(earlier.name)
	if err != nil || !os.SameFile(info, earlier.info) || info.Size() != earlier.info.Size() || !info.ModTime().Equal(earlier.info.ModTime()) {
		return false
	}
	return root.Link(earlier.name, name) == nil
}

// remove deletes a session's folder.
func (s *scratch) remove(session string) error {
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the scratch folder of %s: %w", session, err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	if err := root.RemoveAll(session); err != nil {
		return fmt.Errorf("remove the scratch folder of %s: %w", session, err)
	}
	return nil
}
