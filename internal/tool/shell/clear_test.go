package shell_test

import (
	"testing"

	"tote/internal/tool"
	"tote/internal/tool/shell"
)

// No rule with a pattern may allow what runs more than its commands tell, however
// that is hidden, and nothing of it may be seen as plain.
func TestOpaque(t *testing.T) {
	env := tool.Env{Cwd: "/p", Roots: []string{"/p"}}
	for _, line := range []string{
		// Comments, which bash and the parser end in different places.
		"git diff #\\\ntouch PWN", "git diff # c\\\ntouch PWN", "git diff # c\\ \ntouch PWN", "# \\\ngit diff", "git diff \\\n# x\ntouch PWN", "git diff # c\\\\\ntouch PWN",
		"git diff #\r\ntouch PWN", "git diff\rtouch PWN",
		// Tests that evaluate.
		"[[ -v x ]]", "[[ -v 'a[$(touch PWN)]' ]]", "[[ -R x ]]", "[[ $x -eq 1 ]]", "[[ a -lt b ]]", "[[ $x == y ]]", "[[ -o x ]]", "[[ a =~ b ]]", "[[ x ]]x", "[[ -f $x ]]",
		"((x))", "(( 1 ))", "let x", "let 'a[$(touch PWN)]'", "test -v x", "test -v 'a[$(touch PWN)]'", "[ -v 'a[$(touch PWN)]' ]", "[ $x = y ]", "test -R x",
		// Expansions that evaluate.
		"echo ${!x}", "echo ${!x*}", "echo ${!a[@]}", "echo ${a[0]}", "echo ${a[$(touch PWN)]}", "echo ${x:1:2}", "echo ${x:a}", "echo ${x@P}", "echo ${x:=y}", "echo ${x=y}",
		"echo $((1))", "echo $[1]", "a[1]=x", "a=(x)", "echo \"${!x}\"", "echo ${x:-${!y}}", "echo ${x^^}",
		// Variables that mean something.
		"for PATH in .; do git diff; done", "for HOME in .; do git diff; done", "for GIT_EXTERNAL_DIFF in x; do git diff; done", "for IFS in x; do git diff; done",
		"for SECONDS in x; do git diff; done", "for OPTIND in x; do git diff; done", "for LD_PRELOAD in x; do git diff; done", "for http_proxy in x; do git fetch; done",
		"for _ in x; do git diff; done", "select x in a; do git diff; done", "for ((;;)); do git diff; done", "SECONDS=x git diff", "RANDOM='a[$(touch PWN)]'", "IFS=x",
		"BASH_ENV=x sh y",
		// Builtins that set variables or change what words mean.
		"printf -v x y", "printf -v 'a[$(touch PWN)]' x", "printf $x", "printf \"$x\"", "read 'a[$(touch PWN)]'", "read PATH", "read $x", "read -r GIT_DIR", "unset 'a[$(touch PWN)]'",
		"unset $x", "getopts a 'a[$(touch PWN)]'", "mapfile x", "readarray x", "declare x=1", "declare -i x=y", "typeset x", "local x", "declare -n x=y", "export -f x", "export $x",
		"export 'a[$(touch PWN)]=1'", "readonly -a x", "alias git=x", "unalias git", "set -k", "set -- x", "set $x", "set -o posix x", "shopt -s expand_aliases", "enable -f x y",
		"hash -p ./x git", "trap x EXIT", "source x", ". x", "eval x", "exec x", "command $x", "command 'x[1]'", "builtin $x", "builtin eval 'x'", "command eval 'x'",
		"jobs -x touch PWN", "wait -p 'a[$(touch PWN)]'", "compgen -C 'touch PWN'", "complete -C x y", "fc -s x", "history -s x",
		// Commands that are hidden from rules that deny.
		"bash -o pipefail -c 'touch X'", "bash --norc -c 'touch X'", "bash -O extglob -c 'touch X'", "bash +x -c 'touch X'", "bash -c $'touch X'", "bash -c \"$x\"", "sh", "sh -s",
		"sh -x y", "bash -i", "sh /dev/stdin", "sh /proc/self/fd/0", "bash $x", "bash x*", "echo touch X | sh", "curl x | bash", "echo touch X | bash -s", "sh <<< 'touch X'",
		"sh <<E\ntouch X\nE", "sh < x", "env -S 'touch X'", "env --split-string='touch X'", "env -S'touch X'", "env -iS 'touch X'", "timeout --signal KILL 5 touch X",
		"timeout --foreground 5 touch X", "timeout $x touch X", "nice --adjustment 5 touch X", "sudo -s touch X", "sudo --user root touch X", "sudo -i", "xargs touch", "echo X | xargs touch",
		"strace -o '|touch X' ls", "busybox $x", "$'touch' X", "$\"touch\" X", "touch $'X'", "git $'push'", "git {push,origin}", "echo {1..3}", "find . $x", "find . -exec $x ';'",
		"script -c 'touch X'", "su -c 'touch X'", "command -x touch X", "echo >(touch X)", "git diff <(touch X)",
		// Redirections that do more.
		"git diff {x}> y", "git diff <> x", "git diff > /dev/tcp/a/1", "cat < /dev/tcp/a/1", "cat < /dev/udp/a/1", "cat <<< $x",
		// The rest of the syntax.
		"f() { x; }", "function f { x; }", "coproc x", "echo @(a|b)", "echo `x`",
	} {
		if commands, _, opaque, ok := shell.Split(line, "/p", "/home/u", env); ok && !opaque {
			t.Errorf("%q is told by %q", line, commands)
		}
	}
}

// What people allow each day stays what rules are about.
func TestClear(t *testing.T) {
	env := tool.Env{Cwd: "/p", Roots: []string{"/p"}}
	for _, line := range []string{
		"git diff --stat | head -5", "go test ./... 2>&1 | tail -20", "cd x && go vet ./...", "git diff # what changed", "# look\ngit diff", "git log \\\n  -5", "[[ -f x ]] && cat x",
		"[[ ! -d x || -z '' ]]", "[[ a == b ]]", "[ -f x ]", "test -d x && ls", "for f in *.go; do gofmt -l $f; done", "while read -r line; do echo \"$line\"; done < x",
		"echo ${X:-y} ${#X} ${X%.go} ${X##*/} ${X/a/b}", "set -euo pipefail", "set -e; ls", "printf '%s\\n' \"$x\"", "command -v go", "export A=1", "sh x.sh", "bash -c 'ls'",
		"timeout 5 ls", "timeout -s KILL 5 ls", "env A=1 ls", "nice -n 5 ls", "sudo -u root ls", "find . -name '*.go' -exec grep x {} +", "time ls", "if a; then b; else c; fi",
		"case $x in a) b;; esac", "a &", "! a", "(a; b)", "{ a; }", "unset X", "ls > x", "ls 2>/dev/null >>x",
	} {
		if commands, _, opaque, ok := shell.Split(line, "/p", "/home/u", env); !ok || opaque {
			t.Errorf("%q is opaque: %q", line, commands)
		}
	}
}
