package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/store"
)

const grace = time.Hour

func TestCollect(t *testing.T) {
	dir, c := t.TempDir(), &clock{t: time.Unix(1_000_000, 0)}
	s := open(t, dir, c.now)
	used, unused, again := put(t, s, []byte("used")), put(t, s, []byte("unused")), put(t, s, []byte("again"))
	c.t = c.t.Add(2 * grace)
	fresh := put(t, s, []byte("fresh"))
	put(t, s, []byte("again"))
	foreign := filepath.Join(dir, "README")
	for _, name := range []string{foreign, filepath.Join(dir, ".tmp-left")} {
		if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reachable := func(d content.Digest) bool { return d == used }
	want := store.Report{Kept: 3, Removed: 1, Temps: 1, Bytes: int64(len("unused") + len("abc"))}

	got, err := s.Collect(t.Context(), reachable, grace, store.DryRun)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if got := names(t, dir); len(got) != 6 {
		t.Errorf("a dry run left %d files, want 6: %q", len(got), got)
	}
	got, err = s.Collect(t.Context(), reachable, grace, store.Sweep)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sweep (-want +got):\n%s", diff)
	}
	for d, want := range map[content.Digest]error{used: nil, fresh: nil, again: nil, unused: store.ErrNotFound} {
		if err := s.Check(d); !errors.Is(err, want) {
			t.Errorf("after the sweep: %v, want %v", err, want)
		}
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is not ours: %v", err)
	}
}

// A collection waits for whoever is storing something, and stops waiting with
// its context.
func TestCollectWaits(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	started, release := make(chan struct{}), make(chan struct{})
	stored := make(chan error)
	// Ends when release is closed.
	go func() {
		r := readerFunc(func(p []byte) (int, error) {
			close(started)
			<-release
			return 0, errors.New("no more")
		})
		_, _, err := s.Put(context.WithoutCancel(t.Context()), r, 0)
		stored <- err
	}()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Collect(ctx, func(content.Digest) bool { return true }, 0, store.Sweep)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "lock") {
		t.Errorf("Collect during a put: %v, want it to wait for the lock", err)
	}
	close(release)
	if err := <-stored; err == nil {
		t.Error("the broken put succeeded")
	}
	if _, err := s.Collect(t.Context(), func(content.Digest) bool { return true }, 0, store.Sweep); err != nil {
		t.Errorf("Collect after the put: %v", err)
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	good, bad := put(t, s, []byte("good")), put(t, s, []byte("bad!"))
	path := filepath.Join(dir, bad.String())
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Even with the time put back, which fools the cheap check.
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	found := map[content.Digest]bool{}
	rep, err := s.Verify(t.Context(), func(d content.Digest, err error) {
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("Verify: %v, want ErrDamaged", err)
		}
		found[d] = err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Report{Kept: 1, Damaged: 1, Bytes: 8}, rep); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[content.Digest]bool{good: true, bad: false}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	u, err := s.Stat()
	if diff := cmp.Diff(store.Usage{Blobs: 2, Bytes: 8}, u); diff != "" || err != nil {
		t.Errorf("usage, error %v (-want +got):\n%s", err, diff)
	}
}
