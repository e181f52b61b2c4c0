package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tote/internal/tool"
	"tote/internal/tool/shell"
)

// strays are ways to leave the group of a command. Each writes its number into pid.
var strays = map[string]string{
	"job control": "set -m; sleep 1000 & echo $! > pid; ",
	"stubborn":    "set -m; sh -c 'trap \"\" TERM HUP; sleep 1000 & sleep 1000; sleep 1000' & echo $! > pid; ",
	"nested":      "bash -c 'set -m; sleep 1000 & echo $! > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done; ",
}

// awaySessions are those that leave the session too: they are found by their parents.
var awaySessions = map[string]string{
	"session":          "setsid sleep 1000 & echo $! > pid; sleep 0.1; ",
	"stubborn session": "setsid sh -c 'trap \"\" TERM HUP; echo $$ > pid; sleep 1000; sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done; ",
}

// What leaves the group is ended with it, whatever ends it.
func TestStrays(t *testing.T) {
	for name, line := range strays {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, shell.Options{})
			b.call("bash", map[string]any{"command": line + "sleep 1000", "timeout_ms": 1000})
			b.gone(b.pidIn("pid"))
			// It is left running by a call that ends.
			b = newBench(t, shell.Options{})
			if text, _ := b.call("bash", map[string]any{"command": line + "echo done"}); !strings.Contains(text, "done\n") || !strings.Contains(text, "[still running as bash-1") {
				t.Errorf("%q", text)
			}
			b.call("bash_kill", map[string]any{"id": "bash-1"})
			b.gone(b.pidIn("pid"))
		})
	}
	for name, line := range awaySessions {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, shell.Options{})
			b.call("bash", map[string]any{"command": line + "sleep 1000", "timeout_ms": 1000})
			b.gone(b.pidIn("pid"))
			b = newBench(t, shell.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			env := b.env
			env.Live = func(string) { cancel() }
			if _, err := b.tools["bash"].Run(ctx, arguments(t, map[string]any{"command": line + "echo begun; sleep 1000"}), env); err != nil {
				t.Fatal(err)
			}
			b.gone(b.pidIn("pid"))
		})
	}
}

// Who got away from a call that has ended holds up nothing, though it holds the output
// open.
func TestAwayHoldsNothing(t *testing.T) {
	b := newBench(t, shell.Options{})
	for _, line := range []string{
		"(setsid sh -c 'echo $$ > pid; exec sleep 1000' &); while ! [ -s pid ]; do sleep 0.01; done; echo done", "setsid -f sh -c 'echo $$ > pid; exec sleep 1000'; while ! [ -s pid ]; do sleep 0.01; done; echo done",
		"sleep 1000 & echo $! > pid; echo done", "( ( sleep 1000 & echo $! > pid ) & ) ; while ! [ -s pid ]; do sleep 0.01; done; echo done",
	} {
		text, bad := b.call("bash", map[string]any{"command": "rm -f pid; " + line, "timeout_ms": 60_000})
		if bad || !strings.HasPrefix(text, "done\n[exit code 0 after ") {
			t.Errorf("%s: %q", line, text)
		}
		pid := b.pidIn("pid")
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
		b.gone(pid)
	}
}

// TestStrayOrphans kills a program whose command has left its group: it ends too.
func TestStrayOrphans(t *testing.T) {
	if dir := os.Getenv("SHELL_TEST_STRAY"); dir != "" {
		s := shell.New(shell.Options{})
		s.SetGrace(time.Second)
		env := tool.Env{Cwd: dir, Roots: []string{dir}, Session: "s", Scratch: dir}
		if _, err := s.Tools()[0].Run(t.Context(), arguments(t, map[string]any{"command": os.Getenv("SHELL_TEST_LINE") + "sleep 1000", "background": true}), env); err != nil {
			t.Fatal(err)
		}
		select {} // it is killed
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range strays {
		b := newBench(t, shell.Options{})
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestStrayOrphans$")
		cmd.Env = append(os.Environ(), "SHELL_TEST_STRAY="+b.env.Cwd, "SHELL_TEST_LINE="+line)
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
		t.Log(name)
		b.gone(b.pidIn("pid"))
	}
}
