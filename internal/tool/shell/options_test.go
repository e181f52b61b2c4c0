//go:build unix

package shell_test

import (
	"slices"
	"testing"

	"tote/internal/permission"
	"tote/internal/tool"
	"tote/internal/tool/shell"
)

func rules(t *testing.T, texts ...string) (out []permission.Rule) {
	t.Helper()
	for _, s := range texts {
		r, err := permission.ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func request(line string) permission.Request {
	commands, paths, opaque, ok := shell.Split(line, "/p", "/home/u", tool.Env{Cwd: "/p", Roots: []string{"/p"}})
	q := permission.Request{Tool: "bash", Action: permission.Execute, Detail: line, Opaque: opaque, Paths: paths}
	if ok {
		q.Commands = commands
	}
	return q
}

// A command that a rule denies is denied, or at least asked about, however it is
// spelled.
func TestSpellings(t *testing.T) {
	deny := permission.Rules{Mode: permission.ModeFull, Deny: rules(t, "bash(git push *)")}
	for _, line := range []string{
		"git push", "X=push; git $X", "X='git push'; $X", "git ${X}", "git \"$X\"", "git $(echo push)", "git `echo push`", "git pu{sh,}", "{git,push}", "git{,} push", "g?t push", "gi[t] push",
		"git pus?", "git pu*", "git [p]ush", "~/git push", "~root/bin/git push", `$'\x67it' push`, `git $'p\165sh'`, "$\"git\" push", "command git push", "command -p git push", "env git push",
		"env -i git push", "env -u X git push", "env X=1 git push", "xargs git push", "echo push | xargs git", "sudo git push", "sudo -u x git push", "doas git push", `\git push`, `"git" push`,
		`g"i"t push`, `g\it pu\sh`, "'git' 'push'", "/usr/bin/git push", "../bin/git push", "./git push", "git \"pu\"sh", "git pu\\\nsh", "git \"$@\"", "exec git push", "builtin command git push",
		"time git push", "! git push", "coproc git push", "git push &", "(git push)", "{ git push; }", "if git push; then :; fi", "for x in a; do git push; done", "eval git push", "eval \"git pu\"sh",
		"bash -c 'git push'", "sh -c \"git $X\"", "bash -lc 'git push'", "nohup git push", "setsid git push", "nice -n 5 git push", "timeout 5 git push", "stdbuf -o0 git push", "find . -exec git push ';'",
		"X=1 git push", "PATH=. git push", "git -C . push", "git -C sub --no-pager push", "git --no-pager push", "git -c color.ui=never push", "git -c alias.x=push x", "git --git-dir=.git push",
		"git submodule foreach git push", "git submodule foreach --recursive 'git push'", "git bisect run git push", "busybox sh -c 'git push'", "flock x git push", "tmux new git push",
		"git() { command git push; }; git", "alias x='git push'", "echo $(git push)", "cat <(git push)", "cat <<E\n$(git push)\nE", "env -S 'git push'", "awk 'BEGIN { system(\"git push\") }'",
		"sed '1e git push' x", "tar xf x --to-command='git push'", "git rebase -x 'git push' main", "true && git push", "true | git push", "true; git push", "git push >/dev/null 2>&1",
	} {
		if got, why := deny.Decide(request(line)); got == permission.Allow {
			t.Errorf("%q: %v (%s), as %q", line, got, why, request(line).Commands)
		}
	}
}

// Rules for commands that read cover no option that runs or writes.
func TestOptions(t *testing.T) {
	allow := permission.Rules{Allow: rules(t, "bash(git status *)", "bash(git diff *)", "bash(git log *)", "bash(git grep *)", "bash(git fetch *)", "bash(git clone *)", "bash(git config *)",
		"bash(git -C *)", "bash(git -c *)", "bash(git --*)", "bash(git archive *)", "bash(git rebase *)", "bash(git bisect *)", "bash(git submodule *)", "bash(find *)", "bash(rg *)", "bash(fd *)", "bash(tar *)",
		"bash(sort *)", "bash(awk *)", "bash(sed *)", "bash(go *)", "bash(make *)", "bash(npx *)", "bash(npm *)", "bash(cargo *)", "bash(rsync *)", "bash(env *)", "bash(ls *)", "bash(echo *)", "bash(cat *)")}
	for _, line := range []string{
		"git diff --output=x", "git diff --output x", "git log --outp=.git/hooks/post-commit", "git -c core.pager=x log", "git -c alias.x=!x x", "git -ccore.pager=x log", "git -c \"core.pager=$X\" log",
		"git --config-env=core.pager=X log", "git --exec-path=x log", "git --git-dir=x status", "git --git-dir x status", "git -C /tmp/evil status", "git -C ../x status", "git grep -O x", "git grep -nOvim x",
		"git grep --open-files-in-pager=x y", "git grep --open x", "git fetch --upload-pack=x", "git fetch --upload-p x y", "git fetch ext::x", "git clone -u x y", "git clone -c core.fsmonitor=x y",
		"git clone --template=x y", "git config core.pager x", "git config --global alias.x '!x'", "git config set core.hooksPath x", "git config --edit", "git archive -o x HEAD", "git archive --remote=x --exec=y HEAD",
		"git rebase -x make main", "git rebase --exec=make main", "git bisect run ./x", "git submodule foreach 'rm x'", "git submodule foreach ./x y",
		"find . -delete", "find . -exec rm {} +", "find . -execdir x ';'", "find . -fprint x", "find . -fprintf x %p", "find . -fls x", "find . -ok x ';'", "rg --pre x y", "rg --pre=x y", "rg --hostname-bin=x y",
		"fd -x rm", "fd a -Xrm", "fd --exec rm", "fd --exec-b rm", "tar cf x --checkpoint-action=exec=x y", "tar xf x --to-command=y", "tar -I x -cf y z", "tar cfI x y z", "tar --use-compress=x -cf y z", "tar -xF x",
		"tar cf x *", "sort -u *.txt", "sort -o x y", "sort -uo x y", "sort -ox y", "sort --output=x y", "sort --compress-program=x y", "awk 'BEGIN{system(\"x\")}'", "awk '{print | \"x\"}' y", "awk '{print > \"x\"}' y",
		"awk '\"x\" | getline'", "awk -i inplace 1 x", "sed -i s/a/b/ x", "sed -ni p x", "sed --in-place=.bak s/a/b/ x", "sed -Ei.bak s/a/b/ x", "sed s/a/b/e x", "sed 's/a/b/w x' y", "sed '1e x' y",
		"sed 'w x' y", "sed -n '/a/w x' y", "sed 's/[/]/;/e;/d;/p' x", "sed -e p -e 'e x' y", "go test -exec x ./...", "go test --exec=x", "go build -toolexec x", "go vet -vettool=x", "go env -w GOFLAGS=-exec=x",
		"go build -ldflags=-extld=x", "make SHELL=x", "make --eval=x", "make -C /tmp/evil", "npx -c x", "npm --script-shell=x test", "cargo --config x build", "rsync -e x a b", "rsync -ave x a b",
		"env -C /etc cat passwd", "env -S 'ls x'", "ls > x", "echo x >> ~/.bashrc", "echo x > .git/hooks/pre-commit", "cat <<E > x\ny\nE", "echo >| x", "echo &> x", "cat <(ls)", "echo >(cat)", "cd /etc; ls", "cd ..; ls",
		"cd; ls", "cd -; ls", "cd $X; ls", "pushd /etc; ls", "CDPATH=/; cd etc; ls", "export CDPATH=/etc; ls",
	} {
		if got, why := allow.Decide(request(line)); got != permission.Ask {
			t.Errorf("%q: %v (%s), as %q", line, got, why, request(line).Commands)
		}
	}
	for _, line := range []string{
		"git status -sb", "git diff --stat -- *.go", "git diff -C90% HEAD", "git log --oneline -5 --output-indicator-new=x", "git -C sub status", "git -c color.ui=never -c core.quotepath=off diff", "git --no-pager log",
		"git -c core.pager=cat log", "git grep -n -e Only x", "git fetch --all --prune", "git clone --depth 1 x y", "git config user.name", "git config --get core.pager", "git config --list", "git config user.email x",
		"find . -name '*.go' -print", "rg -n --pretty x", "rg --pre-glob x y", "fd -e go", "tar tzf x.tgz", "tar -xzf x.tgz -C sub", "sort -k2 -n x", "awk '{print $1}' x", "awk -F'|' '{print $2}' x",
		"awk -F '|' '$1 == \"a\" || $2' x", "sed -n '1,20p' x", "sed s/one/two/g x", "sed -n '/error/,/warning/p' x", "sed -e '/^#/d' -e 's|a/b|we|' x", "sed 's/[^a-e]*$//;s#x#y#' x", "go test -run TestExec ./...",
		"go env GOPATH", "go build -o x ./cmd/x", "make -C sub -j4 all", "npm test", "npx prettier --check .", "cargo test", "rsync -av a b", "cat x | sort | uniq -c", "cd sub && ls",
	} {
		if got, why := allow.Decide(request(line)); got != permission.Allow {
			t.Errorf("%q: %v (%s), as %q, %v", line, got, why, request(line).Commands, request(line).Opaque)
		}
	}
}

// Names belong to every folder that a line may be in.
func TestFoldersOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"cd; cat .config/x": "/home/u/.config/x", "cd ~; cat x": "/home/u/x", "cd ~/a; cat x": "/home/u/a/x", "cd $HOME/a; cat x": "/home/u/a/x", "cd /etc; cat shadow": "/etc/shadow",
		"cd a; cd ../..; cat x": "/x", "env -C /etc cat shadow": "/etc/shadow", "git -C /etc diff shadow": "/etc/shadow", "tar -C /etc -cf - shadow": "/etc/shadow", "tar -C/etc -cf - shadow": "/etc/shadow",
		"pushd /etc; cat shadow": "/etc/shadow", "sudo git -C /etc diff shadow": "/etc/shadow", "git diff --output=/etc/x": "/etc/x", "sort -o/etc/x y": "/etc/x",
	} {
		if q := request(line); !slices.Contains(q.Paths, want) {
			t.Errorf("%q names %q, want %q", line, q.Paths, want)
		}
	}
	for _, line := range []string{"HOME=/etc; cat ~/x", "export HOME=/etc; cat ~/x", "cd $X; cat x", "popd; cat x"} {
		if !request(line).Opaque {
			t.Errorf("%q is said to be known", line)
		}
	}
}
