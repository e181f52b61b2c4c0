package tool

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHintLine is how much of a line is shown in an error, in bytes.
const maxHintLine = 160

// numbered is a line as the read tool shows it.
var numbered = regexp.MustCompile(`(?m)^\s*\d+\t`)

// missed says why old is not found in a text, and what comes nearest to it.
func missed(text, old string) error {
	if bare := numbered.ReplaceAllString(old, ""); bare != old && strings.Contains(text, bare) {
		return errors.New("old is not in the file: it begins with the line numbers of the read tool; leave them out")
	}
	have, want := strings.Split(text, "\n"), strings.Split(unixEnds(old), "\n")
	for len(want) > 1 && squeeze(want[len(want)-1]) == "" {
		want = want[:len(want)-1]
	}
	if n := alike(have, want); n >= 0 {
		return fmt.Errorf("old is not in the file exactly: %s", differs(have, want, n))
	}
	n := nearest(have, want)
	if n < 0 {
		return errors.New("old is not in the file, and nothing like it is; read the file again")
	}
	return fmt.Errorf("old is not in the file; most like it is line %d: %s", n+1, show(have[n]))
}

// alike finds the lines that are the wanted ones but for blanks and the case of
// letters; -1 for none. A single wanted line may be a part of one.
func alike(have, want []string) int {
	first := squeeze(want[0])
	same := func(line string) bool { return squeeze(line) == first }
	if len(want) == 1 {
		if first == "" {
			return -1
		}
		same = func(line string) bool { return strings.Contains(squeeze(line), first) }
	}
next:
	for i := range len(have) - len(want) + 1 {
		if !same(have[i]) {
			continue
		}
		for k := 1; k < len(want); k++ {
			if squeeze(have[i+k]) != squeeze(want[k]) {
				continue next
			}
		}
		return i
	}
	return -1
}

// squeeze takes all blanks out of a line and folds its letters.
func squeeze(line string) string {
	if len(line) > maxLineBytes {
		line = line[:maxLineBytes]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return unicode.ToLower(r)
	}, line)
}

// differs says in what the lines from n on are not the wanted ones.
func differs(have, want []string, n int) string {
	for k := range want {
		h, w := strings.TrimSuffix(have[n+k], "\r"), want[k]
		if h == w || len(want) == 1 && strings.Contains(h, w) {
			continue
		}
		return fmt.Sprintf("line %d differs in %s; the file has %s, old has %s", n+k+1, inWhat(h, w), show(h), show(w))
	}
	if n+len(want) == len(have) {
		return fmt.Sprintf("the file ends with line %d", len(have))
	}
	return fmt.Sprintf("after line %d the file goes on with %s", n+len(want), show(have[n+len(want)]))
}

// inWhat names what tells two lines apart that are alike.
func inWhat(h, w string) string {
	indent := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
	trim := func(s string) string { return strings.Trim(s, " \t\r") }
	switch {
	case trim(h) == trim(w) && indent(h) != indent(w):
		return "indentation"
	case trim(h) == trim(w):
		return "blanks at its end"
	case strings.EqualFold(h, w):
		return "upper and lower case"
	case fold(h) == fold(w):
		return "the kind of blank or the spelling of letters in Unicode"
	}
	return "blanks"
}

// show spells a line so that its blanks can be told apart.
func show(line string) string {
	line = strings.TrimSuffix(line, "\r")
	if len(line) > maxHintLine {
		line = line[:runeStart([]byte(line), maxHintLine)] + "…"
	}
	if ascii(line) {
		return fmt.Sprintf("%q", line)
	}
	return quoteBlanks(line)
}

// quoteBlanks spells what cannot be seen and leaves letters alone.
func quoteBlanks(s string) string {
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\t':
			sb.WriteString(`\t`)
		case r == '"' || r == '\\':
			sb.WriteRune('\\')
			sb.WriteRune(r)
		case r == utf8.RuneError || r != ' ' && (unicode.IsSpace(r) || !unicode.IsGraphic(r) || unicode.IsMark(r)):
			fmt.Fprintf(&sb, `\u%04x`, r)
		default:
			sb.WriteRune(r)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}

// maxNearest bounds how many lines are looked at for the nearest one.
const maxNearest = 100_000

// nearest finds the line that is most like the longest wanted one; -1 where none
// shares at least half of it.
func nearest(have, want []string) int {
	longest := ""
	for _, w := range want {
		if s := squeeze(w); len(s) > len(longest) {
			longest = s
		}
	}
	if longest == "" {
		return -1
	}
	best, most := -1, 0
	for i, line := range have[:min(len(have), maxNearest)] {
		s := squeeze(line)
		shared := 2 * sharedEnds(s, longest)
		if long := max(len(s), len(longest)); shared >= long && shared*1000/long > most {
			best, most = i, shared*1000/long
		}
	}
	return best
}

// sharedEnds is how much of the beginning and the end two lines share.
func sharedEnds(a, b string) int {
	limit := min(len(a), len(b))
	head := 0
	for head < limit && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < limit-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}
