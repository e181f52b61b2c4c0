package document

// Codes of the LZW filter (ISO 32000-1, section 7.4.4).
const (
	lzwClear = 256
	lzwEnd   = 257
	lzwMost  = 4096
)

// lzw unpacks variable-length codes, most significant bit first. early is 1
// when the code length grows one code early, as it does by default.
func (f *file) lzw(body []byte, early int) []byte {
	var out []byte
	var from, size [lzwMost]int // where in out the text of a code lies
	next, width := lzwEnd+1, 9
	previous := -1
	var acc uint32
	bits := 0
	for f.unpacked < maxUnpacked {
		for bits < width && len(body) > 0 {
			acc, body = acc<<8|uint32(body[0]), body[1:]
			bits += 8
		}
		if bits < width {
			return out
		}
		code := int(acc >> (bits - width) & (1<<width - 1))
		bits -= width
		if code == lzwClear {
			next, width, previous = lzwEnd+1, 9, -1
			continue
		}
		start := len(out)
		switch {
		case code < lzwClear:
			out = append(out, byte(code))
		case code == lzwEnd || code > next || code == next && previous < 0:
			return out
		case code == next:
			// The text of the code that is being defined: the last one and its first byte.
			out = append(out, out[previous:]...)
			out = append(out, out[previous])
		default:
			out = append(out, out[from[code]:from[code]+size[code]]...)
		}
		if previous >= 0 && next < lzwMost {
			from[next], size[next] = previous, start-previous+1
			next++
		}
		for width < 12 && next+early >= 1<<width {
			width++
		}
		f.unpacked += len(out) - start
		previous = start
	}
	return out
}
