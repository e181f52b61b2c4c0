package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/imaging"
	"tote/internal/ingest"
	"tote/internal/profile"
	"tote/internal/store"
)

// cutter cuts variants of stored pictures, each once: the same picture within the
// same bounds is the same blob, also for the next process.
type cutter struct {
	store *store.Store
	db    *history.DB

	mu  sync.Mutex
	cut map[cutKey]content.Blob
}

// cutKey names a variant.
type cutKey struct {
	original content.Digest
	bounds   string
}

// remembered bounds the memory; a variant that was forgotten is looked up again.
const remembered = 4096

// Cut implements agent.Cutter.
func (c *cutter) Cut(ctx context.Context, original content.Blob, b delivery.Bounds) (content.Blob, error) {
	if b.MaxEdge == 0 || b.MaxEdge > imaging.Default.MaxEdge {
		b.MaxEdge = imaging.Default.MaxEdge
	}
	if b.MaxBytes == 0 || b.MaxBytes > imaging.Default.MaxBytes {
		b.MaxBytes = imaging.Default.MaxBytes
	}
	key := cutKey{original.Digest, b.Key()}
	if v, ok := c.find(ctx, key); ok {
		return v, nil
	}
	data, err := c.store.ReadAll(original.Digest, ingest.DefaultLimit)
	if err != nil {
		return content.Blob{}, err
	}
	bounds := imaging.Bounds{MaxEdge: b.MaxEdge, MaxPixels: b.MaxPixels, MaxBytes: b.MaxBytes, MIMEs: slices.Clone(b.MIMEs)}
	if !b.Fit.IsZero() {
		bounds.Fit = b.Fit.Size
	}
	r, err := imaging.Prepare(ctx, data, bounds)
	if err != nil {
		return content.Blob{}, err
	}
	digest, err := c.store.PutBytes(ctx, r.Data)
	if err != nil {
		return content.Blob{}, err
	}
	v := content.Blob{Digest: digest, MIME: r.MIME, Size: int64(len(r.Data)), Width: r.Width, Height: r.Height}
	c.keep(key, v)
	// A cache that cannot be written costs time later and nothing now.
	_ = c.db.SaveVariant(ctx, original.Digest, key.bounds, v)
	return v, nil
}

// find looks a variant up that is still there.
func (c *cutter) find(ctx context.Context, key cutKey) (content.Blob, bool) {
	c.mu.Lock()
	v, ok := c.cut[key]
	c.mu.Unlock()
	if ok && c.store.Check(v.Digest) == nil {
		return v, true
	}
	v, ok, err := c.db.Variant(ctx, key.original, key.bounds)
	if err != nil || !ok || c.store.Check(v.Digest) != nil {
		return content.Blob{}, false
	}
	c.keep(key, v)
	return v, true
}

func (c *cutter) keep(key cutKey, v content.Blob) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil || len(c.cut) >= remembered {
		c.cut = map[cutKey]content.Blob{}
	}
	c.cut[key] = v
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
