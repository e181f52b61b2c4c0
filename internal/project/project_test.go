package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/project"
)

// place is a repository and a folder of the user.
type place struct {
	t         testing.TB
	repo, own string
	r         *project.Reader
}

func newPlace(tb testing.TB) place {
	tb.Helper()
	top, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	p := place{t: tb, repo: filepath.Join(top, "repo"), own: filepath.Join(top, "own"), r: project.New(time.Now)}
	for _, dir := range []string{p.repo, p.own} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

func (p place) write(base, name, text string) {
	p.t.Helper()
	file := filepath.Join(base, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) files(texts map[string]string) {
	p.t.Helper()
	for name, text := range texts {
		p.write(p.repo, name, text)
	}
}

// link makes a symbolic link, and reports false where the system has none.
func (p place) link(target, name string) bool {
	p.t.Helper()
	if runtime.GOOS == "windows" {
		return false // they need a privilege there
	}
	if err := os.Symlink(target, filepath.Join(p.repo, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
	return true
}

func (p place) at(rel string) project.Options {
	return project.Options{Root: p.repo, Cwd: filepath.Join(p.repo, filepath.FromSlash(rel)), UserDir: p.own, Folder: p.repo}
}

// names are the files that a text holds, in order.
func names(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, `<rules file="`); ok {
			out = append(out, strings.TrimSuffix(strings.TrimSpace(name), `">`))
		}
	}
	return out
}

func said(notes []project.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.String())
	}
	return out
}

func TestInstructionsGolden(t *testing.T) {
	p := newPlace(t)
	p.files(map[string]string{
		"AGENTS.md":       "# Rules\n\nUse tabs. See @docs/style.md and mail me@example.com about `@docs/none.md`.\n",
		"docs/style.md":   "Short names.\n",
		"CLAUDE.md":       "@AGENTS.md\n",
		"a/AGENTS.md":     "In a.\r\n",
		"a/GEMINI.md":     "In a.\n",
		"a/.cursorrules":  "Only cursor says this.\n",
		"a/b/AGENTS.md":   "In b.\n",
		"a/b/c/AGENTS.md": "Below the working folder.\n",
	})
	text, notes := p.r.Instructions(p.at("a/b"))
	const want = `Rules for you from the user and the project follow, each under the name of its file. Where they differ, the later ones win.

<rules file="AGENTS.md">
# Rules

Use tabs. See @docs/style.md and mail me@example.com about ` + "`@docs/none.md`" + `.
</rules>

<rules file="docs/style.md">
Short names.
</rules>

<rules file="a/AGENTS.md">
In a.
</rules>

<rules file="a/.cursorrules">
Only cursor says this.
</rules>

<rules file="a/b/AGENTS.md">
In b.
</rules>
`
	if diff := cmp.Diff(want, text); diff != "" || notes != nil {
		t.Errorf("Instructions (-want +got):\n%s\nnotes %q", diff, notes)
	}
	again, _ := p.r.Instructions(p.at("a/b"))
	if again != text {
		t.Error("the same files gave another text")
	}
	if text, notes := newPlace(t).r.Instructions(p.at("nowhere")); !strings.HasPrefix(text, "Rules") || notes != nil {
		t.Errorf("a working folder that is not there: %q, %q", text, notes)
	}
	if text, notes := newPlace(t).r.Instructions(project.Options{Cwd: t.TempDir()}); text != "" || notes != nil {
		t.Errorf("no rules: %q, %q", text, notes)
	}
}

