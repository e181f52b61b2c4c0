package search

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// widen spells a pattern for ripgrep, so that it matches at least as much: runes
// and classes by their numbers, since "\d" and "\w" mean more there, and no
// anchors and word boundaries, since lines and words end elsewhere there. It
// returns "" for what it cannot spell.
func widen(re *syntax.Regexp) string {
	var sb strings.Builder
	if !widenTo(&sb, re) {
		return ""
	}
	return sb.String()
}

func widenTo(sb *strings.Builder, re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		sb.WriteString("(?:)")
		return true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeRune(sb, r, re.Flags&syntax.FoldCase)
		}
		return true
	case syntax.OpCharClass:
		return writeClass(sb, re.Rune)
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return writeClass(sb, []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpCapture, syntax.OpConcat:
		return group(sb, re.Sub, "", "")
	case syntax.OpAlternate:
		return group(sb, re.Sub, "|", "")
	case syntax.OpStar:
		return group(sb, re.Sub, "", "*")
	case syntax.OpPlus:
		return group(sb, re.Sub, "", "+")
	case syntax.OpQuest:
		return group(sb, re.Sub, "", "?")
	case syntax.OpRepeat:
		most := ""
		if re.Max >= 0 {
			most = strconv.Itoa(re.Max)
		}
		return group(sb, re.Sub, "", fmt.Sprintf("{%d,%s}", re.Min, most))
	}
	return false
}

func group(sb *strings.Builder, subs []*syntax.Regexp, between, after string) bool {
	sb.WriteString("(?:")
	for i, sub := range subs {
		if i > 0 {
			sb.WriteString(between)
		}
		if !widenTo(sb, sub) {
			return false
		}
	}
	sb.WriteString(")" + after)
	return true
}

// writeRune writes a rune, in all its letter cases where flags say so.
func writeRune(sb *strings.Builder, r rune, flags syntax.Flags) {
	set := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f, f)
		}
	}
	writeClass(sb, set)
}

// writeClass writes the pairs of first and last runes as a class. It returns
// false where nothing is in the class.
func writeClass(sb *strings.Builder, pairs []rune) bool {
	var in strings.Builder
	broken := false
	for pair := range slices.Chunk(pairs, 2) {
		lo, hi := pair[0], pair[1]
		broken = broken || lo <= utf8.RuneError && utf8.RuneError <= hi
		// Surrogates are no characters there.
		if 0xd800 <= lo && lo <= 0xdfff {
			lo = 0xe000
		}
		if 0xd800 <= hi && hi <= 0xdfff {
			hi = 0xd7ff
		}
		if lo <= hi {
			fmt.Fprintf(&in, `\x{%x}-\x{%x}`, lo, hi)
		}
	}
	switch {
	case in.Len() == 0:
		return false
	case broken:
		// Bytes that are no UTF-8 are read as the replacement character.
		sb.WriteString("(?:[" + in.String() + `]|(?-u:[\x80-\xff])+)`)
	default:
		sb.WriteString("[" + in.String() + "]")
	}
	return true
}
