package config_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestTrust(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := config.Dirs{Config: filepath.Join(top, "config")}
	trust := config.TrustFile(d, clock)
	a, b := filepath.Join(top, "a"), filepath.Join(top, "b")
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	has := func(folder, sum string, want bool) {
		t.Helper()
		if got, err := trust.Has(folder, sum); got != want || err != nil {
			t.Errorf("Has(%s, %s) = %v, %v, want %v", folder, sum, got, err, want)
		}
	}
	has(a, "1", false)
	has(a, "", false)
	for _, e := range [][2]string{{b, "1"}, {a, "1"}, {a, "2"}} {
		if err := trust.Add(t.Context(), e[0], e[1]); err != nil {
			t.Fatal(err)
		}
	}
	has(a, "1", false) // a newer trust replaces the older
	has(a, "2", true)
	has(b, "1", true)
	has(b, "2", false)
	if runtime.GOOS != "windows" {
		link := filepath.Join(top, "link")
		if err := os.Symlink(a, link); err != nil {
			t.Fatal(err)
		}
		has(link, "2", true)
	}
	got, err := trust.List()
	want := []config.Trusted{{Folder: a, Fingerprint: "2", Added: clock()}, {Folder: b, Fingerprint: "1", Added: clock()}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
	wantMode(t, d.Config, 0o700)
	wantMode(t, filepath.Join(d.Config, "trust.json"), 0o600)
	wantMode(t, filepath.Join(d.Config, "trust.json.lock"), 0o600)

	if err := trust.Remove(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	has(a, "2", false)
	if err := os.Remove(b); err != nil { // a folder that is gone can be taken off the list
		t.Fatal(err)
	}
	if err := trust.Remove(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got, err := trust.List(); len(got) != 0 || err != nil {
		t.Errorf("List = %v, %v, want none", got, err)
	}
	if err := trust.Add(t.Context(), b, "1"); err == nil {
		t.Error("Add of a missing folder: no error")
	}
}

func TestBrokenTrustRecords(t *testing.T) {
	d := config.Dirs{Config: t.TempDir()}
	trust := config.TrustFile(d, clock)
	for _, content := range []string{"", "{", `{"v": 2}`, `{}`} {
		write(t, filepath.Join(d.Config, "trust.json"), content)
		if ok, err := trust.Has(d.Config, "1"); ok || err == nil {
			t.Errorf("Has with records %q = %v, %v, want an error", content, ok, err)
		}
		if err := trust.Add(t.Context(), d.Config, "1"); err == nil {
			t.Errorf("Add with records %q: no error", content)
		}
		got, err := os.ReadFile(filepath.Join(d.Config, "trust.json"))
		if err != nil || string(got) != content {
			t.Errorf("records %q became %q, %v", content, got, err)
		}
	}
}

func TestTrustLockIsWaitedFor(t *testing.T) {
	d := config.Dirs{Config: t.TempDir()}
	lock := flock.New(filepath.Join(d.Config, "trust.json.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := config.TrustFile(d, clock).Add(ctx, d.Config, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Add with the lock held: %v, want context.Canceled", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := config.TrustFile(d, clock).Add(t.Context(), d.Config, "1"); err != nil {
		t.Error(err)
	}
}

const (
	childEnv  = "TOTE_TEST_TRUST" // the folder that a child process works in
	childAdds = 20
)

// TestTwoProcesses lets two processes add to one record at the same time. None of
// the entries may be lost.
func TestTwoProcesses(t *testing.T) {
	if top := os.Getenv(childEnv); top != "" {
		addMany(t, top)
		return
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	var out [2]bytes.Buffer
	for i := range 2 {
		c := exec.CommandContext(t.Context(), self, "-test.run=^TestTwoProcesses$")
		c.Env = append(os.Environ(), childEnv+"="+top, fmt.Sprintf("TOTE_TEST_CHILD=%d", i))
		c.Stdout, c.Stderr = &out[i], &out[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for i, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatalf("child %d: %v\n%s", i, err, out[i].String())
		}
	}
	got, err := config.TrustFile(config.Dirs{Config: filepath.Join(top, "config")}, clock).List()
	if err != nil || len(got) != 2*childAdds {
		t.Errorf("List has %d entries, %v, want %d", len(got), err, 2*childAdds)
	}
	left, err := filepath.Glob(filepath.Join(top, "config", "*.tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func addMany(t *testing.T, top string) {
	t.Helper()
	trust := config.TrustFile(config.Dirs{Config: filepath.Join(top, "config")}, clock)
	for i := range childAdds {
		dir := filepath.Join(top, fmt.Sprintf("p%s-%d", os.Getenv("TOTE_TEST_CHILD"), i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := trust.Add(t.Context(), dir, "1"); err != nil {
			t.Fatal(err)
		}
	}
}
