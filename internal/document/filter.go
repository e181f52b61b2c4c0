package document

import (
	"bytes"
	"encoding/ascii85"
	"io"

	"github.com/klauspost/compress/zlib"
)

// maxFilters is the longest chain of filters on one stream.
const maxFilters = 4

// stream returns the unpacked bytes of a stream, as far as they can be read;
// nil when there is no stream or a filter is not for text.
func (f *file) stream(v any) []byte {
	r, ok := v.(ref)
	if !ok {
		return nil
	}
	p := f.places[r]
	d := f.dict(r)
	if p.from == 0 || d == nil {
		return nil
	}
	body := p.data[p.from:max(p.from, p.to)]
	f.unpacked += len(body)
	if f.exhausted() {
		return nil
	}
	filters, params := listOf(f.resolve(d["Filter"])), listOf(f.resolve(d["DecodeParms"]))
	if len(filters) > maxFilters {
		return nil
	}
	for i, filter := range filters {
		var param dict
		if i < len(params) {
			param = f.dict(params[i])
		}
		kind, _ := f.resolve(filter).(name)
		if body, ok = f.unpack(kind, param, body); !ok {
			return nil
		}
	}
	return body
}

func listOf(v any) array {
	switch v := v.(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func (f *file) unpack(kind name, param dict, body []byte) ([]byte, bool) {
	switch kind {
	case "FlateDecode", "Fl":
		z, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, false
		}
		return f.predict(param, f.readAll(z)), true
	case "LZWDecode", "LZW":
		early := 1
		if v, ok := f.resolve(param["EarlyChange"]).(float64); ok && v == 0 {
			early = 0
		}
		return f.predict(param, f.lzw(body, early)), true
	case "ASCIIHexDecode", "AHx":
		l := &lexer{b: append([]byte("<"), body...)}
		return []byte(l.hex()), true
	case "ASCII85Decode", "A85":
		body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("<~"))
		if i := bytes.IndexByte(body, '~'); i >= 0 {
			body = body[:i]
		}
		return f.readAll(ascii85.NewDecoder(bytes.NewReader(body))), true
	case "RunLengthDecode", "RL":
		return f.runLength(body), true
	default:
		return nil, false
	}
}

// readAll reads until the end, an error, or the limit of the whole file.
func (f *file) readAll(r io.Reader) []byte {
	var out bytes.Buffer
	for f.unpacked < maxUnpacked && f.cancelled() == nil {
		n, err := io.CopyN(&out, r, int64(min(64<<10, maxUnpacked-f.unpacked)))
		f.unpacked += int(n)
		if err != nil {
			break
		}
	}
	return out.Bytes()
}

func (f *file) runLength(body []byte) []byte {
	var out []byte
	for len(body) > 1 && body[0] != 128 && f.unpacked < maxUnpacked {
		n := int(body[0])
		before := len(out)
		if n < 128 {
			n = min(n+1, len(body)-1)
			out = append(out, body[1:1+n]...)
			body = body[1+n:]
		} else {
			out = append(out, bytes.Repeat(body[1:2], 257-n)...)
			body = body[2:]
		}
		f.unpacked += len(out) - before
	}
	return out
}

// predict undoes the PNG and TIFF predictors, for one byte a sample.
func (f *file) predict(param dict, body []byte) []byte {
	kind := f.number(param["Predictor"])
	if kind < 2 {
		return body
	}
	value := func(key name, fallback float64) float64 {
		if v, ok := f.resolve(param[key]).(float64); ok && v >= 1 {
			return v
		}
		return fallback
	}
	bits := value("Colors", 1) * value("BitsPerComponent", 8)
	row := bits * value("Columns", 1) / 8
	if row < 1 || row > float64(len(body)) {
		return body
	}
	step := max(1, int(bits/8))
	if kind == 2 {
		return sumRows(body, int(row+0.999), step)
	}
	return unfilterRows(body, int(row+0.999), step)
}

func sumRows(body []byte, row, step int) []byte {
	for rest := body; len(rest) >= row; rest = rest[row:] {
		for i := step; i < row; i++ {
			rest[i] += rest[i-step]
		}
	}
	return body
}

// unfilterRows undoes the PNG filters; each row begins with the filter's number.
func unfilterRows(body []byte, row, step int) []byte {
	out := make([]byte, 0, len(body))
	above := make([]byte, row)
	for len(body) > row {
		kind, line := body[0], body[1:1+row]
		for i := range line {
			var left, corner byte
			if i >= step {
				left, corner = line[i-step], above[i-step]
			}
			switch kind {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, line...)
		above = line
		body = body[1+row:]
	}
	return out
}

func paeth(left, above, corner byte) byte {
	a, b, c := int(left), int(above), int(corner)
	pa, pb, pc := b-c, a-c, a+b-2*c
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return left
	case pb <= pc:
		return above
	default:
		return corner
	}
}
