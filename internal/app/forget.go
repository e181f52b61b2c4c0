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
	// Kind is what the block is. A text has no blob, and a link has nothing to forget.
	Kind content.Kind
	// Already: it was forgotten before, and nothing is left of it.
	Already bool
	// Blobs are removed from the store, Files are copies that the model's tools
	// could open.
	Blobs []content.Digest
	Files []string
	// Kept are the sessions that have the same bytes of their own, for which they
	// stay in the store.
	Kept []Keeper
}

// Keeper is a session in which bytes stay.
type Keeper struct {
	history.Session
	// Handle is the label that they have there, "" for none: they are in a turn that
	// was taken back long ago, or are an older form of a file, for /undo.
	Handle content.Handle
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
	block, err := blockOf(ctx, db, session, h)
	if err != nil {
		return Forgotten{}, err
	}
	if block != nil && isForgotten(block) {
		return Forgotten{Kind: block.Kind(), Already: true}, nil
	}
	digests, err := db.ForgetHandle(ctx, session, h)
	if err != nil {
		return Forgotten{}, err
	}
	var out Forgotten
	if block != nil {
		out.Kind = block.Kind()
	}
	for _, d := range digests {
		err := st.Remove(d)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("forget %s: %w", h, err)
		}
		out.Blobs = append(out.Blobs, d)
	}
	out.Files, err = removeCopies(ctx, a.dirs.Scratch, digests)
	if err != nil {
		return out, fmt.Errorf("forget the copies of %s: %w", h, err)
	}
	if block != nil {
		out.Kept, err = keepers(ctx, db, content.Blobs(block))
	}
	if err != nil {
		err = fmt.Errorf("look who else has %s: %w", h, err)
	}
	return out, err
}

// What the history puts in the place of what was forgotten.
const (
	forgottenDetail = "forgotten"
	forgottenText   = "[forgotten]"
)

// isForgotten reports whether a block was forgotten before.
func isForgotten(b content.Block) bool {
	switch b := b.(type) {
	case content.Image, content.Audio, content.Document, content.ResourceText:
		a, _ := content.AttachmentOf(b)
		return a.Original.Digest.IsZero() && a.Fault == content.FaultMissing && a.Detail == forgottenDetail
	case content.Text:
		return b.Body == forgottenText
	case content.Opaque:
		return b.Raw.Digest.IsZero() && b.Raw.Size > 0
	case content.ResourceLink:
	}
	return false
}

// keepers are the sessions that refer to one of the blobs, children too.
func keepers(ctx context.Context, db *history.DB, blobs []content.Blob) ([]Keeper, error) {
	var out []Keeper
	f := history.Filter{Children: true}
	for {
		page, next, err := db.Sessions(ctx, f)
		if err != nil {
			return out, err
		}
		for _, s := range page {
			k, holds, err := keeper(ctx, db, s, blobs)
			if err != nil {
				return out, err
			}
			if holds {
				out = append(out, k)
			}
		}
		if next == "" {
			return out, nil
		}
		f.Cursor = next
	}
}

// keeper looks for blobs in one session.
func keeper(ctx context.Context, db *history.DB, s history.Session, blobs []content.Blob) (k Keeper, holds bool, err error) {
	for _, b := range blobs {
		if holds, err = db.HasDigest(ctx, s.ID, b.Digest); holds || err != nil {
			break
		}
	}
	if err != nil || !holds {
		return k, false, err
	}
	k.Session = s
	b, err := findBlock(ctx, db, s.ID, func(b content.Block) bool {
		return slices.ContainsFunc(content.Blobs(b), func(have content.Blob) bool {
			return slices.ContainsFunc(blobs, func(x content.Blob) bool { return x.Digest == have.Digest })
		})
	})
	if b != nil {
		k.Handle = b.BlockHandle()
	}
	return k, true, err
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
	b, err := blockOf(ctx, db, session, h)
	if b == nil || err != nil {
		return nil, err
	}
	return content.Blobs(b), nil
}

// blockOf is the block with that handle, nil for none.
func blockOf(ctx context.Context, db *history.DB, session string, h content.Handle) (content.Block, error) {
	return findBlock(ctx, db, session, func(b content.Block) bool { return b.BlockHandle() == h })
}

// findBlock is the first block that is wanted of the turns that stand, and of those
// that were taken back last; nil for none.
func findBlock(ctx context.Context, db *history.DB, session string, wanted func(content.Block) bool) (content.Block, error) {
	for _, load := range []func(context.Context, string) ([]content.Turn, error){db.Load, db.Undone} {
		turns, err := load(ctx, session)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			for _, m := range t.Messages {
				if i := slices.IndexFunc(m.Blocks(), wanted); i >= 0 {
					return m.Blocks()[i], nil
				}
			}
		}
	}
	return nil, nil //nolint:nilnil // there is none, which is no error
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
