package store_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/store"
	"tote/internal/store/storetest"
)

// The test binary plays the second process when these are set.
const (
	roleEnv = "TOTE_STORE_TEST_ROLE"
	dirEnv  = "TOTE_STORE_TEST_DIR"
)

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(roleEnv); role {
	case "":
		os.Exit(m.Run())
	case "hang":
		err = hang(os.Getenv(dirEnv))
	case "write":
		err = write(context.Background(), os.Getenv(dirEnv))
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hang stores half a blob, says so, and waits to be killed.
func hang(dir string) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	said := readerFunc(func([]byte) (int, error) {
		fmt.Println("half way")
		return os.Stdin.Read(make([]byte, 1))
	})
	_, _, err = s.Put(context.Background(), io.MultiReader(bytes.NewReader(storetest.Bytes(300_000, 1)), said), 0)
	return err
}

const shared = 40

// write stores the same blobs as every other writer, and collects between them.
func write(ctx context.Context, dir string) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	for i := range shared {
		want := storetest.Bytes(20_000, byte(i))
		d, err := s.PutBytes(ctx, want)
		if err != nil {
			return err
		}
		if _, err := s.Collect(ctx, func(content.Digest) bool { return false }, grace, store.Sweep); err != nil {
			return err
		}
		if got, err := s.ReadAll(d, 0); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("read back: %d bytes, %w", len(got), err)
		}
	}
	return s.Close()
}

func command(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, dirEnv+"="+dir)
	return cmd
}

func TestKilledWriterLeavesOnlyATemp(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, "hang", dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "half way\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("a killed child ended well")
	}
	left := names(t, dir)
	if len(left) != 1 || !strings.HasPrefix(left[0], ".tmp-") {
		t.Fatalf("left: %q, want one temporary file", left)
	}
	rep, err := open(t, dir, nil).Collect(t.Context(), func(content.Digest) bool { return true }, grace, store.Sweep)
	if err != nil || rep.Temps != 1 || rep.Bytes == 0 {
		t.Errorf("Collect = %+v, %v, want one leftover", rep, err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("after Collect: %q", left)
	}
}

func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, "write", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: %v\n%s", err, stderr.Bytes())
	}
	u, err := open(t, dir, nil).Stat()
	if want := (store.Usage{Blobs: shared, Bytes: shared * 20_000}); err != nil || u != want {
		t.Errorf("Stat = %+v, %v, want %+v", u, err, want)
	}
	if got := names(t, dir); len(got) != shared {
		t.Errorf("%d files, want %d", len(got), shared)
	}
}
