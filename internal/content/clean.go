package content

import (
	"strings"
	"unicode"
)

// MaxCleanRunes is how many runes Clean keeps.
const MaxCleanRunes = 80

// Clean makes a name from outside safe to stand inside a one-line label:
// control, bidirectional and line-breaking characters and the closing bracket
// become "_", invalid UTF-8 becomes U+FFFD, and the whole is cut to
// MaxCleanRunes runes with "…" as the last.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var sb strings.Builder
	n := 0
	for _, r := range s {
		if n == MaxCleanRunes-1 && len([]rune(s)) > MaxCleanRunes {
			sb.WriteRune('…')
			break
		}
		switch {
		case r == ']' || unsafe(r):
			sb.WriteByte('_')
		default:
			sb.WriteRune(r)
		}
		n++
	}
	return sb.String()
}

// plain reports whether s needs no work, without allocating.
func plain(s string) bool {
	if len(s) > MaxCleanRunes {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == ']' {
			return false
		}
	}
	return true
}

// unsafe tells control characters, line and paragraph separators, and the
// format characters that reorder or hide text.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
