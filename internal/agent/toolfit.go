package agent

import (
	"slices"

	"tote/internal/provider"
	"tote/internal/tool"
)

// This file keeps the tools from filling a small window: servers at home often run
// with a few thousand tokens, and a model that has no room left for the work is
// worse off than one with fewer tools.

// toolShare is how much of the window tools may take, in percent, and tokenBytes how
// many bytes of their text make about a token.
const (
	toolShare  = 30
	tokenBytes = 4
)

// needed are the built-in tools in the order in which they are kept. Those that are
// not named, the user's own among them, come after the fundamental ones.
var needed = [...]string{"read", "edit", "bash", "grep", "write", "list", "look", "view_image"}

// rare are kept last.
var rare = [...]string{
	"glob", "fetch", "todo", "bash_output", "bash_kill", "task", "skill", "mcp_read", "mcp_resources", "escalate", "job",
}

// size is what the tools take in a request, in bytes.
func (s *toolset) size() int64 {
	n := int64(0)
	for _, t := range s.specs {
		n += specSize(t)
	}
	return n
}

func specSize(t provider.ToolSpec) int64 {
	return int64(len(t.Name) + len(t.Description) + len(t.Schema))
}

// fit leaves tools out until the rest take their share of the window, 0 for one that
// is not known, and returns how many. The fundamental three stay in any case.
func (s *toolset) fit(window int) (left int) {
	room := int64(window) * toolShare / 100 * tokenBytes
	if window <= 0 || s.size() <= room {
		return 0
	}
	order := slices.Clone(s.list)
	slices.SortStableFunc(order, func(a, b tool.Tool) int { return rank(a.Spec().Name) - rank(b.Spec().Name) })
	kept := map[string]bool{}
	for i, t := range order {
		sp := t.Spec()
		size := specSize(provider.ToolSpec{Name: sp.Name, Description: sp.Description, Schema: sp.Schema})
		if size > room && i >= fundamental {
			continue
		}
		room -= size
		kept[sp.Name] = true
	}
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, func(t tool.Tool) bool { return !kept[t.Spec().Name] })
	s.specs = slices.DeleteFunc(s.specs, func(t provider.ToolSpec) bool { return !kept[t.Name] })
	return before - len(s.list)
}

// fundamental is how many of needed stay in any window.
const fundamental = 3

// rank orders tools by how much a model needs them.
func rank(name string) int {
	if i := slices.Index(needed[:], name); i >= 0 {
		return i
	}
	if i := slices.Index(rare[:], name); i >= 0 {
		return len(needed) + 1 + i
	}
	return len(needed)
}
