package provider

import "strings"

// Wordings is how many wordings about media there are.
func Wordings() int { return len(wordings) }

// Wording is one of them for people.
func Wording(i int) string { return strings.Join(wordings[i].all, " … ") }

// OverflowWords are the wordings about the context.
func OverflowWords() []string { return overflowWords[:] }

// WordingOf is the first wording that matches a body, -1 for none.
func WordingOf(body []byte) int {
	r := parseReply(body)
	words := r.words()
	for i := range wordings {
		if containsAll(words, wordings[i].all) {
			return i
		}
	}
	return -1
}
