package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/permission"
	"tote/internal/tool"
	"tote/internal/tool/search"
)

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

// builtIn is grep without any program.
func builtIn() *search.Grep {
	return search.NewGrep(search.Options{LookPath: func(string) (string, error) { return "", errors.New("none") }})
}

func must(t testing.TB, tl tool.Tool, env tool.Env, v map[string]any) string {
	t.Helper()
	text, err := run(t, tl, env, v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return text
}

func TestWhatIsSearched(t *testing.T) {
	env := tricky(t)
	want := strings.Fields(`--help -dash.txt a-b/x.go a.b/x.go a.go a.tmp a/x.go bom.txt crlf.txt ctx.txt DEEP fakerepo/f.log fakerepo/f.txt inner/a.log keep.log latenul.txt
		latin1.txt linked/real.txt long.txt newline.txt noend.txt out/keep.txt repl.txt sub/deep/deep/no.txt sub/deep/yes.txt sub/x.log vt.txt WITH words.txt ünï/cödé.txt`)
	for i := range want {
		want[i] = strings.NewReplacer("DEEP", strings.Repeat("deep/", 60)+"end.txt", "WITH", "with space.txt").Replace(want[i])
	}
	got := strings.Split(strings.TrimSpace(must(t, builtIn(), env, map[string]any{"pattern": "needle", "files_only": true, "glob": "!f??.txt", "limit": 250})), "\n")
	if runtime.GOOS != "windows" {
		// Names that other systems do not have are compared among backends.
		var plain []string
		for _, name := range got {
			if name[0] != '"' && !strings.ContainsAny(name, `\:*`) {
				plain = append(plain, name)
			}
		}
		got = plain
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{
		"build": "build/b.txt\n", "vendor": "vendor/v.go\n", ".config": ".config/x\n", ".hidden": ".hidden\n", "sub/node_modules": "sub/node_modules/m/i.js\n", "id_rsa": "id_rsa\n",
	} {
		if got := must(t, builtIn(), env, map[string]any{"pattern": "needle", "files_only": true, "path": path}); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := must(t, search.Glob{}, env, map[string]any{"pattern": "*.log"}); got != "fakerepo/f.log\ninner/a.log\nkeep.log\nsub/x.log\n" {
		t.Errorf("glob: %q", got)
	}
}

func TestGrepText(t *testing.T) {
	env := tricky(t)
	long := strings.Repeat("é", 1000)
	for name, tt := range map[string]struct {
		v    map[string]any
		want string
	}{
		"lines":        {map[string]any{"pattern": "needle", "glob": "{a.go,crlf.txt}"}, "a.go\n3:func needle() {}\n\ncrlf.txt\n2:needle\n4:needle end\n"},
		"any case":     {map[string]any{"pattern": "NEEDLE", "case_insensitive": true, "path": "a.go"}, "a.go\n3:func needle() {}\n4:var Needle = 1\n"},
		"context":      {map[string]any{"pattern": "needle", "context": 1, "path": "ctx.txt"}, "ctx.txt\n2-2\n3:needle 3\n4-4\n5:needle 5\n6-6\n--\n9-9\n10:10 needle\n11-11\n"},
		"wide context": {map[string]any{"pattern": "needle", "context": 3, "path": "ctx.txt"}, "ctx.txt\n1-1\n2-2\n3:needle 3\n4-4\n5:needle 5\n6-6\n7-7\n8-8\n9-9\n10:10 needle\n11-11\n"},
		"read on":      {map[string]any{"pattern": "needle", "path": "ctx.txt", "offset": 1, "limit": 1}, "ctx.txt\n5:needle 5\n[more matches; narrow the pattern or read on with offset 2]\n"},
		"no more":      {map[string]any{"pattern": "needle", "path": "ctx.txt", "offset": 3}, "[no more matches]\n"},
		"count":        {map[string]any{"pattern": "needle", "count": true, "glob": "{ctx,newline}.txt"}, "ctx.txt: 3\nnewline.txt: 1\n"},
		"some files":   {map[string]any{"pattern": "needle", "files_only": true, "glob": "a*/*.go", "limit": 2}, "a-b/x.go\na.b/x.go\n[more files; narrow the pattern or read on with offset 2]\n"},
		"none":         {map[string]any{"pattern": "nothing", "path": "sub"}, "[no matches in 3 files; hidden, ignored and vendored files are searched only in a folder that path names]\n"},
		"one, none":    {map[string]any{"pattern": "nothing", "path": "a.go"}, "[no matches in 1 file; hidden, ignored and vendored files are searched only in a folder that path names]\n"},
		"broken bytes": {map[string]any{"pattern": "needle", "path": "latin1.txt"}, "latin1.txt\n1:caf\ufffd needle\n3:\ufffdneedle\ufffd\n"},
		"long lines":   {map[string]any{"pattern": "needle", "path": "long.txt"}, "long.txt\n1:needle " + long[:1992] + " [line cut at 2000 bytes]\n2:" + long + " [line cut at 2000 bytes]\n"},
		"binary":       {map[string]any{"pattern": "needle", "path": "earlynul.bin"}, "[no matches in 1 file; hidden, ignored and vendored files are searched only in a folder that path names]\n"},
	} {
		if diff := cmp.Diff(tt.want, must(t, builtIn(), env, tt.v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Reading on with the offsets gives all of it, once.
func TestReadOn(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d.txt", i)] = strings.Repeat("needle "+strings.Repeat("x", i*90)+"\n", i)
	}
	env := project(t, files)
	for _, limit := range []int{7, 100, 250} {
		offset, lines := 0, 0
		for {
			text := must(t, builtIn(), env, map[string]any{"pattern": "needle", "limit": limit, "offset": offset})
			if len(text) > 64<<10+200 {
				t.Fatalf("an answer has %d bytes", len(text))
			}
			lines += strings.Count(text, ":needle")
			_, at, more := strings.Cut(text, "read on with offset ")
			if !more {
				break
			}
			next, err := strconv.Atoi(strings.TrimSuffix(at, "]\n"))
			if err != nil || next != lines {
				t.Fatalf("after %d lines: offset %d, %v", lines, next, err)
			}
			offset = next
		}
		if lines != 30*29/2 {
			t.Errorf("limit %d: %d lines", limit, lines)
		}
	}
}

func TestArguments(t *testing.T) {
	env := project(t, map[string]string{"a": "x"})
	for _, raw := range []string{
		`{`, `{}`, `{"pattern":""}`, `{"pattern":"x","else":1}`, `{"pattern":"x","limit":-1}`, `{"pattern":"x","offset":-1}`,
	} {
		for _, tl := range []tool.Tool{builtIn(), search.Glob{}} {
			if _, _, err := tl.Request(json.RawMessage(raw), env); err == nil || !strings.Contains(err.Error(), tl.Spec().Name) && !strings.Contains(err.Error(), "arguments") {
				t.Errorf("%s on %s: %v", tl.Spec().Name, raw, err)
			}
			if _, err := tl.Run(t.Context(), json.RawMessage(raw), env); err == nil {
				t.Errorf("%s runs with %s", tl.Spec().Name, raw)
			}
		}
	}
	for _, raw := range []string{`{"pattern":"x","files_only":true,"count":true}`, `{"pattern":"x","context":11}`, `{"pattern":"x","offset":100001}`, `{"pattern":"x","glob":"["}`, `{"pattern":"("}`} {
		if _, _, err := builtIn().Request(json.RawMessage(raw), env); err == nil {
			t.Errorf("grep accepts %s", raw)
		}
	}
	for _, tl := range []tool.Tool{builtIn(), search.Glob{}} {
		s := tl.Spec()
		if !json.Valid(s.Schema) || s.Description == "" || !s.Parallel {
			t.Errorf("spec = %+v", s)
		}
		for path, want := range map[string]string{"none": "there is no such file or folder", "a/b": "", "../x": "outside"} {
			if _, err := run(t, tl, env, map[string]any{"pattern": "x", "path": path}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s in %s: %v", s.Name, path, err)
			}
		}
	}
	if _, err := run(t, search.Glob{}, env, map[string]any{"pattern": "x", "path": "a"}); err == nil {
		t.Error("glob looks into a file")
	}
}

func TestRequests(t *testing.T) {
	env := project(t, map[string]string{"sub/a.txt": "x", ".env": "KEY=1"})
	for path, want := range map[string]permission.Verdict{"": permission.Allow, "@sub": permission.Allow, "..": permission.Ask, ".env": permission.Deny} {
		for _, tl := range []tool.Tool{builtIn(), search.Glob{}} {
			req, title, err := tl.Request(args(t, map[string]any{"pattern": "p", "path": path}), env)
			if err != nil || title == "" || req.Tool != tl.Spec().Name || req.Action != permission.Read {
				t.Errorf("%q: %+v, %q, %v", path, req, title, err)
			}
			if v, why := (permission.Rules{}).Decide(req); v != want {
				t.Errorf("%q: %v (%s), want %v", path, v, why, want)
			}
		}
	}
}

func TestBoundaries(t *testing.T) {
	env := project(t, map[string]string{"in.txt": "needle in\n", "home/keys/x.txt": "needle secret\n", "home/y.txt": "needle y\n", "server.key": "needle key\n"})
	other := project(t, map[string]string{"out.txt": "needle out\n", "sub/x.txt": "needle x\n"})
	env.Forbidden = []string{filepath.Join(env.Cwd, "home", "keys")}
	files := map[string]any{"pattern": "needle", "files_only": true}
	if got := must(t, builtIn(), env, files); got != "home/y.txt\nin.txt\n" {
		t.Errorf("files: %q", got)
	}
	if got := must(t, search.Glob{}, env, map[string]any{"pattern": "*.txt"}); got != "home/y.txt\nin.txt\n" {
		t.Errorf("glob: %q", got)
	}
	for _, path := range []string{"home/keys", "home/keys/x.txt", other.Cwd, filepath.Join(other.Cwd, "out.txt")} {
		if _, err := run(t, builtIn(), env, map[string]any{"pattern": "needle", "path": path}); !errors.Is(err, tool.ErrOutside) {
			t.Errorf("%s: %v", path, err)
		}
	}
	link(t, other.Cwd, filepath.Join(env.Cwd, "away"))
	link(t, filepath.Join(env.Cwd, "home", "keys"), filepath.Join(env.Cwd, "inward"))
	if runtime.GOOS != "windows" {
		for _, path := range []string{"away", "inward", "away/sub", "away/out.txt"} {
			if got, err := run(t, builtIn(), env, map[string]any{"pattern": "needle", "path": path}); err == nil {
				t.Errorf("%s leads out: %q", path, got)
			}
		}
	}
	env.Permitted = true
	slash := filepath.ToSlash(other.Cwd)
	if got := must(t, builtIn(), env, map[string]any{"pattern": "needle", "files_only": true, "path": other.Cwd}); got != slash+"/out.txt\n"+slash+"/sub/x.txt\n" {
		t.Errorf("outside, permitted: %q", got)
	}
	if got := must(t, builtIn(), env, map[string]any{"pattern": "needle", "path": filepath.Join(other.Cwd, "out.txt")}); got != slash+"/out.txt\n1:needle out\n" {
		t.Errorf("a file outside, permitted: %q", got)
	}
	if _, err := run(t, builtIn(), env, map[string]any{"pattern": "needle", "path": "home/keys"}); !errors.Is(err, tool.ErrOutside) {
		t.Errorf("forbidden, permitted: %v", err)
	}
}

func TestLargeFiles(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "needle\n", "big.txt": "needle\n"})
	if err := os.Truncate(filepath.Join(env.Cwd, "big.txt"), 21<<20); err != nil {
		t.Fatal(err)
	}
	if got := must(t, builtIn(), env, map[string]any{"pattern": "needle"}); got != "a.txt\n1:needle\n[1 file larger than 20 MB not searched]\n" {
		t.Errorf("%q", got)
	}
	if got := must(t, search.Glob{}, env, map[string]any{"pattern": "b*"}); got != "big.txt\n" {
		t.Errorf("glob: %q", got)
	}
}

// Rules hold without a repository, in a folder of one, and in a linked work tree.
func TestIgnorePlaces(t *testing.T) {
	files := map[string]any{"pattern": "x", "files_only": true}
	env := project(t, map[string]string{".gitignore": "*.log\n", "a.log": "x\n", "a.txt": "x\n", "sub/.gitignore": "b.txt\n", "sub/b.txt": "x\n", "sub/c.txt": "x\n", "sub/c.log": "x\n"})
	if got := must(t, builtIn(), env, files); got != "a.txt\nsub/c.txt\n" {
		t.Errorf("no repository: %q", got)
	}
	git(t, env.Cwd, "init", "-q")
	put(t, filepath.Join(env.Cwd, ".git", "info", "exclude"), "sub/c.txt\nw.txt\n")
	git(t, env.Cwd, "add", ".gitignore")
	git(t, env.Cwd, "commit", "-q", "-m", "x")
	sub := filepath.Join(env.Cwd, "sub")
	if got := must(t, builtIn(), tool.Env{Cwd: sub, Roots: []string{sub}}, files); !strings.HasPrefix(got, "[no matches in 0 files") {
		t.Errorf("in a folder of a repository: %q", got)
	}
	tree := filepath.Join(project(t, nil).Cwd, "tree")
	git(t, env.Cwd, "worktree", "add", "-q", tree)
	for _, name := range []string{"w.txt", "x.log", "y.txt"} {
		put(t, filepath.Join(tree, name), "x\n")
	}
	for _, program := range append([]string{""}, programs(t)...) {
		var used int
		if got := must(t, with(program, &used), tool.Env{Cwd: tree, Roots: []string{tree}}, files); got != "y.txt\n" {
			t.Errorf("linked work tree, %q: %q", program, got)
		}
	}
}

func TestGlobReadOn(t *testing.T) {
	files := map[string]string{}
	for i := range 700 {
		files[fmt.Sprintf("f%03d.txt", i)] = ""
	}
	env := project(t, files)
	first := must(t, search.Glob{}, env, map[string]any{"pattern": "*"})
	if !strings.HasSuffix(first, "f499.txt\n[500 of 700 files; narrow the pattern or read on with offset 500]\n") {
		t.Errorf("first: %.100q", first)
	}
	if rest := must(t, search.Glob{}, env, map[string]any{"pattern": "*", "offset": 500}); strings.Count(rest, "\n") != 200 {
		t.Errorf("rest: %.100q", rest)
	}
	if none := must(t, search.Glob{}, env, map[string]any{"pattern": "*", "offset": 900}); none != "[no more files: 700 match]\n" {
		t.Errorf("behind: %q", none)
	}
	if none := must(t, search.Glob{}, env, map[string]any{"pattern": "*.go"}); !strings.HasPrefix(none, "[no files match") {
		t.Errorf("none: %q", none)
	}
}

func TestCancelled(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "x\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tl := range []tool.Tool{builtIn(), search.Glob{}} {
		if _, err := tl.Run(ctx, args(t, map[string]any{"pattern": "x"}), env); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tl.Spec().Name, err)
		}
	}
}
