package project

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// imports lists the files that a file brings in with @path, relative to its own
// folder. A word that names no file there is no import: it may be a package or a
// person. One that stands alone in a line and cannot be followed is noted.
func (c *collector) imports(t tree, f file, rel string) []string {
	var names []string
	for _, m := range mentions(f.text) {
		name := path.Join(path.Dir(rel), m.path)
		local := !strings.HasPrefix(m.path, "~") && !path.IsAbs(m.path) && !filepath.IsAbs(m.path) && filepath.IsLocal(filepath.FromSlash(name))
		if !local {
			if m.alone {
				c.note(f.name, "brings in @"+printable(m.path)+", which is outside of "+t.base+" and is not read")
			}
			continue
		}
		if _, found := c.r.read(t, name); !found {
			if m.alone && path.Ext(name) != "" {
				c.note(f.name, "brings in @"+printable(m.path)+", which is not there")
			}
			continue
		}
		if len(names) == maxImports {
			c.note(f.name, fmt.Sprintf("brings in more than %d files; the rest is not read", maxImports))
			break
		}
		names = append(names, name)
	}
	return names
}

// mention is a word @path.
type mention struct {
	path string
	// alone: nothing else stands in its line.
	alone bool
}

// mentions finds the words @path outside of code.
func mentions(text string) []mention {
	var out []mention
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if mark := fenceOf(line); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || !strings.Contains(line, "@") {
			continue
		}
		out = append(out, mentionsIn(line)...)
	}
	return out
}

// mentionsIn finds the words @path in one line.
func mentionsIn(line string) (out []mention) {
	fields := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* "))
	code := false
	for _, field := range fields {
		inside := code
		if strings.Count(field, "`")%2 == 1 {
			code = !code
		}
		word, ok := strings.CutPrefix(field, "@")
		if word = strings.TrimRight(word, ".,;:!?)"); ok && !inside && word != "" && !strings.ContainsAny(word, "`\x00") {
			out = append(out, mention{path: word, alone: len(fields) == 1})
		}
	}
	return out
}

// fenceOf is the run of backticks or tildes that a line of a code block begins with.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
