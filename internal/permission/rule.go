package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Rule speaks about requests. Tool is a tool's name, "*", or the tools of an MCP
// server: "mcp__server" or "mcp__server__*". Pattern is matched against what the
// request is about, "" matches all; doc.go says how.
type Rule struct{ Tool, Pattern string }

// maxRule bounds a rule, in bytes.
const maxRule = 4096

// ParseRule reads "tool" or "tool(pattern)".
func ParseRule(s string) (Rule, error) {
	bad := func(why string) (Rule, error) {
		return Rule{}, fmt.Errorf("parse permission rule %q: %s", clip(s), why)
	}
	if len(s) > maxRule {
		return bad(fmt.Sprintf("it is longer than %d bytes", maxRule))
	}
	name, rest, ok := strings.Cut(strings.TrimSpace(s), "(")
	if name == "" {
		return bad("it has no tool name; write tool or tool(pattern)")
	}
	if why := badName(name); why != "" {
		return bad(why)
	}
	if !ok {
		return Rule{Tool: name}, nil
	}
	pattern, ok := strings.CutSuffix(rest, ")")
	switch {
	case !ok:
		return bad("it has no closing parenthesis at the end")
	case strings.TrimSpace(pattern) == "":
		return bad("its pattern is empty; write " + name + " alone for everything that the tool does")
	}
	if why := badPattern(name, pattern); why != "" {
		return bad(why)
	}
	return Rule{Tool: name, Pattern: pattern}, nil
}

// badName says what is wrong with a tool's name.
func badName(name string) string {
	if name == "*" {
		return ""
	}
	plain := name
	if server, ok := strings.CutSuffix(name, "__*"); ok && strings.HasPrefix(name, "mcp__") {
		plain = server
	}
	for _, c := range plain {
		switch {
		case c == '*':
			return "a star stands alone (*) or for the tools of an MCP server (mcp__server__*)"
		case c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		default:
			return fmt.Sprintf("a tool name holds no %q", c)
		}
	}
	return ""
}

// badPattern says what is wrong with a pattern.
func badPattern(tool, pattern string) string {
	switch {
	case tool == "bash":
		return badCommand(pattern)
	case isAddressPattern(pattern) || tool == "fetch":
		return badAddress(pattern)
	}
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, "x"); err != nil {
			return fmt.Sprintf("%q is no pattern of a file name: a bracket is not closed or a backslash ends it", elem)
		}
	}
	if tool == "*" || strings.HasPrefix(tool, "mcp__") {
		return "" // it may be about a command, or about what a server calls it
	}
	return badPath(pattern)
}

// badCommand says why no command matches a pattern.
func badCommand(pattern string) string {
	if c, ok := strings.CutSuffix(pattern, ":*"); ok {
		return fmt.Sprintf("write %q where you mean %q with anything behind it", c+" *", c)
	}
	if slices.Contains(words(pattern), "") {
		return "it never matches: commands are compared with one blank between their words, and none before and behind"
	}
	return ""
}

// badPath says why no path matches a pattern: paths are absolute and clean.
func badPath(pattern string) string {
	if strings.HasPrefix(pattern, "~") {
		return "it never matches: ~ is not understood in rules; write the path of the folder"
	}
	elems := strings.Split(pattern, "/")
	for i, elem := range elems {
		switch {
		case elem == "" && i > 0 && i == len(elems)-1:
			return fmt.Sprintf("it never matches: write %q for what is in a folder", pattern+"**")
		case elem == "" && i > 0:
			return "it never matches: a path has no two slashes behind each other"
		case elem == "." || elem == "..":
			return fmt.Sprintf("it never matches: paths are compared without %q; leave it out", elem)
		case elem != "**" && strings.Contains(elem, "**"):
			return `"**" stands alone between slashes, for any number of folders: write "**/*.go" for "**.go"`
		}
	}
	return ""
}

