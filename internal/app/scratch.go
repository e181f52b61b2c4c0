package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"tote/internal/content"
	"tote/internal/store"
)

// scratch keeps the files that the model's tools may open, one folder for each
// session. The model never sees a path of the store.
type scratch struct {
	dir   string
	store *store.Store
}

// Dir returns a session's folder.
func (s scratch) Dir(session string) string { return filepath.Join(s.dir, session) }

// Stage writes a blob to a file of that name, which may lie in a subfolder, and
// returns its path. A file that is there with the right size is kept.
func (s scratch) Stage(ctx context.Context, session, name string, b content.Blob) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	dir := s.Dir(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	defer func() { _ = root.Close() }() // what was written is closed by itself
	full := filepath.Join(dir, filepath.FromSlash(name))
	if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() == b.Size {
		return full, nil
	}
	if sub := path.Dir(name); sub != "." {
		if err := root.MkdirAll(sub, 0o700); err != nil {
			return "", fmt.Errorf("stage %s: %w", name, err)
		}
	}
	if err := s.store.Export(b.Digest, root, name); err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	return full, nil
}

// remove deletes a session's folder.
func (s scratch) remove(session string) error {
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
