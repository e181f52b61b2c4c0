package archtest

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLines is the longest product file. Split by concept before it is reached.
const maxLines = 500

// The words are put together here so that this file does not hold them.
var (
	// machine names places and hosts of whoever built this, not of the reader.
	machine = regexp.MustCompile(strings.Join([]string{
		`(?:^|[^\w.\-/])/wo` + `rk/`, `/bash_` + `jobs`, `(?:^|[^\w.\-/])/fa` + `rm/`,
		`proxy\.go` + `lang\.org`, `registry\.npm` + `js\.org`,
	}, "|"))
	// unfinished marks work that was put off. An issue is the place for it.
	unfinished = regexp.MustCompile(`\bTO` + `DO\b|\bFIX` + `ME\b|not imple` + `mented`)
)

func TestNoTraceOfTheMachine(t *testing.T) {
	walk(t, func(name string) {
		b := read(t, name)
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return
		}
		for i, line := range strings.Split(string(b), "\n") {
			if m := machine.FindString(line); m != "" {
				t.Errorf("%s:%d names %q", name, i+1, m)
			}
		}
	})
}

func TestNothingIsPutOff(t *testing.T) {
	for _, f := range goFiles(t) {
		for i, line := range strings.Split(string(read(t, f.name)), "\n") {
			if m := unfinished.FindString(line); m != "" {
				t.Errorf("%s:%d says %q", f.name, i+1, m)
			}
		}
	}
}

// A test that is skipped without a reason proves nothing and says nothing.
func TestSkipsAreNamed(t *testing.T) {
	bare := regexp.MustCompile(`\.Skip` + `(Now)?\(\)|\.Skip` + `\(""\)`)
	for _, f := range goFiles(t) {
		if m := bare.Find(read(t, f.name)); m != nil {
			t.Errorf("%s has %s: say why", f.name, m)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || generated(f) {
			continue
		}
		if n := bytes.Count(read(t, f.name), []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, at most %d", f.name, n, maxLines)
		}
	}
}

func generated(f goFile) bool {
	for _, c := range f.ast.Comments {
		for _, l := range c.List {
			if strings.HasPrefix(l.Text, "// Code generated ") && strings.HasSuffix(l.Text, " DO NOT EDIT.") {
				return true
			}
		}
	}
	return false
}

// A package is named after what it is about.
func TestNoJunkDrawers(t *testing.T) {
	junk := []string{"common", "helpers", "misc", "types", "util", "utils"}
	for _, p := range table {
		if slices.Contains(junk, path.Base(p.path)) {
			t.Errorf("%s is named after nothing", p.path)
		}
	}
}

// The patterns above are worth something only if they find what they look for
// and let ordinary text pass.
func TestPatterns(t *testing.T) {
	tests := []struct {
		re   *regexp.Regexp
		text string
		want bool
	}{
		{machine, "open /wo" + "rk/main/x.go", true},
		{machine, "/wo" + "rk/main", true},
		{machine, `"/fa` + `rm/in"`, true},
		{machine, "/tmp/bash_" + "jobs.0/1", true},
		{machine, "https://registry.npm" + "js.org/x", true},
		{machine, "/home/me/wo" + "rk/x", false},
		{machine, "docs/wo" + "rk/x and a fram" + "ework/x", false},
		{unfinished, "// TO" + "DO: later", true},
		{unfinished, "// FIX" + "ME", true},
		{unfinished, "ODO todo_list TODOS", false},
	}
	for _, tt := range tests {
		if got := tt.re.MatchString(tt.text); got != tt.want {
			t.Errorf("%q found = %v, want %v", tt.text, got, tt.want)
		}
	}
}
