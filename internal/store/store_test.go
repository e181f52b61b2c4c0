package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/store"
	"tote/internal/store/storetest"
)

// clock is a clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func open(tb testing.TB, dir string, now func() time.Time) *store.Store {
	tb.Helper()
	s, err := store.Open(dir, store.Options{Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func put(tb testing.TB, s *store.Store, b []byte) content.Digest {
	tb.Helper()
	d, err := s.PutBytes(tb.Context(), b)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// names lists the folder, the lock file left out.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != ".lock" {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Blobs {
		t.Helper()
		return open(t, t.TempDir(), nil)
	})
}

func TestFilesAreThePersonsOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has access lists, not modes")
	}
	dir := filepath.Join(t.TempDir(), "data", "attachments")
	d := put(t, open(t, dir, nil), []byte("x"))
	for name, want := range map[string]os.FileMode{"": 0o700, d.String(): 0o600, ".lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %q is %o, want %o", name, got, want)
		}
	}
}

// Equal bytes are one file, and storing them again only refreshes its time.
func TestPutAgain(t *testing.T) {
	dir, c := t.TempDir(), &clock{t: time.Unix(1_000_000, 0)}
	s := open(t, dir, c.now)
	d := put(t, s, []byte("x"))
	before, err := os.Stat(filepath.Join(dir, d.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i, again := range []func() (content.Digest, error){
		func() (content.Digest, error) { return s.PutBytes(t.Context(), []byte("x")) },
		func() (content.Digest, error) {
			d, _, err := s.Put(t.Context(), strings.NewReader("x"), 0)
			return d, err
		},
	} {
		c.t = c.t.Add(time.Hour)
		got, err := again()
		if err != nil || got != d {
			t.Fatalf("again %d = %v, %v, want %v", i, got, err, d)
		}
		after, err := os.Stat(filepath.Join(dir, d.String()))
		if err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(before, after) {
			t.Errorf("again %d wrote the file anew", i)
		}
		if !after.ModTime().Equal(c.t) {
			t.Errorf("again %d: time %v, want %v", i, after.ModTime(), c.t)
		}
	}
	if diff := cmp.Diff([]string{d.String()}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

// A damaged blob is never given out, and storing its bytes again repairs it.
func TestDamage(t *testing.T) {
	good := []byte("the right bytes")
	for name, spoil := range map[string]func(path string) error{
		"same size": func(p string) error { return os.WriteFile(p, []byte("the wrong bytes"), 0o600) },
		"cut":       func(p string) error { return os.Truncate(p, 4) },
		"longer":    func(p string) error { return os.WriteFile(p, []byte("the right bytes and more"), 0o600) },
		"emptied":   func(p string) error { return os.Truncate(p, 0) },
	} {
		for _, warm := range []string{"seen before", "first use"} {
			t.Run(name+"/"+warm, func(t *testing.T) {
				dir := t.TempDir()
				past := &clock{t: time.Unix(1_000_000, 0)}
				s := open(t, dir, past.now)
				d := put(t, s, good)
				if err := spoil(filepath.Join(dir, d.String())); err != nil {
					t.Fatal(err)
				}
				if warm == "first use" {
					s = open(t, dir, past.now)
				}
				if _, err := s.Open(d); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("Open: %v, want ErrDamaged", err)
				}
				if _, err := s.ReadAll(d, 0); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("ReadAll: %v, want ErrDamaged", err)
				}
				put(t, s, good)
				if got, err := s.ReadAll(d, 0); err != nil || !bytes.Equal(got, good) {
					t.Errorf("after repair by PutBytes: %q, %v", got, err)
				}
				if err := spoil(filepath.Join(dir, d.String())); err != nil {
					t.Fatal(err)
				}
				if _, _, err := s.Put(t.Context(), bytes.NewReader(good), 0); err != nil {
					t.Fatal(err)
				}
				if got, err := s.ReadAll(d, 0); err != nil || !bytes.Equal(got, good) {
					t.Errorf("after repair by Put: %q, %v", got, err)
				}
			})
		}
	}
}

// Something else than a file in a blob's place is damage, not a way out.
func TestNotAFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := content.Digest(sha256.Sum256([]byte("x")))
	for name, make := range map[string]func(path string) error{
		"folder":  func(p string) error { return os.Mkdir(p, 0o700) },
		"symlink": func(p string) error { return os.Symlink(outside, p) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, nil)
			if err := make(filepath.Join(dir, d.String())); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(d); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("Open: %v, want ErrDamaged", err)
			}
			if name == "symlink" {
				put(t, s, []byte("x"))
				info, err := os.Lstat(filepath.Join(dir, d.String()))
				if err != nil || !info.Mode().IsRegular() {
					t.Errorf("after repair: %v, %v, want a file", info, err)
				}
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	store.FillDisk(s, 100_000)
	_, err := s.PutBytes(t.Context(), storetest.Bytes(500_000, 1))
	if err == nil || !strings.HasPrefix(err.Error(), "store attachment: ") || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("PutBytes on a full disk: %v", err)
	}
	_, _, err = s.Put(t.Context(), bytes.NewReader(storetest.Bytes(500_000, 1)), 0)
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Put on a full disk: %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestNothingLeftOnErrors(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	stop := readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	if _, _, err := s.Put(ctx, stop, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Put while cancelled: %v, want Canceled", err)
	}
	if _, _, err := s.Put(t.Context(), strings.NewReader("123456"), 5); err == nil {
		t.Error("Put over the limit was accepted")
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestExport(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	s := open(t, dir, nil)
	d := put(t, s, []byte("picture"))
	root, err := os.OpenRoot(scratch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second replaces the first
		if err := s.Export(d, root, "image-1.png"); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(scratch, "image-1.png")
	info, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o, want 600", info.Mode().Perm())
	}
	if err := os.WriteFile(copied, []byte("scribble"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.ReadAll(d, 0); err != nil || string(got) != "picture" {
		t.Errorf("the blob after its copy was edited: %q, %v", got, err)
	}
	if err := s.Export(d, root, "../outside"); err == nil {
		t.Error("Export left its folder")
	}
	if err := s.Export(content.Digest{1}, root, "absent"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Export of an absent blob: %v, want ErrNotFound", err)
	}
	if diff := cmp.Diff([]string{"image-1.png"}, names(t, scratch)); diff != "" {
		t.Errorf("scratch (-want +got):\n%s", diff)
	}
}

func TestOpenSurvivesRemoval(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	d := put(t, s, []byte("still here"))
	r, err := s.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.Remove(d); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "still here" {
		t.Errorf("read after removal: %q, %v", got, err)
	}
}

func BenchmarkPut500KB(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	data := storetest.Bytes(500_000, 1)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		data[0], data[1], data[2], data[3] = byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
		if _, err := s.PutBytes(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutAgain500KB(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	data := storetest.Bytes(500_000, 1)
	put(b, s, data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.PutBytes(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenVerified(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	d := put(b, s, storetest.Bytes(500_000, 1))
	b.ReportAllocs()
	for b.Loop() {
		r, err := s.Open(d)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
