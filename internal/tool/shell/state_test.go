//go:build unix

package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/permission"
	"tote/internal/tool/shell"
)

// program writes a program that prints a text.
func (b *bench) program(path, prints string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+prints+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		b.t.Fatal(err)
	}
}

// Nothing that one call does changes what the name of a command means in the next: that
// one may run by a rule for the name.
func TestNamesMeanTheSame(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("this system has no bash")
	}
	for _, kind := range []string{bash, posixShell(t)} {
		real, evil := t.TempDir(), t.TempDir()
		b := newBench(t, shell.Options{Shell: kind, Environ: []string{"PATH=" + real + ":/usr/bin:/bin", "HOME=/h", "GIT_ASKPASS=true"}})
		b.program(filepath.Join(real, "git"), "real")
		b.program(filepath.Join(evil, "git"), "evil")
		lib := filepath.Join(evil, "lib.sh")
		if err := os.WriteFile(lib, []byte("git() { echo evil; }\ngit() { echo evil; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := []string{
			"git() { echo evil; }", ". " + lib, "export PATH=" + evil + ":$PATH", "PATH=" + evil, "export BASH_ENV=" + lib + " ENV=" + lib, "export IFS=i LD_PRELOAD=" + evil,
			"unset GIT_ASKPASS", "export GIT_EXTERNAL_DIFF=evil CDPATH=" + evil + " HOME=" + evil, "export 'A=$(echo evil)' 'B=`echo evil`' C=\"'; echo evil; '\"",
			"trap 'echo evil' EXIT", "command() { echo evil; }",
		}
		if kind == bash {
			lines = append(lines, "function git { echo evil; }", "git() { echo evil; }; export -f git", "git() { echo evil; }; typeset -fx git",
				"shopt -s expand_aliases\nalias git='echo evil'", "hash -p "+evil+"/git git", "declare -x PATH="+evil, "readonly PATH="+evil, "declare -rx PATH="+evil+":$PATH",
				"trap 'git() { echo evil; }' DEBUG", "set -a; BASH_ENV="+lib, "export PROMPT_COMMAND='echo evil' PS4='$(echo evil)' SHELLOPTS; set -x", "set -k", "enable -n echo",
				"builtin() { echo evil; }", "export() { builtin export \"$@\" PATH="+evil+"; }", "eval() { echo evil; }", "trap() { :; }", "set() { echo evil; }; unset() { :; }",
				"cd() { echo evil; }", "pwd() { echo evil; }", "echo() { printf evil; }", "declare -ix N='a[$(echo evil)]'", "declare -nx PATH2=PATH; PATH2="+evil, "export -a PATH")
		}
		for _, line := range lines {
			b.call("bash", map[string]any{"command": line})
			got := b.sh("cd .; git status; echo \"$GIT_ASKPASS$GIT_EXTERNAL_DIFF$BASH_ENV$ENV$LD_PRELOAD$CDPATH$PROMPT_COMMAND\"; echo ${HOME}; bash -c 'echo \"$BASH_ENV\"; git'")
			if got != "real\ntrue\n/h\n\nreal\n" {
				t.Errorf("%s: after %q: %q", kind, line, got)
			}
		}
	}
}

func posixShell(t *testing.T) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this system has no sh")
	}
	return sh
}

// The model is told what did not last, and not what did.
func TestWhatLasts(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		text, _ := b.call("bash", map[string]any{"command": "export PATH=$PATH:/x GIT_PAGER=less FOO=1"})
		if !strings.Contains(text, "[for this call alone: GIT_PAGER, PATH; set it again in the call that needs it]") {
			t.Errorf("%q", text)
		}
		for _, line := range []string{"true", "cd /; cd - >/dev/null", "export LANG=C"} {
			if text, _ = b.call("bash", map[string]any{"command": line}); strings.Contains(text, "alone") {
				t.Errorf("%s: %q", line, text)
			}
		}
		if got := b.sh("echo $FOO $LANG $GIT_PAGER"); got != "1 C cat\n" {
			t.Errorf("%q", got)
		}
	})
}

