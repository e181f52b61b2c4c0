package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/content"
)

// file is a captured file.
type file struct {
	path string
	data []byte
}

// path takes a file by its path.
func (in *Inlet) path(ctx context.Context, s content.Source, raw string, sc Scope) (taken, error) {
	f, err := in.capture(ctx, raw, s, sc)
	cl := claimOf(s)
	if f.path != "" {
		cl.att.Origin.Path = f.path
	}
	if cl.att.Name == "" {
		cl.att.Name = baseName(raw)
		if f.path != "" {
			cl.att.Name = filepath.Base(f.path)
		}
	}
	if err != nil {
		bad, ok := troubleOf(err)
		if !ok {
			return taken{}, err
		}
		return one(faulty(cl, bad.fault, bad.detail)), nil
	}
	return in.attach(ctx, f.data, cl)
}

// capture reads the file that raw names, if who chose it may read it. The error
// is a *trouble, or the context's. The path is set as soon as it is known.
func (in *Inlet) capture(ctx context.Context, raw string, s content.Source, sc Scope) (file, error) {
	ways, err := in.spellings(raw, sc.Cwd)
	if err != nil {
		return file{}, err
	}
	switch s.Chooser {
	case content.ChosenByUser:
		return in.captureForUser(ctx, ways, s.Inlet, sc)
	case content.ChosenByModel, content.ChosenByTool:
		return in.captureConfined(ctx, ways, sc)
	}
	return file{}, troublef(content.FaultDenied, "nobody is known to have chosen it")
}

// captureForUser reads any file. A client that speaks for the user over ACP is
// asked about files outside the roots, once.
func (in *Inlet) captureForUser(ctx context.Context, ways []string, inlet content.Inlet, sc Scope) (file, error) {
	p, err := locate(ways, anywhere())
	if err != nil {
		return file{path: ways[len(ways)-1]}, err
	}
	if inlet == content.InletACP {
		real, err := resolve(p)
		if err != nil {
			return file{path: p}, err
		}
		if _, _, ok := placesOf(sc).root(real); !ok {
			if err := ask(ctx, sc, real); err != nil {
				return file{path: p}, err
			}
			p = real // what was permitted is what is read
		}
	}
	data, err := in.readNamed(ctx, p)
	return file{path: p, data: data}, err
}

// captureConfined reads files in the roots. What lies outside needs permission;
// what is forbidden is not read with it either.
func (in *Inlet) captureConfined(ctx context.Context, ways []string, sc Scope) (file, error) {
	pl := placesOf(sc)
	wanted := ways[len(ways)-1]
	if !slices.ContainsFunc(ways, pl.named) {
		return in.captureOutside(ctx, wanted, pl, sc)
	}
	p, err := locate(ways, pl.permits())
	if err != nil {
		if pl.leadsOut(wanted) {
			return in.captureOutside(ctx, wanted, pl, sc)
		}
		return file{path: wanted}, err
	}
	real, err := resolve(p)
	if err != nil {
		return file{path: p}, err
	}
	if pl.forbids(real) {
		return file{path: p}, errForbidden
	}
	root, rel, ok := pl.root(real)
	if !ok {
		return in.captureOutside(ctx, real, pl, sc)
	}
	data, err := in.readInRoot(ctx, root, rel)
	return file{path: p, data: data}, err
}

// captureOutside asks, and reads what the answer was about.
func (in *Inlet) captureOutside(ctx context.Context, p string, pl places, sc Scope) (file, error) {
	if sc.Ask == nil {
		return file{path: p}, troublef(content.FaultDenied, "it lies outside the project and nobody can be asked")
	}
	// The question names the file behind links; the one who chose the path
	// learns nothing unless the answer is yes. A network share is not
	// touched before, since touching it logs in to it.
	real := p
	if !strings.HasPrefix(p, `\\`) {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			real = r
		}
		if pl.forbids(real) {
			return file{path: p}, errForbidden
		}
	}
	if err := ask(ctx, sc, real); err != nil {
		return file{path: p}, err
	}
	if pl.forbids(real) {
		return file{path: p}, errForbidden
	}
	data, err := in.readNamed(ctx, real)
	return file{path: real, data: data}, err
}

