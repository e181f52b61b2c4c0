package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// maxPattern bounds a pattern in bytes.
	maxPattern = 4096
	// maxTexts is how many texts may stand for one pattern.
	maxTexts = 16
)

// pattern is what a line has to match.
type pattern struct {
	re *regexp.Regexp
	// needs: every match holds at least one of these texts. Nil where nothing
	// of the kind can be said.
	needs [][]byte
	// fold: the texts count in any ASCII letter case.
	fold bool
	// wide is the pattern for ripgrep: it matches at least as much. It is ""
	// where there is none.
	wide string
}

// newPattern reads a pattern in the syntax of Go's regexp package.
func newPattern(a grepArgs) (*pattern, error) {
	switch {
	case a.Pattern == "":
		return nil, errors.New("the argument \"pattern\" is missing")
	case len(a.Pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes; the most are %d", len(a.Pattern), maxPattern)
	case !utf8.ValidString(a.Pattern):
		return nil, errors.New("the pattern is no valid UTF-8")
	}
	src := a.Pattern
	if a.Literal {
		src = regexp.QuoteMeta(src)
	}
	if a.CaseInsensitive {
		src = "(?i:" + src + ")"
		if _, err := syntax.Parse(a.Pattern, syntax.Perl); !a.Literal && err != nil {
			src = a.Pattern // so that the error shows what the model wrote
		}
	}
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil, unreadable(err)
	}
	if spansLines(tree) {
		return nil, errors.New("a pattern is matched within one line, so it cannot hold a line end; search for one of the lines and give context")
	}
	re, err := regexp.Compile(src)
	if err != nil {
		return nil, unreadable(err)
	}
	p := &pattern{re: re}
	p.needs, p.fold = needs(tree)
	p.wide = widen(tree)
	return p, nil
}

// unreadable says what is wrong with a pattern, and what to do where another
// dialect is meant.
func unreadable(err error) error {
	if se, ok := errors.AsType[*syntax.Error](err); ok {
		why := string(se.Code)
		if se.Code == syntax.ErrInvalidPerlOp || se.Code == syntax.ErrInvalidEscape {
			why += " (look-around and back references are not supported)"
		}
		return fmt.Errorf("read the pattern: %s: `%s`; for plain text give literal: true", why, se.Expr)
	}
	return fmt.Errorf("read the pattern: %w", err)
}

// spansLines reports whether a match would have to hold a line end.
func spansLines(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		return slices.Contains(re.Rune, '\n')
	}
	return slices.ContainsFunc(re.Sub, spansLines)
}

// needs finds texts of which every match holds at least one.
func needs(re *syntax.Regexp) (texts [][]byte, fold bool) {
	var found []string
	found, fold = needed(re)
	for _, s := range found {
		b := []byte(s)
		if fold {
			b = lowered(nil, b)
		}
		if !slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Equal(t, b) }) {
			texts = append(texts, b)
		}
	}
	return texts, fold
}

func needed(re *syntax.Regexp) (texts []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		fold = re.Flags&syntax.FoldCase != 0
		if s := longestText(re.Rune, re.Flags); s != "" {
			return []string{s}, fold
		}
		return nil, false
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			// The texts of one part suffice; the best has the longest ones.
			if t, f := needed(sub); shortest(t) > shortest(texts) {
				texts, fold = t, f
			}
		}
		return texts, fold
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			t, f := needed(sub)
			if t == nil || len(texts)+len(t) > maxTexts {
				return nil, false
			}
			texts, fold = append(texts, t...), fold || f
		}
		return texts, fold
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpBeginLine,
		syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
	}
	return nil, false
}

func shortest(texts []string) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}

// longestText is the longest run of runes that stand in a file as they stand
// here. The replacement character may stand for bytes that are no UTF-8; and in
// any letter case, a letter with another case outside ASCII, such as "k" with
// the sign for kelvin, is written in several ways.
func longestText(runes []rune, flags syntax.Flags) string {
	fold := flags&syntax.FoldCase != 0
	best, start := "", 0
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && runes[i] != utf8.RuneError && (!fold || foldsInASCII(runes[i])) {
			continue
		}
		if s := string(runes[start:i]); len(s) > len(best) {
			best = s
		}
		start = i + 1
	}
	return best
}

func foldsInASCII(r rune) bool {
	next := unicode.SimpleFold(r)
	if next == r {
		return true
	}
	for ; next != r; next = unicode.SimpleFold(next) {
		if next >= utf8.RuneSelf {
			return false
		}
	}
	return r < utf8.RuneSelf
}
