//go:build unix

package tool_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tote/internal/tool"
)

// The mode of a file stays, and a new one follows the umask.
func TestModes(t *testing.T) {
	env := desk(t, map[string]string{"run.sh": "#!/bin/sh\n", "open.txt": "x"})
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "open.txt": 0o666} {
		if err := os.Chmod(filepath.Join(env.Cwd, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	old := syscall.Umask(0o027)
	t.Cleanup(func() { syscall.Umask(old) })
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "open.txt": 0o666, "new.txt": 0o640} {
		if _, err := run(t, tool.Write{}, env, map[string]any{"path": name, "content": "new\n"}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(env.Cwd, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %o, want %o", name, info.Mode().Perm(), mode)
		}
	}
}

func TestWriteToPipe(t *testing.T) {
	env := desk(t, nil)
	if err := syscall.Mkfifo(filepath.Join(env.Cwd, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tl := range []tool.Tool{tool.Write{}, tool.ViewImage{}} {
		v := map[string]any{"path": "pipe"}
		if tl == (tool.Write{}) {
			v["content"] = "x"
		}
		if _, err := run(t, tl, env, v); err == nil {
			t.Errorf("%T took a pipe", tl)
		}
	}
}
