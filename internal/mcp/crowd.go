package mcp

import (
	"fmt"
	"slices"
)

// Bounds of what servers may put into every request: how many tools, and how many
// bytes of names, descriptions and schemas. The first two are for one server.
const (
	maxTools     = 128
	maxToolBytes = 256 << 10
	maxAllTools  = 256
	maxAllBytes  = 512 << 10
)

// room is what is left of the bounds of all servers in one list of tools.
type room struct{ tools, bytes int }

// cost is what a tool puts into every request, in bytes.
func (t offered) cost() int { return len(t.name) + len(t.description) + len(t.schema) }

// bounded are the tools of a server that are offered to models, by name the first
// ones. What is left out is told once, with the setting that chooses.
func (m *member) bounded(got offers, left *room) ([]offered, *Problem) {
	list := slices.DeleteFunc(slices.Clone(got.tools), func(t offered) bool { return !m.server.offers(t.name) })
	n, own := 0, room{min(maxTools, left.tools), min(maxToolBytes, left.bytes)}
	for n < len(list) && own.tools > 0 && list[n].cost() <= own.bytes {
		own.tools--
		own.bytes -= list[n].cost()
		left.tools--
		left.bytes -= list[n].cost()
		n++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == len(list) && got.more == "" {
		m.crowded = false
		return list, nil
	}
	told := m.crowded
	m.crowded = true
	if told {
		return list[:n], nil
	}
	text := fmt.Sprintf("offers %d tools", len(list))
	if got.more != "" {
		text += " and more that were not listed (" + got.more + ")"
	}
	if n < len(list) {
		text += fmt.Sprintf(", of which %d are used, the first by name: the most are %d tools and %s of names, descriptions and schemas of one server, %d and %s of all",
			n, maxTools, size(maxToolBytes), maxAllTools, size(maxAllBytes))
	}
	text += `; choose with "allow" or "deny" in its settings, by name or with * (mcp_servers.` + m.server.Name + ".allow)"
	return list[:n], &Problem{Scope: m.scope, Server: m.server.Name, State: StateReady, Text: text}
}
