//go:build unix

package shell_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tote/internal/permission"
	"tote/internal/tool"
	"tote/internal/tool/shell"
)

// bench is shells and one session with a project.
type bench struct {
	t     *testing.T
	s     *shell.Shells
	env   tool.Env
	tools map[string]tool.Tool
}

func newBench(t *testing.T, o shell.Options) *bench {
	t.Helper()
	before := runtime.NumGoroutine()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, s: shell.New(o), tools: map[string]tool.Tool{}, env: tool.Env{
		Cwd: project, Roots: []string{project, scratch}, Session: "s", Scratch: scratch,
	}}
	b.s.SetGrace(time.Second)
	for _, tl := range b.s.Tools() {
		b.tools[tl.Spec().Name] = tl
	}
	t.Cleanup(func() {
		if err := b.s.Close(); err != nil {
			t.Error(err)
		}
		// A goroutine that has done its work may need a moment to be gone.
		for range 1000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
		}
		buf := make([]byte, 1<<16)
		t.Errorf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
	})
	return b
}

// call runs a tool.
func (b *bench) call(name string, v map[string]any) (string, bool) {
	b.t.Helper()
	r, err := b.tools[name].Run(b.t.Context(), arguments(b.t, v), b.env)
	if err != nil {
		b.t.Fatalf("%s %v: %v", name, v, err)
	}
	return textOf(b.t, r), r.IsError
}

// sh runs a command and returns what it printed without the line about its end.
func (b *bench) sh(command string) string {
	b.t.Helper()
	text, _ := b.call("bash", map[string]any{"command": command})
	out, _, _ := strings.Cut(text, "[exit code ")
	return out
}

func bothShells(t *testing.T, do func(t *testing.T, b *bench)) {
	t.Helper()
	for _, name := range []string{"bash", "sh"} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("this system has no %s", name)
			}
			do(t, newBench(t, shell.Options{Shell: path}))
		})
	}
}

func TestState(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		for i, step := range []struct{ command, want string }{
			{"mkdir 'a b'; cd 'a b'; export X='it'\\''s\n\"so\" $HOME'; Y=local", "[no output]\n"},
			{`pwd; printf '%s|%s\n' "$X" "$Y"`, filepath.Join(b.env.Cwd, "a b") + "\nit's\n\"so\" $HOME|\n"},
			{"exit 3", "[no output]\n"},
			{"cd ..; export Z=1; exit 0; echo never", "[no output]\n"},
			{"set -eu; export S=1; false; echo never", "[no output]\n"},
			{"echo $Z $S $-", "1 1"},
			{"cd - >/dev/null; pwd", filepath.Join(b.env.Cwd, "a b") + "\n"},
			{"if", "yntax"},
			{"echo \"$X\" | head -1", "it's\n"},
			{"unset X PATH; export Z=2", "[no output]\n"},
			{"echo ${X-unset} ${PATH:+kept} $Z", "unset kept 2\n"},
			{"ls -d .", ".\n"},
			{"exec 1>&2; echo there", "there\n"},
			{"trap 'echo bye' EXIT; cd /", "bye\n"},
			{"exec true", "[no output]\n"},
			{"pwd", filepath.Join(b.env.Cwd, "a b") + "\n"},
			{"cat <<'E'\n$x 'y'\nE", "$x 'y'\n"},
			{"cat <<E\nopen", "open"},
			{"cat; echo end of input", "end of input\n"},
			{"echo out; echo err >&2; echo out", "out\nerr\nout\n"},
			{"printf 'a\\0b'", "a\u2400b\n"},
			{"( : </dev/tty ) 2>/dev/null || echo no terminal", "no terminal\n"},
			{"cd .. && rm -rf 'a b' && mkdir c && cd c && rmdir ../c", "[no output]\n"},
			{"pwd", b.env.Cwd + "\n"},
			{"export HUGE=$(head -c 300000 /dev/zero | tr '\\0' x)", "[no output]\n"},
			{"ls -d .; echo ${HUGE-small}", ".\nsmall\n"},
		} {
			if got := b.sh(step.command); !strings.Contains(got, step.want) || strings.HasSuffix(step.want, "\n") && !strings.HasPrefix(got, step.want) {
				t.Errorf("step %d, %.60q: %.300q, want %q", i, step.command, got, step.want)
			}
		}
	})
}

func TestEnds(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		for command, want := range map[string]string{
			"true":             "[exit code 0 after ",
			"exit 3":           "[exit code 3 after ",
			"kill -KILL $$":    "[ended by a signal (killed) after ",
			"exec nonexistent": "[exit code 127 after ",
		} {
			text, bad := b.call("bash", map[string]any{"command": command})
			if !strings.Contains(text, want) || bad != (command != "true") {
				t.Errorf("%s: %q, %v", command, text, bad)
			}
		}
		if text, _ := b.call("bash", map[string]any{"command": "export Q=1; kill -KILL $$"}); !strings.Contains(text, "as they were before") {
			t.Errorf("%q", text)
		}
	})
}

