package checkpoint_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tote/internal/checkpoint"
	"tote/internal/content"
	"tote/internal/store"
)

// memory keeps rows of one session, and blobs.
type memory struct {
	mu    sync.Mutex
	turns []string
	rows  []checkpoint.Row
	blobs map[content.Digest][]byte
	// full fails every Put, lost every Open of a blob.
	full error
	lost map[content.Digest]bool
	// fails is what reading a blob ends with, after its first byte.
	fails map[content.Digest]error
}

func (m *memory) SaveCheckpoint(_ context.Context, _, turn string, r checkpoint.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Turn, r.N = turn, 1
	for _, old := range m.rows {
		if old.Turn == turn {
			r.N = old.N + 1
		}
	}
	if !slices.Contains(m.turns, turn) {
		m.turns = append(m.turns, turn)
	}
	m.rows = append(m.rows, r)
	return nil
}

func (m *memory) SaveAfter(_ context.Context, _, turn string, n int, after content.Digest, mode fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.Turn == turn && r.N == n {
			r.Noted, r.After, r.AfterMode, r.Expecting = true, after, mode, false
			return nil
		}
	}
	return errors.New("no such row")
}

func (m *memory) SaveExpected(_ context.Context, _, turn string, n int, expected content.Digest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if r := &m.rows[i]; r.Turn == turn && r.N == n {
			r.Expecting, r.Expected = true, expected
			return nil
		}
	}
	return errors.New("no such row")
}

