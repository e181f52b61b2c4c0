package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"tote/internal/tool"
)

// maxRuleFile is how large an ignore file may be. A larger one is left out, and
// git, which would read it, is not asked.
const maxRuleFile = 1 << 20

// scope is where a search starts, and what is known about that place.
type scope struct {
	// root is open at dir, an absolute folder; nothing outside it is opened.
	root *os.Root
	dir  string
	// start is what is searched, from dir, with slashes; "." is dir itself.
	start string
	// single: start is a file.
	single bool
	// shown is what stands before the paths from start in answers.
	shown string
	// real is the start without links, where it is a folder.
	real string
	// rules hold at start; top is the path of start from where they begin.
	rules *ignoreRules
	top   string
	// repo is the root of the repository around start, absolute, "" for none.
	repo string
	// opaque: git sees start with other eyes (start is ignored, lies inside
	// .git, or an ignore file was left out), so that it is not asked.
	opaque bool
	// guarded: there are folders below start that no tool enters.
	guarded bool
	// denied are files that the user's rules keep from being read, nil for none.
	denied func(abs string) bool
}

// open resolves the path that a model wrote.
func open(name string, env tool.Env) (*scope, error) {
	p := tool.Locate(name, env)
	spot, err := p.Settle(env)
	if err == nil {
		err = spot.Refused(env)
	}
	switch {
	case err != nil:
		return nil, err
	case spot.Pseudo():
		return nil, errors.New("the system's own files are not searched; read them one by one")
	}
	dir, rel := spot.Dir, filepath.ToSlash(spot.Rel)
	if !spot.Inside {
		if dir, rel, err = outside(spot.Abs); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, plain(err)
	}
	s := &scope{root: root, dir: dir, start: rel, shown: shownAs(p.Abs, env), denied: env.Denied}
	if err := spot.Check(); err != nil {
		s.close()
		return nil, err
	}
	info, err := root.Stat(rel)
	switch {
	case err != nil:
		err = missing(plain(err))
	case info.Mode().IsRegular():
		s.single, s.opaque = true, true
	case !info.IsDir():
		err = errors.New("it is neither a file nor a folder")
	default:
		err = s.place(spot.Abs, env)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// outside is where a place outside the roots is opened, which the user allowed:
// the folder itself, or the folder of the file.
func outside(abs string) (dir, rel string, err error) {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", "", missing(plain(err))
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", "", missing(plain(err))
	case info.IsDir():
		return real, ".", nil
	}
	return filepath.Dir(real), filepath.Base(real), nil
}

// missing says in plain words that something is not there.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file or folder")
	}
	return err
}

func (s *scope) close() { _ = s.root.Close() } // opened for reading only

// place finds the repository around a folder and the ignore rules that reach it.
func (s *scope) place(abs string, env tool.Env) error {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return plain(err)
	}
	s.real, s.guarded = real, guarded(real, env)
	if top := repository(real); top != "" {
		s.repo = top
		s.climb(top, real)
	}
	return nil
}

// climb reads the rules from top down to the folder at abs, without its own.
func (s *scope) climb(top, abs string) {
	rel, err := filepath.Rel(top, abs)
	if err != nil || !filepath.IsLocal(rel) {
		s.repo = ""
		return
	}
	s.rules = s.rules.under("", s.exclude(top))
	if rel == "." {
		return
	}
	at := ""
	for elem := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		s.rules = s.rules.under(at, s.ruleFile(filepath.Join(top, filepath.FromSlash(at), ".gitignore")))
		at = path.Join(at, elem)
		if elem == ".git" || s.rules.ignores(at, entryFolder) {
			// The model named a place that the rules leave out, so it wants
			// to see it: only rules from there on count.
			s.rules, s.top, s.opaque = nil, "", true
			return
		}
	}
	s.top = at
}

// ruleFile reads an ignore file that lies outside the walk. A link is no ignore
// file, as in git.
func (s *scope) ruleFile(name string) []byte {
	info, err := os.Lstat(name)
	return s.regular(name, info, err)
}

// repoFile reads a file of a repository's own, which may be a link.
func (s *scope) repoFile(name string) []byte {
	info, err := os.Stat(name)
	return s.regular(name, info, err)
}

func (s *scope) regular(name string, info fs.FileInfo, err error) []byte {
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return s.limited(info, func() (io.ReadCloser, error) { return os.Open(name) })
}

func (s *scope) limited(info fs.FileInfo, open func() (io.ReadCloser, error)) []byte {
	if info.Size() > maxRuleFile {
		s.opaque = true
		return nil
	}
	f, err := open()
	if err != nil {
		s.opaque = true
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRuleFile))
	if err != nil {
		s.opaque = true
		return nil
	}
	return data
}

// exclude reads info/exclude of the repository whose root is top. In a linked
// work tree it lies in the common folder that ".git" leads to.
func (s *scope) exclude(top string) []byte {
	dir := filepath.Join(top, ".git")
	if data := s.repoFile(dir); data != nil {
		to, ok := strings.CutPrefix(string(data), "gitdir: ")
		if !ok {
			return nil
		}
		dir = joined(top, to)
		if common := s.repoFile(filepath.Join(dir, "commondir")); common != nil {
			dir = joined(dir, string(common))
		}
	}
	return s.repoFile(filepath.Join(dir, "info", "exclude"))
}

func joined(dir, to string) string {
	to = filepath.FromSlash(strings.TrimRight(to, "\r\n"))
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}

// repository is the nearest folder at or above dir that holds ".git", or "".
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// guarded reports whether a folder that no tool enters lies below dir.
func guarded(dir string, env tool.Env) bool {
	for _, f := range env.Forbidden {
		if real, err := filepath.EvalSymlinks(f); err == nil {
			f = real
		}
		if rel, err := filepath.Rel(dir, f); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// shownAs is how answers name the place: from the session's folder where it lies
// in it, "" for that folder itself.
func shownAs(abs string, env tool.Env) string {
	if rel, err := filepath.Rel(env.Cwd, abs); err == nil && filepath.IsLocal(rel) {
		abs = rel
	}
	if abs == "." {
		return ""
	}
	return filepath.ToSlash(abs)
}

// show spells the path of a file from start. A name that would not stand on one
// line as it is comes in quotes.
func (s *scope) show(rel string) string {
	name := rel
	switch {
	case s.single:
		name = s.shown
	case s.shown != "":
		name = path.Join(s.shown, rel)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return strconv.Quote(name)
	}
	return name
}

// plain takes the operation and the path out of a file error: the caller has
// named both as the model wrote them.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// wrap names the tool and the place in an error.
func wrap(name, place string, err error) error {
	return fmt.Errorf("%s in %s: %w", name, place, err)
}

// folderPath is the start as the system names it.
func (s *scope) folderPath() string { return filepath.Join(s.dir, filepath.FromSlash(s.start)) }
