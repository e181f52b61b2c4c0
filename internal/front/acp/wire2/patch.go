package wire2

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many unchanged lines a patch shows on either side.
const around = 3

// GitPatch is the difference of two texts of one file, as git writes it, with the
// path as it is: absolute, without a prefix. It is one hunk from the first line that
// differs to the last. Texts that are the same give "".
func GitPatch(path, was, now string, isNew bool) string { //nolint:revive // what the file is, not a choice of what to do
	if was == now && !isNew {
		return ""
	}
	a, b := cut(was), cut(now)
	name := gitPath(path)
	var sb strings.Builder
	sb.WriteString("diff --git " + name + " " + name + "\n")
	if isNew {
		sb.WriteString("new file mode 100644\n")
	}
	if len(a) == 0 && len(b) == 0 {
		return sb.String()
	}
	old := name
	if isNew {
		old = "/dev/null"
	}
	sb.WriteString("--- " + old + "\n+++ " + name + "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, less := max(0, head-around), max(0, tail-around)
	fmt.Fprintf(&sb, "@@ -%s +%s @@\n", span(from, len(a)-less), span(from, len(b)-less))
	write(&sb, ' ', a[from:head])
	write(&sb, '-', a[head:len(a)-tail])
	write(&sb, '+', b[head:len(b)-tail])
	write(&sb, ' ', a[len(a)-tail:len(a)-less])
	return sb.String()
}

// cut cuts a text into its lines, each with its end.
func cut(text string) []string { return slices.Collect(strings.Lines(text)) }

// span are lines from and to, counted from 0, without to, as a hunk names them.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

func write(sb *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		sb.WriteByte(mark)
		sb.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			sb.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// gitPath quotes a path where git does: with control characters, quotes,
// backslashes and what is not ASCII.
func gitPath(path string) string {
	plain := !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f })
	if plain {
		return path
	}
	var sb strings.Builder
	sb.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			sb.WriteByte('\\')
			sb.WriteByte(c)
		case c == '\n':
			sb.WriteString(`\n`)
		case c == '\t':
			sb.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&sb, `\%03o`, c)
		default:
			sb.WriteByte(c)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}
