package config

import (
	"slices"
	"strings"
	"unicode"
)

// maxWords is the length at which text from a file is cut before it is shown, in runes.
const maxWords = 80

// maxLine is the length at which a line made of several such texts is cut.
const maxLine = 5 * maxWords

// clean makes text from a file fit to be shown in one line: without control,
// format and bidirectional characters, and cut at maxWords runes.
func clean(s string) string { return printable(s, maxWords) }

func printable(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == limit {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case !unicode.IsPrint(r):
			continue
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// list joins known names for an error.
func list(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, ", ")
}
