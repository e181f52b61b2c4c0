package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/permission"
)

// TestToolNames holds the names that configurations may spell against the tools that
// there are.
func TestToolNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var got []string
	for _, x := range p.workspace(p.open(config.Overlay{})).Tools(t) {
		got = append(got, x.Spec().Name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(config.ToolNames(), got); diff != "" {
		t.Errorf("config.ToolNames (-listed +there):\n%s", diff)
	}
}

// TestRuleFaults has the configuration refuse rules that mean nothing, with their place.
func TestRuleFaults(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`{"permissions": {"deny": ["read(./x)"]}}`:                            `:1:27: permissions.deny[0]: parse permission rule "read(./x)": it never matches`,
		`{"permissions": {"allow": ["bash(a && b)"]}}`:                        `:1:28: permissions.allow[0]: permission rule "bash(a && b)" allows nothing`,
		`{"permissions": {"deny": ["bsh(x)"]}}`:                               `:1:27: permissions.deny[0]: no tool is called "bsh"; did you mean bash?`,
		`{"hooks": {"pre_tool": [{"command": ["a"], "match": "edit(~/x)"}]}}`: `:1:53: hooks.pre_tool[0].match: parse permission rule "edit(~/x)"`,
	} {
		p := newPlace(t)
		p.write(p.userFile(), src)
		_, err := p.open(config.Overlay{}).Workspace(t.Context(), p.cwd)
		var bad *app.ConfigError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), p.userFile()+want) {
			t.Errorf("%s:\n%v\nwant %s", src, err, want)
		}
	}
	p := newPlace(t)
	p.write(p.userFile(), `{"permissions": {"deny": ["mcp__nobody__x", "bash(a && b)"]}}`)
	n := p.workspace(p.open(config.Overlay{})).Notices()
	if !slices.ContainsFunc(n, func(n delivery.Notice) bool { return strings.Contains(n.Title, `no MCP server is called "nobody"`) }) {
		t.Errorf("%v", n)
	}
}

// TestClosedFiles has commands and tools reach for the keys and the record.
func TestClosedFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // the paths of the lines are those of POSIX shells
	}
	p := newPlace(t)
	p.write(p.userFile(), `{"permissions": {"mode": "full", "allow": ["bash", "read", "bash(cat *)"]}}`)
	p.write(filepath.Join(p.home, "config", "keys.json"), "{}")
	p.write(filepath.Join(p.cwd, ".env"), "K=v")
	p.write(filepath.Join(p.cwd, "a.go"), "x")
	p.write(filepath.Join(p.cwd, "sub", "b.go"), "x")
	w := p.workspace(p.open(config.Overlay{}))
	keys := filepath.Join(p.home, "config", "keys.json")
	if err := os.Symlink(keys, filepath.Join(p.cwd, "link")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]permission.Verdict{
		"cat " + keys: permission.Deny, "cat " + filepath.Dir(keys) + "/k*": permission.Deny, "cd " + filepath.Dir(keys) + " && cat keys.json": permission.Deny,
		"sqlite3 " + p.home + "/data/history.db .dump": permission.Deny, "python3 -c 'open(\"" + keys + "\")'": permission.Deny,
		"cat .e*": permission.Deny, "cat li*": permission.Deny, "wc -l sub/*": permission.Allow, "wc -l *.go": permission.Allow, "cat $X/keys.json": permission.Ask,
		"unzip a.zip && cat .e*": permission.Ask,
	} {
		if got, why := w.Judge(t, "bash", map[string]string{"command": line}); got != want {
			t.Errorf("%s: %v (%s), want %v", line, got, why, want)
		}
	}
	if got, why := w.Judge(t, "read", map[string]string{"path": keys}); got != permission.Deny {
		t.Errorf("read: %v %s", got, why)
	}
}

// TestSkillDenied has the file of a skill be one that rules deny.
func TestSkillDenied(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.userFile(), `{"permissions": {"deny": ["read(private/**)"]}}`)
	dir := filepath.Join(p.home, "config", "skills", "x")
	p.write(filepath.Join(dir, "SKILL.md"), "---\nname: x\ndescription: d\n---\nDo it.")
	for _, f := range []string{".env", "private/a.md", "b.md"} {
		p.write(filepath.Join(dir, filepath.FromSlash(f)), "hunter2")
	}
	w := p.workspace(p.open(config.Overlay{}))
	for file, want := range map[string]permission.Verdict{".env": permission.Deny, "private/a.md": permission.Deny, "b.md": permission.Allow, "": permission.Allow} {
		if got, why := w.Judge(t, "skill", map[string]string{"name": "x", "file": file}); got != want {
			t.Errorf("%s: %v (%s)", file, got, why)
		}
		text, err := w.Call(t, "skill", map[string]string{"name": "x", "file": file})
		if (err == nil) != (want == permission.Allow) || want == permission.Deny && (strings.Contains(text, "hunter2") || !strings.Contains(err.Error(), "rules deny")) {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

// TestKeysOfReload has a reload name a key, which commands then do not get any more.
func TestKeysOfReload(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the line is for a POSIX shell
	}
	t.Setenv("KEY_OF_RELOAD", "hunter2")
	p := newPlace(t)
	w := p.workspace(p.open(config.Overlay{}))
	run := func() string {
		text, err := w.Call(t, "bash", map[string]string{"command": "echo [$KEY_OF_RELOAD]"})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got := run(); !strings.Contains(got, "[hunter2]") {
		t.Fatal(got)
	}
	p.write(p.userFile(), `{"providers": {"p": {"kind": "openai-chat", "base_url": "http://127.0.0.1:1/v1", "api_key": "$KEY_OF_RELOAD"}}}`)
	if n, err := w.Reload(t.Context()); err != nil || len(n) != 1 {
		t.Fatal(n, err)
	}
	if got := run(); !strings.Contains(got, "[]") {
		t.Error(got)
	}
}
