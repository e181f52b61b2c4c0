package search

import (
	"bytes"
	"errors"
	"io"
	"os"
	"unicode/utf8"
)

const (
	// sniffBytes decide whether a file is text.
	sniffBytes = 8192
	// maxLineBytes is where a line is cut, on a rune boundary.
	maxLineBytes = 2000
)

// skipped is the error of a file that is left out without a word.
type skipped struct{}

func (skipped) Error() string { return "it is no text" }

// contents reads a file as text: no byte order mark, what is no UTF-8 replaced.
// buf is used for the reading and may grow.
func contents(f *os.File, buf *[]byte) ([]byte, error) {
	data, err := readAll(f, (*buf)[:0])
	*buf = data
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(data[:min(len(data), sniffBytes)], 0) >= 0 || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, skipped{}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return data, nil
}

func readAll(f *os.File, buf []byte) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, max(64<<10, cap(buf)))...)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):min(cap(buf), maxFileBytes+1)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		case len(buf) > maxFileBytes:
			return buf, skipped{} // it grew since the walk
		}
	}
}

// span is a line of a text: its number from 1 and where it lies, without its
// end.
type span struct{ number, start, end int }

// finder goes through the matching lines of one text.
type finder struct {
	p    *pattern
	text []byte
	// lower is text in lower case where the pattern's texts count in any case,
	// else text itself.
	lower []byte
	// next is where each text of the pattern is found next, len(text) for
	// nowhere.
	next []int
	at   int // where the search goes on: the start of a line
	line int // its number
}

// find starts a search; scratch is used for a copy in lower case.
func (p *pattern) find(text []byte, scratch *[]byte) *finder {
	f := &finder{p: p, text: text, lower: text, line: 1}
	if p.fold {
		*scratch = lowered((*scratch)[:0], text)
		f.lower = *scratch
	}
	f.next = make([]int, len(p.needs))
	for i := range f.next {
		f.next[i] = -1
	}
	return f
}

// lowered turns ASCII letters into lower case and leaves all else.
func lowered(dst, src []byte) []byte {
	dst = append(dst, src...)
	for i, c := range dst {
		if 'A' <= c && c <= 'Z' {
			dst[i] = c + 'a' - 'A'
		}
	}
	return dst
}

// match returns the next line that matches.
func (f *finder) match() (span, bool) {
	for f.at < len(f.text) {
		start := f.at
		if len(f.next) > 0 {
			hit := f.candidate()
			if hit >= len(f.text) {
				return span{}, false
			}
			if nl := bytes.LastIndexByte(f.text[f.at:hit], '\n'); nl >= 0 {
				start = f.at + nl + 1
				f.line += bytes.Count(f.text[f.at:start], []byte{'\n'})
			}
		}
		s := lineAt(f.text, start, f.line)
		f.at, f.line = lineEnd(f.text, start)+1, f.line+1
		if f.p.re.Match(f.text[s.start:s.end]) {
			return s, true
		}
	}
	return span{}, false
}

// candidate is where the next of the pattern's texts begins.
func (f *finder) candidate() int {
	hit := len(f.text)
	for i, at := range f.next {
		if at < f.at {
			at = len(f.text)
			if k := bytes.Index(f.lower[f.at:], f.p.needs[i]); k >= 0 {
				at = f.at + k
			}
			f.next[i] = at
		}
		hit = min(hit, at)
	}
	return hit
}

// lineEnd is where the line at start ends: at its "\n" or at the end.
func lineEnd(text []byte, start int) int {
	if nl := bytes.IndexByte(text[start:], '\n'); nl >= 0 {
		return start + nl
	}
	return len(text)
}

// lineAt is the line that begins at start.
func lineAt(text []byte, start, number int) span {
	end := lineEnd(text, start)
	if end > start && text[end-1] == '\r' {
		end--
	}
	return span{number: number, start: start, end: end}
}

// cutLine cuts a line on a rune boundary and marks it.
func cutLine(line []byte) string {
	if len(line) <= maxLineBytes {
		return string(line)
	}
	end := maxLineBytes
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return string(line[:end]) + " [line cut at 2000 bytes]"
}
