package config

import (
	"slices"
	"strings"
)

// tools keeps a stricter sandbox, shorter times and what disables tools.
func (n *narrower) tools(section *node) {
	for _, m := range section.keys {
		switch m.name {
		case "bash":
			n.bash(m.val)
		case "fetch":
			n.fetch(m.val)
		case "disabled":
			n.keep(m.val, "tools", "disabled")
		default:
			n.hold("tools." + m.name + " " + clean(string(m.val.standard())))
		}
	}
}

func (n *narrower) bash(section *node) {
	was, now := n.user.Tools.Bash, n.project.Tools.Bash
	order := Sandbox("").Values()
	for _, m := range section.keys {
		narrows, same, value := false, false, int64(0)
		switch m.name {
		case "sandbox":
			a, b := slices.Index(order, string(was.Sandbox)), slices.Index(order, string(now.Sandbox))
			narrows, same = b > a, a == b
		case "timeout":
			narrows, same, value = now.Timeout < was.Timeout, now.Timeout == was.Timeout, int64(now.Timeout)
		case "max_timeout":
			narrows, same, value = now.MaxTimeout < was.MaxTimeout, now.MaxTimeout == was.MaxTimeout, int64(now.MaxTimeout)
		case "shell":
			same = now.Shell == was.Shell
		}
		low := tooLow(m.val, value, "tools.bash."+m.name)
		switch {
		case narrows && low != "":
			n.hold(low)
		case narrows:
			n.keep(m.val, "tools", "bash", m.name)
		case !same:
			n.hold("tools.bash." + m.name + " " + clean(string(m.val.standard())))
		}
	}
}

func (n *narrower) fetch(section *node) {
	for _, m := range section.keys {
		switch {
		case m.name == "enabled" && !n.project.Tools.Fetch.Enabled:
			n.keep(m.val, "tools", "fetch", "enabled")
		case m.name == "enabled" && n.user.Tools.Fetch.Enabled:
		default:
			n.hold("tools.fetch." + m.name + " " + clean(string(m.val.standard())))
		}
	}
}

// hooks withholds all of them: each starts a program.
func (n *narrower) hooks() {
	for _, list := range n.project.Hooks.byEvent() {
		for _, h := range list.hooks {
			words := "hook " + list.event
			if h.Match != "" {
				words += " " + clean(h.Match)
			}
			n.hold(words + ": command " + clean(strings.Join(hideArgs(h.Command), " ")))
		}
	}
}

// requiredHooks are the required ones of a project at the moments at which a hook may
// deny.
func requiredHooks(root *node) Hooks {
	if root == nil {
		return Hooks{}
	}
	var project Config
	var f faults
	decoder{faults: &f}.value(root, reflectOf(&project), "") // Parse has accepted the tree
	optional := func(h Hook) bool { return !h.Required }
	return Hooks{
		Prompt: slices.DeleteFunc(project.Hooks.Prompt, optional), PreTool: slices.DeleteFunc(project.Hooks.PreTool, optional),
	}
}
