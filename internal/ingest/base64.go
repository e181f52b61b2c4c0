package ingest

import (
	"bytes"
	"context"

	"github.com/segmentio/asm/base64"

	"tote/internal/content"
)

// base64 takes a payload in any base64 spelling.
func (in *Inlet) base64(ctx context.Context, s content.Source, src []byte) (taken, error) {
	cl := claimOf(s)
	declared, body, isURI := cutDataPrefix(src)
	if isURI && cl.att.Declared == "" {
		cl.att.Declared = declared
	}
	data, bad := decodeBase64(body, in.limit)
	if bad != nil {
		return one(faulty(cl, bad.fault, bad.detail)), nil
	}
	t, err := in.attach(ctx, data, cl)
	t.prefix = len(src) - len(body)
	return t, err
}

// cutDataPrefix takes one "data:…;base64," off a payload that should have been
// bare base64. Any other data: URI is left as it is and fails to decode.
func cutDataPrefix(src []byte) (declared string, body []byte, ok bool) {
	trimmed := bytes.TrimLeft(src, base64Space)
	if len(trimmed) < 5 || !bytes.EqualFold(trimmed[:5], []byte("data:")) {
		return "", src, false
	}
	comma := bytes.IndexByte(trimmed[:min(len(trimmed), maxDataHeader)], ',')
	if comma < 0 {
		return "", src, false
	}
	declared, isBase64 := dataHeader(string(trimmed[5:comma]))
	if !isBase64 {
		return "", src, false
	}
	return declared, trimmed[comma+1:], true
}

const base64Space = " \t\r\n\v\f"

// decodedSize is the exact length that a payload of base64 decodes to, whatever
// its spelling, as far as it can be told without decoding.
func decodedSize(src []byte) int64 {
	chars := int64(0)
	for _, c := range src {
		if base64Value[c] != b64Space && c != '=' {
			chars++
		}
	}
	return chars * 3 / 4
}

// decodeBase64 decodes base64 in the standard or the URL alphabet, padded or
// not, with white space anywhere. Mixed alphabets, padding inside or of the wrong
// length, and a lone last character are refused. The limit is checked first.
func decodeBase64(src []byte, limit int64) ([]byte, *trouble) {
	src = bytes.Trim(src, base64Space)
	size := int64(len(src)) * 3 / 4
	if size > limit {
		if size = decodedSize(src); size > limit {
			return nil, troublef(content.FaultTooLarge, "%s", tooLarge(size, limit))
		}
	}
	if len(src) == 0 {
		return nil, troublef(content.FaultEmpty, "")
	}
	dst := make([]byte, base64.RawStdEncoding.DecodedLen(len(src)))
	if len(src)%4 == 0 {
		// The spelling that nearly all clients use.
		if n, err := base64.StdEncoding.Decode(dst, src); err == nil {
			return dst[:n], nil
		}
	}
	return decodeSlowly(src, dst[:0])
}

// The values of base64Value beyond the 64 digits.
const (
	b64Bad   = 0xff
	b64Space = 0xfe
)

// base64Value maps the digits of both alphabets.
var base64Value = func() (t [256]byte) {
	for i := range t {
		t[i] = b64Bad
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	for _, c := range []byte(base64Space) {
		t[c] = b64Space
	}
	return t
}()

// decodeSlowly reads every spelling, digit by digit, and appends to dst.
func decodeSlowly(src, dst []byte) ([]byte, *trouble) {
	var acc uint32
	digits, pads := 0, 0
	std, url := false, false
	for _, c := range src {
		v := base64Value[c]
		switch {
		case v == b64Space:
			continue
		case c == '=':
			pads++
			continue
		case v == b64Bad:
			return nil, troublef(content.FaultBadPayload, "not base64")
		case pads > 0:
			return nil, troublef(content.FaultBadPayload, "base64 goes on after its end")
		case v >= 62:
			std = std || c == '+' || c == '/'
			url = url || c == '-' || c == '_'
		}
		acc = acc<<6 | uint32(v)
		if digits++; digits%4 == 0 {
			dst = append(dst, byte(acc>>16), byte(acc>>8), byte(acc))
		}
	}
	switch {
	case std && url:
		return nil, troublef(content.FaultBadPayload, "base64 in two alphabets at once")
	case digits%4 == 1, pads > 0 && (digits+pads)%4 != 0, pads > 2:
		return nil, troublef(content.FaultBadPayload, "base64 that is cut off")
	case digits == 0:
		return nil, troublef(content.FaultBadPayload, "base64 that holds padding only")
	case digits%4 == 2:
		dst = append(dst, byte(acc>>4))
	case digits%4 == 3:
		dst = append(dst, byte(acc>>10), byte(acc>>2))
	}
	return dst, nil
}
