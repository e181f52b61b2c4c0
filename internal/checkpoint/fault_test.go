package checkpoint_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tote/internal/checkpoint"
)

func TestRefused(t *testing.T) {
	b := newBench(t)
	b.set("large", strings.Repeat("x", 1001))
	b.set("limit", strings.Repeat("x", 1000))
	must(t, b.Keep(t.Context(), "s", "1", b.path("limit")))
	err := b.Keep(t.Context(), "s", "1", b.path("large"))
	if le, ok := errors.AsType[*checkpoint.LimitError](err); !ok || le.Size != 1001 || le.Limit != 1000 || le.Path != b.path("large") {
		t.Errorf("a large file: %v", err)
	}
	if err := b.Keep(t.Context(), "s", "1", b.dir); !errors.Is(err, checkpoint.ErrNotRegular) || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("a folder: %v", err)
	}
	if err := b.Keep(t.Context(), "s", "1", "limit"); err == nil {
		t.Error("a relative path was kept")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Keep(ctx, "s", "1", b.path("x")); !errors.Is(err, context.Canceled) || len(b.m.rows) != 1 {
		t.Errorf("kept after the end of the context: %v", err)
	}
	if _, err := b.Restore(ctx, "s", []string{"1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("restored after the end of the context: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	b := newBench(t)
	b.set("f", "A")
	b.m.full = errors.New("no space left on device")
	if err := b.Keep(t.Context(), "s", "1", b.path("f")); !errors.Is(err, b.m.full) || !strings.Contains(err.Error(), b.path("f")) {
		t.Errorf("a full disk: %v", err)
	}
	if len(b.m.rows) != 0 {
		t.Errorf("rows without blobs: %+v", b.m.rows)
	}
	b.m.full = nil
	b.turn("1", "f", "B")
	b.restore("1")
	if b.get("f") != "A" {
		t.Errorf("the file holds %q", b.get("f"))
	}
}

// Where there is no room for everything, nothing is changed and nothing is left
// lying about; once there is room, everything is put back.
func TestNoRoomToRestore(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"a", "b", "c"} {
		b.set(n, "was "+n)
		b.turn("1", n, "is "+n)
	}
	b.turn("1", "new", "N")
	b.set("sub/gone", "was there")
	b.turn("1", "sub/gone", "-")
	must(t, os.RemoveAll(b.path("sub")))
	b.m.fails[b.m.rows[0].Before] = &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	r, err := b.Restore(t.Context(), "s", []string{"1"})
	if !errors.Is(err, checkpoint.ErrNothingRestored) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), b.path("a")) {
		t.Errorf("error: %v", err)
	}
	if len(r.Files)+len(r.Removed)+len(r.Kept) != 0 {
		t.Errorf("restored %+v", r)
	}
	for _, n := range []string{"a", "b", "c"} {
		if b.get(n) != "is "+n {
			t.Errorf("%s holds %q", n, b.get(n))
		}
	}
	b.leftovers("a", "b", "c", "new")
	if _, err := os.Stat(b.path("sub")); err == nil {
		t.Error("the folder was made and is left")
	}
	clear(b.m.fails)
	if files, removed, kept := b.restore("1"); len(files) != 4 || len(removed) != 1 || len(kept) != 0 || b.get("a") != "was a" {
		t.Errorf("again: restored %v, removed %v, kept %v", files, removed, kept)
	}
	b.leftovers("a", "b", "c", "sub/gone")
}

