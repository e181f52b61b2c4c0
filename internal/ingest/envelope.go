package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/segmentio/asm/base64"

	"tote/internal/content"
)

// maxEnvelope is how much of a client's JSON an envelope holds, in bytes. Longer
// ones are stored whole as a blob.
const maxEnvelope = 4096

// envelope cuts the payload out of a client's block, if it can be put back byte
// for byte; else the whole block is stored.
func (in *Inlet) envelope(ctx context.Context, s content.Source, t taken) (content.Envelope, error) {
	c := s.Client
	if len(c.Raw) == 0 {
		return content.Envelope{}, nil
	}
	if _, opaque := t.blocks[0].(content.Opaque); opaque || c.Start < 0 || c.Start > c.End || c.End > len(c.Raw) {
		return in.stored(ctx, c.Raw)
	}
	if _, prose := s.Payload.(content.Prose); c.Start == c.End || prose && len(c.Raw) <= maxEnvelope {
		if len(c.Raw) > maxEnvelope {
			return in.stored(ctx, c.Raw)
		}
		return content.Envelope{JSON: bytes.Clone(c.Raw)}, nil
	}
	start := c.Start + t.prefix
	if t.digest.IsZero() || start > c.End || start+len(c.Raw)-c.End > maxEnvelope {
		return in.stored(ctx, c.Raw)
	}
	how := spellingOf(s.Payload, c.Raw[start:c.End], t.payload)
	if how == content.SpellingStored {
		return in.stored(ctx, c.Raw)
	}
	rest := make([]byte, 0, start+len(c.Raw)-c.End)
	rest = append(append(rest, c.Raw[:start]...), c.Raw[c.End:]...)
	return content.Envelope{JSON: rest, Hole: start, Payload: t.digest, Spelling: how}, nil
}

func (in *Inlet) stored(ctx context.Context, raw []byte) (content.Envelope, error) {
	blob, err := in.put(ctx, raw)
	if err != nil {
		return content.Envelope{}, err
	}
	return content.Envelope{Payload: blob.Digest, Spelling: content.SpellingStored}, nil
}

// spellings of base64, in the order in which they are tried.
var encodings = [...]struct {
	how content.Spelling
	enc *base64.Encoding
}{
	{content.SpellingBase64, base64.StdEncoding},
	{content.SpellingBase64Raw, base64.RawStdEncoding},
	{content.SpellingBase64URL, base64.URLEncoding},
	{content.SpellingBase64RawURL, base64.RawURLEncoding},
}

// spellingOf finds how payload was spelt as the inside of a JSON string;
// SpellingStored where no spelling gives exactly that.
func spellingOf(p content.Payload, spelt, payload []byte) content.Spelling {
	switch p.(type) {
	case content.Base64:
		for _, e := range encodings {
			if e.enc.EncodedLen(len(payload)) == len(spelt) && encodesTo(e.enc, payload, spelt) {
				return e.how
			}
		}
	case content.EmbeddedText, content.Prose:
		if escapesTo(payload, spelt) {
			return content.SpellingText
		}
	case content.Bytes, content.DataURI, content.Path, content.Link, content.Given, content.Crop, content.Compare,
		content.Unknown, content.Broken:
	}
	return content.SpellingStored
}

// encodesTo compares piece by piece, so that no second copy of the payload is
// made.
func encodesTo(enc *base64.Encoding, payload, spelt []byte) bool {
	const piece = 12 << 10 // a multiple of three
	buf := make([]byte, enc.EncodedLen(piece))
	for len(payload) > 0 {
		n := min(piece, len(payload))
		e := enc.EncodedLen(n)
		enc.Encode(buf[:e], payload[:n])
		if !bytes.Equal(buf[:e], spelt[:e]) {
			return false
		}
		payload, spelt = payload[n:], spelt[e:]
	}
	return true
}

// escapesTo reports whether text with the shortest JSON escapes is spelt.
func escapesTo(text, spelt []byte) bool {
	if !utf8.Valid(spelt) {
		return false
	}
	var buf [6]byte
	for _, c := range text {
		e := appendEscaped(buf[:0], c)
		if !bytes.HasPrefix(spelt, e) {
			return false
		}
		spelt = spelt[len(e):]
	}
	return len(spelt) == 0
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends one byte of a JSON string with the escapes of
// SpellingText.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if c < 0x20 {
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, c)
}

// maxRestore bounds what is read back to restore a client's block, in bytes. A
// client's line is bounded when it comes in.
const maxRestore = 1 << 30

// ErrEnvelope reports an envelope that contradicts itself.
var ErrEnvelope = errors.New("damaged envelope")

// Restore gives a client's block back byte for byte. The error is ErrEnvelope,
// or that of blobs where the payload is gone.
func Restore(env content.Envelope, blobs Reader) ([]byte, error) {
	if env.Spelling == content.SpellingNone {
		return bytes.Clone(env.JSON), nil
	}
	payload, err := blobs.ReadAll(env.Payload, maxRestore)
	if err != nil {
		return nil, fmt.Errorf("restore a client's block: %w", err)
	}
	if env.Spelling == content.SpellingStored {
		return payload, nil
	}
	if env.Hole < 0 || env.Hole > len(env.JSON) {
		return nil, fmt.Errorf("restore a client's block: hole at %d of %d: %w", env.Hole, len(env.JSON), ErrEnvelope)
	}
	for _, e := range encodings {
		if e.how != env.Spelling {
			continue
		}
		n := e.enc.EncodedLen(len(payload))
		out := make([]byte, env.Hole+n, len(env.JSON)+n)
		copy(out, env.JSON[:env.Hole])
		e.enc.Encode(out[env.Hole:], payload)
		return append(out, env.JSON[env.Hole:]...), nil
	}
	if env.Spelling != content.SpellingText {
		return nil, fmt.Errorf("restore a client's block: spelling %d: %w", env.Spelling, ErrEnvelope)
	}
	out := make([]byte, 0, len(env.JSON)+len(payload)+len(payload)/16)
	out = append(out, env.JSON[:env.Hole]...)
	for _, c := range payload {
		out = appendEscaped(out, c)
	}
	return append(out, env.JSON[env.Hole:]...), nil
}
