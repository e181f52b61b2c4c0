package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tote/internal/tool/shell"
)

func TestCacheFolders(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, name := range []string{".cache/x", "go/bin", ".cargo/bin", "tools/bin"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list := string(filepath.ListSeparator)
	got := shell.CacheFolders(home, []string{
		"PATH=/usr/bin" + list + at("go/bin") + list + at(".npm/x/programs") + list + "relative",
		"GOCACHE=" + at("gocache"), "GOMODCACHE=relative", "XDG_CACHE_HOME=" + at("tools"), "GOPATH=" + at("gopath"), "CARGO_HOME=" + at(".cargo"),
	})
	for name, want := range map[string]bool{
		".cache": true, ".cache/go-build": true, "go/pkg": true, "go": false, "go/bin": false, ".cargo": false, ".cargo/bin": false, ".cargo/registry": true,
		".cargo/git": true, ".npm": false, ".npm/_cacache": true, ".gradle": false, ".gradle/caches": true, ".m2/repository": true, ".nuget/packages": true, "Library/Caches": true,
		"gocache": true, "tools": false, "gopath": false, "gopath/pkg": true, ".rustup": false,
	} {
		if slices.Contains(got, at(name)) != want {
			t.Errorf("%s: want %v in %q", name, want, got)
		}
	}
	if got := shell.CacheFolders("", nil); len(got) != 0 {
		t.Errorf("without a home: %q", got)
	}
}

// Folders of programs are never writable, whatever the options say.
func TestWritableOffPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := shell.New(shell.Options{
		Environ:  []string{"PATH=" + filepath.Join(dir, "b", "c")},
		Writable: []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "b", "c"), filepath.Join(dir, "d")},
	})
	if got := s.Writable(); len(got) != 1 || got[0] != filepath.Join(dir, "d") {
		t.Errorf("%q", got)
	}
}
