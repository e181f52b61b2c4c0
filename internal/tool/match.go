package tool

import (
	"fmt"
	"strconv"
	"strings"
)

// Line ends. A model reads lines without their ends and writes "\n". So text of
// an edit without a carriage return matches any line ends, and what is put in
// gets those of the place it goes to. Text with a carriage return is taken as it
// is, which can change line ends.

// apply replaces what the edit names. text may hold any bytes.
func (e change) apply(text string) (string, error) {
	if strings.Contains(e.Old, "\r") || !strings.Contains(text, "\r\n") {
		at, err := e.spots(text)
		if err != nil {
			return "", err
		}
		return splice(text, at, len(e.Old), func(int, int) string { return e.New }), nil
	}
	flat := newFlat(text)
	at, err := e.spots(flat.text)
	if err != nil {
		return "", err
	}
	lf := unixEnds(e.New)
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	var sb strings.Builder
	sb.Grow(len(text) + len(at)*(len(crlf)-len(e.Old)))
	done := 0
	for _, i := range at {
		from, to := flat.raw(i), flat.raw(i+len(e.Old))
		sb.WriteString(text[done:from])
		if windowsEnds(text[from:to], text) {
			sb.WriteString(crlf)
		} else {
			sb.WriteString(lf)
		}
		done = to
	}
	sb.WriteString(text[done:])
	return sb.String(), nil
}

// windowsEnds decides for a place: by its own line ends, else by most of the file's.
func windowsEnds(place, file string) bool {
	if n := strings.Count(place, "\n"); n > 0 {
		return strings.Contains(place, "\r\n")
	}
	return 2*strings.Count(file, "\r\n") >= strings.Count(file, "\n")
}

func splice(text string, at []int, length int, with func(from, to int) string) string {
	var sb strings.Builder
	done := 0
	for _, i := range at {
		sb.WriteString(text[done:i])
		sb.WriteString(with(i, i+length))
		done = i + length
	}
	sb.WriteString(text[done:])
	return sb.String()
}

// flat is a text with "\n" for every "\r\n", and the way back.
type flat struct {
	text string
	// at are the offsets in text of the "\n" that were "\r\n", and next is
	// where the last question ended; questions must rise.
	at   []int
	next int
}

func newFlat(raw string) *flat {
	f := &flat{text: unixEnds(raw)}
	for from := 0; ; {
		i := strings.Index(raw[from:], "\r\n")
		if i < 0 {
			return f
		}
		f.at = append(f.at, from+i-len(f.at))
		from += i + 2
	}
}

// raw is the offset in the raw text of an offset in f.text. The start of a line
// end is before its "\r".
func (f *flat) raw(i int) int {
	for f.next < len(f.at) && f.at[f.next] < i {
		f.next++
	}
	return i + f.next
}

// maxNamed is how many places of several are named.
const maxNamed = 8

// spots finds where the text to replace stands.
func (e change) spots(text string) ([]int, error) {
	var at []int
	step := len(e.Old)
	if !e.All {
		step = 1 // occurrences that overlap are several
	}
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], e.Old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + step
	}
	switch {
	case len(at) == 0:
		return nil, missed(text, e.Old)
	case len(at) > 1 && !e.All:
		return nil, severalError(text, at)
	}
	return at, nil
}

func severalError(text string, at []int) error {
	var where []string
	line, done := 1, 0
	for _, i := range at[:min(len(at), maxNamed)] {
		line += strings.Count(text[done:i], "\n")
		done = i
		where = append(where, strconv.Itoa(line))
	}
	if len(at) > maxNamed {
		where = append(where, "…")
	}
	return fmt.Errorf("old stands in the file %d times (lines %s); give more of the text around the place you mean, or set all", len(at), strings.Join(where, ", "))
}
