package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// entry is a file as it was read last.
type entry struct {
	size     int64
	modified time.Time
	read     time.Time
	file     file
}

// settled is how much older than its reading a file must be for its time to prove
// that it is unchanged: file systems keep times as coarse as two seconds.
const settled = 2 * time.Second

// file is the text of a file, or why there is none.
type file struct {
	name string // as shown
	text string // without a byte order mark, cut at maxFile
	size int64  // of the whole file
	bad  string // why it is not read
}

// cut reports that the text is not the whole.
func (f file) cut() bool { return f.size > maxFile }

// read returns a file of a tree. Found is false for one that is not there; a file
// that cannot be read has its bad set.
func (r *Reader) read(t tree, rel string) (f file, found bool) {
	f.name = t.show(rel)
	info, err := t.stat(rel)
	if err != nil {
		f.bad = t.refused(rel, err)
		return f, f.bad != ""
	}
	if info.IsDir() {
		return f, false
	}
	if !info.Mode().IsRegular() {
		f.bad = "is not a regular file"
		return f, true
	}
	if f.bad = t.forbidden(rel); f.bad != "" {
		return f, true
	}
	key := t.abs(rel)
	if e, ok := r.lookUp(key); ok && e.size == info.Size() && e.modified.Equal(info.ModTime()) &&
		e.modified.Before(e.read.Add(-settled)) {
		e.file.name = f.name
		return e.file, true
	}
	at := r.now()
	f.text, f.bad = load(t, rel)
	f.size = info.Size()
	r.keep(key, entry{size: info.Size(), modified: info.ModTime(), read: at, file: f})
	return f, true
}

// forbidden says why a file must not be read, "" where it may. What it is called and
// what it is behind links both count.
func (t tree) forbidden(rel string) string {
	if t.denied == nil {
		return ""
	}
	const denied = "is denied by the permission rules and is left out"
	name := t.abs(rel)
	if t.denied(name) {
		return denied
	}
	target, err := filepath.EvalSymlinks(name)
	switch {
	case err != nil:
		return "cannot be followed to a file that is there"
	case target != name && t.denied(target):
		return denied
	}
	return ""
}

func (r *Reader) lookUp(key string) (entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[key]
	return e, ok
}

func (r *Reader) keep(key string, e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxCached {
		clear(r.known)
	}
	r.known[key] = e
}

// refused says why a name cannot be followed, "" where there is no such file.
func (t tree) refused(rel string, err error) string {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		info, linkErr := t.lstat(rel)
		if linkErr != nil || info.Mode()&fs.ModeSymlink == 0 {
			return ""
		}
		return "is a link that leads nowhere"
	}
	if !errors.Is(err, fs.ErrPermission) && t.escapes(rel) {
		return "leads out of " + t.base + " and is not read"
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // the path is told already
	}
	return "cannot be read: " + err.Error()
}

// escapes reports whether a part of the name is a link: what cannot be followed
// although it is there, and is not forbidden, leads out.
func (t tree) escapes(rel string) bool {
	at := ""
	for elem := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, elem)
		info, err := t.lstat(at)
		if err != nil {
			return false
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// load reads a text, and says what is wrong with a file that holds none.
func load(t tree, rel string) (text, bad string) {
	f, err := t.open(rel)
	if err != nil {
		return "", "cannot be opened"
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, maxFile+utf8.UTFMax))
	if err != nil {
		return "", "cannot be read"
	}
	if len(data) > maxFile {
		data = data[:maxFile]
		for i := 1; i < utf8.UTFMax && !utf8.Valid(data); i++ {
			data = data[:len(data)-1] // a character that was cut
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", "is not text in UTF-8"
	}
	return string(data), ""
}

// list returns the names in a folder of a tree, sorted, and whether there are more.
func (t tree) list(dir string) (entries []fs.DirEntry, more bool) {
	if info, err := t.stat(dir); err != nil || !info.IsDir() {
		return nil, false
	}
	d, err := t.open(dir)
	if err != nil {
		return nil, false
	}
	defer func() { _ = d.Close() }() // opened for reading: nothing can be lost
	entries, err = d.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(entries) > maxEntries {
		return entries[:maxEntries], true
	}
	return entries, false
}

// glob lists the files of a tree that a pattern with slashes names, sorted.
func (t tree) glob(pattern string) (names []string, note string) {
	pattern = path.Clean(pattern)
	if !filepath.IsLocal(filepath.FromSlash(pattern)) {
		return nil, "leads out of " + t.base + " and is not read"
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		return []string{pattern}, ""
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, "is not a pattern"
	}
	found, room := []string{"."}, maxGlob
	elems := strings.Split(pattern, "/")
	for i, elem := range elems {
		if found, room = t.step(found, elem, i == len(elems)-1, room); room < 0 {
			return nil, fmt.Sprintf("would look at more than %d files; give a narrower pattern", maxGlob)
		}
	}
	slices.Sort(found)
	return found, ""
}

// step follows one element of a pattern from each of the folders. Room is how many
// more entries may be looked at, negative where that is too few.
func (t tree) step(dirs []string, elem string, last bool, room int) (found []string, left int) { //nolint:revive // last is a fact about elem
	for _, dir := range dirs {
		entries, _ := t.list(dir)
		if room -= len(entries); room < 0 {
			return nil, room
		}
		for _, e := range entries {
			if matchElem(elem, e.Name()) && (last || e.IsDir()) {
				found = append(found, path.Join(dir, e.Name()))
			}
		}
	}
	return found, room
}
