package shell_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"tote/internal/tool/shell"
)

// Where nothing can be locked in, that is told; what must be locked in does not
// run.
func TestNoSandbox(t *testing.T) {
	if _, err := shell.LandlockABI(); err == nil {
		t.Skip("this kernel has Landlock")
	}
	dir := t.TempDir()
	for _, mode := range []shell.Sandbox{shell.SandboxAuto, shell.SandboxRequire} {
		want := "[sandbox: none, "
		if mode == shell.SandboxRequire {
			want = "the configuration forbids it"
		}
		s := shell.New(shell.Options{Sandbox: mode})
		got := runIn(t, s, dir, "echo ran")
		if !strings.Contains(got, want) || strings.Contains(got, "ran\n") != (mode == shell.SandboxAuto) {
			t.Errorf("%s: %q", mode, got)
		}
		if again := runIn(t, s, dir, "true"); strings.Contains(again, "[sandbox") {
			t.Errorf("told twice: %q", again)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSandboxWords(t *testing.T) {
	if got := shell.New(shell.Options{}).SandboxState(); got != "commands are not locked in" {
		t.Errorf("%q", got)
	}
	got := shell.New(shell.Options{Sandbox: shell.SandboxAuto, Offline: true}).SandboxState()
	if _, err := shell.LandlockABI(); err == nil != strings.Contains(got, "Landlock, ABI ") || runtime.GOOS != "linux" && !strings.Contains(got, "no sandbox for "+runtime.GOOS) {
		t.Errorf("%q", got)
	}
	s := shell.New(shell.Options{Sandbox: "on"})
	if got := runIn(t, s, t.TempDir(), "echo ran"); !strings.Contains(got, "want off, auto or require") {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Nothing is run where the sandbox cannot be closed.
func TestSandboxMainRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"{}"}, {"{}", "--"}, {"{}", "x", "/bin/true"}, {"{", "--", "/bin/true"}} {
		var said bytes.Buffer
		if code := shell.SandboxMainTo(args, &said); code != 126 || !strings.HasPrefix(said.String(), "sandbox: ") {
			t.Errorf("%q: %d, %q", args, code, said.String())
		}
	}
}
