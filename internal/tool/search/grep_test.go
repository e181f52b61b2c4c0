package search_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/tool"
	"tote/internal/tool/search"
)

// programs are those that must be there for the comparison to mean something.
// In CI their absence is an error; elsewhere it is told and the rest is compared.
func programs(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"rg", "git"} {
		_, err := exec.LookPath(name)
		switch {
		case err == nil:
			out = append(out, name)
		case os.Getenv("CI") != "" || name == "git":
			t.Fatalf("%s is not installed, and the comparison needs it", name)
		default:
			t.Logf("%s is not installed: it is compared in CI only", name)
		}
	}
	return out
}

// with makes a grep that may ask one program only, "" for none.
func with(program string, used *int) *search.Grep {
	return search.NewGrepWith(func(string) { *used++ }, func(name string) (string, error) {
		if name != program {
			return "", errors.New("not wanted here")
		}
		return exec.LookPath(name)
	})
}

func args(t testing.TB, v map[string]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func run(t testing.TB, tl tool.Tool, env tool.Env, v map[string]any) (string, error) {
	t.Helper()
	r, err := tl.Run(t.Context(), args(t, v), env)
	if err != nil {
		return "", err
	}
	if len(r.Sources) != 1 || r.IsError {
		t.Fatalf("result = %+v", r)
	}
	p, ok := r.Sources[0].Payload.(content.Prose)
	if !ok {
		t.Fatalf("payload = %T", r.Sources[0].Payload)
	}
	return p.Text, nil
}

var queries = []map[string]any{
	{"pattern": "needle"},
	{"pattern": "needle", "limit": 250},
	{"pattern": "needle", "case_insensitive": true, "limit": 250},
	{"pattern": "needle", "files_only": true},
	{"pattern": "needle", "count": true},
	{"pattern": "needle", "offset": 90},
	{"pattern": "needle", "offset": 900, "limit": 7},
	{"pattern": "needle", "files_only": true, "limit": 3},
	{"pattern": "needle", "files_only": true, "limit": 3, "offset": 60},
	{"pattern": "needle", "count": true, "limit": 5, "offset": 4},
	{"pattern": "needle", "context": 2, "limit": 250},
	{"pattern": "needle", "context": 10, "path": "ctx.txt"},
	{"pattern": "needle", "context": 1, "path": "ctx.txt", "limit": 2, "offset": 1},
	{"pattern": "^needle"},
	{"pattern": "needle$"},
	{"pattern": "^needle$"},
	{"pattern": `\bneedle\b`},
	{"pattern": `\Aneedle\z`},
	{"pattern": `(?m)^needle$`},
	{"pattern": `\d+`},
	{"pattern": `^\d+$`},
	{"pattern": `\w+\s\w+`},
	{"pattern": `\s`},
	{"pattern": `[^\x00-\x7f]`},
	{"pattern": `\p{Han}+`},
	{"pattern": `\p{Nd}{3}`},
	{"pattern": `(?i)\x{212a}elvin`},
	{"pattern": "KELVIN", "case_insensitive": true},
	{"pattern": "set", "case_insensitive": true},
	{"pattern": "strasse", "case_insensitive": true},
	{"pattern": "STRASSE|ÜNÏ", "case_insensitive": true},
	{"pattern": "(?i:NEED)le|Ünï|ünï"},
	{"pattern": "."},
	{"pattern": "x*"},
	{"pattern": ""},
	{"pattern": "^$"},
	{"pattern": "a.b"},
	{"pattern": `a\x{fffd}b`},
	{"pattern": `caf. needle`},
	{"pattern": `caf\x{fffd}`},
	{"pattern": `^.needle.$`},
	{"pattern": `na[^a]ve`},
	{"pattern": "foo|bar"},
	{"pattern": "foo(bar)?"},
	{"pattern": "(foo|bar){2}"},
	{"pattern": "foo.bar"},
	{"pattern": "[fb][oa][or]"},
	{"pattern": "nee+dle"},
	{"pattern": "n(e){2}dle"},
	{"pattern": "(a|b|needle)+ (many|in)"},
	{"pattern": "func needle() {", "literal": true},
	{"pattern": "x=1; y", "literal": true},
	{"pattern": "-dash"},
	{"pattern": "--help"},
	{"pattern": "-e"},
	{"pattern": "中文"},
	{"pattern": ".*", "literal": true},
	{"pattern": "needle", "path": "sub"},
	{"pattern": "needle", "path": "sub/deep"},
	{"pattern": "needle", "path": "build"},
	{"pattern": "needle", "path": "out"},
	{"pattern": "needle", "path": "vendor"},
	{"pattern": "needle", "path": ".config"},
	{"pattern": "needle", "path": ".hidden"},
	{"pattern": "needle", "path": "inner"},
	{"pattern": "needle", "path": "loop"},
	{"pattern": "needle", "path": "loop/sub"},
	{"pattern": "needle", "path": "many"},
	{"pattern": "needle", "path": "fakerepo"},
	{"pattern": "needle", "path": "empty.txt"},
	{"pattern": "needle", "path": "etc"},
	{"pattern": "needle", "glob": "*.go"},
	{"pattern": "needle", "glob": "!*.txt"},
	{"pattern": "needle", "glob": "sub/**"},
	{"pattern": "needle", "glob": "/*.{txt,go}"},
	{"pattern": "needle", "glob": "**/deep/*"},
	{"pattern": "needle", "glob": "x.go", "path": "a"},
	{"pattern": "(?=look)"},
	{"pattern": `(a)\1`},
	{"pattern": "a\nb"},
	{"pattern": "("},
	{"pattern": "nothing like this"},
	{"pattern": "[[:upper:]]{4}"},
	{"pattern": "\t"},
	{"pattern": `\v|\f`},
	{"pattern": `(?s).+needle`},
	{"pattern": `(?U)n.+e`},
}

// The answer is the same whoever helps: byte for byte, errors included.
func TestBackendsAgree(t *testing.T) {
	env := tricky(t)
	for _, mode := range []string{"plain", "hostile configuration"} {
		if mode != "plain" {
			hostile(t, env.Cwd)
			t.Setenv("GIT_DIR", filepath.Join(env.Cwd, "nowhere"))
			t.Setenv("GREP_OPTIONS", "--color=always")
			t.Setenv("RIPGREP_CONFIG_PATH", filepath.Join(env.Cwd, "rgrc"))
			put(t, filepath.Join(env.Cwd, "rgrc"), "--invert-match\n")
		}
		for i, q := range queries {
			if mode != "plain" && i%6 != 0 || testing.Short() && i%3 != 0 {
				continue // the rest differs in what is asked, not in who is asked
			}
			var none int
			want, wantErr := run(t, with("", &none), env, q)
			if none > 0 {
				t.Fatal("a program was asked")
			}
			for _, program := range programs(t) {
				var used int
				got, gotErr := run(t, with(program, &used), env, q)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s, %v (-built-in +%s):\n%s", mode, program, q, program, diff)
				}
				if errorText(wantErr) != errorText(gotErr) {
					t.Errorf("%s, %s, %v: error %v, built-in has %v", mode, program, q, gotErr, wantErr)
				}
				literal, wide := q["pattern"] == "needle" && len(q) == 1, q["pattern"] == "[[:upper:]]{4}" || q["pattern"] == `\d+` || q["pattern"] == "[fb][oa][or]"
				if (literal || wide && program == "rg") && used == 0 {
					t.Errorf("%s, %v: %s did not answer", mode, q, program)
				}
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(env.Cwd, "ran")); err == nil {
		t.Error("a program from the repository's configuration was run")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
