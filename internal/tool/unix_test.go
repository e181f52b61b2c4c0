//go:build unix

package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tote/internal/tool"
)

// A named pipe that nobody writes to would hang the call.
func TestNamedPipe(t *testing.T) {
	env := project(t, nil)
	path := filepath.Join(env.Cwd, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	other := env
	other.Roots, other.Permitted = []string{t.TempDir()}, true
	for _, e := range []tool.Env{env, other} {
		if _, err := run(t, tool.Read{}, e, map[string]any{"path": "pipe"}); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("read: %v", err)
		}
		if _, err := run(t, tool.List{}, e, map[string]any{"path": "pipe"}); err == nil {
			t.Error("a pipe was listed as a folder")
		}
	}
	if got, err := run(t, tool.List{}, env, nil); err != nil || got != "pipe (special)\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	env := project(t, map[string]string{"a.txt": "x", "d/b.txt": "x", "e/c.txt": "x"})
	for _, name := range []string{"a.txt", "d"} {
		path := filepath.Join(env.Cwd, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
	}
	if _, err := run(t, tool.Read{}, env, map[string]any{"path": "a.txt"}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("read: %v", err)
	}
	got, err := run(t, tool.List{}, env, map[string]any{"depth": 2})
	if err != nil || !strings.Contains(got, "d/\n  [permission denied]\ne/\n  c.txt") {
		t.Errorf("%q, %v", got, err)
	}
}
