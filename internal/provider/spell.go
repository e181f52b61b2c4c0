package provider

import (
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/delivery"
)

// AppendString appends s as a JSON string with the fewest escapes: quote,
// backslash and control characters. Invalid UTF-8 becomes U+FFFD. The same
// text is spelled the same way each time, which prompt caches rely on.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Spelling collects the segments of a body or of a part of one. The zero value
// is empty and ready.
type Spelling struct {
	segments []delivery.Segment
	literal  []byte
}

// Raw adds text as it is.
func (s *Spelling) Raw(text string) { s.literal = append(s.literal, text...) }

// Bytes adds bytes as they are.
func (s *Spelling) Bytes(b []byte) { s.literal = append(s.literal, b...) }

// String adds a JSON string.
func (s *Spelling) String(text string) { s.literal = AppendString(s.literal, text) }

// Base64 adds the base64 of a blob, without quotes.
func (s *Spelling) Base64(b content.Blob) {
	s.flush()
	s.segments = append(s.segments, delivery.Hole(b))
}

// Append adds segments that were spelled before.
func (s *Spelling) Append(segments []delivery.Segment) {
	for _, x := range segments {
		if !x.Hole.IsZero() {
			s.flush()
			s.segments = append(s.segments, x)
			continue
		}
		s.literal = append(s.literal, x.Literal...)
	}
}

// Segments returns what was collected and empties s.
func (s *Spelling) Segments() []delivery.Segment {
	s.flush()
	out := s.segments
	s.segments = nil
	return out
}

func (s *Spelling) flush() {
	if len(s.literal) > 0 {
		s.segments = append(s.segments, delivery.Literal(s.literal))
		s.literal = nil
	}
}
