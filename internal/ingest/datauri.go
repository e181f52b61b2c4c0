package ingest

import (
	"context"
	"strings"

	"tote/internal/content"
)

// maxDataHeader bounds the media type of a data: URI, in bytes.
const maxDataHeader = 1024

// dataURI takes a whole "data:" URI, base64 or percent-encoded.
func (in *Inlet) dataURI(ctx context.Context, s content.Source, uri string) (taken, error) {
	cl := claimOf(s)
	uri = strings.Trim(uri, base64Space)
	if len(uri) < 5 || !strings.EqualFold(uri[:5], "data:") {
		return one(faulty(cl, content.FaultBadPayload, "not a data: URI")), nil
	}
	comma := strings.IndexByte(uri[:min(len(uri), maxDataHeader)], ',')
	if comma < 0 {
		return one(faulty(cl, content.FaultBadPayload, "a data: URI without a comma")), nil
	}
	declared, isBase64 := dataHeader(uri[5:comma])
	if cl.att.Declared == "" {
		cl.att.Declared = declared
	}
	body := uri[comma+1:]
	if !isBase64 {
		size := int64(len(body)) - 2*int64(strings.Count(body, "%"))
		if size > in.limit {
			return one(faulty(cl, content.FaultTooLarge, tooLarge(size, in.limit))), nil
		}
		return in.attach(ctx, []byte(percentDecode(body)), cl)
	}
	if strings.IndexByte(body, '%') >= 0 {
		body = percentDecode(body)
	}
	data, bad := decodeBase64([]byte(body), in.limit)
	if bad != nil {
		return one(faulty(cl, bad.fault, bad.detail)), nil
	}
	return in.attach(ctx, data, cl)
}

// dataHeader reads what stands between "data:" and the comma.
func dataHeader(h string) (declared string, isBase64 bool) {
	h = percentDecode(h)
	if i := strings.LastIndexByte(h, ';'); i >= 0 && strings.EqualFold(strings.TrimSpace(h[i+1:]), "base64") {
		h, isBase64 = h[:i], true
	}
	return strings.TrimSpace(h), isBase64
}

// percentDecode decodes the escapes of a URI. A percent sign that begins none
// stands for itself, since clients forget to escape it.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi < 16 && lo < 16 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}
