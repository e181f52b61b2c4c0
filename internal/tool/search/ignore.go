package search

import (
	"bytes"
	"slices"
	"strings"
)

// ignoreRule is one line of an ignore file.
type ignoreRule struct {
	// text is the pattern without "!", a leading and a trailing slash.
	text string
	// plain is how many bytes of text at its start are no wildcards.
	plain int
	// keeps: the rule takes back what an earlier one ignores ("!").
	keeps bool
	// folder: the rule speaks of folders only (a trailing slash).
	folder bool
	// anchored: the pattern is matched against the path, not the name.
	anchored bool
}

// ignoreRules are the rules of one file and, behind them, those that they
// override.
type ignoreRules struct {
	outer *ignoreRules
	// base is the folder of the file from the top, "" or with a slash at its
	// end.
	base  string
	rules []ignoreRule
}

// parseIgnore reads an ignore file.
func parseIgnore(data []byte) []ignoreRule {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var out []ignoreRule
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if i := bytes.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		} else {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if r, ok := parseRule(trimBlanks(string(line))); ok {
			out = append(out, r)
		}
	}
	return out
}

// trimBlanks takes blanks off the end, but not one behind a backslash.
func trimBlanks(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(s))
	}
	return s[:end]
}

func parseRule(s string) (ignoreRule, bool) {
	var r ignoreRule
	s, r.keeps = strings.CutPrefix(s, "!")
	s, r.folder = strings.CutSuffix(s, "/")
	r.anchored = strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	r.text = s
	if r.plain = strings.IndexAny(s, `*?[\`); r.plain < 0 {
		r.plain = len(s)
	}
	return r, s != ""
}

// matches reports whether the rule speaks of the entry; rel is its path from the
// folder of the rule's file, name its last element.
func (r ignoreRule) matches(rel, name string, kind entryKind) bool {
	if r.folder && kind != entryFolder {
		return false
	}
	subject := name
	if r.anchored {
		subject = rel
	}
	if r.plain == len(r.text) {
		return subject == r.text
	}
	if !r.anchored {
		return wildmatch(r.text, subject)
	}
	// As in git, the wildcards are looked at without the plain text before
	// them, so "a**/b" reads like "a" followed by "**/b".
	rest, ok := strings.CutPrefix(subject, r.text[:r.plain])
	return ok && wildmatch(r.text[r.plain:], rest)
}

// entryKind tells folders from files where a rule speaks of folders only.
type entryKind uint8

const (
	entryFile entryKind = iota
	entryFolder
)

// ignores reports whether the entry at path, from the top, is ignored. The rules
// of deeper folders win over those above, later lines over earlier ones.
func (rs *ignoreRules) ignores(path string, kind entryKind) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; rs != nil; rs = rs.outer {
		rel, ok := strings.CutPrefix(path, rs.base)
		if !ok {
			continue
		}
		for _, r := range slices.Backward(rs.rules) {
			if r.matches(rel, name, kind) {
				return !r.keeps
			}
		}
	}
	return false
}

// under adds the rules of a file in the folder base, from the top.
func (rs *ignoreRules) under(base string, data []byte) *ignoreRules {
	rules := parseIgnore(data)
	if len(rules) == 0 {
		return rs
	}
	if base != "" {
		base += "/"
	}
	return &ignoreRules{outer: rs, base: base, rules: rules}
}
