package provider

import (
	"tote/internal/delivery"
)

// Body is a request body that is never whole in memory: literal pieces, and
// blobs that are read from the store and encoded while sending.
type Body struct {
	segments []delivery.Segment
	blobs    Blobs
	length   int64
	// Expect asks for permission before the body is sent.
	Expect bool
	// Header is sent with this body, over what the client sets itself.
	Header map[string]string
	// Attached is what an adapter's Encode hands to its own Stream beside the
	// bytes, nil for nothing.
	Attached any
}

// NewBody makes a body of segments. It takes them over.
func NewBody(segments []delivery.Segment, blobs Blobs) Body {
	b := Body{segments: segments, blobs: blobs}
	for _, s := range segments {
		b.length += s.Len()
	}
	return b
}

// Len is the exact length in bytes.
func (b Body) Len() int64 { return b.length }
