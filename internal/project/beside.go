package project

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Rules are rules for files below a folder. File is the file they stand in, the
// first of several.
type Rules struct{ File, Text string }

// Beside returns the rules that lie nearer to a file than those in Instructions:
// one for each folder between the working folder, or one of Dirs, and the file, and
// one for each rule that is for such files only. The file need not be there. Name is
// an absolute path.
func (r *Reader) Beside(o Options, name string) (rules []Rules, notes []Note) {
	o = o.settle()
	base, prefix, read := o.Root, "", "."
	target, ok := within(o.Root, name)
	if ok {
		read, _ = within(o.Root, o.Cwd)
	}
	for _, dir := range o.Dirs {
		if rel, in := within(dir, name); in && !ok {
			base, prefix, target, ok = dir, outside(dir), rel, true
		}
	}
	if !ok || target == "." {
		return nil, nil
	}
	t, err := o.openTree(base, prefix)
	if err != nil {
		return nil, nil
	}
	defer t.close()
	known, budget := chain(read), maxBeside
	add := func(c *collector) {
		first := ""
		if len(c.files) > 0 {
			first = c.files[0].name
		}
		if text := c.text(budget); text != "" {
			budget = max(budget-len(text), 0)
			rules = append(rules, Rules{File: first, Text: text})
		}
		notes = append(notes, c.notes...)
	}
	for _, dir := range chain(path.Dir(target)) {
		c := r.collect(o)
		if !slices.Contains(known, dir) {
			c.folder(t, dir, nil)
		}
		add(c)
		c = r.collect(o)
		c.special(t, dir, &target)
		add(c)
	}
	return rules, notes
}

// matchesAny reports whether a path with slashes matches one of the patterns. A
// pattern without a slash is for the name alone; ** is any number of folders.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.TrimPrefix(filepath.ToSlash(p), "/")
		if !strings.Contains(p, "/") {
			ok, err := path.Match(p, path.Base(name))
			return err == nil && ok
		}
		elems := strings.Split(p, "/")
		return len(elems) <= maxElems && matchElems(elems, strings.Split(name, "/"))
	})
}

// maxElems bounds the work for one pattern.
const maxElems = 32

// matchElems goes through both once for each way of filling a **, remembering where
// the last one stands: an earlier one need not be tried again.
func matchElems(pattern, elems []string) bool {
	p, e, star, mark := 0, 0, -1, 0
	for e < len(elems) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, e
			p++
		case p < len(pattern) && matchElem(pattern[p], elems[e]):
			p++
			e++
		case star >= 0:
			mark++
			p, e = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchElem(pattern, elem string) bool {
	ok, err := path.Match(pattern, elem)
	return err == nil && ok
}
