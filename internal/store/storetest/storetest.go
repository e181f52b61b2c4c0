// Package storetest is the suite that every store of blobs has to pass.
//
// A store hooks itself in with one function that opens an empty one. The
// package is imported by tests only.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"tote/internal/content"
	"tote/internal/store"
)

// Blobs is what the suite needs of a store.
type Blobs interface {
	Put(ctx context.Context, r io.Reader, limit int64) (content.Digest, int64, error)
	PutBytes(ctx context.Context, b []byte) (content.Digest, error)
	Open(d content.Digest) (io.ReadCloser, error)
	ReadAll(d content.Digest, limit int64) ([]byte, error)
	Check(d content.Digest) error
	Size(d content.Digest) (int64, error)
	Remove(d content.Digest) error
}

// Run runs the suite. open makes an empty store that lives until t ends.
func Run(t *testing.T, open func(t *testing.T) Blobs) {
	t.Helper()
	x := suite{open}
	t.Run("sizes", x.sizes)
	t.Run("limit", x.limit)
	t.Run("absent", x.absent)
	t.Run("broken reader", x.brokenReader)
	t.Run("cancelled", x.cancelled)
	t.Run("removed", x.removed)
	t.Run("concurrent", x.concurrent)
}

type suite struct {
	open func(t *testing.T) Blobs
}

// Bytes makes n bytes that look random and depend on seed only.
func Bytes(n int, seed byte) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b) // never fails
	return b
}

// sizes: what goes in comes out, by either door, whatever the size.
func (x suite) sizes(t *testing.T) {
	s := x.open(t)
	for i, n := range []int{0, 1, 31, 4096, 128 << 10, 128<<10 + 1, 3_000_000} {
		want := Bytes(n, byte(i))
		sum := content.Digest(sha256.Sum256(want))
		d, size, err := s.Put(t.Context(), iotest.HalfReader(bytes.NewReader(want)), 0)
		if err != nil || d != sum || size != int64(n) {
			t.Fatalf("Put of %d bytes = %v, %d, %v, want %v", n, d, size, err, sum)
		}
		again, err := s.PutBytes(t.Context(), want)
		if err != nil || again != sum {
			t.Fatalf("PutBytes of %d bytes = %v, %v, want %v", n, again, err, sum)
		}
		holds(t, s, d, want)
	}
}

// holds checks every way to read a blob.
func holds(t *testing.T, s Blobs, d content.Digest, want []byte) {
	t.Helper()
	got, err := s.ReadAll(d, int64(len(want)))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("ReadAll of %d bytes differs, error %v", len(want), err)
	}
	if got, err := s.Size(d); err != nil || got != int64(len(want)) {
		t.Errorf("Size = %d, %v, want %d", got, err, len(want))
	}
	if err := s.Check(d); err != nil {
		t.Errorf("Check: %v", err)
	}
	r, err := s.Open(d)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if len(want) <= 4096 { // it reads byte by byte, many times
		if err := iotest.TestReader(r, want); err != nil {
			t.Errorf("Open of %d bytes: %v", len(want), err)
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func (x suite) limit(t *testing.T) {
	s := x.open(t)
	d, n, err := s.Put(t.Context(), strings.NewReader("12345"), 5)
	if err != nil || n != 5 {
		t.Fatalf("Put at the limit = %v, %d, %v", d, n, err)
	}
	var le *store.LimitError
	if _, _, err := s.Put(t.Context(), strings.NewReader("123456"), 5); !errors.As(err, &le) || le.Limit != 5 {
		t.Errorf("Put over the limit: %v, want a LimitError of 5", err)
	}
	if _, err := s.ReadAll(d, 4); !errors.As(err, &le) || le.Limit != 4 {
		t.Errorf("ReadAll over the limit: %v, want a LimitError of 4", err)
	}
	over := content.Digest(sha256.Sum256([]byte("123456")))
	if err := s.Check(over); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was over the limit: %v, want ErrNotFound", err)
	}
}

func (x suite) absent(t *testing.T) {
	s := x.open(t)
	for _, d := range []content.Digest{{}, {1}} {
		_, openErr := s.Open(d)
		_, readErr := s.ReadAll(d, 0)
		_, sizeErr := s.Size(d)
		for what, err := range map[string]error{
			"Open": openErr, "ReadAll": readErr, "Size": sizeErr, "Check": s.Check(d), "Remove": s.Remove(d),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of an absent blob: %v, want ErrNotFound", what, err)
			}
		}
	}
}

func (x suite) brokenReader(t *testing.T) {
	s := x.open(t)
	want := errors.New("the line went dead")
	r := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(want))
	if _, _, err := s.Put(t.Context(), r, 0); !errors.Is(err, want) {
		t.Errorf("Put of a broken reader: %v, want its error", err)
	}
	if err := s.Check(content.Digest(sha256.Sum256([]byte("half")))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half a blob: %v, want ErrNotFound", err)
	}
}

func (x suite) cancelled(t *testing.T) {
	s := x.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Put(ctx, strings.NewReader("x"), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v, want Canceled", err)
	}
	if _, err := s.PutBytes(ctx, []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("PutBytes: %v, want Canceled", err)
	}
	if err := s.Check(content.Digest(sha256.Sum256([]byte("x")))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the cancelled puts: %v, want ErrNotFound", err)
	}
}

func (x suite) removed(t *testing.T) {
	s := x.open(t)
	d, err := s.PutBytes(t.Context(), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(d); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	if err := s.Check(d); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Check of a removed blob: %v, want ErrNotFound", err)
	}
	if again, err := s.PutBytes(t.Context(), []byte("secret")); err != nil || again != d {
		t.Errorf("PutBytes after Remove = %v, %v, want %v", again, err, d)
	}
}

func (x suite) concurrent(t *testing.T) {
	s := x.open(t)
	const writers, blobs = 4, 20
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() { // ends after its blobs
			for i := range blobs {
				want := Bytes(10_000+i, byte(i))
				d, _, err := s.Put(t.Context(), bytes.NewReader(want), 0)
				if err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				if got, err := s.ReadAll(d, 0); err != nil || !bytes.Equal(got, want) {
					t.Errorf("ReadAll: %v", fmt.Errorf("%d bytes, want %d: %w", len(got), len(want), err))
					return
				}
			}
		})
	}
	wg.Wait()
}
