package history_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/history"
)

// The test binary plays the second process when these are set.
const (
	roleEnv = "TOTE_HISTORY_TEST_ROLE"
	pathEnv = "TOTE_HISTORY_TEST_PATH"
)

func TestMain(m *testing.M) {
	var err error
	path := os.Getenv(pathEnv)
	switch role := os.Getenv(roleEnv); role {
	case "":
		os.Exit(m.Run())
	case "accept":
		err = accept(context.Background(), path)
	case "write":
		err = write(context.Background(), path, "theirs")
	case "open":
		err = openOnce(context.Background(), path)
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// accept begins turns for ever and says the number of each that it accepted.
func accept(ctx context.Context, path string) error {
	db, err := history.Open(ctx, path, history.Options{})
	if err != nil {
		return err
	}
	if err := db.CreateSession(ctx, history.Session{ID: "s", Cwd: "/w"}); err != nil {
		return err
	}
	for i := 1; ; i++ {
		id := fmt.Sprintf("t%d", i)
		if _, err := db.TakeHandles(ctx, "s", counts(1, 0)); err != nil {
			return err
		}
		if err := db.BeginTurn(ctx, "s", content.Turn{ID: id, Messages: []content.Message{user(picture(i))}}); err != nil {
			return err
		}
		if err := db.SaveDraft(ctx, "s", id, "draft of "+id); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func openOnce(ctx context.Context, path string) error {
	// Waiting for the end of input lets all processes open at once.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	db, err := history.Open(ctx, path, history.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}

const writes = 60

// write records a session's turns while another process does the same.
func write(ctx context.Context, path, id string) error {
	db, err := history.Open(ctx, path, history.Options{})
	if err != nil {
		return err
	}
	if err := db.CreateSession(ctx, history.Session{ID: id, Cwd: "/w"}); err != nil {
		return err
	}
	for i := 1; i <= writes; i++ {
		turn := fmt.Sprintf("t%d", i)
		n, err := db.NextRequest(ctx, id)
		if err != nil || n != i {
			return fmt.Errorf("request %d, want %d: %w", n, i, err)
		}
		err = errors.Join(
			db.BeginTurn(ctx, id, content.Turn{ID: turn, Messages: []content.Message{user(picture(i))}}),
			db.AppendMessage(ctx, id, turn, assistant("x")),
			db.EndTurn(ctx, id, turn, content.StopEndTurn, content.Usage{}),
		)
		if err != nil {
			return err
		}
	}
	return db.Close()
}

func command(t *testing.T, role, path string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, pathEnv+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// What was accepted is there after the program was killed, with the text that
// was streamed for it.
func TestKilledAfterAccepting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	cmd, stderr := command(t, "accept", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	accepted := 0
	for accepted < 20 && lines.Scan() {
		accepted++
	}
	must(t, cmd.Process.Kill())
	for lines.Scan() {
		accepted++
	}
	if err := cmd.Wait(); err == nil || accepted < 20 {
		t.Fatalf("the child ended by itself after %d turns: %v\n%s", accepted, err, stderr.Bytes())
	}
	db := openAt(t, path)
	turns, err := db.Load(t.Context(), "s")
	must(t, err)
	if len(turns) < accepted || len(turns) > accepted+1 {
		t.Fatalf("%d turns, but %d were accepted", len(turns), accepted)
	}
	for i, turn := range turns[:accepted] {
		id := fmt.Sprintf("t%d", i+1)
		want := content.Turn{ID: id, Messages: []content.Message{user(picture(i + 1)), assistant("draft of " + id)}}
		if diff := cmp.Diff(want, turn); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", i+1, diff)
		}
	}
	first, err := db.TakeHandles(t.Context(), "s", counts(1, 0))
	if err != nil || first[content.KindImage] <= accepted {
		t.Errorf("TakeHandles = %v, %v, want more than %d", first, err, accepted)
	}
}

func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	cmd, stderr := command(t, "write", path)
	must(t, cmd.Start())
	if err := write(t.Context(), path, "ours"); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: %v\n%s", err, stderr.Bytes())
	}
	db := openAt(t, path)
	for _, id := range []string{"ours", "theirs"} {
		turns, err := db.Load(t.Context(), id)
		if err != nil || len(turns) != writes {
			t.Errorf("session %s: %d turns, %v, want %d", id, len(turns), err, writes)
		}
	}
}

// Many processes that find no file yet make one history.
func TestFirstOpenAtOnce(t *testing.T) {
	for range 3 {
		path := filepath.Join(t.TempDir(), "history.db")
		var cmds []*exec.Cmd
		var gates []io.Closer
		var errs []*bytes.Buffer
		for range 6 {
			cmd, stderr := command(t, "open", path)
			gate, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())
			cmds, gates, errs = append(cmds, cmd), append(gates, gate), append(errs, stderr)
		}
		for _, g := range gates {
			must(t, g.Close())
		}
		for i, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, errs[i].Bytes())
			}
		}
		newSession(t, openAt(t, path))
	}
}

func TestGoroutinesWriteAtOnce(t *testing.T) {
	db, ctx := open(t), t.Context()
	const sessions, turns = 6, 15
	done := make(chan error, sessions)
	for i := range sessions {
		// Ends after its turns.
		go func() {
			id := fmt.Sprintf("s%d", i)
			err := db.CreateSession(ctx, history.Session{ID: id})
			for j := 0; j < turns && err == nil; j++ {
				turn := fmt.Sprintf("t%d", j)
				_, handles := db.TakeHandles(ctx, id, counts(2, 0))
				_, load := db.Load(ctx, id)
				err = errors.Join(handles, load,
					db.BeginTurn(ctx, id, content.Turn{ID: turn, Messages: []content.Message{user(picture(j))}}),
					db.SaveDraft(ctx, id, turn, strings.Repeat("x", j+1)))
			}
			done <- err
		}()
	}
	for range sessions {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	all, _, err := db.Sessions(ctx, history.Filter{})
	must(t, err)
	for _, s := range all {
		if s.Turns != turns || s.Pictures != turns {
			t.Errorf("session %s: %d turns, %d pictures, want %d", s.ID, s.Turns, s.Pictures, turns)
		}
	}
}
