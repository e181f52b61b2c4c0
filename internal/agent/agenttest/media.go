package agenttest

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
)

// Cutter makes smaller pictures of noise that keep within any bounds.
type Cutter struct {
	Store *Store

	mu   sync.Mutex
	cuts int
	fail error
}

var _ agent.Cutter = (*Cutter)(nil)

// Fail makes every cut fail with err; nil ends that.
func (c *Cutter) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = err
}

// Cuts is how often it was asked.
func (c *Cutter) Cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

// Cut implements agent.Cutter.
func (c *Cutter) Cut(ctx context.Context, original content.Blob, b delivery.Bounds) (content.Blob, error) {
	c.mu.Lock()
	c.cuts++
	fail := c.fail
	c.mu.Unlock()
	if fail != nil {
		return content.Blob{}, fail
	}
	if err := c.Store.Check(original.Digest); err != nil {
		return content.Blob{}, err
	}
	w, h := max(1, original.Width), max(1, original.Height)
	for b.MaxEdge > 0 && max(w, h) > b.MaxEdge || b.MaxPixels > 0 && int64(w)*int64(h) > b.MaxPixels ||
		b.MaxBytes > 0 && int64(w+1)*int64(h)+200 > b.MaxBytes {
		if w == 1 && h == 1 {
			return content.Blob{}, fmt.Errorf("cut %s: nothing is that small", original.Digest.Short())
		}
		w, h = max(1, w*3/4), max(1, h*3/4)
	}
	mime := "image/png"
	if !slices.Contains(b.MIMEs, mime) {
		if len(b.MIMEs) == 0 {
			return content.Blob{}, fmt.Errorf("cut %s: no format is taken", original.Digest.Short())
		}
		mime = b.MIMEs[0]
	}
	data := PNG(w, h, binary.LittleEndian.Uint64(original.Digest[:]))
	d, err := c.Store.PutBytes(ctx, data)
	if err != nil {
		return content.Blob{}, err
	}
	return content.Blob{Digest: d, MIME: mime, Size: int64(len(data)), Width: w, Height: h}, nil
}

// Stager writes real files.
type Stager struct {
	Store *Store
	// Root is the folder of all sessions' folders.
	Root string
}

var _ agent.Stager = (*Stager)(nil)

// Dir implements agent.Stager.
func (s *Stager) Dir(session string) string { return filepath.Join(s.Root, session) }

// Stage implements agent.Stager.
func (s *Stager) Stage(_ context.Context, session, name string, b content.Blob) (string, error) {
	path := filepath.Join(s.Dir(session), filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	data, err := s.Store.ReadAll(b.Digest, 0)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, 0o600)
}

var _ agent.Spiller = (*Stager)(nil)

// Spill implements agent.Spiller.
func (s *Stager) Spill(_ context.Context, session, name, text string) (string, error) {
	path := filepath.Join(s.Dir(session), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o600)
}
