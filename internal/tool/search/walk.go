package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/tool"
)

const (
	// maxFiles bounds a walk.
	maxFiles = 1_000_000
	// maxFileBytes is how large a searched file may be.
	maxFileBytes = 20 << 20
	// perRead is how many entries of a folder are read at once.
	perRead = 1024
)

// vendored are folders of other people's code.
var vendored = []string{"node_modules", "vendor"}

// file is one file that is searched. rel is its path from the start of the
// search, with slashes.
type file struct {
	rel string
	// nested: it lies in a repository inside the one around the start.
	nested bool
}

// walked is what a walk found.
type walked struct {
	// files are sorted by their paths, byte by byte.
	files []file
	// large counts the files over maxFileBytes, closed the folders that could
	// not be read.
	large, closed int
}

// wanted is what a walk is after.
type wanted struct {
	// keep says which files, by their paths from the start.
	keep func(rel string) bool
	// most is how large they may be in bytes, 0 for any size.
	most int64
}

// folder is a folder that a walk has yet to read.
type folder struct {
	rel    string // from the start, "" for it
	top    string // from where the rules begin
	rules  *ignoreRules
	nested bool
}

// walk lists the wanted files under the scope.
func (s *scope) walk(ctx context.Context, env tool.Env, want wanted) (walked, error) {
	var out walked
	if s.single {
		info, err := s.root.Stat(s.start)
		switch {
		case err != nil:
			return out, plain(err)
		case want.most > 0 && info.Size() > want.most:
			out.large++
		default:
			out.files = []file{{rel: path.Base(s.start)}}
		}
		return out, nil
	}
	todo := []folder{{top: s.top, rules: s.rules}}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below, err := s.folder(ctx, at, &out, want)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil && at.rel == "":
			return out, plain(err)
		case err != nil:
			out.closed++
		}
		for _, sub := range below {
			if s.guarded && tool.IsForbidden(filepath.Join(s.real, filepath.FromSlash(sub.rel)), env) {
				continue
			}
			todo = append(todo, sub)
		}
		if len(out.files) > maxFiles {
			return out, fmt.Errorf("there are more than %d files; name a folder in path", maxFiles)
		}
	}
	slices.SortFunc(out.files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	return out, nil
}

// folder adds the files of one folder and returns the folders in it.
func (s *scope) folder(ctx context.Context, at folder, out *walked, want wanted) ([]folder, error) {
	dir, err := s.root.OpenRoot(path.Join(s.start, at.rel))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	entries, err := entriesOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	at = s.enter(at, dir, entries)
	var below []folder
	for _, e := range entries {
		name := e.Name()
		if name[0] == '.' || e.Type()&^fs.ModeDir != 0 {
			continue // hidden, a link, or special
		}
		rel, top := joinRel(at.rel, name), joinRel(at.top, name)
		if e.IsDir() {
			if !slices.Contains(vendored, name) && !at.rules.ignores(top, entryFolder) {
				below = append(below, folder{rel: rel, top: top, rules: at.rules, nested: at.nested})
			}
			continue
		}
		if at.rules.ignores(top, entryFile) || !want.keep(rel) {
			continue
		}
		switch info, err := dir.Lstat(name); {
		case err != nil || !info.Mode().IsRegular():
			// It went away or became something else in this moment.
		case want.most > 0 && info.Size() > want.most:
			out.large++
		default:
			out.files = append(out.files, file{rel: rel, nested: at.nested})
		}
	}
	return below, nil
}

// enter reads the rules that begin in a folder. A repository inside another one
// has only its own.
func (s *scope) enter(at folder, dir *os.Root, entries []fs.DirEntry) folder {
	for _, e := range entries {
		if e.Name() == ".git" && at.top != "" {
			at.nested, at.top = true, ""
			at.rules = (*ignoreRules)(nil).under("", s.exclude(filepath.Join(s.real, filepath.FromSlash(at.rel))))
		}
	}
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			info, err := dir.Lstat(".gitignore")
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			at.rules = at.rules.under(at.top, s.limited(info, func() (io.ReadCloser, error) { return dir.Open(".gitignore") }))
		}
	}
	return at
}

func joinRel(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// entriesOf reads a folder whole.
func entriesOf(ctx context.Context, dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var all []fs.DirEntry
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := f.ReadDir(perRead)
		all = append(all, entries...)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(all) > maxFiles:
			return nil, fmt.Errorf("there are more than %d entries", maxFiles)
		}
	}
}
