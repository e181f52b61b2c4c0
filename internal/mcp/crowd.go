package mcp

import (
	"fmt"
	"slices"
)

// Bounds of what one server may put into every request: how many tools, and how many
// bytes of names, descriptions and schemas.
const (
	maxTools     = 128
	maxToolBytes = 512 << 10
)

// bounded are the tools of a server that are offered to models, by name the first
// ones. A server with more of them than that is told of once.
func (m *member) bounded(list []offered) ([]offered, *Problem) {
	list = slices.DeleteFunc(slices.Clone(list), func(t offered) bool { return !m.server.offers(t.name) })
	n, bytes := 0, 0
	for n < len(list) && n < maxTools {
		if bytes += len(list[n].name) + len(list[n].description) + len(list[n].schema); bytes > maxToolBytes {
			break
		}
		n++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == len(list) {
		m.crowded = false
		return list, nil
	}
	var p *Problem
	if !m.crowded {
		p = &Problem{m.scope, m.server.Name, StateReady, fmt.Sprintf(
			"offers %d tools, of which %d are used, the first by name: at most %d, and %s of descriptions, go into a request; choose with \"allow\" in its settings",
			len(list), n, maxTools, size(maxToolBytes))}
	}
	m.crowded = true
	return list[:n], p
}
