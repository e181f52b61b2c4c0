package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tote/internal/content"
)

// spellings returns what raw may mean, most literal first: the name as it
// stands, or for a file: URI the name with "#" and "?" as parts of it (clients
// forget to escape them), and last what the grammar reads out of it.
func (in *Inlet) spellings(raw, cwd string) ([]string, error) {
	read, err := ParsePath(in.os, raw, in.home, cwd)
	if err != nil {
		return nil, troublef(content.FaultBadPayload, "%s", errors.Unwrap(err))
	}
	var out []string
	if isFileURI(raw) && strings.ContainsAny(raw, "#?") {
		whole := strings.NewReplacer("#", "%23", "?", "%3F").Replace(raw)
		if p, err := ParsePath(in.os, whole, in.home, cwd); err == nil && p != read {
			out = append(out, p)
		}
	}
	if p, err := absolute(in.os, raw, cwd); err == nil && p != read && !isFileURI(raw) {
		out = append(out, p)
	}
	return append(out, read), nil
}

// Find returns the full path of the existing regular file that raw names in any
// spelling that a user may choose. Roots do not matter to it.
func (in *Inlet) Find(raw string, sc Scope) (string, bool) {
	ways, err := in.spellings(raw, sc.Cwd)
	if err != nil {
		return "", false
	}
	p, err := locate(ways, anywhere())
	if err != nil {
		return "", false
	}
	info, err := os.Stat(p)
	return p, err == nil && info.Mode().IsRegular()
}

// permits says which paths may be looked at and which folders listed.
type permits struct{ look, list func(path string) bool }

func anywhere() permits {
	yes := func(string) bool { return true }
	return permits{look: yes, list: yes}
}

// locate returns the first of ways that exists, else the one file whose name
// differs from one of them in Unicode spelling only. It touches nothing that
// may does not permit.
func locate(ways []string, may permits) (string, error) {
	for _, p := range ways {
		if !may.look(p) {
			continue
		}
		if _, err := os.Lstat(p); err == nil || !missing(err) {
			return p, nil
		}
	}
	for _, p := range slices.Backward(ways) {
		if !may.look(p) {
			continue
		}
		found, err := folded(p, may)
		if err != nil || found != "" {
			return found, err
		}
	}
	return "", troublef(content.FaultNotFound, "no file %s", ways[len(ways)-1])
}

// missing tells an error that says the file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || notFolder(err) }

// folded walks down p and takes, where a name is not there, the one sibling
// that folds to the same. It returns "" where there is none, and an error where
// there are several.
func folded(p string, may permits) (string, error) {
	vol := filepath.VolumeName(p)
	at := vol + string(filepath.Separator)
	for name := range strings.SplitSeq(strings.TrimPrefix(p[len(vol):], string(filepath.Separator)), string(filepath.Separator)) {
		next := filepath.Join(at, name)
		if _, err := os.Lstat(next); err == nil {
			at = next
			continue
		}
		if !may.list(at) {
			return "", nil
		}
		same, err := sameFolded(at, name)
		switch {
		case err != nil || len(same) == 0:
			return "", nil // a folder that cannot be listed has no sibling to offer
		case len(same) > 1:
			return "", troublef(content.FaultNotFound, "no file is called exactly %q, and these are alike: %s", name, quoted(same))
		}
		at = filepath.Join(at, same[0])
	}
	return at, nil
}

// maxSiblings bounds how many names of a folder are looked at.
const maxSiblings = 100_000

func sameFolded(dir, name string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	want := fold(name)
	var same []string
	for seen := 0; seen < maxSiblings; {
		names, err := f.Readdirnames(1000)
		for _, n := range names {
			if fold(n) == want {
				same = append(same, n)
			}
		}
		seen += len(names)
		if err != nil || len(names) == 0 {
			break
		}
	}
	slices.Sort(same)
	return same, nil
}

// fold removes what terminals, editors and models change in a name without
// meaning to: the Unicode form, and the kind of blank.
func fold(name string) string { return norm.NFC.String(content.FoldBlanks(name)) }

// quoted lists names so that their blanks can be told apart.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%+q", n)
	}
	return strings.Join(out, ", ")
}

// within returns the path of p relative to dir where it lies in it.
func within(dir, p string) (string, bool) {
	rel, err := filepath.Rel(dir, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// places is a scope's folders with their symbolic links resolved.
type places struct {
	roots, real []string
	forbidden   []os.FileInfo
}

func placesOf(sc Scope) places {
	var p places
	for _, r := range sc.Roots {
		if !filepath.IsAbs(r) {
			continue // relative to what? nothing lies in it
		}
		p.roots = append(p.roots, filepath.Clean(r))
		if real, err := filepath.EvalSymlinks(r); err == nil {
			p.real = append(p.real, real)
		}
	}
	for _, f := range sc.Forbidden {
		if info, err := os.Stat(f); err == nil {
			p.forbidden = append(p.forbidden, info)
		}
	}
	return p
}

// named reports whether a path lies in a root by its name, without asking the
// disk.
func (p places) named(path string) bool {
	in := func(dir string) bool { _, ok := within(dir, path); return ok }
	return slices.ContainsFunc(p.roots, in) || slices.ContainsFunc(p.real, in)
}

// permits lets paths be looked at whose deepest existing folder lies in a root,
// by name and also with links resolved.
func (p places) permits() permits {
	list := func(dir string) bool {
		if !p.named(dir) {
			return false
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return false
		}
		_, _, ok := p.root(real)
		return ok && !p.forbids(real)
	}
	look := func(path string) bool { return p.named(path) && list(nearestFolder(path)) }
	return permits{look: look, list: list}
}

// root returns the root that a resolved path lies in.
func (p places) root(real string) (root, rel string, ok bool) {
	for _, r := range p.real {
		if rel, ok := within(r, real); ok {
			return r, rel, true
		}
	}
	return "", "", false
}

// forbids reports whether a resolved path is, or lies in, a forbidden folder.
// Folders are compared by identity, so that letter case does not matter where
// it does not to the file system.
func (p places) forbids(real string) bool {
	if len(p.forbidden) == 0 {
		return false
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if slices.ContainsFunc(p.forbidden, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