func (m *memory) Checkpoints(_ context.Context, _ string, turns []string) ([]checkpoint.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []checkpoint.Row
	for _, t := range m.turns {
		for _, r := range m.rows {
			if r.Turn == t && slices.Contains(turns, t) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func (m *memory) Put(_ context.Context, r io.Reader, limit int64) (content.Digest, int64, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return content.Digest{}, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full != nil {
		return content.Digest{}, 0, m.full
	}
	if limit > 0 && int64(len(b)) > limit {
		return content.Digest{}, 0, &store.LimitError{Limit: limit}
	}
	d := content.Digest(sha256.Sum256(b))
	m.blobs[d] = b
	return d, int64(len(b)), nil
}

func (m *memory) Open(d content.Digest) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails[d]; err != nil {
		return io.NopCloser(io.MultiReader(bytes.NewReader(m.blobs[d][:1]), iotest.ErrReader(err))), nil
	}
	if b, ok := m.blobs[d]; ok && !m.lost[d] {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, store.ErrNotFound
}

// bench is a keeper with a project folder.
type bench struct {
	*checkpoint.Keeper
	t   *testing.T
	m   *memory
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	m := &memory{blobs: map[content.Digest][]byte{}, lost: map[content.Digest]bool{}, fails: map[content.Digest]error{}}
	return &bench{Keeper: checkpoint.New(m, m, checkpoint.Options{Limit: 1000}), t: t, m: m, dir: dir}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// set writes a file, or removes it where text is "-".
func (b *bench) set(name, text string) {
	b.t.Helper()
	if text == "-" {
		must(b.t, os.Remove(b.path(name)))
		return
	}
	must(b.t, os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	must(b.t, os.WriteFile(b.path(name), []byte(text), 0o644))
}

// get is what a file holds, "-" for no file.
func (b *bench) get(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must(b.t, err)
	return string(text)
}

// turn is a write by a turn.
func (b *bench) turn(turn, name, text string) {
	b.t.Helper()
	must(b.t, b.Keep(b.t.Context(), "s", turn, b.path(name)))
	b.set(name, text)
	must(b.t, b.Wrote(b.t.Context(), "s", turn, b.path(name)))
}

// restore returns the names of what was put back, removed and kept.
func (b *bench) restore(turns ...string) (files, removed, kept []string) {
	b.t.Helper()
	r, err := b.Restore(b.t.Context(), "s", turns)
	must(b.t, err)
	return b.names(r.Files), b.names(r.Removed), b.names(r.Kept)
}

func (b *bench) names(paths []string) []string {
	var out []string
	for _, p := range paths {
		rel, err := filepath.Rel(b.dir, p)
		must(b.t, err)
		out = append(out, filepath.ToSlash(rel))
	}
	slices.Sort(out)
	return out
}

// leftovers fails for every file that the test does not know.
func (b *bench) leftovers(known ...string) {
	b.t.Helper()
	must(b.t, filepath.WalkDir(b.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(known, b.names([]string{p})[0]) {
			b.t.Errorf("left over: %s", p)
		}
		return err
	}))
}

// A step is a write: turn "" is somebody else's.
type step struct{ turn, text string }

func TestRestore(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  string
		steps   []step
		turns   []string
		want    string
		files   bool
		removed bool
		kept    bool
	}{
		{"changed", "A", []step{{"1", "B"}}, []string{"1"}, "A", true, false, false},
		{"changed twice in a turn", "A", []step{{"1", "B"}, {"1", "C"}}, []string{"1"}, "A", true, false, false},
		{"changed in two turns", "A", []step{{"1", "B"}, {"2", "C"}}, []string{"2", "1"}, "A", true, false, false},
		{"only the newer", "A", []step{{"1", "B"}, {"2", "C"}}, []string{"2"}, "B", true, false, false},
		{"only the older", "A", []step{{"1", "B"}, {"2", "C"}}, []string{"1"}, "C", false, false, true},
		{"created", "-", []step{{"1", "B"}}, []string{"1"}, "-", false, true, false},
		{"created and changed", "-", []step{{"1", "B"}, {"2", "C"}}, []string{"1", "2"}, "-", false, true, false},
		{"created and deleted", "-", []step{{"1", "B"}, {"2", "-"}}, []string{"1", "2"}, "-", false, false, false},
		{"deleted", "A", []step{{"1", "-"}}, []string{"1"}, "A", true, false, false},
		{"deleted and created", "A", []step{{"1", "-"}, {"2", "B"}}, []string{"1", "2"}, "A", true, false, false},
		{"there and back", "A", []step{{"1", "B"}, {"2", "A"}}, []string{"1", "2"}, "A", false, false, false},
		{"not changed at all", "A", []step{{"1", "A"}}, []string{"1"}, "A", false, false, false},
		{"emptied", "A", []step{{"1", ""}}, []string{"1"}, "A", true, false, false},
		{"was empty", "", []step{{"1", "B"}}, []string{"1"}, "", true, false, false},
		{"changed by others since", "A", []step{{"1", "B"}, {"", "X"}}, []string{"1"}, "X", false, false, true},
		{"created, changed by others since", "-", []step{{"1", "B"}, {"", "X"}}, []string{"1"}, "X", false, false, true},
		{"removed by others since", "A", []step{{"1", "B"}, {"", "-"}}, []string{"1"}, "-", false, false, true},
		{"created, removed by others", "-", []step{{"1", "B"}, {"", "-"}}, []string{"1"}, "-", false, false, false},
		{"put back by others", "A", []step{{"1", "B"}, {"", "A"}}, []string{"1"}, "A", false, false, false},
		{"changed by others between", "A", []step{{"1", "B"}, {"", "X"}, {"2", "C"}}, []string{"1", "2"}, "X", true, false, true},
		{"changed by others within", "A", []step{{"1", "B"}, {"", "X"}, {"1", "C"}, {"1", "D"}}, []string{"1"}, "X", true, false, true},
		{"others before all", "A", []step{{"", "X"}, {"1", "B"}}, []string{"1"}, "X", true, false, false},
		{"no turns", "A", []step{{"1", "B"}}, nil, "B", false, false, false},
		{"unknown turn", "A", []step{{"1", "B"}}, []string{"9"}, "B", false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			must(t, os.Mkdir(b.path("d"), 0o755))
			if tt.before != "-" {
				b.set("d/f", tt.before)
			}
			for _, s := range tt.steps {
				if s.turn == "" {
					b.set("d/f", s.text)
				} else {
					b.turn(s.turn, "d/f", s.text)
				}
			}
			listed := func(names []string) bool { return slices.Equal(names, []string{"d/f"}) }
			files, removed, kept := b.restore(tt.turns...)
			if listed(files) != tt.files || listed(removed) != tt.removed || listed(kept) != tt.kept {
				t.Errorf("restored %v, removed %v, kept %v", files, removed, kept)
			}
			if got := b.get("d/f"); got != tt.want {
				t.Errorf("the file holds %q, want %q", got, tt.want)
			}
			files, removed, kept = b.restore(tt.turns...)
			if len(files)+len(removed) != 0 || listed(kept) != tt.kept || b.get("d/f") != tt.want {
				t.Errorf("again: restored %v, removed %v, kept %v", files, removed, kept)
			}
			b.leftovers("d/f")
		})
	}
}

func TestRestoreMakesFoldersAgain(t *testing.T) {
	b := newBench(t)
	b.set("a/b/f", "A")
	b.turn("1", "a/b/f", "-")
	must(t, os.RemoveAll(b.path("a")))
	if files, _, kept := b.restore("1"); len(files) != 1 || len(kept) != 0 || b.get("a/b/f") != "A" {
		t.Errorf("restored %v, kept %v: %q", files, kept, b.get("a/b/f"))
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no such modes")
	}
	for _, tt := range []struct {
		name                    string
		before, turn, now, want fs.FileMode
	}{
		{"kept", 0o755, 0o600, 0o600, 0o755},
		{"read only", 0o444, 0o644, 0o644, 0o444},
		{"changed by others", 0o644, 0o644, 0o700, 0o700},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.set("f", "A")
			must(t, os.Chmod(b.path("f"), tt.before))
			must(t, b.Keep(t.Context(), "s", "1", b.path("f")))
			must(t, os.Remove(b.path("f")))
			b.set("f", "B")
			must(t, os.Chmod(b.path("f"), tt.turn))
			must(t, b.Wrote(t.Context(), "s", "1", b.path("f")))
			must(t, os.Chmod(b.path("f"), tt.now))
			b.restore("1")
			info, err := os.Stat(b.path("f"))
			must(t, err)
			if info.Mode() != tt.want || b.get("f") != "A" {
				t.Errorf("mode %v, want %v; %q", info.Mode(), tt.want, b.get("f"))
			}
		})
	}
	// Only the mode was changed.
	b := newBench(t)
	b.set("f", "A")
	must(t, b.Keep(t.Context(), "s", "1", b.path("f")))
	must(t, os.Chmod(b.path("f"), 0o755))
	must(t, b.Wrote(t.Context(), "s", "1", b.path("f")))
	files, _, _ := b.restore("1")
	again, _, _ := b.restore("1")
	if info, err := os.Stat(b.path("f")); err != nil || info.Mode() != 0o644 || len(files) != 1 || len(again) != 0 {
		t.Errorf("mode %v, %v; restored %v, then %v", info.Mode(), err, files, again)
	}
}

