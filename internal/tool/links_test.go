package tool_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/permission"
	"tote/internal/tool"
)

// denies is a session's folder with a file that a rule keeps from being read, and
// links to it.
func denies(t *testing.T) tool.Env {
	t.Helper()
	env := desk(t, map[string]string{"private/key.txt": "secret\n", "private/p.png": "\x89PNG\x00", "open.txt": "open\n"})
	link(t, filepath.Join("private", "key.txt"), filepath.Join(env.Cwd, "alias.txt"))
	link(t, filepath.Join("private", "p.png"), filepath.Join(env.Cwd, "alias.png"))
	link(t, "private", filepath.Join(env.Cwd, "door"))
	env.Denied = func(abs string) bool {
		return strings.HasPrefix(abs+string(filepath.Separator), filepath.Join(env.Cwd, "private")+string(filepath.Separator))
	}
	return env
}

// A rule for a file holds for it behind links as well.
func TestRulesSeeBehindLinks(t *testing.T) {
	env := denies(t)
	var rules permission.Rules
	for _, text := range []string{"read(private/**)", "write(private/**)", "edit(private/**)"} {
		r, err := permission.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules.Deny = append(rules.Deny, r)
	}
	for _, path := range []string{"private/key.txt", "alias.txt", "door/key.txt"} {
		for tl, v := range map[tool.Tool]map[string]any{
			tool.Read{}: {"path": path}, tool.Write{}: {"path": path, "content": "x"}, tool.Edit{}: edits(path, "secret", "y"),
		} {
			r, title, err := tl.Request(args(t, v), env)
			if err != nil || !strings.HasSuffix(r.Path, "/private/key.txt") || !r.Inside || !strings.Contains(title, path) {
				t.Errorf("%s %s: %+v, %q, %v", tl.Spec().Name, path, r, title, err)
			}
			if got, _ := rules.Decide(r); got != permission.Deny {
				t.Errorf("%s %s: %v", tl.Spec().Name, path, got)
			}
		}
	}
	outside := project(t, map[string]string{"b.txt": "x"})
	link(t, outside.Cwd, filepath.Join(env.Cwd, "away"))
	if r, _, err := (tool.Read{}).Request(args(t, map[string]any{"path": "away/b.txt"}), env); err != nil || r.Inside || r.Path != filepath.ToSlash(filepath.Join(outside.Cwd, "b.txt")) {
		t.Errorf("a link out: %+v, %v", r, err)
	}
}

func TestDeniedIsNotShown(t *testing.T) {
	env := denies(t)
	for _, tt := range []struct {
		tl tool.Tool
		v  map[string]any
	}{
		{tool.Read{}, map[string]any{"path": "alias.txt"}},
		{tool.Read{}, map[string]any{"path": "door/key.txt"}},
		{tool.ViewImage{}, map[string]any{"path": "alias.png"}},
		{tool.ViewImage{}, map[string]any{"path": "private/p.png"}},
		{tool.List{}, map[string]any{"path": "door"}},
		{tool.Edit{}, edits("alias.txt", "secret", "public")},
		{tool.Edit{}, edits("private/key.txt", "secret", "public")},
	} {
		if got, err := run(t, tt.tl, env, tt.v); err == nil || !strings.Contains(err.Error(), "the user's rules deny reading it") {
			t.Errorf("%s %v: %q, %v", tt.tl.Spec().Name, tt.v["path"], got, err)
		}
	}
	if got, err := run(t, tool.List{}, env, map[string]any{"depth": 3}); err != nil || strings.Contains(got, "key.txt") {
		t.Errorf("list: %q, %v", got, err)
	}
	for tl, v := range map[tool.Previewer]map[string]any{
		tool.Write{}: {"path": "alias.txt", "content": "x"}, tool.Edit{}: edits("door/key.txt", "secret", "public"),
	} {
		if got := tl.Preview(args(t, v), env); !strings.HasPrefix(got, "[no difference shown") {
			t.Errorf("preview: %q", got)
		}
	}
}

// Outside the roots only the path that was judged is opened.
func TestJudgedPath(t *testing.T) {
	env := desk(t, nil)
	outside := project(t, map[string]string{"dl/a.txt": "a\n", "other/a.txt": "elsewhere\n"})
	link(t, filepath.Join(outside.Cwd, "other"), filepath.Join(outside.Cwd, "ln"))
	env.Permitted = true
	judge := func(path string) string {
		return filepath.ToSlash(filepath.Join(outside.Cwd, filepath.FromSlash(path)))
	}
	for _, tt := range []struct {
		path, judged string
		ok           bool
	}{
		{"dl/a.txt", "", true},
		{"dl/a.txt", judge("dl/a.txt"), true},
		{"dl/a.txt", judge("other/a.txt"), false},
		{"ln/a.txt", "", false},
		{"ln/a.txt", judge("ln/a.txt"), false},
		{"ln/a.txt", judge("other/a.txt"), true},
	} {
		env.Judged = tt.judged
		path := filepath.Join(outside.Cwd, filepath.FromSlash(tt.path))
		if got, err := run(t, tool.Read{}, env, map[string]any{"path": path}); (err == nil) != tt.ok {
			t.Errorf("read %s, judged %q: %q, %v", tt.path, tt.judged, got, err)
		}
		if tt.judged != "" {
			env.Judged = judge(strings.TrimSuffix(strings.TrimPrefix(tt.judged, judge("")+"/"), "/a.txt"))
		}
		if got, err := run(t, tool.List{}, env, map[string]any{"path": filepath.Dir(path)}); (err == nil) != tt.ok {
			t.Errorf("list %s, judged %q: %q, %v", tt.path, env.Judged, got, err)
		}
	}
	env.Judged = judge("ln/new.txt")
	if _, err := run(t, tool.Write{}, env, map[string]any{"path": filepath.Join(outside.Cwd, "ln", "new.txt"), "content": "x"}); err == nil {
		t.Error("a file was written behind a link")
	}
	if _, err := os.Lstat(filepath.Join(outside.Cwd, "other", "new.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it landed there: %v", err)
	}
}

func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hold, dropped := make(chan struct{}), make(chan int)
	started := make(chan struct{})
	// It ends when the call has been started.
	go func() { <-started; cancel() }()
	_, err := tool.Await(ctx, func() (int, error) { close(started); <-hold; return 7, nil }, func(n int) { dropped <- n })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	close(hold)
	if n := <-dropped; n != 7 {
		t.Errorf("dropped %d", n)
	}
	if n, err := tool.Await(t.Context(), func() (int, error) { return 3, nil }, nil); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestWriteLeavesNoFolders(t *testing.T) {
	env := desk(t, map[string]string{"sub/a.txt": "a"})
	for _, path := range []string{"newdir/", "sub/", "sub/deep/b" + strings.Repeat("x", 300)} {
		if _, err := run(t, tool.Write{}, env, map[string]any{"path": path, "content": "x"}); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	for _, path := range []string{"newdir", "sub/deep"} {
		if _, err := os.Lstat(filepath.Join(env.Cwd, filepath.FromSlash(path))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
}
