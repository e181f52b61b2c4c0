package content

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// FoldName removes what terminals, editors and models change in a file name
// without meaning to: the Unicode form, and the kind of blank. Names that fold to
// the same look the same.
func FoldName(name string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0', r >= '\u2000' && r <= '\u200a', r == '\u202f', r == '\u205f', r == '\u3000':
			return ' '
		}
		return r
	}, name))
}