// CheckAllow says why a rule allows nothing, although it could deny: a line is taken
// apart, and each of its commands is compared with the rules that allow.
func (r Rule) CheckAllow() error {
	if r.Tool != "bash" {
		return nil
	}
	for _, w := range words(r.Pattern) {
		if w == "&&" || w == "||" || w == "|" || w == ";" || w == "&" || outside(w, `'"`, ";|&") || outside(w, "'", "$`") {
			return fmt.Errorf("permission rule %q allows nothing: each command of a line is compared alone, and never where it holds a variable; give each a rule, and put ; & | $ and ` into single quotes", clip(r.String()))
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// String is what ParseRule reads.
func (r Rule) String() string {
	if r.Pattern == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Pattern + ")"
}

// names reports whether the rule is about the tool.
func (r Rule) names(tool string) bool {
	if r.Tool == "*" || r.Tool == tool {
		return true
	}
	if !strings.HasPrefix(r.Tool, "mcp__") {
		return false
	}
	if server, ok := strings.CutSuffix(r.Tool, "__*"); ok {
		return strings.HasPrefix(tool, server+"__")
	}
	name, ok := strings.CutPrefix(tool, r.Tool+"__")
	return ok && name != "" && !strings.Contains(r.Tool[len("mcp__"):], "__")
}

// isAbout reports whether the rule is about the tool of q, by its name or as one of a
// group: "edit" is every tool that changes files, "read" every tool that reads a path.
func (r Rule) isAbout(q Request) bool {
	return r.names(q.Tool) || r.Tool == "edit" && q.Action == Write || r.Tool == "read" && q.Action == Read && q.Path != ""
}

// changes reports whether the rule, read as one that denies or asks, is about every
// change of a file: whoever forbids writing means edits too.
func (r Rule) changes() bool { return r.Tool == "edit" || r.Tool == "write" }

// Matches reports whether the rule speaks about q, or about any part of it: that
// is how rules that deny and ask are read. Allowing takes more, which Decide sees
// to.
func (r Rule) Matches(q Request) bool {
	if r.Pattern != "" && (r.Tool == "*" || r.Tool == "read") && slices.ContainsFunc(q.Paths, r.under) {
		return true
	}
	switch {
	case !r.isAbout(q) && (!r.changes() || q.Action != Write):
		return false
	case r.Pattern == "":
		return true
	case q.Action == Execute:
		return matchAnyCommand(r.Pattern, q)
	case q.Path != "":
		return r.under(q.Path) || slices.ContainsFunc(q.Paths, r.under)
	case q.Action == Fetch:
		return matchAddress(r.Pattern, q.Detail, orUser)
	}
	return glob(r.Pattern, q.Detail)
}

// allows reports whether the rule allows all of q, which is no command.
func (r Rule) allows(q Request) bool {
	switch {
	case !r.isAbout(q):
		return false
	case r.Pattern == "":
		return true
	case q.Path != "":
		// A tool that goes through a folder reads all of it, whatever "read" names.
		deep := r.Tool == "read" && slices.Contains([]string{"list", "glob", "grep"}, q.Tool)
		return r.matchesPath(q.Path) && (!deep || r.matchesPath(q.Path+"/\x00/\x00"))
	case q.Action == Fetch:
		return matchAddress(r.Pattern, q.Detail, noUser)
	}
	return glob(r.Pattern, q.Detail)
}

func (r Rule) matchesPath(p string) bool { return matchPath(r.Pattern, p) }

// under reports whether the pattern matches the path or a folder that it lies in.
func (r Rule) under(p string) bool { return matchPath(r.Pattern+"/**", p) }

// reaches is Matches for rules that deny and ask: what a command writes into a file
// counts as a change of that file.
func (r Rule) reaches(q Request) bool {
	if r.Matches(q) {
		return true
	}
	if !r.changes() || q.Action != Execute {
		return false
	}
	return slices.ContainsFunc(q.Commands, func(c string) bool {
		target, ok := strings.CutPrefix(c, "> ")
		if !ok || r.Pattern == "" {
			return ok
		}
		name := path.Base(strings.ReplaceAll(strings.Trim(target, "'"), `'\''`, "'"))
		return slices.ContainsFunc(q.Paths, func(p string) bool { return path.Base(p) == name && r.under(p) })
	})
}

// matchPath matches a pattern against the end of a path, or against the whole
// of it when the pattern starts with a slash.
func matchPath(pattern, p string) bool {
	want, elems := strings.Split(pattern, "/"), strings.Split(strings.TrimPrefix(p, "/"), "/")
	if want[0] == "" {
		return matchElems(want[1:], elems)
	}
	return matchElems(append([]string{"**"}, want...), elems)
}

// matchElems matches element by element; "**" is any number of them. It goes back
// to the last "**" only, so it takes time in the product of the lengths at most.
func matchElems(pattern, elems []string) bool {
	star, from := -1, 0
	p, e := 0, 0
	for e < len(elems) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, from = p, e
			p++
		case p < len(pattern) && matchElem(pattern[p], elems[e]):
			p++
			e++
		case star >= 0:
			from++
			p, e = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchElem(pattern, elem string) bool {
	ok, err := path.Match(pattern, elem)
	return err == nil && ok
}

// glob matches all of s, where "*" is any run of characters and `\*` a star.
func glob(pattern, s string) bool {
	star, from := -1, 0
	p, i := 0, 0
	for i < len(s) {
		c, n, any := globNext(pattern[p:])
		switch {
		case any:
			star, from = p+n, i
			p += n
		case n > 0 && c == s[i]:
			p += n
			i++
		case star >= 0:
			from++
			p, i = star, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globNext takes one element off a pattern: a byte of n bytes, or any run.
func globNext(pattern string) (c byte, n int, any bool) {
	switch {
	case pattern == "":
		return 0, 0, false
	case strings.HasPrefix(pattern, `\*`):
		return '*', 2, false
	}
	return pattern[0], 1, pattern[0] == '*'
}
