package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tote/internal/permission"
)

var (
	errMoved  = errors.New("its path leads to another file than the one that was permitted; try again")
	errDenied = errors.New("the user's rules deny reading it")
	errPseudo = errors.New("it is no ordinary file")
	errOdd    = errors.New("it is no regular file")
)

// Place is a path that a model wrote, resolved.
type Place struct {
	// Abs is absolute and clean.
	Abs string
	// Root and Rel say under which root it lies; Root is "" for none.
	Root, Rel string
	// Renamed: nothing is called what the model wrote, and this looks the same.
	Renamed bool

	roots []string
}

// Locate resolves a path that a model wrote. It looks at no file.
func Locate(path string, env Env) Place {
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(env.Cwd, path)
	}
	p := Place{Abs: filepath.Clean(abs), roots: env.Roots}
	for _, root := range env.Roots {
		if rel, err := filepath.Rel(root, p.Abs); err == nil && filepath.IsLocal(rel) {
			p.Root, p.Rel = root, rel
			return p
		}
	}
	return p
}

// IsForbidden reports whether abs lies in a folder that no tool enters, by its
// name or behind links.
func IsForbidden(abs string, env Env) bool {
	if forbiddenName(abs, env) {
		return true
	}
	resolved := Env{Roots: make([]string, len(env.Roots)), Forbidden: make([]string, len(env.Forbidden))}
	for i, r := range env.Roots {
		resolved.Roots[i] = behindLinks(r)
	}
	for i, f := range env.Forbidden {
		resolved.Forbidden[i] = behindLinks(f)
	}
	return forbiddenName(behindLinks(abs), resolved)
}

func forbiddenName(abs string, env Env) bool {
	for _, f := range env.Forbidden {
		if slices.Contains(env.Roots, f) {
			continue
		}
		rel, err := filepath.Rel(f, abs)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		inRoot := false
		for _, r := range env.Roots {
			sub, err := filepath.Rel(f, r)
			under, err2 := filepath.Rel(r, abs)
			inRoot = inRoot || err == nil && err2 == nil && filepath.IsLocal(sub) && filepath.IsLocal(under)
		}
		if !inRoot {
			return true
		}
	}
	return false
}

// behindLinks follows links as far as the path exists, and spells it as it is listed.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return onDisk().spelled(real)
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	if dir == path {
		return path
	}
	return filepath.Join(behindLinks(dir), name)
}

// Spot is the file or folder that a place really is, with no link on the way
// below Dir.
type Spot struct {
	// Abs is its path. Below a root it is spelt as the root is.
	Abs string
	// Dir is where to open it: its root, or for one outside them its own folder.
	// Rel is the path from there.
	Dir, Rel string
	// Inside: it lies under a root.
	Inside bool
	// Linked: it is not called what was written.
	Linked bool

	// real is Abs without any link.
	real string
}

// spot follows the links of a place.
func (p Place) spot() Spot {
	real := behindLinks(p.Abs)
	roots := p.roots
	if p.Root != "" {
		roots = append([]string{p.Root}, roots...)
	}
	for _, root := range roots {
		if rel, err := filepath.Rel(behindLinks(root), real); err == nil && filepath.IsLocal(rel) {
			abs := filepath.Join(root, rel)
			return Spot{Abs: abs, Dir: root, Rel: rel, Inside: true, Linked: abs != p.Abs, real: real}
		}
	}
	return Spot{Abs: real, Dir: filepath.Dir(real), Rel: filepath.Base(real), Linked: real != p.Abs, real: real}
}

// Request is what a tool wants with the place. The file behind links is the one
// that is judged; the name as it was written can still be what a rule denies.
func (p Place) Request(tool string, do permission.Action) permission.Request {
	s := p.spot()
	r := permission.Request{Tool: tool, Action: do, Path: filepath.ToSlash(s.Abs), Inside: p.Root != "" && s.Inside}
	if s.Linked {
		r.Paths = []string{filepath.ToSlash(p.Abs)}
	}
	if s.real != s.Abs {
		behind := r
		behind.Path = filepath.ToSlash(s.real)
		if v, _ := (permission.Rules{Mode: permission.ModeFull}).Decide(behind); v == permission.Deny {
			return behind
		}
	}
	return r
}

