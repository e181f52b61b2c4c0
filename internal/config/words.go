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

// nearest returns the known name closest to got, or "" if none is near.
func nearest(got string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	best, bestDistance := "", min(len(got), 1+max(1, len(got)/3))
	for _, k := range known {
		if d := distance(strings.ToLower(got), k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the number of inserted, removed, changed or swapped bytes between
// two short names.
func distance(a, b string) int {
	if len(a) > maxWords || len(b) > maxWords {
		return maxWords
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// list joins known names for an error.
func list(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, ", ")
}
