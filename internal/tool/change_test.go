package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/permission"
	"tote/internal/tool"
)

// desk is a project whose files the model has read.
func desk(t testing.TB, files map[string]string) tool.Env {
	t.Helper()
	env := project(t, files)
	env.Files = &tool.FileLog{}
	for name := range files {
		seen(t, env, name)
	}
	return env
}

func seen(t testing.TB, env tool.Env, name string) {
	t.Helper()
	if _, err := (tool.Read{}).Run(t.Context(), args(t, map[string]any{"path": name}), env); err != nil {
		t.Fatal(err)
	}
}

func file(t testing.TB, env tool.Env, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(env.Cwd, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// clean fails where a temporary file was left.
func clean(t testing.TB, env tool.Env) {
	t.Helper()
	err := filepath.WalkDir(env.Cwd, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, ".tote-") {
			t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	env := desk(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "same.txt": "x\n", "pic.png": png, "crlf.txt": "a\r\nb\r\n"})
	tests := []struct{ path, content, want string }{
		{"new.txt", "one\ntwo", "[created new.txt: 2 lines, 7 bytes]\n"},
		{"deep/er/new.txt", "x\n", "[created deep/er/new.txt: 1 line, 2 bytes]\n"},
		{"empty.txt", "", "[created empty.txt: 0 lines, 0 bytes]\n"},
		{"@at.txt", "x", "[created at.txt: 1 line, 1 byte]\n"},
		{"a.txt", "one\n2\nthree\n", "[wrote a.txt: 3 lines, 12 bytes; before: 3 lines, 14 bytes]\n--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
		{"a.txt", "again\n", "[wrote a.txt: 1 line, 6 bytes; before: 3 lines, 12 bytes]\n--- a.txt\n+++ a.txt\n@@ -1,3 +1 @@\n-one\n-2\n-three\n+again\n"},
		{"same.txt", "x\n", "[same.txt holds exactly that already; nothing was written]\n"},
		{"pic.png", "text", "[wrote pic.png: 1 line, 4 bytes; before: 3 lines, 16 bytes]\n[no difference shown: it is no UTF-8 text]\n"},
		{"crlf.txt", "a\nb\n", "[wrote crlf.txt: 2 lines, 4 bytes; before: 2 lines, 6 bytes]\n[only the line ends differ]\n"},
		{"new.txt", "three\r\n", "[wrote new.txt: 1 line, 7 bytes; before: 2 lines, 7 bytes]\n--- new.txt\n+++ new.txt\n@@ -1,2 +1 @@\n-one\n-two\n\\ No newline at end of file\n+three\n"},
	}
	for _, tt := range tests {
		got, err := run(t, tool.Write{}, env, map[string]any{"path": tt.path, "content": tt.content})
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
		if is := file(t, env, strings.TrimPrefix(tt.path, "@")); is != tt.content {
			t.Errorf("%s holds %q", tt.path, is)
		}
	}
	clean(t, env)
}

// Nothing is overwritten that the model has not seen as it is.
func TestStale(t *testing.T) {
	changers := map[string]struct {
		tl tool.Tool
		v  map[string]any
	}{
		"write": {tool.Write{}, map[string]any{"path": "a.txt", "content": "new\n"}},
		"edit":  {tool.Edit{}, map[string]any{"path": "a.txt", "edits": []any{map[string]any{"old": "one", "new": "uno"}}}},
	}
	tests := map[string]struct {
		do   func(t *testing.T, env tool.Env, path string)
		want string
	}{
		"unread":  {func(*testing.T, tool.Env, string) {}, "you have not read it"},
		"read":    {func(t *testing.T, env tool.Env, _ string) { seen(t, env, "a.txt") }, ""},
		"changed": {func(t *testing.T, env tool.Env, path string) { seen(t, env, "a.txt"); put(t, path, "one\nelse\n") }, "has changed"},
		"changed, same size and time": {func(t *testing.T, env tool.Env, path string) {
			seen(t, env, "a.txt")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, path, "one\n2wo\n")
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "has changed"},
		"touched only": {func(t *testing.T, env tool.Env, path string) {
			seen(t, env, "a.txt")
			if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"a part read": {func(t *testing.T, env tool.Env, _ string) {
			if _, err := run(t, tool.Read{}, env, map[string]any{"path": "a.txt", "limit": 1}); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"a part read, touched": {func(t *testing.T, env tool.Env, path string) {
			if _, err := run(t, tool.Read{}, env, map[string]any{"path": "a.txt", "limit": 1}); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, "has changed"},
	}
	for how, c := range changers {
		for name, tt := range tests {
			t.Run(how+"/"+name, func(t *testing.T) {
				env := project(t, map[string]string{"a.txt": "one\ntwo\n"})
				env.Files = &tool.FileLog{}
				path := filepath.Join(env.Cwd, "a.txt")
				tt.do(t, env, path)
				before := file(t, env, "a.txt")
				_, err := run(t, c.tl, env, c.v)
				if tt.want == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) || file(t, env, "a.txt") != before {
					t.Errorf("err = %v", err)
				}
			})
		}
	}
}

// A file that changes while it is being written is not overwritten: the last look
// is right before it would be.
func TestChangedMeanwhile(t *testing.T) {
	env := desk(t, map[string]string{"a.txt": "one\n"})
	env.Keep = func(_ context.Context, abs string) error { return os.WriteFile(abs, []byte("theirs\n"), 0o600) }
	for name, what := range map[string]string{"a.txt": "changed", "new.txt": "appeared"} {
		_, err := run(t, tool.Write{}, env, map[string]any{"path": name, "content": "mine\n"})
		if err == nil || !strings.Contains(err.Error(), "has changed") || file(t, env, name) != "theirs\n" {
			t.Errorf("it %s: %v, %q", what, err, file(t, env, name))
		}
	}
	clean(t, env)
}

// The file is kept before it is changed; where that fails, nothing is changed.
func TestKeep(t *testing.T) {
	env := desk(t, map[string]string{"a.txt": "one\n"})
	var kept []string
	env.Keep = func(_ context.Context, abs string) error {
		data, err := os.ReadFile(abs)
		if err != nil {
			data = []byte("missing")
		}
		kept = append(kept, filepath.Base(abs)+"="+string(data))
		return nil
	}
	for _, v := range []map[string]any{{"path": "a.txt", "content": "two\n"}, {"path": "b/c.txt", "content": "x"}} {
		if _, err := run(t, tool.Write{}, env, v); err != nil {
			t.Error(err)
		}
	}
	if _, err := run(t, tool.Edit{}, env, edits("a.txt", "two", "three")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a.txt=one\n", "c.txt=missing", "a.txt=two\n"}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	full := errors.New("the disk is full")
	env.Keep = func(context.Context, string) error { return full }
	if _, err := run(t, tool.Write{}, env, map[string]any{"path": "a.txt", "content": "no\n"}); !errors.Is(err, full) || file(t, env, "a.txt") != "three\n" {
		t.Errorf("err = %v", err)
	}
	clean(t, env)
}

func TestWriteRefuses(t *testing.T) {
	env := desk(t, map[string]string{"sub/a.txt": "x", "ro.txt": "x"})
	if err := os.Chmod(filepath.Join(env.Cwd, "ro.txt"), 0o400); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"sub": "it is a folder", "ro.txt": "it is read-only", "sub/a.txt/b": "", "../x.txt": "outside the folders",
	} {
		if _, err := run(t, tool.Write{}, env, map[string]any{"path": path, "content": "new"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, raw := range []string{`{}`, `{"path":"a"}`, `{"content":"x"}`, `{"path":"","content":"x"}`, `{"path":"a","content":null}`, `{"path":"a","content":"x","mode":1}`} {
		if _, err := (tool.Write{}).Run(t.Context(), []byte(raw), env); err == nil {
			t.Errorf("%s was accepted", raw)
		}
		if (tool.Write{}).Preview([]byte(raw), env) != "" {
			t.Errorf("%s has a preview", raw)
		}
	}
	c, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (tool.Write{}).Run(c, args(t, map[string]any{"path": "n.txt", "content": ""}), env); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	clean(t, env)
}

// Writing goes only where it may, links or not.
func TestWriteConfinement(t *testing.T) {
	outside := project(t, map[string]string{"b.txt": "outside", "home/secret.txt": "s"})
	start := func(t *testing.T) tool.Env {
		t.Helper()
		env := desk(t, map[string]string{"in/a.txt": "inside", "home/x.txt": "x"})
		env.Forbidden = []string{filepath.Join(env.Cwd, "home"), filepath.Join(outside.Cwd, "home")}
		link(t, outside.Cwd, filepath.Join(env.Cwd, "away"))
		link(t, filepath.Join(outside.Cwd, "b.txt"), filepath.Join(env.Cwd, "out.txt"))
		link(t, filepath.Join(env.Cwd, "nothing.txt"), filepath.Join(env.Cwd, "dangling.txt"))
		link(t, filepath.Join(env.Cwd, "home"), filepath.Join(env.Cwd, "nook"))
		link(t, filepath.Join("in", "a.txt"), filepath.Join(env.Cwd, "alias.txt"))
		link(t, "in", filepath.Join(env.Cwd, "there"))
		link(t, filepath.Join(outside.Cwd, "b.txt"), filepath.Join(outside.Cwd, "alias-"+filepath.Base(env.Cwd)))
		return env
	}
	tests := map[string]struct {
		path      func(env tool.Env) string
		permitted bool
		ok        bool
		lands     string // in the project, "" for outside
	}{
		"inside":                  {func(tool.Env) string { return "in/a.txt" }, false, true, "in/a.txt"},
		"through a link":          {func(tool.Env) string { return "there/a.txt" }, false, true, "in/a.txt"},
		"a link to a file":        {func(tool.Env) string { return "alias.txt" }, false, true, "in/a.txt"},
		"new, through a link":     {func(tool.Env) string { return "there/n.txt" }, false, true, "in/n.txt"},
		"up":                      {func(tool.Env) string { return "../n.txt" }, false, false, ""},
		"a link out":              {func(tool.Env) string { return "out.txt" }, true, false, ""},
		"a folder out":            {func(tool.Env) string { return "away/n.txt" }, true, false, ""},
		"a link to nothing":       {func(tool.Env) string { return "dangling.txt" }, true, false, ""},
		"forbidden":               {func(tool.Env) string { return "home/n.txt" }, true, false, ""},
		"forbidden, by a link":    {func(tool.Env) string { return "nook/n.txt" }, true, false, ""},
		"outside":                 {func(tool.Env) string { return filepath.Join(outside.Cwd, "n.txt") }, false, false, ""},
		"outside, permitted":      {func(tool.Env) string { return filepath.Join(outside.Cwd, "n.txt") }, true, true, ""},
		"outside, forbidden":      {func(tool.Env) string { return filepath.Join(outside.Cwd, "home", "n.txt") }, true, false, ""},
		"outside, a link":         {func(env tool.Env) string { return filepath.Join(outside.Cwd, "alias-"+filepath.Base(env.Cwd)) }, true, false, ""},
		"outside, folder missing": {func(tool.Env) string { return filepath.Join(outside.Cwd, "x", "n.txt") }, true, false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := start(t)
			env.Permitted = tt.permitted
			path := tt.path(env)
			_, err := run(t, tool.Write{}, env, map[string]any{"path": path, "content": "written"})
			if (err == nil) != tt.ok {
				t.Fatalf("err = %v", err)
			}
			if tt.lands != "" && file(t, env, tt.lands) != "written" {
				t.Errorf("%s holds %q", tt.lands, file(t, env, tt.lands))
			}
			for _, keep := range []string{"alias.txt", "dangling.txt", "out.txt"} {
				if info, err := os.Lstat(filepath.Join(env.Cwd, keep)); err != nil || info.Mode()&os.ModeSymlink == 0 {
					t.Errorf("%s is no link any more: %v", keep, err)
				}
			}
			if b := file(t, outside, "b.txt"); b != "outside" {
				t.Errorf("outside holds %q", b)
			}
		})
	}
}

func TestChangeRequests(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "x", ".env": "KEY=1", ".ssh/config": "x"})
	link(t, ".env", filepath.Join(env.Cwd, "notes.txt"))
	link(t, ".ssh", filepath.Join(env.Cwd, "keys"))
	for path, want := range map[string]struct {
		path    string
		verdict permission.Verdict
	}{
		"a.txt": {"a.txt", permission.Ask}, "new/x.txt": {"new/x.txt", permission.Ask}, ".env": {".env", permission.Deny},
		"notes.txt": {".env", permission.Deny}, "keys/known": {".ssh/known", permission.Deny},
	} {
		for tl, v := range map[tool.Tool]map[string]any{
			tool.Write{}: {"path": path, "content": "x"}, tool.Edit{}: edits(path, "x", "y"),
		} {
			r, title, err := tl.Request(args(t, v), env)
			if err != nil || title == "" || r.Action != permission.Write || !r.Inside {
				t.Errorf("%s: %+v, %q, %v", path, r, title, err)
			}
			if abs := filepath.ToSlash(filepath.Join(env.Cwd, filepath.FromSlash(want.path))); r.Path != abs {
				t.Errorf("%s asks for %s", path, r.Path)
			}
			if got, _ := (permission.Rules{}).Decide(r); got != want.verdict {
				t.Errorf("%s: %v", path, got)
			}
		}
	}
}

func TestPreview(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "one\ntwo\n"})
	long := strings.Repeat("line\n", 300)
	outside := project(t, map[string]string{"o.txt": "one\n"})
	for _, tt := range []struct {
		tl   tool.Previewer
		v    map[string]any
		want string
	}{
		{tool.Write{}, map[string]any{"path": "a.txt", "content": "one\n2\n"}, "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{tool.Write{}, map[string]any{"path": "n.txt", "content": "all\nof it\n"}, "all\nof it\n"},
		{tool.Write{}, map[string]any{"path": "n.txt", "content": long}, strings.Repeat("line\n", 200) + "[cut: 100 more lines]\n"},
		{tool.Write{}, map[string]any{"path": filepath.Join(outside.Cwd, "o.txt"), "content": "one\n"}, ""},
		{tool.Write{}, map[string]any{"path": `\\server\share\x`, "content": "one\n"}, ""},
		{tool.Edit{}, edits("a.txt", "two", "2"), "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{tool.Edit{}, edits("a.txt", "three", "3"), "It will not apply: old is not in the file, and nothing like it is; read the file again\n"},
		{tool.Edit{}, edits("n.txt", "", "new\n"), "new\n"},
	} {
		if diff := cmp.Diff(tt.want, tt.tl.Preview(args(t, tt.v), env)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.v["path"], diff)
		}
	}
	if file(t, env, "a.txt") != "one\ntwo\n" {
		t.Error("a preview changed the file")
	}
}
