//go:build unix

package ingest_test

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

// special makes files that are not regular and says what each is called.
func special(t *testing.T, dir string) map[string]string {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"fifo": "a named pipe", "sub": "a folder", ".": "a folder", "/dev/null": "a device"}
	// Paths of sockets are short; a long temporary folder has no room for one.
	if p := filepath.Join(dir, "s"); len(p) < 100 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "unix", p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() }) // only a test's socket
		out["s"] = "a socket"
	}
	return out
}
