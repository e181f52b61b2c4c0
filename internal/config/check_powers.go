package config

import (
	"errors"
	"path"
	"strconv"
	"strings"
)

// tools checks the settings of the built-in tools.
func (c checker) tools(t Tools) {
	c.filled(t.Bash.Shell, "tools", "bash", "shell")
	if strings.ContainsAny(t.Bash.Shell, "\x00\r\n") {
		c.fail("is not the name or path of a program", "tools", "bash", "shell")
	}
	c.positive(int64(t.Bash.Timeout), "tools", "bash", "timeout")
	c.positive(int64(t.Bash.MaxTimeout), "tools", "bash", "max_timeout")
	if c.given("tools", "bash", "timeout") && c.given("tools", "bash", "max_timeout") && t.Bash.Timeout > t.Bash.MaxTimeout {
		c.fail("is "+c.spelled("tools", "bash", "timeout")+", which is more than max_timeout", "tools", "bash", "timeout")
	}
	for i, name := range t.Disabled {
		if what := badDisabled(name); what != "" {
			c.faults.wrap(c.root.get("tools", "disabled").items[i].at, "tools.disabled["+strconv.Itoa(i)+"]", errors.New(what))
		}
	}
}

// hooks checks each hook. A fault is told at the hook's own place.
func (c checker) hooks(h Hooks) {
	for _, list := range h.byEvent() {
		at := c.root.get("hooks", list.event)
		for i, hook := range list.hooks {
			n := at.items[i]
			for _, fault := range hook.faults(list.event, n) {
				path := "hooks." + list.event + "[" + strconv.Itoa(i) + "]." + fault.member
				c.faults.wrap(n.find(fault.member), path, errors.New(fault.what))
			}
		}
	}
}

// memberFault is what is wrong with a member.
type memberFault struct{ member, what string }

// faults tells what is wrong with a hook that stands at n.
func (h Hook) faults(event string, n *node) []memberFault {
	var out []memberFault
	add := func(member, what string) { out = append(out, memberFault{member, what}) }
	switch {
	case len(h.Command) == 0 || h.Command[0] == "":
		add("command", `names no program; want the program and its arguments, such as ["./check.sh", "--fast"]`)
	case strings.Contains(strings.Join(h.Command, ""), "\x00"):
		add("command", "holds a NUL, which no argument of a program can")
	case strings.HasPrefix(h.Command[0], "~") && !underHome(h.Command[0]):
		add("command", "begins with ~; only ~/ is understood, for your own home folder")
	}
	if n.get("timeout") != nil && (h.Timeout <= 0 || h.Timeout > maxHook) {
		add("timeout", "is "+h.Timeout.String()+"; must be greater than zero and at most 10m")
	}
	if n.get("match") != nil {
		if what := badMatch(h.Match); what != "" {
			add("match", what)
		}
		if event != "pre_tool" && event != "post_tool" {
			add("match", "has an effect only in pre_tool and post_tool")
		}
	}
	return out
}

// badMatch says what is wrong with the form of a match, "" for nothing. The patterns
// in it are read where the hooks are run.
func badMatch(s string) string {
	if strings.ContainsAny(s, "\x00\r\n") {
		return "holds a line end"
	}
	for _, rule := range splitMatch(s) {
		name, rest, open := strings.Cut(rule, "(")
		switch {
		case name != "*" && !toolPattern(name):
			return "holds a rule without the name of a tool; want rules such as bash(git push *)|write"
		case open && !strings.HasSuffix(rest, ")"):
			return "holds a rule that is not closed with a parenthesis"
		}
		if what := badRuleName(rule); what != "" {
			return what
		}
	}
	return ""
}

func toolPattern(name string) bool {
	_, err := path.Match(name, "")
	return name != "" && err == nil
}

// splitMatch takes the rules of a hook's match apart, which are separated by |. A
// | inside of parentheses is part of a rule. A rule may be empty.
func splitMatch(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == '|' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// patterns wants names or patterns of path.Match.
func (c checker) patterns(list []string, at ...string) {
	for _, p := range list {
		if !toolPattern(p) {
			c.fail("holds "+quoted(p)+", which is not a name or a pattern such as get_*", at...)
		}
	}
}

// paths wants paths of files or folders.
func (c checker) paths(list []string, at ...string) {
	for _, p := range list {
		switch {
		case p == "":
			c.fail("holds an empty path", at...)
		case strings.ContainsAny(p, "\x00\r\n"):
			c.fail("holds "+quoted(p)+", which is not a path", at...)
		case strings.HasPrefix(p, "~") && !underHome(p):
			c.fail("holds "+quoted(p)+"; only ~/ is understood, for your own home folder", at...)
		}
	}
}