// What a line could not do under a rule, it cannot do with what lasts from earlier
// calls either.
func TestRulesSeeWhatLasts(t *testing.T) {
	rule, err := permission.ParseRule("bash(make *)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before, cwd string
		want        permission.Verdict
	}{
		{"true", "", permission.Allow},
		{"MAKEFILES=x; git() { :; }", "", permission.Allow}, // nothing of it lasts
		{"export PATH=/x", "", permission.Allow},
		{"export CI=1 LC_ALL=C", "", permission.Allow},
		{"export MAKEFILES=x", "", permission.Ask},
		{"export A='x y' B=1", "", permission.Ask},
		{"export A=1; unset A", "", permission.Allow},
		{"unset KEEP", "", permission.Ask},
		{"unset KEEP; export KEEP=1", "", permission.Allow},
		{"cd /", "", permission.Ask},
		{"cd /", ".", permission.Allow},
		{"mkdir -p a; cd a", "", permission.Allow},
	} {
		b := newBench(t, shell.Options{Environ: []string{"PATH=/usr/bin:/bin", "KEEP=1"}})
		b.sh(c.before)
		v := map[string]any{"command": "make all > out"}
		if c.cwd != "" {
			v["cwd"] = b.env.Cwd
		}
		q, _, err := b.tools["bash"].Request(arguments(t, v), b.env)
		if err != nil {
			t.Fatal(err)
		}
		out, err := permission.ParseRule("bash(> out)")
		if err != nil {
			t.Fatal(err)
		}
		if got, why := (permission.Rules{Allow: []permission.Rule{rule, out}}).Decide(q); got != c.want {
			t.Errorf("after %q: %v (%s) for %q, want %v", c.before, got, why, q.Commands, c.want)
		}
		// A rule that denies looks behind all of it.
		if got, why := (permission.Rules{Mode: permission.ModeFull, Deny: []permission.Rule{rule}}).Decide(q); got != permission.Deny {
			t.Errorf("after %q: %v (%s) for %q, want it denied", c.before, got, why, q.Commands)
		}
	}
}

// What shells list is read back as they have it.
func TestExports(t *testing.T) {
	values := []string{
		"", "x", "a b", "it's", `"double"`, `back\slash`, "$HOME `x` $(x)", "line\nline\n", "tab\tbell\x07esc\x1b\r", "ü 日本", "\xff\xfe", "\x7f\x01", "a=b", "'\"'\"'", "!x", "~", "*",
		"\\x41", "\\101", "\u0085",
	}
	for _, name := range []string{"bash", "sh", "dash", "ksh", "mksh", "busybox"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // this system has none
		}
		args := []string{"-c", "export -p"}
		if name == "busybox" {
			args = append([]string{"sh"}, args...)
		}
		for _, locale := range []string{"C", "C.UTF-8"} {
			for _, v := range values {
				cmd := exec.CommandContext(t.Context(), path, args...)
				cmd.Env = []string{"LC_ALL=" + locale, "A=1", "VALUE=" + v, "Z=2"}
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				got, ok := shell.Exports(out)
				if !ok || got["VALUE"] != v || got["A"] != "1" || got["Z"] != "2" {
					t.Errorf("%s in %s lists %q as %q, read as %q, %v", name, locale, v, out, got["VALUE"], ok)
				}
			}
		}
	}
}

func FuzzExports(f *testing.F) {
	for _, s := range []string{
		"declare -x A=\"1\"\nexport B='x'\"'\"'y'\n", "declare -ax A=([0]=\"x\")\n", "export A\ntypeset -x B=$'\\x41\\101\\u00e9\\n'\n", "declare -x A=\"", "export A=1", "export 1=2\n", "x\n",
		"declare -x A=$'\\", "export A=\\\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		vars, ok := shell.Exports(text)
		if ok != (vars != nil) {
			t.Fatalf("%q: %v, %v", text, vars, ok)
		}
		var sb strings.Builder
		for name, value := range vars {
			sb.WriteString("export " + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n")
		}
		again, ok2 := shell.Exports([]byte(sb.String()))
		if ok && (!ok2 || len(again) != len(vars)) {
			t.Errorf("%q reads as %v, which reads as %v", text, vars, again)
		}
	})
}
