package shell_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tote/internal/tool/shell"
)

// What a killed process left is removed by the next one, what a living one has is
// not.
func TestSweep(t *testing.T) {
	base := filepath.Join(t.TempDir(), "st[a]te")
	first := shell.New(shell.Options{Dir: base})
	if got := runIn(t, first, t.TempDir(), "echo ran"); !strings.Contains(got, "ran") {
		t.Fatal(got)
	}
	private := first.Private()
	if filepath.Dir(private) != base {
		t.Fatalf("%q is not in %q", private, base)
	}
	// Somebody who was killed: a folder, and a lock that nobody holds.
	dead := filepath.Join(base, "tote-shell-dead")
	if err := os.MkdirAll(filepath.Join(dead, "call-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dead + ".lock", filepath.Join(dead, "call-1", "vars"), filepath.Join(base, "other.lock")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := shell.New(shell.Options{Dir: base})
	for name, there := range map[string]bool{private: true, private + ".lock": true, dead: false, dead + ".lock": false, filepath.Join(base, "other.lock"): true} {
		if _, err := os.Stat(name); err == nil != there {
			t.Errorf("%s: %v, want there = %v", name, err, there)
		}
	}
	for _, s := range []*shell.Shells{first, second} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(private); err == nil {
		t.Error("the private folder is left")
	}
	if _, err := os.Stat(private + ".lock"); err == nil {
		t.Error("its lock is left")
	}
}

// Variables that a shell leaves behind are for the user alone.
func TestStateIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	s := shell.New(shell.Options{Dir: dir})
	defer func() { _ = s.Close() }() // its folder goes with the test
	seen := runIn(t, s, t.TempDir(), "trap -p EXIT")
	if !strings.Contains(seen, "umask 077; ") {
		t.Errorf("%q", seen)
	}
}
