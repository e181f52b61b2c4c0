//go:build unix

package search_test

import (
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// unixOnly adds names and things that only Unix knows.
func unixOnly(t testing.TB, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, "new\nline.txt"), "needle in a newline\n")
	put(t, filepath.Join(dir, "tab\tname.txt"), "needle in a tab\n")
	put(t, filepath.Join(dir, "back\\slash.txt"), "needle in a backslash\n")
	put(t, filepath.Join(dir, ":(top)magic"), "needle in a pathspec\n")
	put(t, filepath.Join(dir, "star*[x].txt"), "needle in a glob\n")
	if runtime.GOOS == "linux" { // other systems take valid names only
		put(t, filepath.Join(dir, "bad\xff.txt"), "needle in a bad name\n")
		put(t, filepath.Join(dir, "bad\xfe", "x.txt"), "needle in a bad folder\n")
	}
	link(t, "a.go", filepath.Join(dir, "link.go"))
	link(t, ".", filepath.Join(dir, "loop"))
	link(t, "../..", filepath.Join(dir, "sub", "up"))
	link(t, "/etc", filepath.Join(dir, "etc"))
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
}
