package spell

import (
	"slices"
	"strings"
)

// longest is the longest name that is compared, in bytes.
const longest = 80

// Nearest returns the known name closest to got, or "" where none is near: of five
// letters two may be wrong, of three one.
func Nearest(got string, known []string) string {
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
	if len(a) > longest || len(b) > longest {
		return longest
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