// pidIn is the number that a command wrote into a file of the project.
func (b *bench) pidIn(name string) int {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.env.Cwd, name))
	if err != nil {
		b.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		b.t.Fatal(err)
	}
	return pid
}

// gone waits until a process is gone or waits for its parent to notice.
func (b *bench) gone(pid int) {
	b.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if err := syscall.Kill(pid, 0); err != nil {
			return
		}
		out, err := exec.CommandContext(b.t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z") {
			return
		}
	}
	b.t.Errorf("process %d still runs", pid)
}

func TestTimeout(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		for name, command := range map[string]string{
			"asked":    "echo begun; sleep 1000 & echo $! > pid; wait",
			"stubborn": "trap '' TERM; echo begun; sleep 1000 & echo $! > pid; while :; do wait; sleep 1; done",
		} {
			text, bad := b.call("bash", map[string]any{"command": command, "timeout_ms": 1500})
			if !bad || !strings.HasPrefix(text, "begun\n[stopped: the time limit of 1.5 s was over") {
				t.Errorf("%s: %q", name, text)
			}
			b.gone(b.pidIn("pid"))
		}
		if got := b.sh("echo still here"); got != "still here\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestCancel(t *testing.T) {
	b := newBench(t, shell.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	env := b.env
	env.Live = func(s string) {
		if strings.Contains(s, "begun") {
			cancel()
		}
	}
	r, err := b.tools["bash"].Run(ctx, arguments(t, map[string]any{"command": "echo $$ > pid; echo begun; sleep 1000"}), env)
	if err != nil || !strings.HasPrefix(textOf(t, r), "begun\n[stopped by the user after ") {
		t.Fatalf("%v %v", r, err)
	}
	b.gone(b.pidIn("pid"))
	if _, err := b.tools["bash"].Run(ctx, arguments(t, map[string]any{"command": "true"}), env); err == nil {
		t.Error("it ran for a turn that was over")
	}
}

// What a call leaves running does not hold it up, is told, and can be read and
// stopped.
func TestLeftRunning(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		text, bad := b.call("bash", map[string]any{"command": "(echo early; read x < fifo; echo late; sleep 1000) & mkfifo fifo 2>/dev/null; echo $! > pid; echo done"})
		if bad || !strings.Contains(text, "done\n") || !strings.Contains(text, "[still running as bash-1: ") || !strings.Contains(text, "[exit code 0 after") {
			t.Fatalf("%q", text)
		}
		text, _ = b.call("bash_kill", map[string]any{"id": "bash-1"})
		if strings.Contains(text, "still running") {
			t.Errorf("%q", text)
		}
		b.gone(b.pidIn("pid"))
		// One whose output goes elsewhere is told as well.
		text, _ = b.call("bash", map[string]any{"command": "sleep 1000 >/dev/null 2>&1 & echo $! > pid"})
		if !strings.Contains(text, "[still running as bash-2: ") || !strings.Contains(text, "sleep 1000") && runtime.GOOS == "linux" {
			t.Errorf("%q", text)
		}
		b.s.CloseSession("s")
		b.gone(b.pidIn("pid"))
	})
}

