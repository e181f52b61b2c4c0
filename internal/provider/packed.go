package provider

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"unicode/utf8"
)

// Some servers and proxies compress the body of an error though nobody asked
// for it, or leave out the header that says so.

// packedWords stand for a body that cannot be read.
const packedWords = "a compressed answer"

// unpacked returns an error's body as text. What cannot be unpacked is named in
// words: its bytes are nothing that a person or a wording wants to see.
func unpacked(body []byte) []byte {
	var (
		r   io.Reader
		err error
	)
	switch {
	case !binary(body) && !bytes.HasPrefix(body, []byte("\x1f\x8b")):
		return body
	case bytes.HasPrefix(body, []byte("\x1f\x8b")):
		r, err = gzip.NewReader(bytes.NewReader(body))
	case zlibHead(body):
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return []byte(packedWords)
	}
	if err != nil {
		return []byte(packedWords)
	}
	// The body may have been cut where it is too long: what came out counts.
	text, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil && len(text) == 0 || binary(text) {
		return []byte(packedWords)
	}
	return text
}

// zlibHead tells a zlib stream ("Content-Encoding: deflate") by its first two
// bytes (RFC 1950, section 2.2).
func zlibHead(b []byte) bool {
	return len(b) > 2 && b[0] == 0x78 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// binary tells bytes that are no text, such as Brotli, which has no mark of its
// own: one in eight is a control character or no UTF-8.
func binary(b []byte) bool {
	b = b[:min(len(b), 512)]
	odd := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\x1b' {
			odd++
		}
		i += n
	}
	return odd > 1 && odd*8 >= len(b)
}
