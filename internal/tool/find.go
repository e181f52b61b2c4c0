package tool

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

// maxSiblings bounds how many names of a folder are looked at.
const maxSiblings = 100_000

// Find resolves a path that a model wrote, as Locate does. Where nothing is
// called that under its root, it takes the one file whose name differs in the
// Unicode form or the kind of blank only; Renamed is then set. Several such files
// are an error. Outside the roots nothing is looked at.
func Find(path string, env Env) (Place, error) {
	p := Locate(path, env)
	if p.Root == "" || IsForbidden(p.Abs, env) {
		return p, nil
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return p, nil // who opens the file says what is wrong
	}
	defer func() { _ = root.Close() }() // read only
	if _, err := root.Lstat(p.Rel); !errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	at := "."
	for name := range strings.SplitSeq(p.Rel, string(filepath.Separator)) {
		next := filepath.Join(at, name)
		if _, err := root.Lstat(next); err == nil {
			at = next
			continue
		}
		if IsForbidden(filepath.Join(p.Root, at), env) {
			return p, nil
		}
		alike := siblings(root, at, name)
		switch {
		case len(alike) == 0:
			return p, nil
		case len(alike) > 1:
			return p, fmt.Errorf("no file is called exactly %q, and these look the same: %s", name, quoted(alike))
		}
		at = filepath.Join(at, alike[0])
	}
	return Place{Abs: filepath.Join(p.Root, at), Root: p.Root, Rel: at, Renamed: true, roots: env.Roots}, nil
}

// siblings are the names in a folder that look like name.
func siblings(root *os.Root, dir, name string) []string {
	info, err := root.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil // opening a named pipe would wait
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // read only
	want := fold(name)
	var alike []string
	for seen := 0; seen < maxSiblings; {
		names, err := f.Readdirnames(1000)
		for _, n := range names {
			if fold(n) == want {
				alike = append(alike, n)
			}
		}
		seen += len(names)
		if err != nil || len(names) == 0 {
			break
		}
	}
	slices.Sort(alike)
	return alike
}

// fold removes what a model may change in a name without meaning to: the Unicode
// form, and the kind of blank.
func fold(name string) string { return norm.NFC.String(content.FoldBlanks(name)) }

// quoted lists names so that their blanks can be told apart.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%+q", n)
	}
	return strings.Join(out, ", ")
}

// called says what a file is called that was found under a name that looks the
// same; "" for any other.
func (p Place) called() string {
	if !p.Renamed {
		return ""
	}
	return fmt.Sprintf("[the file is really called %+q]\n", filepath.ToSlash(p.Rel))
}
