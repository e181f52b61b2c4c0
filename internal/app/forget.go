package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tote/internal/content"
	"tote/internal/history"
)

// Forgotten is what a forget removed.
type Forgotten struct {
	// Blobs are removed from the store, Files are copies that the model's tools
	// could open.
	Blobs []content.Digest
	Files []string
}

// Forget removes the bytes of a block everywhere: from the session, its forks and
// the sessions that worked for it, from the store, and from the scratch folders.
// What stays is that there was such a block.
func (a *App) Forget(ctx context.Context, session string, h content.Handle) (Forgotten, error) {
	st, db, err := a.open(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	if session, err = oldest(ctx, db, session, h); err != nil {
		return Forgotten{}, err
	}
	release, err := a.LockSession(ctx, session, func() {})
	if err != nil {
		return Forgotten{}, err
	}
	defer release()
	digests, err := db.ForgetHandle(ctx, session, h)
	if err != nil {
		return Forgotten{}, err
	}
	var out Forgotten
	for _, d := range digests {
		err := st.Remove(d)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("forget %s: %w", h, err)
		}
		out.Blobs = append(out.Blobs, d)
	}
	out.Files, err = removeCopies(ctx, a.dirs.Scratch, digests)
	if err != nil {
		err = fmt.Errorf("forget the copies of %s: %w", h, err)
	}
	return out, err
}

// oldest is the session from which a fork or a child has its block: what is
// forgotten there is forgotten in all that came of it.
func oldest(ctx context.Context, db *history.DB, session string, h content.Handle) (string, error) {
	for {
		st, err := db.Session(ctx, session)
		if err != nil {
			return "", err
		}
		here, err := blobsOf(ctx, db, session, h)
		if err != nil || st.Parent == "" {
			return session, err
		}
		there, err := blobsOf(ctx, db, st.Parent, h)
		if err != nil || len(here) == 0 || !slices.Equal(here, there) {
			return session, nil // the one before is gone, or has another block of that name
		}
		session = st.Parent
	}
}

// blobsOf are the blobs of the block with that handle.
func blobsOf(ctx context.Context, db *history.DB, session string, h content.Handle) ([]content.Blob, error) {
	turns, err := db.Load(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				if b.BlockHandle() == h {
					return content.Blobs(b), nil
				}
			}
		}
	}
	return nil, nil
}

// removeCopies removes the files below dir that hold one of the blobs.
func removeCopies(ctx context.Context, dir string, digests []content.Digest) ([]string, error) {
	gone := map[content.Digest]bool{}
	for _, d := range digests {
		gone[d] = true
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) || len(gone) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what is removed through it is gone
	var out []string
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || !e.Type().IsRegular():
			return nil // what cannot be listed is not ours
		}
		d, err := digestOf(root, name)
		if err != nil || !gone[d] {
			return err
		}
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return err
		}
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
		return nil
	})
	return out, err
}

func digestOf(root *os.Root, name string) (content.Digest, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return content.Digest{}, err
	}
	defer func() { _ = f.Close() }() // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return content.Digest{}, err
	}
	return content.Digest(h.Sum(nil)), nil
}
