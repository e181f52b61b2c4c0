package provider

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/segmentio/asm/base64"

	"tote/internal/delivery"
)

// rawChunk is how many bytes of a blob are read at once: a multiple of three,
// so that only the last chunk of a blob is padded.
const rawChunk = 48 << 10

// smallRead is the shortest buffer that base64 is written into directly. A
// shorter one is served from a buffer of this size.
const smallRead = 1024

var chunks = sync.Pool{New: func() any { return new([rawChunk]byte) }}

// Open returns the body from its start. It may be called again, also while
// another reader is in use; the caller closes what it gets. An error of a
// reader names the blob's digest and nothing of its bytes.
func (b Body) Open() io.ReadCloser {
	return &bodyReader{segments: b.segments, blobs: b.blobs}
}

type bodyReader struct {
	segments []delivery.Segment
	blobs    Blobs

	// pending is what is left of the current literal, or of small.
	pending []byte
	src     io.ReadCloser
	hole    delivery.Segment
	left    int64
	raw     *[rawChunk]byte
	small   []byte
	err     error
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.err == nil {
		switch {
		case len(r.pending) > 0:
			n := copy(p, r.pending)
			r.pending = r.pending[n:]
			return n, nil
		case r.src != nil && len(p) >= smallRead:
			if n := r.encode(p); n > 0 {
				return n, nil
			}
		case r.src != nil:
			if r.small == nil {
				r.small = make([]byte, smallRead)
			}
			r.pending = r.small[:r.encode(r.small)]
		case len(r.segments) == 0:
			r.err = io.EOF
		default:
			r.next()
		}
	}
	return 0, r.err
}

// next goes on to the following segment.
func (r *bodyReader) next() {
	s := r.segments[0]
	r.segments = r.segments[1:]
	if s.Hole.IsZero() {
		r.pending = s.Literal
		return
	}
	if r.blobs == nil {
		r.err = fmt.Errorf("open blob %s: no store to read from", s.Hole.Digest.Short())
		return
	}
	src, err := r.blobs.Open(s.Hole.Digest)
	if err != nil {
		r.err = fmt.Errorf("open blob %s: %w", s.Hole.Digest.Short(), err)
		return
	}
	r.src, r.hole, r.left = src, s, s.Hole.Size
	if r.raw == nil {
		r.raw, _ = chunks.Get().(*[rawChunk]byte) // the pool holds nothing else
	}
}

// encode writes base64 of the current blob into p and returns how much.
func (r *bodyReader) encode(p []byte) int {
	n := int(min(r.left, rawChunk, int64(len(p)/4*3)))
	got, err := io.ReadFull(r.src, r.raw[:n])
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it ends after %d of %d bytes", r.hole.Hole.Size-r.left+int64(got), r.hole.Hole.Size)
		}
		r.err = fmt.Errorf("read blob %s: %w", r.hole.Hole.Digest.Short(), err)
		return 0
	}
	r.left -= int64(n)
	base64.StdEncoding.Encode(p, r.raw[:n])
	if r.left == 0 {
		r.finishBlob()
	}
	return base64.StdEncoding.EncodedLen(n)
}

// finishBlob checks that the blob is no longer than was announced, and closes
// it. Content-Length was sent with the announced size.
func (r *bodyReader) finishBlob() {
	var more [1]byte
	n, err := r.src.Read(more[:])
	for n == 0 && err == nil {
		n, err = r.src.Read(more[:])
	}
	if cerr := r.src.Close(); err == nil || errors.Is(err, io.EOF) {
		err = cerr
	}
	if n > 0 {
		err = fmt.Errorf("it is longer than %d bytes", r.hole.Hole.Size)
	}
	if err != nil {
		r.err = fmt.Errorf("read blob %s: %w", r.hole.Hole.Digest.Short(), err)
	}
	r.src = nil
}

// Close implements io.Closer.
func (r *bodyReader) Close() error {
	var err error
	if r.src != nil {
		err = r.src.Close()
		r.src = nil
	}
	if r.raw != nil {
		chunks.Put(r.raw)
		r.raw = nil
	}
	r.pending, r.segments = nil, nil
	if r.err == nil {
		r.err = errClosed
	}
	return err
}

var errClosed = errors.New("request body is closed")
