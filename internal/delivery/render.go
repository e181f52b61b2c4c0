package delivery

import (
	"errors"
	"fmt"

	"tote/internal/content"
)

// Segment is a piece of a request body: literal bytes, or the base64 of a blob
// that is streamed from the store while sending. Exactly one is set.
type Segment struct {
	Literal []byte
	Hole    content.Blob
}

// Literal makes a literal segment. Bytes are taken over, not copied.
func Literal[S string | []byte](s S) Segment { return Segment{Literal: []byte(s)} }

// Hole makes a segment that stands for the base64 of b.
func Hole(b content.Blob) Segment { return Segment{Hole: b} }

// EncodedLen is the length of the padded base64 of n bytes.
func EncodedLen(n int64) int64 { return (n + 2) / 3 * 4 }

// Len is the segment's length on the wire, in bytes.
func (s Segment) Len() int64 {
	if s.Hole.IsZero() {
		return int64(len(s.Literal))
	}
	return EncodedLen(s.Hole.Size)
}

// An Encoder spells one wire. R is the adapter's own form of one part.
//
// The media methods must put exactly one hole for the part's Prepared blob into
// what Message returns; Render checks that.
type Encoder[R any] interface {
	content.Visitor[R]
	Reasoning(content.Reasoning) (R, error)
	ToolCall(content.ToolCall) (R, error)
	// ToolResult gets the parts of the result already encoded.
	ToolResult(r content.ToolResult, parts []R) (R, error)
	// Message joins the parts of one message to the wire messages that
	// stand for it, in order.
	Message(role content.Role, parts []R) ([]Segment, error)
}

// ErrDropped reports an adapter that left out a part.
var ErrDropped = errors.New("part dropped by adapter")

// Render spells p message by message. It owns the loop, so an adapter has no
// place to leave a part out: a message without bytes, or whose holes are not
// the message's media in order, is ErrDropped.
func Render[R any](p Prompt, enc Encoder[R]) ([][]Segment, error) {
	out := make([][]Segment, 0, len(p.messages))
	v := renderer[R]{enc: enc}
	for i, m := range p.messages {
		v.want = v.want[:0]
		parts := make([]R, 0, len(m.Parts))
		for j, part := range m.Parts {
			r, err := content.VisitPart(part, content.PartVisitor[R](&v))
			if err != nil {
				return nil, fmt.Errorf("render message %d part %d (%T): %w", i, j, part, err)
			}
			parts = append(parts, r)
		}
		segs, err := enc.Message(m.Role, parts)
		if err != nil {
			return nil, fmt.Errorf("render message %d: %w", i, err)
		}
		if err := v.check(segs); err != nil {
			return nil, fmt.Errorf("render message %d: %w", i, err)
		}
		out = append(out, segs)
	}
	return out, nil
}

// renderer forwards to the encoder and remembers which blobs must appear.
type renderer[R any] struct {
	enc  Encoder[R]
	want []content.Digest
}

func (v *renderer[R]) check(segs []Segment) error {
	n := 0
	empty := true
	for _, s := range segs {
		if s.Len() > 0 {
			empty = false
		}
		if s.Hole.IsZero() {
			continue
		}
		if n >= len(v.want) || v.want[n] != s.Hole.Digest {
			return fmt.Errorf("blob %s out of place: %w", s.Hole.Digest.Short(), ErrDropped)
		}
		n++
	}
	if n != len(v.want) {
		return fmt.Errorf("%d of %d media parts on the wire: %w", n, len(v.want), ErrDropped)
	}
	if empty {
		return fmt.Errorf("nothing on the wire: %w", ErrDropped)
	}
	return nil
}

func (v *renderer[R]) Text(b content.Text) (R, error) { return v.enc.Text(b) }

func (v *renderer[R]) Image(b content.Image) (R, error) {
	v.want = append(v.want, b.Prepared.Digest)
	return v.enc.Image(b)
}

func (v *renderer[R]) Audio(b content.Audio) (R, error) {
	v.want = append(v.want, b.Prepared.Digest)
	return v.enc.Audio(b)
}

func (v *renderer[R]) Document(b content.Document) (R, error) {
	v.want = append(v.want, b.Prepared.Digest)
	return v.enc.Document(b)
}

func (v *renderer[R]) ResourceText(b content.ResourceText) (R, error) { return v.enc.ResourceText(b) }

func (v *renderer[R]) ResourceLink(b content.ResourceLink) (R, error) { return v.enc.ResourceLink(b) }
func (v *renderer[R]) Opaque(b content.Opaque) (R, error)             { return v.enc.Opaque(b) }
func (v *renderer[R]) Reasoning(r content.Reasoning) (R, error)       { return v.enc.Reasoning(r) }
func (v *renderer[R]) ToolCall(c content.ToolCall) (R, error)         { return v.enc.ToolCall(c) }

func (v *renderer[R]) ToolResult(r content.ToolResult) (R, error) {
	parts := make([]R, 0, len(r.Blocks))
	for _, b := range r.Blocks {
		p, err := content.Visit(b, content.Visitor[R](v))
		if err != nil {
			var zero R
			return zero, err
		}
		parts = append(parts, p)
	}
	return v.enc.ToolResult(r, parts)
}
