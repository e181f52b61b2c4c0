package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions returns the explicit @path tokens of a prompt, in order, without the
// "@". The text itself is left alone: a mention is shown as an attachment beside
// it.
//
// A mention begins at the start of the text, after white space or after an
// opening bracket or quote (not a backquote: that is code), and is written @path, @"path with blanks", @'path' or @path\ with\ blanks. Of an unquoted
// token only the backslashes before blanks are taken off (the others may divide
// a Windows path; [ParsePath] reads the rest of the grammar), and punctuation
// at its end is not part of it.
//
// A token need not be a path: "@user" is prose. The caller attaches only those
// that name an existing file, which [Inlet.Find] tells.
func Mentions(text string) []string {
	var out []string
	before := ' '
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r != '@' || !opens(before) {
			before = r
			i += n
			continue
		}
		token, length := mention(text[i+1:])
		if token != "" {
			out = append(out, token)
		}
		i += 1 + length
		before = '@'
		if length > 0 {
			before, _ = utf8.DecodeLastRuneInString(text[:i])
		}
	}
	return out
}

// opens reports whether a mention may stand behind r. An address has a letter or
// a digit there.
func opens(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([{<\"'", r) }

// mention reads the token at the start of s and says how long it was.
func mention(s string) (token string, length int) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if end := strings.IndexByte(s[1:], s[0]); end > 0 && strings.IndexByte(s[1:1+end], '\n') < 0 {
			return s[1 : 1+end], end + 2
		}
		return "", 1
	}
	var sb strings.Builder
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '\\' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') {
			sb.WriteByte(s[i+1])
			i += 2
			continue
		}
		if unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' {
			break
		}
		sb.WriteString(s[i : i+n])
		i += n
	}
	return trimPunctuation(sb.String()), i
}

// trimPunctuation drops what ends a sentence, and a closing bracket that has
// none to close.
func trimPunctuation(s string) string {
	for s != "" {
		switch last := s[len(s)-1]; last {
		case '.', ',', ';', ':', '!', '?', '"', '\'', '>', '`':
		case ')', ']', '}':
			opening := map[byte]string{')': "(", ']': "[", '}': "{"}[last]
			if strings.Count(s, opening) >= strings.Count(s, string(last)) {
				return s
			}
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// maxDropped bounds how many paths one drop may hold, and maxDropText its
// length in bytes. Longer text is prose.
const (
	maxDropped  = 100
	maxDropText = 64 << 10
)

// Dropped reads text that a terminal inserted for files dropped or pasted on it
// and returns their full paths, in order. It returns nil for prose: every piece
// must be an absolute path, a path from "~" or a file: URI, in any spelling that
// [ParsePath] reads, and name an existing regular file. Pieces are divided by
// white space, which may also stand inside an unescaped path.
func (in *Inlet) Dropped(text string, sc Scope) []string {
	if len(text) > maxDropText || strings.TrimSpace(text) == "" {
		return nil
	}
	starts := in.pieces(text)
	if len(starts) == 0 || len(starts) > maxDropped {
		return nil
	}
	var out []string
	for i := 0; i < len(starts)-1; {
		p, next := in.nextDropped(text, starts, i, sc)
		if next == 0 {
			return nil
		}
		out = append(out, p)
		i = next
	}
	return out
}

// nextDropped finds the shortest run of pieces from the i-th on that names a
// file, and the piece after it; 0 where none does.
func (in *Inlet) nextDropped(text string, starts []int, i int, sc Scope) (string, int) {
	for j := i + 1; j < len(starts); j++ {
		if p, ok := in.Find(text[starts[i]:starts[j]], sc); ok {
			return p, j
		}
	}
	return "", 0
}

// pieces returns where in text a path may begin, and the end of text; nil where
// the first thing in it is no path.
func (in *Inlet) pieces(text string) []int {
	var starts []int
	blank := true
	for i, r := range text {
		if blank && !unicode.IsSpace(r) {
			if in.rooted(text[i:]) {
				starts = append(starts, i)
			} else if len(starts) == 0 {
				return nil
			}
		}
		blank = unicode.IsSpace(r)
	}
	return append(starts, len(text))
}

// rooted reports whether s begins like a path that does not depend on the
// current folder.
func (in *Inlet) rooted(s string) bool {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s = s[1:]
	}
	switch {
	case isFileURI(s), strings.HasPrefix(s, "~/"):
		return true
	case in.os == windows:
		return hasDrive(s) || strings.HasPrefix(s, `\\`) || strings.HasPrefix(s, `~\`)
	}
	return strings.HasPrefix(s, "/")
}
