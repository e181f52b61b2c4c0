package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tote/internal/content"
)

// Restored is what a restore did, by the paths under which files were kept.
type Restored struct {
	// Files were put back, Removed were made by the turns. Kept were changed by
	// somebody else: such a file is also in Files where later changes of the
	// turns were taken back, as far as that other change.
	Files, Removed, Kept []string
}

// Restore puts files back as they were before the oldest of the turns. The error
// joins those of single files, each with its path; all others were put back. It
// may be run again.
func (k *Keeper) Restore(ctx context.Context, session string, turns []string) (Restored, error) {
	var out Restored
	if err := k.enter(ctx); err != nil {
		return out, fmt.Errorf("restore files: %w", err)
	}
	defer k.leave()
	rows, err := k.rows.Checkpoints(ctx, session, turns)
	if err != nil {
		return out, fmt.Errorf("restore files: %w", err)
	}
	var errs []error
	for _, c := range chains(rows) {
		if err := ctx.Err(); err != nil {
			errs = append(errs, fmt.Errorf("restore files: %w", err))
			break
		}
		if err := k.restore(ctx, session, c, &out); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", c[0].Path, err))
		}
	}
	return out, errors.Join(errs...)
}

// chains gathers the rows of each file, oldest first; the file that was changed
// last comes first.
func chains(rows []Row) [][]Row {
	at, newest := map[string][]Row{}, map[string]int{}
	for i, r := range rows {
		at[r.Target] = append(at[r.Target], r)
		newest[r.Target] = i
	}
	var out [][]Row
	for _, c := range at {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b []Row) int { return cmp.Compare(newest[b[0].Target], newest[a[0].Target]) })
	return out
}

// goal is where a file is to go.
type goal struct {
	digest content.Digest
	mode   fs.FileMode
	// kept: somebody else's change stands in the way of going further back.
	kept bool
}

// plan follows the steps of a file backwards from where it is now. A place in
// the middle of the chain counts too: an earlier restore of fewer turns has put
// the file there.
func plan(chain []Row, now state) goal {
	g := goal{digest: now.digest, mode: now.mode}
	i := len(chain) - 1
	for ; i >= 0; i-- {
		if r := chain[i]; r.Noted && now.digest == r.After || now.digest == r.Before {
			break
		}
	}
	if i < 0 {
		g.kept = true
		return g
	}
	moved, ours := false, false
	for ; i >= 0; i-- {
		switch r := chain[i]; {
		case r.Noted && g.digest == r.After:
			if !moved { // a mode that the turn did not leave is somebody else's
				moved, ours = true, now.digest.IsZero() || now.mode == r.AfterMode
			}
			if g.digest = r.Before; ours && !r.Before.IsZero() {
				g.mode = r.Mode
			}
		case g.digest == r.Before:
		default:
			g.kept = true
			return g
		}
	}
	return g
}

func (k *Keeper) restore(ctx context.Context, session string, chain []Row, out *Restored) error {
	path, target := chain[0].Path, chain[0].Target
	again, err := resolve(target)
	if errors.Is(err, ErrNotRegular) || err == nil && again != target {
		out.Kept = append(out.Kept, path) // a link was put in its way
		return nil
	}
	if err != nil {
		return err
	}
	now, err := look(ctx, target)
	if errors.Is(err, ErrNotRegular) || errors.Is(err, errMoved) {
		out.Kept = append(out.Kept, path)
		return nil
	}
	if err != nil {
		return err
	}
	g := plan(chain, now)
	switch {
	case g.digest == now.digest && (g.mode == now.mode || now.digest.IsZero()):
	case g.digest.IsZero():
		if err = replace(target, now, func(p place) error { return p.remove() }); err == nil {
			out.Removed = append(out.Removed, path)
		}
	case g.digest == now.digest:
		if err = replace(target, now, func(p place) error { return p.chmod(g.mode) }); err == nil {
			out.Files = append(out.Files, path)
		}
	default:
		if err = replace(target, now, func(p place) error { return k.put(ctx, p, session, g) }); err == nil {
			out.Files = append(out.Files, path)
		}
	}
	if g.kept || errors.Is(err, errMoved) {
		out.Kept = append(out.Kept, path)
	}
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// place is a file in its open folder.
type place struct {
	root *os.Root
	name string
	// now is what lies there.
	now state
}

// replace opens the folder of a place and runs fn in it. The folder is made where
// it is missing.
func replace(target string, now state, fn func(place) error) (err error) {
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	// A link that took the place of one of the folders leads elsewhere.
	opened, err := root.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if real, err := resolve(dir); err != nil || real != dir || !os.SameFile(opened, named) {
		return errors.Join(errMoved, err)
	}
	return fn(place{root: root, name: filepath.Base(target), now: now})
}

// unchanged fails with errMoved when the file is not the one that was looked at.
func (p place) unchanged() error {
	info, err := p.root.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		if p.now.info == nil {
			return nil
		}
		return errMoved
	}
	if err != nil {
		return err
	}
	was := p.now.info
	if was == nil || !os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime()) {
		return errMoved
	}
	return nil
}

func (p place) remove() error {
	if err := p.unchanged(); err != nil {
		return err
	}
	if err := p.root.Remove(p.name); err != nil {
		return err
	}
	return syncFolder(p.root)
}

func (p place) chmod(m fs.FileMode) error {
	if err := p.unchanged(); err != nil {
		return err
	}
	return p.root.Chmod(p.name, m)
}

// put writes the goal's bytes to the place. Its temporary file has the same name
// each time, so that another run takes away what one that died has left.
func (k *Keeper) put(ctx context.Context, p place, session string, g goal) error {
	sum := sha256.Sum256([]byte(session + "\x00" + p.name))
	tmp := ".tote-undo-" + hex.EncodeToString(sum[:8])
	if err := p.root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := k.write(ctx, p.root, tmp, g); err != nil {
		return errors.Join(err, discard(p.root, tmp))
	}
	err := p.unchanged()
	if err == nil {
		err = makeReplaceable(p.root, p.name, p.now.info)
	}
	if err == nil {
		err = p.root.Rename(tmp, p.name)
	}
	if err != nil {
		return errors.Join(err, discard(p.root, tmp))
	}
	return syncFolder(p.root)
}

// discard removes a temporary file, which may not have been made.
func discard(root *os.Root, tmp string) error {
	if err := root.Remove(tmp); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (k *Keeper) write(ctx context.Context, root *os.Root, tmp string, g goal) error {
	src, err := k.blobs.Open(g.digest)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, reader{ctx, src})
	if err == nil {
		err = f.Chmod(g.mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
