package tool

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// The bounds of what is shown of a difference, or of an output of a notebook.
const (
	maxShownLines = 200
	maxDiffLine   = 400 // bytes
	// maxDiffInput is how much is compared at all, both texts together.
	maxDiffInput = 8 << 20
)

// unified is the difference of two texts in the unified format, bounded; "" where
// they are the same. Line ends do not count as a difference.
func unified(name string, was, now []byte) string {
	switch {
	case len(was)+len(now) > maxDiffInput:
		return "[no difference shown: it is too large]\n"
	case bytes.IndexByte(was, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 || !utf8.Valid(was) || !utf8.Valid(now):
		return "[no difference shown: it is no UTF-8 text]\n"
	case bytes.Equal(was, now):
		return ""
	}
	a, b := unixEnds(string(was)), unixEnds(string(now))
	if a == b {
		return "[only the line ends differ]\n"
	}
	name = strings.Map(oneLine, name)
	out, err := udiff.ToUnified(name, name, a, udiff.Lines(a, b), udiff.DefaultContextLines)
	if err != nil {
		return "[no difference shown: " + err.Error() + "]\n"
	}
	return bounded(out, maxDiffLine)
}

func unixEnds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// bounded cuts a text after maxShownLines, and lines of more than width bytes.
func bounded(text string, width int) string {
	var sb strings.Builder
	n, all := 0, strings.Count(text, "\n")
	for line := range strings.Lines(text) {
		if n++; n > maxShownLines {
			sb.WriteString("[cut: " + plural(all-maxShownLines, "more line") + "]\n")
			break
		}
		sb.WriteString(clip(line, width))
	}
	return sb.String()
}

// clip cuts a line on a rune boundary, keeps its end and says so.
func clip(line string, limit int) string {
	body := strings.TrimRight(line, "\r\n")
	if len(body) <= limit {
		return line
	}
	return body[:runeStart([]byte(body), limit)] + " [line cut]" + line[len(body):]
}
