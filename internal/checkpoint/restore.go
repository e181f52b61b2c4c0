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
	"syscall"

	"tote/internal/content"
)

// Restored is what a restore did, by the paths under which files were kept.
type Restored struct {
	// Files were put back, Removed were made by the turns. Kept were changed by
	// somebody else: such a file is also in Files where later changes of the
	// turns were taken back, as far as that other change.
	Files, Removed, Kept []string
}

// ErrNothingRestored is wrapped by the error of a restore that changed no file.
var ErrNothingRestored = errors.New("no file was changed")

// Restore puts files back as they were before the oldest of the turns. Everything
// is written beside its place before the first file is changed: where there is no
// room for it, or ctx ends, none is, and the error wraps ErrNothingRestored. Other
// errors are those of single files, each with its path; all others were put back.
// It may be run again.
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
	var steps []*step
	var errs []error
	for _, c := range chains(rows) {
		st, err := k.prepare(ctx, session, c)
		if st != nil {
			steps = append(steps, st)
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("restore %s: %w", c[0].Path, err)
		if ctx.Err() != nil || noRoom(err) {
			return Restored{}, errors.Join(fmt.Errorf("%w: %w", ErrNothingRestored, err), discardAll(steps))
		}
		errs = append(errs, err)
	}
	for _, st := range steps {
		if err := st.take(&out); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", st.path, err))
		}
	}
	return out, errors.Join(errs...)
}

// noRoom reports whether something could not be written for want of space.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) || diskFull(err)
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
		if r := chain[i]; r.leaves(now.digest) || now.digest == r.Before {
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
		case r.leaves(g.digest):
			if !moved { // a mode that the turn did not leave is somebody else's
				moved, ours = true, now.digest.IsZero() || r.gave(now.mode)
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

// gave reports whether a mode is the turn's own. A write that nobody has noted kept
// the mode that there was.
func (r Row) gave(m fs.FileMode) bool {
	switch {
	case r.Noted:
		return m == r.AfterMode
	case r.Before.IsZero():
		return true
	}
	return m == r.Mode
}

// step is what is to be done with one file.
type step struct {
	path, target string
	now          state
	goal         goal
	// temp is the file beside it that has the bytes, "" for none; made are the
	// folders that were made for it, the deepest one first.
	temp string
	made []string
	// foreign: something that is no file, or a link, was put in its way.
	foreign bool
}

// prepare finds out what is to be done with a file and writes its bytes beside its
// place. It changes nothing else. The step is not nil where there is something to
// take back or to tell.
func (k *Keeper) prepare(ctx context.Context, session string, chain []Row) (*step, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st := &step{path: chain[0].Path, target: chain[0].Target}
	again, err := resolve(st.target)
	if errors.Is(err, ErrNotRegular) || err == nil && again != st.target {
		st.foreign = true // a link was put in its way
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	st.now, err = look(ctx, st.target)
	if errors.Is(err, ErrNotRegular) || errors.Is(err, errMoved) {
		st.foreign = true
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	st.goal = plan(chain, st.now)
	if st.goal.digest == st.now.digest || st.goal.digest.IsZero() {
		return st, nil
	}
	if st.made, err = makeFolders(filepath.Dir(st.target)); err == nil {
		err = replace(st.target, st.now, func(p place) error { return k.stage(ctx, p, session, st) })
	}
	switch {
	case errors.Is(err, errMoved):
		st.foreign, err = true, discardAll([]*step{st})
	case err != nil:
		return nil, errors.Join(err, discardAll([]*step{st}))
	}
	return st, err
}

// take does what was prepared.
func (st *step) take(out *Restored) error {
	if st.foreign {
		out.Kept = append(out.Kept, st.path)
		return nil
	}
	g, now := st.goal, st.now
	var err error
	done := &out.Files
	switch {
	case g.digest == now.digest && (g.mode == now.mode || now.digest.IsZero()):
		done = nil
	case g.digest.IsZero():
		done, err = &out.Removed, replace(st.target, now, place.remove)
	case g.digest == now.digest:
		err = replace(st.target, now, func(p place) error { return p.chmod(g.mode) })
	default:
		err = replace(st.target, now, func(p place) error { return p.put(st.temp) })
	}
	if err == nil && done != nil {
		*done = append(*done, st.path)
	}
	if err != nil {
		err = errors.Join(err, discardAll([]*step{st}))
	}
	if g.kept || errors.Is(err, errMoved) {
		out.Kept = append(out.Kept, st.path)
	}
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// discardAll takes away what was prepared. It goes on after an error.
func discardAll(steps []*step) error {
	var errs []error
	for _, st := range steps {
		if st.temp == "" {
			continue
		}
		err := replace(st.target, st.now, func(p place) error { return discard(p.root, st.temp) })
		if err != nil && !errors.Is(err, errMoved) {
			errs = append(errs, err)
		}
	}
	for _, st := range slices.Backward(steps) {
		for _, dir := range st.made {
			_ = os.Remove(dir) // one that somebody has used meanwhile stays
		}
	}
	return errors.Join(errs...)
}

// makeFolders makes the folders of a path and returns those that were not there,
// the deepest one first, also with an error.
func makeFolders(dir string) (made []string, err error) {
	var need []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		need = append(need, d)
	}
	for _, d := range slices.Backward(need) {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		made = append([]string{d}, made...)
	}
	return made, nil
}

// place is a file in its open folder.
type place struct {
	root *os.Root
	name string
	// now is what lies there.
	now state
}

// replace opens the folder of a place and runs fn in it.
func replace(target string, now state, fn func(place) error) (err error) {
	dir := filepath.Dir(target)
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

// stage writes the goal's bytes beside the place. Its temporary file has the same
// name each time, so that another run takes away what one that died has left.
func (k *Keeper) stage(ctx context.Context, p place, session string, st *step) error {
	sum := sha256.Sum256([]byte(session + "\x00" + p.name))
	tmp := ".tote-undo-" + hex.EncodeToString(sum[:8])
	if err := p.root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := k.write(ctx, p.root, tmp, st.goal); err != nil {
		return errors.Join(err, discard(p.root, tmp))
	}
	st.temp = tmp
	return nil
}

// put gives the temporary file the name of the place.
func (p place) put(tmp string) error {
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
