package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

// project is a session's folder with the files that are named with slashes.
func project(t testing.TB, files map[string]string) tool.Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return tool.Env{Cwd: dir, Roots: []string{dir}}
}

func put(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system makes no links for this user: %v", err)
	}
}

// args spells arguments.
func args(t testing.TB, v map[string]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs a tool on a path and returns its text; a file that it hands over is
// spelt "file NAME".
func run(t testing.TB, tl tool.Tool, env tool.Env, v map[string]any) (string, error) {
	t.Helper()
	r, err := tl.Run(t.Context(), args(t, v), env)
	if err != nil {
		return "", err
	}
	if len(r.Sources) != 1 || r.IsError {
		t.Fatalf("result = %+v", r)
	}
	s := r.Sources[0]
	if s.Inlet != content.InletTool {
		t.Errorf("inlet = %v", s.Inlet)
	}
	if p, ok := s.Payload.(content.Path); ok {
		return "file " + filepath.Base(p.Path) + " " + s.Chooser.String(), nil
	}
	p, ok := s.Payload.(content.Prose)
	if !ok {
		t.Fatalf("payload = %T", s.Payload)
	}
	if s.Chooser != content.ChosenByTool || s.As != content.KindText {
		t.Errorf("source = %+v", s)
	}
	return p.Text, nil
}

func TestRegistry(t *testing.T) {
	r, err := tool.NewRegistry(tool.Read{}, tool.List{}, tool.Write{}, tool.Edit{}, tool.ViewImage{}, tool.Todo{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range r.All() {
		s := x.Spec()
		names = append(names, s.Name)
		if s.Description == "" || !json.Valid(s.Schema) {
			t.Errorf("%s: description %q, schema %s", s.Name, s.Description, s.Schema)
		}
	}
	if diff := cmp.Diff([]string{"edit", "list", "read", "todo", "view_image", "write"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, ok := r.Lookup("read"); !ok {
		t.Error("read is not found")
	}
	if _, ok := r.Lookup("Read"); ok {
		t.Error("names are matched loosely")
	}
	if _, err := tool.NewRegistry(tool.Read{}, tool.List{}, tool.Read{}); err == nil {
		t.Error("two tools of one name were registered")
	}
	if r, err := tool.NewRegistry(); err != nil || len(r.All()) != 0 {
		t.Errorf("no tools: %v", err)
	}
}

func TestArguments(t *testing.T) {
	env := project(t, map[string]string{"a": "x"})
	for _, raw := range []string{
		`{`, `[]`, `"a"`, `{"path":1}`, `{"path":"a","else":1}`, `{"path":"a"} {}`, `{"path":"a"}x`, `{"path":"a","offset":-1,"depth":-1}`,
	} {
		for _, tl := range []tool.Tool{tool.Read{}, tool.List{}} {
			if _, _, err := tl.Request(json.RawMessage(raw), env); err == nil {
				t.Errorf("%s accepts %s", tl.Spec().Name, raw)
			}
			if _, err := tl.Run(t.Context(), json.RawMessage(raw), env); err == nil {
				t.Errorf("%s runs with %s", tl.Spec().Name, raw)
			}
		}
	}
	for _, raw := range []string{``, `{}`, `{"path":""}`, `{"path":"@"}`, `null`} {
		if _, _, err := (tool.Read{}).Request(json.RawMessage(raw), env); err == nil {
			t.Errorf("read accepts %q without a path", raw)
		}
		if _, _, err := (tool.List{}).Request(json.RawMessage(raw), env); err != nil {
			t.Errorf("list of the working folder: %v", err)
		}
	}
}

func TestRequests(t *testing.T) {
	env := project(t, map[string]string{"sub/a.txt": "x", ".env": "KEY=1"})
	link(t, ".env", filepath.Join(env.Cwd, "notes.txt"))
	tests := map[string]struct {
		path   string
		want   string
		inside bool
	}{
		"relative":       {"sub/a.txt", filepath.Join(env.Cwd, "sub", "a.txt"), true},
		"with @":         {"@sub/a.txt", filepath.Join(env.Cwd, "sub", "a.txt"), true},
		"absolute":       {filepath.Join(env.Cwd, "sub"), filepath.Join(env.Cwd, "sub"), true},
		"not clean":      {"./sub/../sub/a.txt", filepath.Join(env.Cwd, "sub", "a.txt"), true},
		"up":             {"../x", filepath.Join(filepath.Dir(env.Cwd), "x"), false},
		"beside":         {env.Cwd + "-else/x", env.Cwd + "-else/x", false},
		"a link to keys": {"notes.txt", filepath.Join(env.Cwd, ".env"), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, tl := range []tool.Tool{tool.Read{}, tool.List{}} {
				r, title, err := tl.Request(args(t, map[string]any{"path": tt.path}), env)
				want := permission.Request{
					Tool: tl.Spec().Name, Action: permission.Read, Path: filepath.ToSlash(filepath.Clean(tt.want)), Inside: tt.inside,
				}
				if name == "a link to keys" {
					want.Paths = []string{filepath.ToSlash(filepath.Join(env.Cwd, tt.path))}
				}
				if err != nil || title == "" {
					t.Fatalf("title %q, err %v", title, err)
				}
				if diff := cmp.Diff(want, r); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Both tools go only where they may.
func TestConfinement(t *testing.T) {
	env := project(t, map[string]string{"in/a.txt": "inside", "home/secret.txt": "secret", "home/scratch/ok.txt": "scratch"})
	outside := project(t, map[string]string{"b.txt": "outside", "home/secret.txt": "secret"})
	env.Roots = append(env.Roots, filepath.Join(env.Cwd, "home", "scratch"))
	env.Forbidden = []string{filepath.Join(env.Cwd, "home"), filepath.Join(outside.Cwd, "home")}
	link(t, outside.Cwd, filepath.Join(env.Cwd, "away"))
	link(t, filepath.Join(env.Cwd, "home"), filepath.Join(env.Cwd, "nook"))
	link(t, filepath.Join(outside.Cwd, "home"), filepath.Join(outside.Cwd, "nook"))
	link(t, "in", filepath.Join(env.Cwd, "there"))
	tests := map[string]struct {
		dir, file string
		permitted bool
		ok        bool
	}{
		"inside":                         {dir: "in", file: "a.txt", ok: true},
		"through a link inside":          {dir: "there", file: "a.txt", ok: true},
		"scratch below a forbidden one":  {dir: "home/scratch", file: "ok.txt", ok: true},
		"dots":                           {dir: "../" + filepath.Base(outside.Cwd), file: "b.txt"},
		"dots through a folder":          {dir: "in/../../x", file: "b.txt"},
		"absolute":                       {dir: outside.Cwd, file: "b.txt"},
		"absolute, permitted":            {dir: outside.Cwd, file: "b.txt", permitted: true, ok: true},
		"a link out":                     {dir: "away", file: "b.txt"},
		"a link out, permitted":          {dir: "away", file: "b.txt", permitted: true},
		"forbidden":                      {dir: "home", file: "secret.txt"},
		"forbidden, permitted":           {dir: "home", file: "secret.txt", permitted: true},
		"forbidden through a link":       {dir: "nook", file: "secret.txt", permitted: true},
		"forbidden outside":              {dir: filepath.Join(outside.Cwd, "home"), file: "secret.txt", permitted: true},
		"forbidden outside, with a link": {dir: filepath.Join(outside.Cwd, "nook"), file: "secret.txt", permitted: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env.Permitted = tt.permitted
			text, err := run(t, tool.Read{}, env, map[string]any{"path": tt.dir + "/" + tt.file})
			if (err == nil) != tt.ok || tt.ok && !strings.HasPrefix(text, "1\t") {
				t.Errorf("read: %q, %v", text, err)
			}
			names, err := run(t, tool.List{}, env, map[string]any{"path": tt.dir, "depth": 5})
			if (err == nil) != tt.ok || tt.ok && !strings.Contains(names, tt.file) {
				t.Errorf("list: %q, %v", names, err)
			}
		})
	}
	env.Permitted = false
	names, err := run(t, tool.List{}, env, map[string]any{"depth": 5})
	if err != nil || strings.Contains(names, "secret.txt") || strings.Contains(names, "b.txt") || !strings.Contains(names, "a.txt") {
		t.Errorf("list of all: %v\n%s", err, names)
	}
	if _, err := run(t, tool.Read{}, env, map[string]any{"path": outside.Cwd + "/b.txt"}); !errors.Is(err, tool.ErrOutside) {
		t.Errorf("err = %v", err)
	}
}

func TestCancelled(t *testing.T) {
	env := project(t, map[string]string{"a.txt": strings.Repeat("line\n", 10), "long.txt": strings.Repeat("x", 1<<20)})
	c, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"a.txt", "long.txt"} {
		if _, err := (tool.Read{}).Run(c, args(t, map[string]any{"path": path}), env); !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
	}
	if _, err := (tool.List{}).Run(c, nil, env); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `{"path":"a.txt"}`, `{"path":"@a.txt","offset":2,"limit":1}`, `{"path":"sub","depth":2}`, `{"path":"../../etc/passwd"}`,
		`{"path":"/"}`, `{"path":"a.txt","offset":9223372036854775807,"limit":9223372036854775807}`, `{"path":"a\u0000b"}`,
		`{"path":"away/b.txt"}`, `{"path":"\\\\server\\share"}`, `{"path":"C:\\x"}`, `{"depth":5}`,
	} {
		f.Add(s)
	}
	env := project(f, map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "three", "c.bin": "\x00\x01"})
	outside := project(f, map[string]string{"b.txt": "the outside"})
	link(f, outside.Cwd, filepath.Join(env.Cwd, "away"))
	f.Fuzz(func(t *testing.T, raw string) {
		for _, tl := range []tool.Tool{tool.Read{}, tool.List{}} {
			req, title, err := tl.Request(json.RawMessage(raw), env)
			if err == nil && (req.Path == "" || title == "" || req.Tool != tl.Spec().Name || req.Action != permission.Read) {
				t.Errorf("%s: request %+v, title %q", tl.Spec().Name, req, title)
			}
			r, runErr := tl.Run(t.Context(), json.RawMessage(raw), env)
			if err != nil && runErr == nil {
				t.Errorf("%s ran with arguments that it refused", tl.Spec().Name)
			}
			if runErr == nil && !req.Inside {
				t.Errorf("%s ran outside: %+v", tl.Spec().Name, req)
			}
			if s := fmt.Sprint(r.Sources); strings.Contains(s, "the outside") {
				t.Errorf("%s left the project: %s", tl.Spec().Name, s)
			}
		}
	})
}
