package config

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// toolName is a name that rules may speak of.
type toolName struct {
	name string
	// plain: its calls are about nothing that a pattern could be compared with.
	plain bool
	// internal: it is no tool of an agent, so that it cannot be disabled.
	internal bool
}

// toolNames lists the built-in tools and what else asks for permission. It is the one
// place for these names; a test of the wiring holds it against the tools there are.
func toolNames() []toolName {
	return []toolName{
		{name: "bash"},
		{name: "bash_kill", plain: true},
		{name: "bash_output", plain: true},
		{name: "edit"},
		{name: "escalate"},
		{name: "fetch"},
		{name: "glob"},
		{name: "grep"},
		{name: "job"},
		{name: "list"},
		{name: "look"},
		{name: "read"},
		{name: "skill"},
		{name: "task"},
		{name: "todo", plain: true},
		{name: "view_image"},
		{name: "write"},
		{name: "mcp_read", internal: true},
		{name: "mcp_resources", internal: true},
		{name: "attach", internal: true},
		{name: "probe", internal: true},
		{name: "sampling", internal: true},
	}
}

// ToolNames lists the built-in tools, sorted.
func ToolNames() []string {
	var out []string
	for _, t := range toolNames() {
		if !t.internal {
			out = append(out, t.name)
		}
	}
	slices.Sort(out)
	return out
}

// RuleNames lists what rules may speak of besides the tools of MCP servers, sorted.
func RuleNames() []string {
	var out []string
	for _, t := range toolNames() {
		out = append(out, t.name)
	}
	slices.Sort(out)
	return out
}

const mcpPrefix = "mcp__"

// badRuleName says what is wrong with the tool that a rule names, "" for nothing.
// Which tools MCP servers have is not known here.
func badRuleName(rule string) string {
	name, _, hasPattern := strings.Cut(strings.TrimSpace(rule), "(")
	if name == "*" || strings.HasPrefix(name, mcpPrefix) && len(name) > len(mcpPrefix) {
		return ""
	}
	all := toolNames()
	i := slices.IndexFunc(all, func(t toolName) bool { return t.name == name })
	switch {
	case i < 0:
		return "no tool is called " + quoted(name) + orKnown(name, RuleNames(), ", mcp__SERVER__TOOL")
	case hasPattern && all[i].plain:
		return "the rule " + quoted(rule) + " never matches: " + name + " is allowed or denied as a whole, so write it without a pattern"
	}
	return ""
}

// badDisabled says what is wrong with a name in tools.disabled.
func badDisabled(name string) string {
	switch {
	case strings.HasPrefix(name, mcpPrefix):
		return "holds " + quoted(name) + ", which is a tool of an MCP server: name it in mcp_servers.SERVER.deny, or disable the server"
	case slices.Contains(ToolNames(), name):
		return ""
	}
	return "holds " + quoted(name) + ", which is not the name of a built-in tool" + orKnown(name, ToolNames(), "")
}

// orKnown is the end of an error that proposes the nearest name, or else all.
func orKnown(got string, known []string, more string) string {
	if near := meant(got, known); near != "" {
		return near
	}
	return "; known: " + list(known) + more
}

// ruleSpot is a rule in a file.
type ruleSpot struct {
	// where is "allow", "ask" or "deny" of permissions, or "match" of hooks.
	where, path, rule string
	at                pos
}

// rulesOf lists all rules of a file in order. A rule of a match has the place of the
// whole match.
func rulesOf(root *node) (out []ruleSpot) {
	for _, where := range []string{"allow", "ask", "deny"} {
		if n := root.get("permissions", where); n != nil {
			for i, item := range n.items {
				out = append(out, ruleSpot{where, "permissions." + where + "[" + strconv.Itoa(i) + "]", item.str(), item.at})
			}
		}
	}
	for _, event := range []string{"pre_tool", "post_tool"} {
		n := root.get("hooks", event)
		if n == nil {
			continue
		}
		for i, h := range n.items {
			m := h.get("match")
			if m == nil || strings.TrimSpace(m.str()) == "" {
				continue
			}
			for _, rule := range splitMatch(m.str()) {
				out = append(out, ruleSpot{"match", "hooks." + event + "[" + strconv.Itoa(i) + "].match", rule, m.at})
			}
		}
	}
	return out
}

// checkRules holds the rules of a file against what reads rules.
func checkRules(root *node, check func(where, rule string) error) error {
	if check == nil || root == nil {
		return nil
	}
	var f faults
	for _, r := range rulesOf(root) {
		if err := check(r.where, r.rule); err != nil {
			f.wrap(r.at, r.path, err)
		}
	}
	return f.err()
}

// serverNotes tells of rules about MCP servers that nothing configures. They are no
// faults: a server may be another project's, or an editor's.
func serverNotes(layers ...*node) (notes []string) {
	servers := map[string]string{} // by the name that tools spell
	for _, root := range layers {
		if n := root.get("mcp_servers"); n != nil {
			for _, k := range n.keys {
				servers[spelledServer(k.name)] = k.name
			}
		}
	}
	known := slices.Sorted(maps.Keys(servers))
	for _, root := range layers {
		for _, r := range rulesOf(root) {
			name, _, _ := strings.Cut(strings.TrimSpace(r.rule), "(")
			rest, isMCP := strings.CutPrefix(name, mcpPrefix)
			if !isMCP || len(name) >= maxToolName {
				continue
			}
			rest = strings.TrimSuffix(rest, "__*")
			if slices.ContainsFunc(known, func(s string) bool { return rest == s || strings.HasPrefix(rest, s+"__") }) {
				continue
			}
			server, _, _ := strings.Cut(rest, "__")
			e := Error{File: r.at.file, Line: r.at.line, Col: r.at.col, Path: r.path, Err: errors.New(
				"no MCP server is called " + quoted(server) + " here, so the rule is about nothing" + meant(server, known))}
			notes = append(notes, printable(e.Error(), maxLine))
		}
	}
	return notes
}

// maxToolName is the length from which on the names of MCP tools are cut.
const maxToolName = 64

// spelledServer is the name of an MCP server as the names of its tools spell it.
func spelledServer(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
}
