package content

import "strings"

// FoldBlanks makes every kind of blank a plain one. Terminals, editors and models
// change it in a file name without meaning to; who matches names also brings them
// to one Unicode form.
func FoldBlanks(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0', r >= '\u2000' && r <= '\u200a', r == '\u202f', r == '\u205f', r == '\u3000':
			return ' '
		}
		return r
	}, name)
}
