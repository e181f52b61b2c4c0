package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rig is a home, a working folder and the program, in this process.
type rig struct {
	t         testing.TB
	home, cwd string
	env       map[string]string
	stdin     []byte
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), env: map[string]string{}}
	r.env["TOTE_HOME"] = r.home
	r.mkdir(r.cwd)
	return r
}

func (r *rig) mkdir(dir string) {
	r.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// write puts a file into the working folder and returns its path.
func (r *rig) write(name string, data []byte) string {
	r.t.Helper()
	path := filepath.Join(r.cwd, name)
	r.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// configure writes the user's file.
func (r *rig) configure(text string) {
	r.t.Helper()
	dir := filepath.Join(r.home, "config")
	r.mkdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// backend configures one agent on a Chat Completions server.
func (r *rig) backend(url, vision string) {
	r.configure(fmt.Sprintf(`{
		"providers": {"p": {"kind": "openai-chat", "base_url": %q}},
		"agents": {"main": {"provider": "p", "model": "m", "vision": %s}},
		"default_agent": "main",
	}`, url, vision))
}

// output is what a command printed.
type output struct {
	t      testing.TB
	code   int
	stdout string
	stderr string
}

// tote runs the program.
func (r *rig) tote(args ...string) output {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	e := environment{
		stdin: bytes.NewReader(r.stdin), stdout: &stdout, stderr: &stderr, now: time.Now,
		env: func(k string) string { return r.env[k] },
	}
	if len(args) > 0 && args[0] != "version" && args[0] != "help" {
		args = append([]string{args[0], "--cwd", r.cwd}, args[1:]...)
	}
	code := dispatch(r.t.Context(), e, args)
	return output{r.t, code, stdout.String(), stderr.String()}
}

func (o output) want(code int) output {
	o.t.Helper()
	if o.code != code {
		o.t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.code, code, o.stdout, o.stderr)
	}
	return o
}

// line is one JSON line.
type line map[string]any

func (l line) str(key string) string {
	s, _ := l[key].(string)
	return s
}

// lines returns the JSON lines of a type.
func (o output) lines(kind string) []line {
	o.t.Helper()
	var out []line
	for s := range strings.SplitSeq(strings.TrimSpace(o.stdout), "\n") {
		var l line
		if err := json.Unmarshal([]byte(s), &l); err != nil {
			o.t.Fatalf("not a JSON line: %q: %v", s, err)
		}
		if l.str("type") == kind {
			out = append(out, l)
		}
	}
	return out
}

// receipt returns the newest receipt of a block.
func (o output) receipt(label string) line {
	o.t.Helper()
	var found line
	for _, l := range o.lines("receipt") {
		if l.str("label") == label {
			found = l
		}
	}
	if found == nil {
		o.t.Fatalf("no receipt for %s in\n%s", label, o.stdout)
	}
	return found
}

// text joins the text that stands: what an attempt line voids is left out.
func (o output) text() string {
	o.t.Helper()
	s := ""
	for raw := range strings.SplitSeq(strings.TrimSpace(o.stdout), "\n") {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			o.t.Fatalf("not a JSON line: %q: %v", raw, err)
		}
		switch l.str("type") {
		case "text":
			s += l.str("text")
		case "attempt":
			s = ""
		}
	}
	return s
}

func (o output) session() string {
	o.t.Helper()
	l := o.lines("session")
	if len(l) != 1 {
		o.t.Fatalf("%d session lines in\n%s\n%s", len(l), o.stdout, o.stderr)
	}
	return l[0].str("id")
}