// Settle finds what a place really is, and refuses what the call may not reach.
func (p Place) Settle(env Env) (Spot, error) {
	s := p.spot()
	judged := env.Judged == filepath.ToSlash(s.Abs) || env.Judged == filepath.ToSlash(s.real)
	switch {
	case runtime.GOOS == "windows" && oddOnWindows(p.Abs):
		return s, errOddName
	case IsForbidden(p.Abs, env):
		return s, ErrOutside
	case p.Root == "" && !env.Permitted:
		return s, ErrOutside
	case env.Judged != "" && !judged:
		return s, errMoved
	case !s.Inside && (!env.Permitted || s.Linked && !judged):
		return s, ErrOutside
	}
	return s, nil
}

// Check reports whether the spot has become a link, or lies behind one, since it
// was settled. Who has opened it asks before using it.
func (s Spot) Check() error {
	if behindLinks(s.Abs) != s.real {
		return errMoved
	}
	return nil
}

// Denied reports whether the user's rules keep the spot from being read.
func (s Spot) Denied(env Env) bool {
	return env.Denied != nil && (env.Denied(s.Abs) || s.real != s.Abs && env.Denied(s.real))
}

// Refused is the error of a spot that the user's rules deny, nil for any other.
func (s Spot) Refused(env Env) error {
	if s.Denied(env) {
		return errDenied
	}
	return nil
}

// Pseudo reports whether the spot is one of the files through which a Unix kernel
// speaks: they have no size, and reading one may wait or never end.
func (s Spot) Pseudo() bool {
	slash := filepath.ToSlash(s.real) + "/"
	return filepath.VolumeName(s.real) == "" && slices.ContainsFunc([]string{"/proc/", "/sys/"}, func(dir string) bool { return strings.HasPrefix(slash, dir) })
}

// open opens the spot under its folder, so that neither symlinks nor ".." lead
// out, and makes sure that it is the file that was settled on.
func (s Spot) open() (*os.File, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, missing(err)
	}
	defer func() { _ = root.Close() }() // the opened file stays valid
	// Opening a device may do something already, such as rewind a tape.
	switch info, err := root.Lstat(s.Rel); {
	case err != nil:
		return nil, missing(err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, errOdd
	}
	f, err := root.OpenFile(s.Rel, openFlags, 0)
	if err != nil {
		return nil, missing(err)
	}
	if err := s.is(f); err != nil {
		_ = f.Close() // opened for reading: nothing to lose
		return nil, err
	}
	return f, nil
}

// is makes sure that an open file is the one at the spot.
func (s Spot) is(f *os.File) error {
	if err := s.Check(); err != nil {
		return err
	}
	got, err := f.Stat()
	if err != nil {
		return plain(err)
	}
	now, err := os.Lstat(s.real)
	if err != nil {
		return missing(err)
	}
	if !os.SameFile(got, now) {
		return errMoved
	}
	return nil
}

// missing says in plain words that a file is not there.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file")
	}
	return plain(err)
}

// Await runs do and waits for it, or for the end of ctx: a file system that does
// not answer must not hold the call. drop gets what comes too late; nil where
// there is nothing to give back.
func Await[T any](ctx context.Context, do func() (T, error), drop func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	got, gone := make(chan answer), make(chan struct{})
	defer close(gone)
	// It ends when do has closed its file, at the latest when the system gives up
	// the read that it waits in.
	go func() {
		v, err := do()
		select {
		case got <- answer{v, err}:
		case <-gone:
			if err == nil && drop != nil {
				drop(v)
			}
		}
	}()
	select {
	case a := <-got:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