func TestChanged(t *testing.T) {
	b := newBench(t)
	b.set("a", "A")
	b.set("same", "S")
	b.turn("1", "a", "B")
	b.turn("1", "new", "N")
	b.turn("1", "same", "S")
	b.turn("2", "gone", "G")
	b.turn("2", "gone", "-")
	b.turn("2", "a", "C")
	b.set("a", "X")
	b.turn("2", "a", "D")
	must(t, b.Keep(t.Context(), "s", "2", b.path("open")))
	got, err := b.Changed(t.Context(), "s", []string{"1", "2"})
	must(t, err)
	want := []checkpoint.Change{
		{Turn: "2", Path: b.path("a")},
		{Turn: "2", Path: b.path("open"), Created: true},
		{Turn: "1", Path: b.path("a")},
		{Turn: "1", Path: b.path("new"), Created: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

func TestNotNoted(t *testing.T) {
	b := newBench(t)
	b.set("f", "A")
	b.set("g", "A")
	for _, n := range []string{"f", "g", "h"} {
		must(t, b.Keep(t.Context(), "s", "1", b.path(n)))
		must(t, b.Keep(t.Context(), "s", "1", b.path(n)))
	}
	b.set("f", "B")
	b.set("h", "B")
	if files, removed, kept := b.restore("1"); len(files)+len(removed) != 0 || !slices.Equal(kept, []string{"f", "h"}) {
		t.Errorf("restored %v, removed %v, kept %v", files, removed, kept)
	}
	if len(b.m.rows) != 3 {
		t.Errorf("%d rows", len(b.m.rows))
	}
	if err := b.Wrote(t.Context(), "s", "2", b.path("f")); !errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("a file that was not kept: %v", err)
	}
}

// expect is a write to the file f by turn 1 of which the program lives to say only that it comes.
func (b *bench) expect(text string) {
	b.t.Helper()
	must(b.t, b.Keep(b.t.Context(), "s", "1", b.path("f")))
	sum := content.Digest{}
	if text != "-" {
		sum = sha256.Sum256([]byte(text))
	}
	must(b.t, b.Expect(b.t.Context(), "s", "1", b.path("f"), sum))
}

// A program that was killed around its write is still known as the one that wrote,
// and what somebody else made of the file stays.
func TestExpected(t *testing.T) {
	for _, tt := range []struct {
		name           string
		before         string
		steps          func(b *bench)
		want           string
		files, removed bool
		kept           bool
		onlyNewest     bool
	}{
		{"killed after the write", "A", func(b *bench) { b.expect("B"); b.set("f", "B") }, "A", true, false, false, false},
		{"killed after it made the file", "-", func(b *bench) { b.expect("B"); b.set("f", "B") }, "-", false, true, false, false},
		{"killed after it removed the file", "A", func(b *bench) { b.expect("-"); b.set("f", "-") }, "A", true, false, false, false},
		{"killed before the write", "A", func(b *bench) { b.expect("B") }, "A", false, false, false, false},
		{"killed after a second write", "A", func(b *bench) { b.turn("1", "f", "B"); b.expect("C"); b.set("f", "C") }, "A", true, false, false, false},
		{"killed before a second write", "A", func(b *bench) { b.turn("1", "f", "B"); b.expect("C") }, "A", true, false, false, false},
		{"changed by others since", "A", func(b *bench) { b.expect("B"); b.set("f", "X") }, "X", false, false, true, false},
		{"a later turn", "A", func(b *bench) { b.expect("B"); b.set("f", "B"); b.turn("2", "f", "C") }, "A", true, false, false, false},
		{"only the later turn", "A", func(b *bench) { b.expect("B"); b.set("f", "B"); b.turn("2", "f", "C") }, "B", true, false, false, true},
		{"a write that failed", "A", func(b *bench) {
			b.expect("B")
			must(b.t, b.Wrote(b.t.Context(), "s", "1", b.path("f")))
			b.set("f", "B") // by somebody else
		}, "B", false, false, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			if tt.before != "-" {
				b.set("f", tt.before)
			}
			tt.steps(b)
			turns := []string{"2", "1"}
			if tt.onlyNewest {
				turns = turns[:1]
			}
			files, removed, kept := b.restore(turns...)
			if len(files) == 1 != tt.files || len(removed) == 1 != tt.removed || len(kept) == 1 != tt.kept || b.get("f") != tt.want {
				t.Errorf("restored %v, removed %v, kept %v; the file holds %q", files, removed, kept, b.get("f"))
			}
		})
	}
	b := newBench(t)
	if err := b.Expect(t.Context(), "s", "1", b.path("f"), content.Digest{}); !errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("a file that was not kept: %v", err)
	}
}

func TestKeepAtOnce(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range 40 {
		name := fmt.Sprint("f", i%4)
		// Ends when its file is kept.
		wg.Go(func() {
			if err := b.Keep(t.Context(), "s", "1", b.path(name)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(b.m.rows) != 4 {
		t.Errorf("%d rows, want 4", len(b.m.rows))
	}
}

// BenchmarkKeepWrote is what a write of 100 KB by a tool costs beside the write,
// without the disk.
func BenchmarkKeepWrote(b *testing.B) {
	m := &memory{blobs: map[content.Digest][]byte{}}
	k := checkpoint.New(m, m, checkpoint.Options{})
	path := filepath.Join(b.TempDir(), "f")
	must(b, os.WriteFile(path, make([]byte, 100_000), 0o600))
	b.SetBytes(100_000)
	b.ReportAllocs()
	for b.Loop() {
		m.rows, m.turns = nil, nil
		must(b, k.Keep(b.Context(), "s", "1", path))
		must(b, k.Wrote(b.Context(), "s", "1", path))
	}
}
