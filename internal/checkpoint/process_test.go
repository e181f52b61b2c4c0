package checkpoint_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/checkpoint"
	"tote/internal/content"
	"tote/internal/history"
	"tote/internal/store"
)

// The test binary plays the process that is killed when these are set.
const (
	homeEnv  = "TOTE_CHECKPOINT_TEST_HOME"
	countEnv = "TOTE_CHECKPOINT_TEST_COUNT"
)

func TestMain(m *testing.M) {
	home := os.Getenv(homeEnv)
	if home == "" {
		os.Exit(m.Run())
	}
	if err := dieRestoring(context.Background(), home, os.Getenv(countEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rows is the history as the keeper knows it.
type rows struct{ *history.DB }

func (r rows) SaveCheckpoint(ctx context.Context, session, turn string, row checkpoint.Row) error {
	return r.DB.SaveCheckpoint(ctx, session, turn, history.Checkpoint(row))
}

func (r rows) SaveAfter(ctx context.Context, session, turn string, n int, after content.Digest, mode fs.FileMode) error {
	return r.DB.SaveAfter(ctx, session, turn, n, after, mode)
}

func (r rows) SaveExpected(ctx context.Context, session, turn string, n int, expected content.Digest) error {
	return r.DB.SaveExpected(ctx, session, turn, n, expected)
}

func (r rows) Checkpoints(ctx context.Context, session string, turns []string) ([]checkpoint.Row, error) {
	list, err := r.DB.Checkpoints(ctx, session, turns)
	var out []checkpoint.Row
	for _, c := range list {
		out = append(out, checkpoint.Row(c))
	}
	return out, err
}

// home is a history and a store.
type home struct {
	db *history.DB
	st *store.Store
}

func openHome(ctx context.Context, dir string) (home, error) {
	st, err := store.Open(filepath.Join(dir, "attachments"), store.Options{})
	if err != nil {
		return home{}, err
	}
	db, err := history.Open(ctx, filepath.Join(dir, "history.db"), history.Options{})
	return home{db, st}, err
}

func (h home) close() error { return errors.Join(h.db.Close(), h.st.Close()) }

// hanging gives count blobs whole, and half of the next.
type hanging struct {
	*store.Store
	count string
	given int
}

func (h *hanging) Open(d content.Digest) (io.ReadCloser, error) {
	rc, err := h.Store.Open(d)
	if h.given++; err != nil || fmt.Sprint(h.given-1) != h.count {
		return rc, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(rc, 3), waiting{}), rc}, nil
}

// waiting says so and waits to be killed.
type waiting struct{}

func (waiting) Read([]byte) (int, error) {
	fmt.Println("half way")
	_, err := os.Stdin.Read(make([]byte, 1))
	return 0, err
}

func dieRestoring(ctx context.Context, dir, count string) error {
	h, err := openHome(ctx, dir)
	if err != nil {
		return err
	}
	k := checkpoint.New(&hanging{Store: h.st, count: count}, rows{h.db}, checkpoint.Options{})
	_, err = k.Restore(ctx, "s", []string{"t1"})
	return err
}

// kill runs a restore that is killed when it has written count files beside their
// places, and half of the next.
func kill(t *testing.T, dir string, count int) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), homeEnv+"="+dir, fmt.Sprintf("%s=%d", countEnv, count))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_, err = cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "half way\n" {
		t.Fatalf("child said %q, %v\n%s", line, err, stderr.Bytes())
	}
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatal("a killed child ended well")
	}
}

// A restore that is killed is ended by the next, with the real history and store.
func TestKilledRestore(t *testing.T) {
	for _, count := range []int{0, 2} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			h, err := openHome(ctx, dir)
			must(t, err)
			t.Cleanup(func() { must(t, h.close()) })
			must(t, h.db.CreateSession(ctx, history.Session{ID: "s"}))
			must(t, h.db.BeginTurn(ctx, "s", content.Turn{ID: "t1", Messages: []content.Message{{Role: content.RoleUser}}}))
			b := newBench(t)
			b.Keeper = checkpoint.New(h.st, rows{h.db}, checkpoint.Options{})
			names := []string{"a", "b", "c", "d"}
			for _, n := range names {
				b.set(n, "was "+n)
				b.turn("t1", n, "is "+n)
			}
			b.turn("t1", "new", "N")
			must(t, h.db.UndoTurns(ctx, "s", "t1"))
			kill(t, dir, count)
			back, temps := 0, 0
			list, err := os.ReadDir(b.dir)
			must(t, err)
			for _, e := range list {
				text := b.get(e.Name())
				switch {
				case text == "was "+e.Name():
					back++
				case strings.HasPrefix(e.Name(), ".tote-undo-"):
					temps++
				case text != "is "+e.Name() && e.Name() != "new":
					t.Errorf("%s holds %q", e.Name(), text)
				}
			}
			if back != 0 || temps != count+1 {
				t.Errorf("%d files were put back, %d lie beside their places", back, temps)
			}
			files, _, kept := b.restore("t1")
			if len(files) != len(names) || len(kept) != 0 {
				t.Errorf("restored %v, kept %v", files, kept)
			}
			for _, n := range names {
				if b.get(n) != "was "+n {
					t.Errorf("%s holds %q", n, b.get(n))
				}
			}
			b.leftovers(names...)
			named := map[content.Digest]bool{}
			must(t, h.db.References(ctx, func(d content.Digest) { named[d] = true }))
			if len(named) != len(names) {
				t.Errorf("%d blobs are referenced, want %d", len(named), len(names))
			}
		})
	}
}
