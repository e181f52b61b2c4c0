package tool_test

import (
	"context"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tote/internal/tool"
)

// Whatever stands for a device, a pipe, a socket or the kernel's own messages ends the
// call at once; it is not even opened, since that alone may do something.
func TestSpecialFilesDoNotHang(t *testing.T) {
	env := desk(t, nil)
	dir := env.Cwd
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	sock, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sock.Close() }() // the file goes with the folder
	link(t, "/dev/zero", filepath.Join(dir, "zero"))
	link(t, "pipe", filepath.Join(dir, "piped"))
	env.Permitted = true
	for _, path := range []string{
		"pipe", "piped", "sock", "zero", "/dev/zero", "/dev/tty", "/dev/ptmx", "/proc/kmsg", "/proc/self/fd/0", "/proc/self/mem", "/sys/kernel/debug/tracing/trace_pipe",
		"/proc/self/root/dev/zero", "/dev/stdin", "/dev/fd/0",
	} {
		e := env
		if abs, err := filepath.EvalSymlinks(filepath.Join(dir, path)); err == nil && !filepath.IsAbs(path) {
			e.Judged = abs
		} else if abs, err := filepath.EvalSymlinks(path); err == nil {
			e.Judged = abs
		}
		for _, c := range []struct {
			tl tool.Tool
			v  map[string]any
		}{
			{tool.Read{}, map[string]any{"path": path}},
			{tool.Read{}, map[string]any{"path": path, "offset": 1000000}},
			{tool.ViewImage{}, map[string]any{"path": path}},
			{tool.List{}, map[string]any{"path": path}},
			{tool.Write{}, map[string]any{"path": path, "content": "x"}},
			{tool.Edit{}, edits(path, "a", "b")},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			got, err := c.tl.Run(ctx, args(t, c.v), e)
			if ctx.Err() != nil {
				t.Errorf("%s %s hangs", c.tl.Spec().Name, path)
			}
			cancel()
			if err == nil {
				t.Errorf("%s %s: %v", c.tl.Spec().Name, path, got)
			}
		}
	}
}