// errForbidden is for folders that no permission opens.
var errForbidden = troublef(content.FaultDenied, "it lies in a folder that models and tools may not read")

func ask(ctx context.Context, sc Scope, p string) error {
	if sc.Ask == nil {
		return troublef(content.FaultDenied, "it lies outside the project and nobody can be asked")
	}
	yes, err := sc.Ask(ctx, p)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return troublef(content.FaultDenied, "it lies outside the project and the question got no answer")
	case !yes:
		return troublef(content.FaultDenied, "reading it was not permitted")
	}
	return nil
}

// resolve follows links to the file itself.
func resolve(p string) (string, error) {
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", fileTrouble(p, err)
	}
	return real, nil
}

// leadsOut reports whether a folder on the way to p is a link out of the roots,
// or is forbidden.
func (p places) leadsOut(path string) bool {
	if !p.named(path) {
		return true
	}
	dir, err := filepath.EvalSymlinks(nearestFolder(path))
	if err != nil {
		return false
	}
	_, _, inside := p.root(dir)
	return !inside || p.forbids(dir)
}

// nearestFolder is the deepest existing folder on p's way, p itself included.
func nearestFolder(p string) string {
	for dir := p; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// readNamed reads a regular file by its path.
func (in *Inlet) readNamed(ctx context.Context, p string) ([]byte, error) {
	before, err := os.Stat(p)
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	// Opening some devices has effects of its own, so they are not opened.
	if err := regular(p, before); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(p, openFlags, 0)
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	return in.readOpen(ctx, p, f, before)
}

// readInRoot reads a regular file below root. Nothing that is put in its place
// meanwhile can lead out of root.
func (in *Inlet) readInRoot(ctx context.Context, root, rel string) ([]byte, error) {
	p := filepath.Join(root, rel)
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	defer func() { _ = r.Close() }() // read only: nothing to lose
	// rel was resolved, so a link in its place came since then.
	before, err := r.Lstat(rel)
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	if err := regular(p, before); err != nil {
		return nil, err
	}
	f, err := r.OpenFile(rel, openFlags, 0)
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	return in.readOpen(ctx, p, f, before)
}

// readOpen reads f to its end and checks that it is the file that was looked at
// before it was opened.
func (in *Inlet) readOpen(ctx context.Context, p string, f *os.File, before os.FileInfo) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fileTrouble(p, err)
	}
	if err := regular(p, info); err != nil {
		return nil, err
	}
	if !os.SameFile(before, info) {
		return nil, troublef(content.FaultUnreadable, "another file took its place while it was opened")
	}
	if info.Size() > in.limit {
		return nil, troublef(content.FaultTooLarge, "%s", tooLarge(info.Size(), in.limit))
	}
	data, err := readAll(ctx, f, info.Size(), in.limit)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		return nil, fileTrouble(p, err)
	}
	if int64(len(data)) > in.limit {
		return nil, troublef(content.FaultTooLarge, "it is longer than it said, limit %s", byteSize(in.limit))
	}
	return data, nil
}

// readAll reads at most limit+1 bytes, so that the caller sees a file that grew
// or whose size is not told (as in /proc). size is how many are expected.
func readAll(ctx context.Context, r io.Reader, size, limit int64) ([]byte, error) {
	const step = 1 << 20
	buf := make([]byte, 0, min(size, limit)+1)
	for int64(len(buf)) <= limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(step, max(4096, len(buf))))
		}
		end := min(int64(cap(buf)), int64(len(buf))+step, limit+1)
		n, err := r.Read(buf[len(buf):end])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// regular refuses everything but a regular file, in words.
func regular(p string, info os.FileInfo) error {
	what := ""
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		what = "a folder"
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		what = "a device"
	case m&fs.ModeSymlink != 0:
		what = "a link"
	default:
		what = "no regular file"
	}
	return troublef(content.FaultUnreadable, "%s is %s", p, what)
}

// fileTrouble says in words why a file could not be read.
func fileTrouble(p string, err error) error {
	switch {
	case missing(err):
		return troublef(content.FaultNotFound, "no file %s", p)
	case errors.Is(err, fs.ErrPermission):
		return troublef(content.FaultUnreadable, "%s may not be read by this user", p)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return troublef(content.FaultUnreadable, "%s: %s", p, err)
}
