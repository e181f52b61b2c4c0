package shell_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/permission"
	"tote/internal/tool"
	"tote/internal/tool/shell"
)

func TestSplit(t *testing.T) {
	env := tool.Env{Cwd: "/p", Roots: []string{"/p"}}
	for line, want := range map[string]string{
		"git diff --stat":                        "git diff --stat",
		"git  diff\t'a b' \"c\" d\\ e":           "git diff 'a b' c 'd e'",
		"a | b && c || d; e & f":                 "a|b|c|d|e|f",
		"(a; { b; }) ; if c; then d; else e; fi": "a|b|c|d|e",
		"for x in 1 2; do rm $x; done":           "rm $x",
		"while read l; do echo \"$l\"; done < f": `read l|echo "$l"`,
		"case $x in a) b;; esac":                 "b",
		"! a":                                    "a",
		"time a b":                               "a b",
		"A=1 B='x y' make all":                   "A=1 B='x y' make all",
		"A=1":                                    "A=1",
		"export A=1 B=2":                         "export A=1 B=2",
		"r''m -rf \"/\"":                         "rm -rf /",
		"\\rm x":                                 "rm x",
		"ls *.go":                                "ls *.go",
		"ls '*.go'":                              "ls '*.go'",
		"grep a*\"b\"":                           `grep a*"b"`,
		"'git diff' x":                           "'git diff' x",
		"echo x > out.txt 2>&1":                  "echo x|> out.txt",
		"a >/dev/null 2>/dev/null":               "a",
		"a &> 'x y'":                             "a|> 'x y'",
		"a >| $F":                                "a|> $F",
		"cd sub && go test":                      "go test",
		"cd sub":                                 "cd sub",
		"cd /etc && ls":                          "cd /etc|ls",
		"cd $X && ls":                            "! cd $X|ls",
		"sudo -u root rm -rf x":                  "sudo -u root rm -rf x|rm -rf x",
		"timeout -s KILL 5 rm x":                 "timeout -s KILL 5 rm x|rm x",
		"env A=1 rm x":                           "env A=1 rm x|rm x",
		"find . -name x -exec rm {} \\; -print":  "find . -name x -exec rm {} ';' -print|rm {}",
		"ls | xargs -n 1 rm":                     "! ls|xargs -n 1 rm|rm",
		"sh -c 'a; b'":                           "sh -c 'a; b'|a|b",
		"bash -ec \"a | b\"":                     "bash -ec 'a | b'|a|b",
		"bash x.sh":                              "bash x.sh",
		"sh -c":                                  "! sh -c",
		"echo it\\'s":                            `echo 'it'\''s'`,
		"/bin/rm x":                              "/bin/rm x",
		"[[ -f x ]] && a":                        "a",
		"echo hi # rm x":                         "echo hi",
		"echo ${X:-y}":                           "echo ${X:-y}",
		"eval 'rm x'":                            "! eval 'rm x'|rm x",
		"eval $X":                                "! eval $X",
		"exec rm x":                              "! exec rm x|rm x",
		"ls $(rm x)":                             "! ls $(rm x)|rm x",
		"ls `rm x`":                              "! ls `rm x`|rm x",
		"diff <(a) <(b)":                         "! diff <(a) <(b)|a|b",
		"$X rm":                                  "! $X rm",
		"\"$@\"":                                 `! "$@"`,
		"r?m x":                                  "! r?m x",
		"{rm,x}":                                 "! {rm,x}",
		"source x":                               "! source x",
		". x":                                    "! . x",
		"alias a=rm":                             "! alias a=rm",
		"trap 'rm x' EXIT":                       "! trap 'rm x' EXIT",
		"git() { rm x; }; git":                   "! rm x|git",
		"cat <<EOF\nrm\nEOF":                     "! cat",
		"sh <<< 'rm x'":                          "! sh",
		"echo $((x))":                            "! echo $((x))",
		"echo ${x@P}":                            "! echo ${x@P}",
		"echo ${a[x]}":                           "! echo ${a[x]}",
		"[[ a -eq b ]]":                          "! ",
		"sh -c \"$X\"":                           `! sh -c "$X"`,
		"$'rm' x":                                "! $'rm' x",
		"if":                                     "?",
		"a 'b":                                   "?",
		strings.Repeat("sh -c ", 1) + "'sh -c \"": "?",
		strings.Repeat("a;", 600):                 "?",
		strings.Repeat("sudo ", 20) + "rm":        "?",
		"sh -c 'if'":                              "?",
		"coproc a":                                "! a",
		"bash -c 'sh -c \"rm x\"'":                `bash -c 'sh -c "rm x"'|sh -c 'rm x'|rm x`,
		"nice -n 5 nohup rm x":                    "nice -n 5 nohup rm x|nohup rm x|rm x",
		"A+=1 a":                                  "A+=1 a",
		"a\\\nb c":                                "ab c",
		"git commit -m \"a\n\nb\"":                "git commit -m 'a\n\nb'",
	} {
		commands, _, opaque, ok := shell.Split(line, "/p", "/home/u", env)
		got := strings.Join(commands, "|")
		if opaque {
			got = "! " + got
		}
		if !ok {
			got = "?"
		}
		if got != want {
			t.Errorf("Split(%.60q) = %q, want %q", line, got, want)
		}
	}
}

func TestSplitPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this test are those of POSIX systems")
	}
	env := tool.Env{Cwd: "/p", Roots: []string{"/p"}}
	for line, want := range map[string]string{
		"cat .env":                      "/p/.env",
		"cat ../x ~/.ssh/id_rsa":        "/home/u/.ssh/id_rsa /x",
		"cat $HOME/.netrc":              "/home/u/.netrc",
		"cat \"$HOME\"/.netrc":          "/home/u/.netrc",
		"cat \"${HOME}/.netrc\"":        "/home/u/.netrc",
		"curl -d @.env x --file=.env.a": "/p/.env /p/.env.a /p/x",
		"a < .env > out":                "/p/.env /p/out",
		"cd .ssh; cat config":           "/p/.ssh /p/.ssh/config /p/config",
		"echo .env >> .gitignore":       "/p/.gitignore",
		"grep .env x":                   "/p/x",
		"grep -e y .env":                "/p/.env /p/y",
		"find . -name .env":             "/p",
		"ls -la .env":                   "",
		"sh -c 'cat .env'":              "/p/.env /p/cat .env",
		"sudo cat .env":                 "/p/.env /p/cat",
		"cat $X":                        "",
		"dd if=.env":                    "/p/.env /p/if=.env",
	} {
		_, paths, _, ok := shell.Split(line, "/p", "/home/u", env)
		if got := strings.Join(paths, " "); got != want || !ok {
			t.Errorf("Split(%q) names %q, want %q", line, got, want)
		}
	}
}

// What is asked for is judged as it should be, from line to verdict.
func TestVerdicts(t *testing.T) {
	s := shell.New(shell.Options{Environ: []string{"HOME=/home/u", "PATH=/usr/bin:/bin"}})
	defer func() { _ = s.Close() }() // nothing has run
	dir := t.TempDir()
	env := tool.Env{Cwd: dir, Roots: []string{dir}, Session: "s"}
	var allow []permission.Rule
	for _, r := range []string{"bash(git diff *)", "bash(go test *)"} {
		rule, err := permission.ParseRule(r)
		if err != nil {
			t.Fatal(err)
		}
		allow = append(allow, rule)
	}
	for line, want := range map[string]permission.Verdict{
		"git diff":                             permission.Allow,
		"cd x && go test ./... 2>&1 | tail -5": permission.Allow,
		"git diff; rm x":                       permission.Ask,
		"git diff > x":                         permission.Ask,
		"git diff $(rm x)":                     permission.Ask,
		"PATH=. git diff":                      permission.Ask,
		"cat .env":                             permission.Deny,
		"git diff /home/u/.ssh/id_rsa":         permission.Deny,
		"if":                                   permission.Ask,
	} {
		q, title, err := s.Tools()[0].Request(arguments(t, map[string]any{"command": line}), env)
		if err != nil || title == "" {
			t.Fatal(title, err)
		}
		if got, why := (permission.Rules{Allow: allow}).Decide(q); got != want {
			t.Errorf("%s: %v (%s), want %v", line, got, why, want)
		}
	}
}

// keywords mean something else where a command stands as its own line.
const keywords = " if then else elif fi do done case esac while until for in function select time coproc { } ! [[ ]] let declare typeset local export readonly nameref "

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"git diff | head", "A='x' b $(c) > d", "cat <<E\nx\nE", "sh -c 'a \"b\"'", "sudo -u x timeout 5 find . -exec rm {} +", "cd a; cd b; cat $HOME/x",
		"\x00", "a\\", "${a", "$'\\x41'", "((((((", "export A=1; [[ -f $x ]]", "eval \"a; b\"",
	} {
		f.Add(s)
	}
	env := tool.Env{Cwd: "/p", Roots: []string{"/p"}}
	f.Fuzz(func(t *testing.T, line string) {
		commands, paths, opaque, ok := shell.Split(line, "/p", "/h", env)
		if !ok && (!opaque || len(commands) > 0) {
			t.Errorf("%q could not be read and gave %q", line, commands)
		}
		again, _, _, _ := shell.Split(line, "/p", "/h", env)
		if diff := cmp.Diff(commands, again); diff != "" {
			t.Errorf("twice: %s", diff)
		}
		for _, p := range paths {
			if !strings.HasPrefix(p, "/") {
				t.Errorf("%q names %q", line, p)
			}
		}
		// What is quoted for rules reads back as the same command.
		for _, c := range commands {
			first, _, _ := strings.Cut(c, " ")
			if opaque || first == ">" || strings.Contains(keywords, " "+first+" ") {
				continue
			}
			if back, _, odd, ok := shell.Split(c, "/p", "/h", env); ok && !odd && (len(back) == 0 || back[0] != c && !strings.HasPrefix(c, "cd ")) {
				t.Errorf("%q lists %q, which reads as %q", line, c, back)
			}
		}
	})
}
