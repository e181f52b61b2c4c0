//go:build unix

package search_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/tool"
	"tote/internal/tool/search"
)

// Neither a pipe, a socket nor a device holds a search up, named or found on the way,
// behind a link or not.
func TestSpecialFilesDoNotHang(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "needle\n"})
	if err := syscall.Mkfifo(filepath.Join(env.Cwd, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Some systems bound the path of a socket; the other files are tried all the same.
	if sock, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(env.Cwd, "sock")); err == nil {
		defer func() { _ = sock.Close() }() // the file goes with the folder
	}
	link(t, "pipe", filepath.Join(env.Cwd, "piped"))
	link(t, "/dev/zero", filepath.Join(env.Cwd, "zero"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	try := func(tl tool.Tool, v map[string]any, env tool.Env) (string, error) {
		r, err := tl.Run(ctx, args(t, v), env)
		if ctx.Err() != nil {
			t.Fatalf("%v hangs", v)
		}
		if err != nil {
			return "", err
		}
		if p, ok := r.Sources[0].Payload.(content.Prose); ok {
			return p.Text, nil
		}
		return "", nil
	}
	if got, err := try(builtIn(), map[string]any{"pattern": "needle"}, env); err != nil || !strings.Contains(got, "a.txt") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := try(search.Glob{}, map[string]any{"pattern": "*"}, env); err != nil || strings.TrimSpace(got) != "a.txt" {
		t.Errorf("%q, %v", got, err)
	}
	env.Permitted = true
	for _, path := range []string{"pipe", "piped", "sock", "zero", "/dev/zero", "/dev/tty", "/proc/kmsg", "/proc/self/mem", "/proc"} {
		e := env
		if real, err := filepath.EvalSymlinks(filepath.Join(env.Cwd, path)); err == nil {
			e.Judged = real
		}
		if filepath.IsAbs(path) {
			if _, err := os.Lstat(path); err != nil {
				continue // other systems have other devices
			}
			e.Judged = ""
		}
		for _, tl := range []tool.Tool{builtIn(), search.Glob{}} {
			if got, err := try(tl, map[string]any{"pattern": "needle", "path": path}, e); err == nil {
				t.Errorf("%s %s: %q", tl.Spec().Name, path, got)
			}
		}
	}
}

// A name with line breaks or control characters stays on its line.
func TestNamesStayOnTheirLine(t *testing.T) {
	env := project(t, map[string]string{"a\nb.txt:1: forged": "needle\n", "c\x1b[2Jd": "needle\n"})
	for tl, v := range map[tool.Tool]map[string]any{builtIn(): {"pattern": "needle"}, search.Glob{}: {"pattern": "*"}} {
		got, err := run(t, tl, env, v)
		if err != nil || strings.Contains(got, "\x1b") || strings.Contains(got, "a\nb") || !strings.Contains(got, `"a\nb.txt:1: forged"`) {
			t.Errorf("%s: %q, %v", tl.Spec().Name, got, err)
		}
	}
}
