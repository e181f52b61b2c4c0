package acp

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"tote/internal/content"
)

// maxEnvelope is the longest JSON, in bytes, that is kept beside a payload. A
// longer one may hold another payload, so the block is stored whole.
const maxEnvelope = 4 << 10

// Envelope cuts the payload out of the block, where payload is its decoded bytes.
// The digest is the caller's to set: of the whole block for SpellingStored, else
// of the payload. A block of an unknown kind, or one that cannot be read, may hold
// payload anywhere and is stored whole.
func (b Block) Envelope(payload []byte) content.Envelope {
	switch b.Type {
	case BlockText, BlockImage, BlockAudio, BlockResource, BlockResourceLink:
		if b.Bad == nil {
			return Cut(content.ClientBlock{Raw: b.Raw, Start: b.Start, End: b.End}, payload)
		}
	}
	return content.Envelope{Spelling: content.SpellingStored}
}

// Cut makes the envelope of a client's block. What Fill makes of it is the block
// byte for byte; a payload that no spelling gives back exactly makes an envelope
// with SpellingStored.
func Cut(b content.ClientBlock, payload []byte) content.Envelope {
	stored := content.Envelope{Spelling: content.SpellingStored}
	if b.Start < 0 || b.End > len(b.Raw) || b.Start > b.End || len(b.Raw)-(b.End-b.Start) > maxEnvelope {
		return stored
	}
	spelling := content.SpellingNone
	if b.Start < b.End {
		if spelling = spellingOf(b.Raw[b.Start:b.End], payload); spelling == content.SpellingNone {
			return stored
		}
	}
	return content.Envelope{
		JSON: slices.Concat(b.Raw[:b.Start], b.Raw[b.End:]), Hole: b.Start, Spelling: spelling,
	}
}

// Fill gives back the block that an envelope was cut from. stored is what its
// digest names: the payload, or the whole block for SpellingStored.
func Fill(e content.Envelope, stored []byte) Parts {
	switch e.Spelling {
	case content.SpellingNone:
		return Parts{e.JSON}
	case content.SpellingStored:
		return Parts{stored}
	case content.SpellingText:
		return Parts{e.JSON[:e.Hole], spellText(stored), e.JSON[e.Hole:]}
	case content.SpellingBase64, content.SpellingBase64Raw, content.SpellingBase64URL, content.SpellingBase64RawURL:
	}
	enc := encodings[e.Spelling]
	spelt := make([]byte, enc.EncodedLen(len(stored)))
	enc.Encode(spelt, stored)
	return Parts{e.JSON[:e.Hole], spelt, e.JSON[e.Hole:]}
}

var encodings = [...]*base64.Encoding{
	content.SpellingBase64:       base64.StdEncoding,
	content.SpellingBase64Raw:    base64.RawStdEncoding,
	content.SpellingBase64URL:    base64.URLEncoding,
	content.SpellingBase64RawURL: base64.RawURLEncoding,
}

// spellingOf returns how payload is spelt in the inside of a JSON string, proven
// by spelling it again; SpellingNone when it is spelt in no way that we know.
func spellingOf(inside, payload []byte) content.Spelling {
	guess := content.SpellingBase64
	if bytes.ContainsAny(inside, "-_") {
		guess = content.SpellingBase64URL
	}
	if len(payload)%3 != 0 && !bytes.HasSuffix(inside, []byte("=")) {
		guess++ // the unpadded form follows the padded one
	}
	if sameBase64(encodings[guess], inside, payload) {
		return guess
	}
	if bytes.Equal(spellText(payload), inside) {
		return content.SpellingText
	}
	return content.SpellingNone
}

// sameBase64 reports whether payload encodes to spelt, without making a copy of
// either.
func sameBase64(enc *base64.Encoding, spelt, payload []byte) bool {
	const step = 3 << 10
	if len(spelt) != enc.EncodedLen(len(payload)) {
		return false
	}
	var buf [step / 3 * 4]byte
	for len(payload) > 0 {
		n := min(step, len(payload))
		out := buf[:enc.EncodedLen(n)]
		enc.Encode(out, payload[:n])
		if !bytes.HasPrefix(spelt, out) {
			return false
		}
		spelt, payload = spelt[len(out):], payload[n:]
	}
	return true
}

// spellText writes the inside of a JSON string with the shortest escapes.
func spellText(text []byte) []byte {
	// The error says that bytes were replaced; the result then differs from
	// what the client sent, and the block is stored whole.
	out, _ := jsontext.AppendQuote(nil, text)
	return out[1 : len(out)-1]
}
