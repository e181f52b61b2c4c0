package permission

import "strings"

// mark is one sign of a pattern: a sign that stands for itself, any one, or any run.
type mark struct {
	sign rune
	one  bool // any one sign
	run  bool // any signs, or none
}

// maxOverlap bounds the work of comparing two patterns, in pairs of their signs.
const maxOverlap = 1 << 20

// overlap reports whether some text is matched by both patterns. Where that is too
// much work to tell, it says yes.
func overlap(a, b []mark) bool {
	if (len(a)+1)*(len(b)+1) > maxOverlap {
		return true
	}
	row := make([]bool, len(b)+1) // what the rest of a has in common with the rest of b
	for i := len(a); i >= 0; i-- {
		next := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				next[j] = true
			case i < len(a) && a[i].run:
				next[j] = row[j] || j < len(b) && next[j+1]
			case j < len(b) && b[j].run:
				next[j] = next[j+1] || i < len(a) && row[j]
			case i < len(a) && j < len(b):
				next[j] = (a[i].one || b[j].one || a[i].sign == b[j].sign) && row[j+1]
			}
		}
		row = next
	}
	return row[0]
}

// globMarks reads a pattern of commands: "*" is any run of signs and `\*` a star.
func globMarks(pattern string) (out []mark) {
	for i := 0; i < len(pattern); {
		c, n, run := globNext(pattern[i:])
		out = append(out, mark{sign: rune(c), run: run})
		i += n
	}
	return out
}

// plainMarks is a text that stands for itself.
func plainMarks(s string) (out []mark) {
	for i := range len(s) {
		out = append(out, mark{sign: rune(s[i])})
	}
	return out
}

// nameMarks reads the pattern of one name in a path. What stands in brackets counts
// as any sign.
func nameMarks(pattern string) (out []mark) {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', braced[0]:
			out = append(out, mark{run: true})
		case '?':
			out = append(out, mark{one: true})
		case '[':
			end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']')
			switch {
			case end < 0:
				out = append(out, mark{sign: rune(c)})
			case strings.Contains(pattern[i+1:i+2+end], "["):
				return append(out, mark{run: true}) // a class such as [:alpha:] stands in it
			default:
				out = append(out, mark{one: true})
				i += 2 + end
			}
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			out = append(out, mark{sign: rune(pattern[i])})
		default:
			out = append(out, mark{sign: rune(c)})
		}
	}
	return out
}

// pathsOverlap reports whether a path matched by the glob of a shell may be one that
// the pattern of a rule matches. Case makes no difference.
func pathsOverlap(pattern, glob string) bool {
	want := strings.Split(strings.ToLower(pattern), "/")
	if want[0] == "" {
		want = want[1:]
	} else {
		want = append([]string{"**"}, want...)
	}
	return elemsOverlap(want, strings.Split(strings.TrimPrefix(strings.ToLower(unbraced(glob)), "/"), "/"), namesOverlap)
}

func namesOverlap(pattern, glob string) bool { return overlap(nameMarks(pattern), nameMarks(glob)) }

// hasBraces reports whether a shell makes several words of one.
func hasBraces(glob string) bool {
	from, to := strings.IndexByte(glob, '{'), strings.LastIndexByte(glob, '}')
	return from >= 0 && from < to && (strings.Contains(glob[from:to], ",") || strings.Contains(glob[from:to], ".."))
}

// braced stands for what braces spell: any text, also one that begins with a dot.
const braced = "\x02"

// unbraced is a glob with any text in the place of its braces.
func unbraced(glob string) string {
	if !hasBraces(glob) {
		return glob
	}
	from, to := strings.IndexByte(glob, '{'), strings.LastIndexByte(glob, '}')
	if strings.Contains(glob[from:to], "/") {
		return glob[:strings.LastIndexByte(glob[:from], '/')+1] + "**"
	}
	return glob[:from] + braced + glob[to+1:]
}

// elemsOverlap compares name by name; "**" is any number of them on either side.
func elemsOverlap(a, b []string, same func(pattern, glob string) bool) bool {
	if (len(a)+1)*(len(b)+1) > maxOverlap/64 {
		return true
	}
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		next := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				next[j] = true
			case i < len(a) && a[i] == "**":
				next[j] = row[j] || j < len(b) && next[j+1]
			case j < len(b) && b[j] == "**":
				next[j] = next[j+1] || i < len(a) && row[j]
			case i < len(a) && j < len(b):
				next[j] = row[j+1] && same(a[i], b[j])
			}
		}
		row = next
	}
	return row[0]
}