// One file that cannot be put back does not stop the others.
func TestOneFailure(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"a", "b", "c"} {
		b.set(n, "was "+n)
		b.turn("1", n, "is "+n)
	}
	b.m.lost[b.m.rows[1].Before] = true
	r, err := b.Restore(t.Context(), "s", []string{"1"})
	if err == nil || !strings.Contains(err.Error(), b.path("b")) || strings.Contains(err.Error(), b.path("a")) {
		t.Errorf("error: %v", err)
	}
	if got := b.names(r.Files); !slices.Equal(got, []string{"a", "c"}) || len(r.Kept) != 0 {
		t.Errorf("restored %+v", r)
	}
	if b.get("a") != "was a" || b.get("b") != "is b" || b.get("c") != "was c" {
		t.Errorf("%q, %q, %q", b.get("a"), b.get("b"), b.get("c"))
	}
	b.leftovers("a", "b", "c")
	b.m.lost = nil
	if files, _, _ := b.restore("1"); !slices.Equal(files, []string{"b"}) {
		t.Errorf("again: %v", files)
	}
}

// link makes a link, and leaves the test where the system does not let it.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("windows makes links only for privileged users")
		}
		t.Fatal(err)
	}
}

func TestLinks(t *testing.T) {
	b := newBench(t)
	b.set("real", "A")
	link(t, "real", b.path("link"))
	b.turn("1", "link", "B")
	b.turn("1", "real", "C")
	if len(b.m.rows) != 1 || b.m.rows[0].Target != b.path("real") || b.m.rows[0].Path != b.path("link") {
		t.Errorf("rows %+v", b.m.rows)
	}
	if files, _, _ := b.restore("1"); !slices.Equal(files, []string{"link"}) || b.get("real") != "A" {
		t.Errorf("restored %v: %q", files, b.get("real"))
	}
	if info, err := os.Lstat(b.path("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	link(t, "nothing", b.path("dangling"))
	if err := b.Keep(t.Context(), "s", "1", b.path("dangling")); !errors.Is(err, checkpoint.ErrNotRegular) {
		t.Errorf("a link to nothing: %v", err)
	}
}

// Nothing is written through links that were put in the way after the turn.
func TestSwappedLinks(t *testing.T) {
	for name, swap := range map[string]func(b *bench){
		"file": func(b *bench) {
			must(b.t, os.Remove(b.path("d/f")))
			link(b.t, b.path("victim/f"), b.path("d/f"))
		},
		"folder": func(b *bench) {
			must(b.t, os.Rename(b.path("d"), b.path("old")))
			link(b.t, b.path("victim"), b.path("d"))
		},
		"link to nothing": func(b *bench) {
			must(b.t, os.Remove(b.path("d/f")))
			link(b.t, b.path("victim/new"), b.path("d/f"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.set("d/f", "A")
			b.set("victim/f", "B")
			b.turn("1", "d/f", "B")
			swap(b)
			if files, removed, kept := b.restore("1"); len(files)+len(removed) != 0 || !slices.Equal(kept, []string{"d/f"}) {
				t.Errorf("restored %v, removed %v, kept %v", files, removed, kept)
			}
			if b.get("victim/f") != "B" || b.get("victim/new") != "-" {
				t.Error("the link was followed")
			}
		})
	}
}

// A tool may put a file in the place of a link.
func TestLinkReplacedByTheTurn(t *testing.T) {
	b := newBench(t)
	b.set("real", "A")
	link(t, "real", b.path("link"))
	must(t, b.Keep(t.Context(), "s", "1", b.path("link")))
	must(t, os.Remove(b.path("link")))
	b.set("link", "B")
	must(t, b.Wrote(t.Context(), "s", "1", b.path("link")))
	if files, removed, kept := b.restore("1"); len(files)+len(removed)+len(kept) != 0 || b.get("real") != "A" {
		t.Errorf("restored %v, removed %v, kept %v", files, removed, kept)
	}
}

// A folder where a file was is somebody else's.
func TestFolderInTheWay(t *testing.T) {
	b := newBench(t)
	b.turn("1", "f", "A")
	b.set("f", "-")
	must(t, os.Mkdir(b.path("f"), 0o755))
	if _, _, kept := b.restore("1"); !slices.Equal(kept, []string{"f"}) {
		t.Errorf("kept %v", kept)
	}
}