func TestBackground(t *testing.T) {
	bothShells(t, func(t *testing.T, b *bench) {
		b.sh("export GREETING=hello; mkfifo go")
		text, _ := b.call("bash", map[string]any{"command": "echo $$ > pid; echo $GREETING; read x < go; echo $x; exit 4", "background": true})
		if !strings.HasPrefix(text, "[running in the background as bash-2;") {
			t.Fatalf("%q", text)
		}
		b.sh("echo world > go")
		text, bad := b.call("bash_output", map[string]any{"id": "bash-2", "wait_ms": 60_000})
		if !bad || !strings.HasPrefix(text, "hello\nworld\n[exit code 4 after ") {
			t.Errorf("%q", text)
		}
		if text, _ = b.call("bash_output", map[string]any{"id": "bash-2"}); !strings.HasPrefix(text, "[no new output]\n[exit code 4") {
			t.Errorf("%q", text)
		}
		files, err := filepath.Glob(filepath.Join(b.env.Scratch, "shell", "bash-2-*.txt"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 12 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

func TestBackgroundEnds(t *testing.T) {
	b := newBench(t, shell.Options{})
	for i := range 16 {
		if text, bad := b.call("bash", map[string]any{"command": fmt.Sprintf("echo $$ > pid%d; exec sleep 1000", i), "background": true}); bad {
			t.Fatal(text)
		}
	}
	_, err := b.tools["bash"].Run(t.Context(), arguments(t, map[string]any{"command": "true", "background": true}), b.env)
	if err == nil || !strings.Contains(err.Error(), "16 commands run in the background already (bash-1, ") {
		t.Errorf("%v", err)
	}
	if text, bad := b.call("bash_kill", map[string]any{"id": "bash-3"}); bad || !strings.Contains(text, "[ended by a signal (terminated) after") {
		t.Errorf("%q %v", text, bad)
	}
	if text, bad := b.call("bash", map[string]any{"command": "true", "background": true}); bad {
		t.Error(text)
	}
	if text, _ := b.call("bash_output", map[string]any{"id": "bash-4"}); !strings.Contains(text, "[bash-4 has been running for ") {
		t.Errorf("%q", text)
	}
	for _, c := range []struct{ tool, want string }{{"bash_output", "there are bash-1, "}, {"bash_kill", `no background command "bash-99"`}} {
		if _, err := b.tools[c.tool].Run(t.Context(), arguments(t, map[string]any{"id": "bash-99"}), b.env); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.tool, err)
		}
	}
	b.s.CloseSession("s")
	for i := range 16 {
		if _, err := os.Stat(filepath.Join(b.env.Cwd, fmt.Sprintf("pid%d", i))); err == nil {
			b.gone(b.pidIn(fmt.Sprintf("pid%d", i)))
		}
	}
}

// A session that is closed ends the call that runs in it.
func TestClose(t *testing.T) {
	b := newBench(t, shell.Options{})
	begun := make(chan struct{})
	env := b.env
	env.Live = func(string) { close(begun) }
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the call
		r, err := b.tools["bash"].Run(t.Context(), arguments(t, map[string]any{"command": "echo begun; exec sleep 1000"}), env)
		if err != nil || !strings.Contains(textOf(t, r), "the session ends") {
			t.Errorf("%v, %v", r, err)
		}
	})
	<-begun
	if err := b.s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := b.tools["bash"].Run(t.Context(), arguments(t, map[string]any{"command": "true"}), b.env); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
}

// Sessions run side by side and know nothing of each other.
func TestSessions(t *testing.T) {
	b := newBench(t, shell.Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { // ends with its calls
			env := b.env
			env.Session = fmt.Sprint(i)
			for _, c := range []struct{ command, want string }{
				{fmt.Sprintf("export N=%d; mkdir -p d%d; cd d%d", i, i, i), "[no output]"}, {"echo $N ${PWD##*/}", fmt.Sprintf("%d d%d\n", i, i)},
			} {
				r, err := b.tools["bash"].Run(t.Context(), arguments(t, map[string]any{"command": c.command}), env)
				if err != nil || !strings.HasPrefix(textOf(t, r), c.want) {
					t.Errorf("%d: %v, %v", i, r, err)
				}
			}
		})
	}
	wg.Wait()
}

