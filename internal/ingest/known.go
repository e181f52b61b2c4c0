package ingest

import (
	"container/list"
	"context"
	"sync"

	"tote/internal/content"
	"tote/internal/imaging"
)

// known remembers what preparing a picture gave: the same bytes give the same
// form, and preparing is by far the dearest step of an ingest. It holds digests
// and measures, no bytes; the prepared form is looked up in the store again.
type known struct {
	mu    sync.Mutex
	order *list.List
	by    map[content.Digest]*list.Element
}

// maxKnown bounds the memory, at some 300 bytes a picture.
const maxKnown = 1024

// outcome is what preparing gave, without what is said about the source.
type outcome struct {
	digest             content.Digest
	original, prepared content.Blob
	frames             int
	changes            content.Changes
	fault              content.Fault
	detail             string
}

func (k *known) get(d content.Digest) (outcome, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.by[d]
	if !ok {
		return outcome{}, false
	}
	k.order.MoveToFront(e)
	o, _ := e.Value.(outcome) // nothing else is ever put in
	return o, true
}

func (k *known) put(o outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by, k.order = map[content.Digest]*list.Element{}, list.New()
	}
	if _, ok := k.by[o.digest]; ok {
		return
	}
	k.by[o.digest] = k.order.PushFront(o)
	for k.order.Len() > maxKnown {
		last := k.order.Back()
		k.order.Remove(last)
		old, _ := last.Value.(outcome) // nothing else is ever put in
		delete(k.by, old.digest)
	}
}

// picture measures and prepares a picture, once for the same bytes.
// cl.att.Original names its stored bytes.
func (in *Inlet) picture(ctx context.Context, data []byte, cl claim) (content.Block, error) {
	digest := cl.att.Original.Digest
	if o, ok := in.known.get(digest); ok && in.refresh(ctx, o) {
		return o.block(cl), nil
	}
	b, err := in.prepare(ctx, data, cl)
	if err != nil {
		return b, err
	}
	in.known.put(outcome{
		digest: digest, original: b.Original, prepared: b.Prepared, frames: b.Frames, changes: b.Changes,
		fault: b.Fault, detail: b.Detail,
	})
	return b, nil
}

// refresh stores the prepared form again, which keeps it from being collected;
// false when the store has lost it.
func (in *Inlet) refresh(ctx context.Context, o outcome) bool {
	if o.prepared.IsZero() || o.prepared.Digest == o.digest {
		return true
	}
	data, err := in.blobs.ReadAll(o.prepared.Digest, imaging.Default.MaxBytes)
	if err != nil {
		return false
	}
	d, err := in.blobs.PutBytes(ctx, data)
	return err == nil && d == o.prepared.Digest
}

func (o outcome) block(cl claim) content.Image {
	b := content.Image{Attachment: cl.att, Frames: o.frames}
	b.Original, b.Prepared, b.Changes, b.Fault, b.Detail = o.original, o.prepared, o.changes, o.fault, o.detail
	return b
}
