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
		if len(s) > 80 {
			s = s[:80] + "..."
		}
		return Rule{}, fmt.Errorf("parse permission rule %q: %s", s, why)
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
		if c, ok := strings.CutSuffix(pattern, ":*"); ok {
			return fmt.Sprintf("write %q where you mean %q with anything behind it", c+" *", c)
		}
		return ""
	case isAddressPattern(pattern) || tool == "fetch":
		return badAddress(pattern)
	}
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, "x"); err != nil {
			return fmt.Sprintf("%q is no pattern of a file name: a bracket is not closed or a backslash ends it", elem)
		}
	}
	return ""
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

// Matches reports whether the rule speaks about q, or about any part of it: that
// is how rules that deny and ask are read. Allowing takes more, which Decide sees
// to.
func (r Rule) Matches(q Request) bool {
	if r.Pattern != "" && (r.Tool == "*" || r.Tool == "read") && slices.ContainsFunc(q.Paths, r.matchesPath) {
		return true
	}
	switch {
	case !r.names(q.Tool):
		return false
	case r.Pattern == "":
		return true
	case q.Action == Execute:
		return matchAnyCommand(r.Pattern, q)
	case q.Path != "":
		return r.matchesPath(q.Path)
	case q.Action == Fetch:
		return matchAddress(r.Pattern, q.Detail, orUser)
	}
	return glob(r.Pattern, q.Detail)
}

// allows reports whether the rule allows all of q, which is no command.
func (r Rule) allows(q Request) bool {
	switch {
	case !r.names(q.Tool):
		return false
	case r.Pattern == "":
		return true
	case q.Path != "":
		return r.matchesPath(q.Path)
	case q.Action == Fetch:
		return matchAddress(r.Pattern, q.Detail, noUser)
	}
	return glob(r.Pattern, q.Detail)
}

func (r Rule) matchesPath(p string) bool { return matchPath(r.Pattern, p) }

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