// A long output takes little memory: what is kept is bounded.
func TestHugeOutput(t *testing.T) {
	b := newBench(t, shell.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, bad := b.call("bash", map[string]any{"command": "yes 0123456789012345678901234567890123456789 | head -c 209715200"})
	runtime.ReadMemStats(&after)
	if bad || len(text) > 40<<10 || !strings.Contains(text, "it holds the first 64 MB") {
		t.Errorf("%d bytes, end %q", len(text), text[len(text)-200:])
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 32<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
	files, err := filepath.Glob(filepath.Join(b.env.Scratch, "shell", "bash-1-*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() != 64<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestBinaryOutput(t *testing.T) {
	b := newBench(t, shell.Options{})
	text, _ := b.call("bash", map[string]any{"command": "printf '\\177ELF\\002\\001\\001\\000\\000\\000'"})
	if !strings.HasPrefix(text, "[binary output of 10 bytes in "+b.env.Scratch) {
		t.Fatalf("%q", text)
	}
	path := strings.TrimSuffix(strings.Fields(text)[6], "]")
	if data, err := os.ReadFile(path); err != nil || string(data) != "\x7fELF\x02\x01\x01\x00\x00\x00" {
		t.Errorf("%q, %v", data, err)
	}
}

// Keys are not passed on; what asks for somebody is told that nobody is there.
func TestEnvironment(t *testing.T) {
	b := newBench(t, shell.Options{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "OPENAI_API_KEY=k", "TOTE_HOME=/x", "TERM=xterm", "CI=1", "odd.name=1", "EMPTY=", "=x", "bad"},
		Drop:    []string{"OPENAI_API_KEY"},
	})
	got := b.sh("env | grep -Ev '^(PWD|OLDPWD|SHLVL|_|PATH)=' | sort")
	want := "CI=1\nEDITOR=true\nEMPTY=\nGIT_EDITOR=true\nGIT_PAGER=cat\nGIT_SEQUENCE_EDITOR=true\nGIT_TERMINAL_PROMPT=0\nHOME=/h\nMANPAGER=cat\nPAGER=cat\nTERM=dumb\nVISUAL=true\n"
	if sorted(got) != sorted(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func sorted(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	m := map[string]bool{}
	for _, l := range lines {
		m[l] = true
	}
	return fmt.Sprint(m)
}

func TestCwdArgument(t *testing.T) {
	b := newBench(t, shell.Options{})
	b.sh("mkdir sub")
	text, _ := b.call("bash", map[string]any{"command": "pwd; cd /; export A=1", "cwd": "sub"})
	if !strings.HasPrefix(text, filepath.Join(b.env.Cwd, "sub")+"\n") || strings.Contains(text, "the folder is now") {
		t.Errorf("%q", text)
	}
	if got := b.sh("echo $A; pwd"); got != "1\n"+b.env.Cwd+"\n" {
		t.Errorf("%q", got)
	}
}

func TestArguments(t *testing.T) {
	b := newBench(t, shell.Options{})
	for name, v := range map[string]map[string]any{
		"missing": {}, "blank": {"command": " \n"}, "NUL": {"command": "a\x00"}, "too long": {"command": strings.Repeat("x", 100_000)},
		"quotes": {"command": "'" + strings.Repeat("'", 50_000)}, "limit": {"command": "a", "timeout_ms": 600_001}, "negative": {"command": "a", "timeout_ms": -1},
		"outside": {"command": "a", "cwd": "/"}, "unknown": {"command": "a", "shell": "x"},
	} {
		if _, err := b.tools["bash"].Run(t.Context(), arguments(t, v), b.env); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
	q, title, err := b.tools["bash"].Request(arguments(t, map[string]any{"command": "ls\npwd", "description": "Look around"}), b.env)
	if err != nil || title != "Look around" || q.Tool != "bash" || q.Action != permission.Execute || q.Detail != "ls\npwd" || len(q.Commands) != 2 {
		t.Errorf("%+v, %q, %v", q, title, err)
	}
	if _, title, _ = b.tools["bash"].Request(arguments(t, map[string]any{"command": "ls\npwd"}), b.env); title != "ls ..." {
		t.Errorf("%q", title)
	}
	if got := b.tools["bash"].(shell.Bash).Preview(arguments(t, map[string]any{"command": "ls\npwd", "cwd": "."}), b.env); got != "in "+b.env.Cwd+":\nls\npwd" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"bash_output", "bash_kill"} {
		if q, title, err := b.tools[name].Request(arguments(t, map[string]any{"id": "bash-1"}), b.env); err != nil || title == "" || q.Action != permission.Read {
			t.Errorf("%s: %+v, %q, %v", name, q, title, err)
		}
		if _, _, err := b.tools[name].Request(arguments(t, map[string]any{}), b.env); err == nil {
			t.Errorf("%s needs no id", name)
		}
	}
}

// The folder that relative names belong to is the shell's.
func TestRequestFollowsTheShell(t *testing.T) {
	b := newBench(t, shell.Options{})
	b.sh("mkdir .ssh; cd .ssh")
	q, _, err := b.tools["bash"].Request(arguments(t, map[string]any{"command": "cat config"}), b.env)
	if err != nil {
		t.Fatal(err)
	}
	if v, why := (permission.Rules{Mode: permission.ModeFull}).Decide(q); v != permission.Deny {
		t.Errorf("%v: %s", v, why)
	}
}

// TestOrphans kills a program that runs commands: they end too.
func TestOrphans(t *testing.T) {
	if dir := os.Getenv("SHELL_TEST_ORPHAN"); dir != "" {
		s := shell.New(shell.Options{})
		env := tool.Env{Cwd: dir, Roots: []string{dir}, Session: "s", Scratch: dir}
		if _, err := s.Tools()[0].Run(t.Context(), arguments(t, map[string]any{"command": "(trap '' HUP; sleep 1000) & echo $! > pid; sleep 1000", "background": true}), env); err != nil {
			t.Fatal(err)
		}
		select {} // it is killed
	}
	b := newBench(t, shell.Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestOrphans$")
	cmd.Env = append(os.Environ(), "SHELL_TEST_ORPHAN="+b.env.Cwd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if data, err := os.ReadFile(filepath.Join(b.env.Cwd, "pid")); err == nil && strings.HasSuffix(string(data), "\n") {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	b.gone(b.pidIn("pid"))
}
