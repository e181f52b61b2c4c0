package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Bounds on what is read.
const (
	maxFile    = 64 << 10  // bytes of one file
	maxRules   = 192 << 10 // bytes of all rules together
	maxBeside  = 64 << 10  // bytes of the rules for one file that a tool touches
	maxEntries = 500       // entries of one folder
	maxCached  = 1000      // files that are remembered
	maxImports = 20        // files that one file brings in
	maxGlob    = 5000      // entries that are looked at for one pattern or kind of power
)

// Options say what to read.
type Options struct {
	// Root is the root of the repository, an absolute path. Empty is Cwd.
	Root string
	// Cwd is the working folder, in Root or equal to it.
	Cwd string
	// Dirs are further folders that tools work in, as absolute paths.
	Dirs []string
	// UserDir is the user's own folder with AGENTS.md, skills and commands. Empty is none.
	UserDir string
	// Extra are further files with rules: paths or patterns below Root, with
	// slashes, or absolute paths of the user's files.
	Extra []string
	// Folder is what the user trusts or not, and Files are the files in it that the
	// trust covers, with slashes. Skills and commands of the project are read from
	// these files, and only where Trusted is set.
	Folder  string
	Files   []string
	Trusted bool
	// Denied reports whether a file must not be read, by its absolute path. Of a file
	// behind links it is asked for the name and for what the links lead to. Nil denies
	// none.
	Denied func(abs string) bool
}

// Note is something that was not read as it stands.
type Note struct{ File, What string }

// String returns "file: what".
func (n Note) String() string { return n.File + ": " + n.What }

// Reader reads and remembers files. It may be used by several goroutines at a time.
type Reader struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]entry // by absolute path
}

// New returns a reader that remembers nothing yet.
func New(now func() time.Time) *Reader {
	return &Reader{now: now, known: map[string]entry{}}
}

// settle fills in what is left out and makes Cwd comparable with Root.
func (o Options) settle() Options {
	if o.Root == "" {
		o.Root = o.Cwd
	}
	if _, ok := within(o.Root, o.Cwd); ok {
		return o
	}
	root, rootErr := filepath.EvalSymlinks(o.Root)
	cwd, cwdErr := filepath.EvalSymlinks(o.Cwd)
	if rootErr == nil && cwdErr == nil {
		if _, ok := within(root, cwd); ok {
			o.Root, o.Cwd = root, cwd
			return o
		}
	}
	o.Root = o.Cwd
	return o
}

// within returns the path of name relative to dir with slashes, "." for dir itself.
func within(dir, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// chain lists the folders from the root of a tree down to rel, "." first.
func chain(rel string) []string {
	out := []string{"."}
	if rel == "." {
		return out
	}
	at := ""
	for elem := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, elem)
		out = append(out, at)
	}
	return out
}

// tree is a folder that nothing is read outside of. The user's own folder is an
// exception: links in it are the user's, and are followed anywhere.
type tree struct {
	root *os.Root // nil for the user's own
	// base is the folder's path.
	base string
	// prefix stands before names that are shown. It is empty for the repository.
	prefix string
	// denied is that of the options.
	denied func(abs string) bool
}

func (o Options) openTree(dir, prefix string) (tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return tree{}, err
	}
	return tree{root: root, base: dir, prefix: prefix, denied: o.Denied}, nil
}

// ownTree is a folder of the user.
func (o Options) ownTree(dir string) tree {
	return tree{base: dir, prefix: outside(dir), denied: o.Denied}
}

func (t tree) close() {
	if t.root != nil {
		_ = t.root.Close() // opened for reading: nothing can be lost
	}
}

func (t tree) stat(rel string) (fs.FileInfo, error) {
	if t.root == nil {
		return os.Stat(t.abs(rel))
	}
	return t.root.Stat(filepath.FromSlash(rel))
}

func (t tree) lstat(rel string) (fs.FileInfo, error) {
	if t.root == nil {
		return os.Lstat(t.abs(rel))
	}
	return t.root.Lstat(filepath.FromSlash(rel))
}

func (t tree) open(rel string) (*os.File, error) {
	if t.root == nil {
		return os.Open(t.abs(rel))
	}
	return t.root.Open(filepath.FromSlash(rel))
}

// show is the name of a file for people and models, in one line.
func (t tree) show(rel string) string { return printable(t.prefix + rel) }

// abs is the path of a file for tools.
func (t tree) abs(rel string) string { return filepath.Join(t.base, filepath.FromSlash(rel)) }

// outside is the prefix of a tree that is not the repository.
func outside(dir string) string { return strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/" }

// printable drops what would break a line or hide in it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}
