package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/imaging"
	"tote/internal/ingest"
	"tote/internal/profile"
	"tote/internal/store"
)

// cutter cuts variants of stored pictures and remembers which it has cut: the
// same picture within the same bounds is the same blob.
type cutter struct {
	store *store.Store

	mu  sync.Mutex
	cut map[cutKey]content.Blob
}

type cutKey struct {
	original  content.Digest
	maxEdge   int
	maxPixels int64
	maxBytes  int64
	mimes     string
}

// remembered bounds the memory; a variant that was forgotten is cut again to
// the same bytes.
const remembered = 4096

// Cut implements agent.Cutter.
func (c *cutter) Cut(ctx context.Context, original content.Blob, b delivery.Bounds) (content.Blob, error) {
	key := cutKey{original.Digest, b.MaxEdge, b.MaxPixels, b.MaxBytes, strings.Join(b.MIMEs, " ")}
	c.mu.Lock()
	v, ok := c.cut[key]
	c.mu.Unlock()
	if ok && c.store.Check(v.Digest) == nil {
		return v, nil
	}
	data, err := c.store.ReadAll(original.Digest, ingest.DefaultLimit)
	if err != nil {
		return content.Blob{}, err
	}
	bounds := imaging.Bounds{MaxEdge: b.MaxEdge, MaxPixels: b.MaxPixels, MaxBytes: b.MaxBytes, MIMEs: slices.Clone(b.MIMEs)}
	if bounds.MaxEdge == 0 || bounds.MaxEdge > imaging.Default.MaxEdge {
		bounds.MaxEdge = imaging.Default.MaxEdge
	}
	if bounds.MaxBytes == 0 || bounds.MaxBytes > imaging.Default.MaxBytes {
		bounds.MaxBytes = imaging.Default.MaxBytes
	}
	r, err := imaging.Prepare(ctx, data, bounds)
	if err != nil {
		return content.Blob{}, err
	}
	digest, err := c.store.PutBytes(ctx, r.Data)
	if err != nil {
		return content.Blob{}, err
	}
	v = content.Blob{Digest: digest, MIME: r.MIME, Size: int64(len(r.Data)), Width: r.Width, Height: r.Height}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil || len(c.cut) >= remembered {
		c.cut = map[cutKey]content.Blob{}
	}
	c.cut[key] = v
	return v, nil
}

// prober draws and judges the test picture.
type prober struct{}

// Picture implements agent.Prober.
func (prober) Picture(seed uint64) (png []byte, code, question string, err error) {
	code = profile.Code(seed)
	png, err = imaging.Probe(code)
	if err != nil {
		return nil, "", "", fmt.Errorf("draw the test picture: %w", err)
	}
	return png, code, profile.Question, nil
}

// Judge implements agent.Prober.
func (prober) Judge(code, answer string, u content.Usage, f delivery.Failure) delivery.Answer {
	return profile.Judge(code, answer, u, f)
}