func TestOrder(t *testing.T) {
	p := newPlace(t)
	further := t.TempDir()
	p.write(further, "AGENTS.md", "further")
	p.write(p.own, "AGENTS.md", "mine")
	p.write(p.own, "more.md", "more of mine")
	p.files(map[string]string{
		"AGENTS.md": "root", "a/AGENTS.md": "a", "docs/z.md": "z", "docs/y.md": "y", "docs/x.txt": "x", "one.md": "one",
		".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\n\nalways", ".cursor/rules/go.mdc": "---\nglobs: *.go\n---\ngo",
		".github/instructions/all.instructions.md": "---\napplyTo: \"**\"\n---\nall", ".github/copilot-instructions.md": "copilot",
	})
	o := p.at("a")
	o.Dirs = []string{further, filepath.Join(further, "gone")}
	o.Extra = []string{"docs/*.md", filepath.Join(p.own, "more.md"), "one.md", "gone.md", "../x", "[", filepath.Join(p.own, "gone.md")}
	text, notes := p.r.Instructions(o)
	slash := filepath.ToSlash
	want := []string{
		slash(p.own) + "/AGENTS.md", slash(p.own) + "/more.md", slash(further) + "/AGENTS.md",
		"AGENTS.md", ".github/copilot-instructions.md", ".cursor/rules/always.mdc", ".github/instructions/all.instructions.md",
		"docs/y.md", "docs/z.md", "one.md", "a/AGENTS.md",
	}
	if diff := cmp.Diff(want, names(text)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if strings.Contains(text, "alwaysApply") {
		t.Errorf("the head of a rule is in the text:\n%s", text)
	}
	wantNotes := []string{
		filepath.Join(p.own, "gone.md") + ": is named in instructions and is not there",
		"gone.md: is named in instructions and is not there",
		"../x: leads out of " + p.repo + " and is not read",
		"[: is not a pattern",
	}
	if diff := cmp.Diff(wantNotes, said(notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestPointers(t *testing.T) {
	for text, want := range map[string]bool{
		"@AGENTS.md": true, "# Claude\n\nSee AGENTS.md.\n": true, "See `AGENTS.md`": true, "Please read the file @./AGENTS.md for all instructions.": true,
		"AGENTS.md": true, "[AGENTS.md](./AGENTS.md)": true, "Refer to AGENTS.md": true,
		"": false, "See AGENTS.md. Never push.": false, "@AGENTS.md\nNever push.": false, "Never read AGENTS.md": false,
		"See AGENTS.md and never push to main without asking, ever; this is a rule": false,
	} {
		if got := project.Pointer(text); got != want {
			t.Errorf("Pointer(%q) = %v, want %v", text, got, want)
		}
	}
	p := newPlace(t)
	p.write(p.repo, "CLAUDE.md", "See AGENTS.md")
	if text, _ := p.r.Instructions(p.at(".")); len(names(text)) != 1 {
		t.Errorf("a pointer to nothing was left out: %q", text)
	}
}

func TestLinks(t *testing.T) {
	p := newPlace(t)
	outside := filepath.Join(p.own, "secret")
	p.write(p.own, "secret", "secret")
	p.write(p.own, "dir/copilot-instructions.md", "secret")
	p.files(map[string]string{"AGENTS.md": "rules"})
	if !p.link(outside, "GEMINI.md") {
		return
	}
	p.link(filepath.Join(p.own, "dir"), ".github")
	p.link("AGENTS.md", "CLAUDE.md")
	p.link("gone", ".cursorrules")
	text, notes := p.r.Instructions(p.at("."))
	if strings.Contains(text, "secret") || len(names(text)) != 1 {
		t.Errorf("text:\n%s", text)
	}
	want := []string{
		"GEMINI.md: leads out of " + p.repo + " and is not read",
		".github/copilot-instructions.md: leads out of " + p.repo + " and is not read",
		".cursorrules: is a link that leads nowhere",
	}
	if diff := cmp.Diff(want, said(notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	// The user's own links are followed.
	if err := os.Symlink(outside, filepath.Join(p.own, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.r.Instructions(p.at(".")); !strings.Contains(text, "secret") {
		t.Errorf("the user's link was not followed:\n%s", text)
	}
	// A working folder that is reached through a link is the same place.
	p.write(p.repo, "a/AGENTS.md", "deep")
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.repo, other); err != nil {
		t.Fatal(err)
	}
	o := p.at("a")
	o.Cwd = filepath.Join(other, "a")
	if text, _ := p.r.Instructions(o); !strings.Contains(text, "deep") || !strings.Contains(text, `"AGENTS.md"`) {
		t.Errorf("through a link:\n%s", text)
	}
}

func TestBounds(t *testing.T) {
	p := newPlace(t)
	p.write(p.repo, "AGENTS.md", strings.Repeat("é", project.MaxFile)) // twice as long in bytes
	text, notes := p.r.Instructions(p.at("."))
	if got := said(notes); len(got) != 1 || got[0] != "AGENTS.md: is cut at 65536 of 131072 bytes" {
		t.Errorf("notes %q", got)
	}
	if !strings.Contains(text, "[cut: these are the first 65536 of 131072 bytes; read the file for the rest]") || strings.Contains(text, "\ufffd") {
		t.Errorf("the text does not tell that it is cut")
	}
	p = newPlace(t)
	deep := ""
	for i := range 6 {
		p.write(p.repo, deep+"AGENTS.md", strings.Repeat(fmt.Sprint(i), 60_000))
		deep += "d/"
	}
	text, notes = p.r.Instructions(p.at(strings.TrimSuffix(deep, "d/")))
	if len(text) > project.MaxRules+1000 || !cmp.Equal(names(text), []string{"d/d/d/AGENTS.md", "d/d/d/d/AGENTS.md", "d/d/d/d/d/AGENTS.md"}) {
		t.Errorf("%d bytes of %q", len(text), names(text))
	}
	if !strings.HasSuffix(text, "[left out for want of room, read them if you need them: AGENTS.md, d/AGENTS.md, d/d/AGENTS.md]\n") || len(notes) != 3 {
		t.Errorf("notes %q, text ends %q", notes, text[len(text)-200:])
	}
	for name, bad := range map[string]string{"binary": "a\x00b", "latin": "caf\xe9", "utf-16": "\xff\xfea\x00"} {
		p = newPlace(t)
		p.write(p.repo, "AGENTS.md", bad)
		if text, notes := p.r.Instructions(p.at(".")); text != "" || len(notes) != 1 || notes[0].What != "is not text in UTF-8" {
			t.Errorf("%s: %q, %q", name, text, notes)
		}
	}
	p.write(p.repo, "AGENTS.md", "\xef\xbb\xbfmark")
	if text, _ := p.r.Instructions(p.at(".")); !strings.Contains(text, "\nmark\n") {
		t.Errorf("a byte order mark stays: %q", text)
	}
}

func TestImports(t *testing.T) {
	p := newPlace(t)
	p.files(map[string]string{
		"CLAUDE.md":   "@a.md\n- @sub/b.md\n@gone.md\n@../x.md\n@~/mine.md\n@types/node is a package\n```\n@fenced.md\n```\nuse `@code.md and` @last.md.\n",
		"a.md":        "a brings @c.md\n",
		"sub/b.md":    "b\n",
		"c.md":        "too deep",
		"fenced.md":   "in a fence",
		"code.md":     "in code",
		"last.md":     "last",
		"d/GEMINI.md": "@../a.md @./e.md",
		"d/e.md":      "e",
	})
	text, notes := p.r.Instructions(p.at("d"))
	if diff := cmp.Diff([]string{"CLAUDE.md", "a.md", "sub/b.md", "last.md", "d/GEMINI.md", "d/e.md"}, names(text)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := []string{
		"CLAUDE.md: brings in @gone.md, which is not there",
		"CLAUDE.md: brings in @../x.md, which is outside of " + p.repo + " and is not read",
		"CLAUDE.md: brings in @~/mine.md, which is outside of " + p.repo + " and is not read",
	}
	if diff := cmp.Diff(want, said(notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestBeside(t *testing.T) {
	p := newPlace(t)
	further := t.TempDir()
	p.write(further, "x/AGENTS.md", "further")
	p.files(map[string]string{
		"AGENTS.md": "root", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b", "a/b/GEMINI.md": "gemini", "a/b/c/CLAUDE.md": "c", "z/AGENTS.md": "z",
		".cursor/rules/go.mdc": "---\nglobs: *.go, web/**/*.ts\n---\ngo rules", "a/.cursor/rules/deep.mdc": "---\nglobs:\n  - b/**\n---\ndeep rules",
		".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nalways",
	})
	o := p.at("a")
	o.Dirs = []string{further}
	for name, want := range map[string][]string{
		filepath.Join(p.repo, "a", "x.txt"):                nil,
		filepath.Join(p.repo, "a", "x.go"):                 {".cursor/rules/go.mdc"},
		filepath.Join(p.repo, "a", "b", "x.txt"):           {"a/.cursor/rules/deep.mdc", "a/b/AGENTS.md"},
		filepath.Join(p.repo, "a", "b", "c", "new", "x.h"): {"a/.cursor/rules/deep.mdc", "a/b/AGENTS.md", "a/b/c/CLAUDE.md"},
		filepath.Join(p.repo, "web", "q", "r", "x.ts"):     {".cursor/rules/go.mdc"},
		filepath.Join(p.repo, "z", "x"):                    {"z/AGENTS.md"},
		filepath.Join(p.own, "x"):                          nil,
		filepath.Join(further, "x", "y"):                   {filepath.ToSlash(further) + "/x/AGENTS.md"},
		p.repo:                                             nil,
		"relative":                                         nil,
	} {
		rules, notes := p.r.Beside(o, name)
		var got []string
		for _, r := range rules {
			got = append(got, r.File)
		}
		if diff := cmp.Diff(want, got); diff != "" || notes != nil {
			t.Errorf("Beside(%s) (-want +got):\n%s, notes %q", name, diff, notes)
		}
	}
	rules, _ := p.r.Beside(o, filepath.Join(p.repo, "a", "b", "x.txt"))
	if want := "<rules file=\"a/b/AGENTS.md\">\nb\n</rules>\n\n<rules file=\"a/b/GEMINI.md\">\ngemini\n</rules>\n"; rules[1].Text != want {
		t.Errorf("text %q, want %q", rules[1].Text, want)
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.go", "a/b/x.go", true},
		{"src/**/*.ts", "src/x.ts", true},
		{"src/**/*.ts", "src/a/b/x.ts", true},
		{"src/**/*.ts", "lib/x.ts", false},
		{"**/test/**", "a/test/b/c", true},
		{"/a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"[", "a", false},
		{strings.Repeat("**/a/", 40) + "b", "a/b", false},
		{strings.Repeat("**/*a*/", 15) + "b", strings.Repeat("aaaa/", 60) + "c", false},
	} {
		if got := project.MatchesAny([]string{tt.pattern}, tt.name); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.name, got)
		}
	}
}

// TestCacheSeesChanges rewrites a file within the grain of its time.
func TestCacheSeesChanges(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.repo, "AGENTS.md")
	stamp := time.Now().Add(-time.Hour).Truncate(time.Second)
	put := func(text string, at time.Time) {
		t.Helper()
		p.write(p.repo, "AGENTS.md", text)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	clock := stamp
	p.r = project.New(func() time.Time { return clock })
	has := func(want string) {
		t.Helper()
		if text, _ := p.r.Instructions(p.at(".")); !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
	put("one", stamp)
	has("one")
	put("two", stamp) // the same size and time: it was read too soon after to tell
	has("two")
	clock = stamp.Add(time.Minute)
	has("two")
	put("six", stamp) // nobody can see this change
	has("two")
	put("ten", stamp.Add(time.Second))
	has("ten")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.r.Instructions(p.at(".")); text != "" {
		t.Errorf("a file that is gone: %q", text)
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		text string
		head map[string]string
		body string
	}{
		{"no head", map[string]string{}, "no head"},
		{"---\nno end", map[string]string{}, "---\nno end"},
		{"---\r\nName: x\r\n---\r\nbody\r\n", map[string]string{"name": "x"}, "body\r\n"},
		{"---\n---\n", map[string]string{}, ""},
		{"---\na: 'it''s'\nb: \"q\\\"q\"\nc: [x, 'y', ]\nd:\n  - p\n  - \"q\"\ne: |\n  l1\n    l2\nf: one\n  two\n# c: no\ng: x # y\na: twice\n---\nb", map[string]string{
			"a": "it's", "b": `q"q`, "c": "x, y", "d": "p, q", "e": "l1\n  l2", "f": "one two", "g": "x # y",
		}, "b"},
		{"---\ndescription: Use when: it matters\nglobs:\n- a\n- b\nbad line\n: x\n---\n", map[string]string{"description": "Use when: it matters", "globs": "a, b"}, ""},
		{"---\n" + strings.Repeat("x\n", 20_000) + "---\n", map[string]string{}, "---\n" + strings.Repeat("x\n", 20_000) + "---\n"},
	} {
		h, body := project.Head(tt.text)
		if diff := cmp.Diff(tt.head, h); diff != "" || body != tt.body {
			t.Errorf("Head(%.60q) (-want +got):\n%s\nbody %.60q, want %.60q", tt.text, diff, body, tt.body)
		}
	}
}

func BenchmarkInstructions(b *testing.B) {
	p := newPlace(b)
	p.files(map[string]string{"AGENTS.md": strings.Repeat("rule\n", 2000), "a/AGENTS.md": "a", "a/b/CLAUDE.md": "@../../docs/x.md", "docs/x.md": "x"})
	p.r = project.New(func() time.Time { return time.Now().Add(time.Hour) })
	o := p.at("a/b")
	b.ReportAllocs()
	for b.Loop() {
		if text, _ := p.r.Instructions(o); text == "" {
			b.Fatal("no text")
		}
	}
}
