package agent

import (
	"slices"
	"sync"

	"tote/internal/permission"
)

// permits is what the user allowed for as long as a session is open. The sessions
// that were made for it share it.
type permits struct {
	mu sync.Mutex
	// exact holds single requests, rules what the user allowed more of.
	exact map[string]bool
	rules []permission.Rule
}

func newPermits() *permits { return &permits{exact: map[string]bool{}} }

func (p *permits) has(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exact[key]
}

func (p *permits) add(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exact[key] = true
}

func (p *permits) allow(r permission.Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.rules, r) {
		p.rules = append(p.rules, r)
	}
}

func (p *permits) allowed() []permission.Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.rules)
}

// openness orders the modes by how much they allow.
func openness(m permission.Mode) int {
	switch m {
	case permission.ModePlan:
		return 0
	case permission.ModeAsk:
		return 1
	case permission.ModeEdits:
		return 2
	case permission.ModeFull:
		return 3
	}
	return 0
}

// stricter is the mode of the two that allows less.
func stricter(a, b permission.Mode) permission.Mode {
	if openness(a) < openness(b) {
		return a
	}
	return b
}
