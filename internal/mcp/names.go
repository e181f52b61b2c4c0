package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxName is the greatest length of a tool's name that all models take.
const maxName = 64

// ref is a tool as its server names it.
type ref struct{ server, tool string }

// plain is the name before its length and its uniqueness are looked at.
func (r ref) plain() string { return "mcp__" + safeName(r.server) + "__" + safeName(r.tool) }

// exact reports whether the plain name spells both names as they are.
func (r ref) exact() bool { return safeName(r.server) == r.server && safeName(r.tool) == r.tool }

// hashed is the plain name, cut where needed, with a suffix that depends on the
// two names only. n is 0 but where even that is taken.
func (r ref) hashed(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", r.server, r.tool, n))
	suffix := "_" + hex.EncodeToString(sum[:4])
	p := r.plain()
	return p[:min(len(p), maxName-len(suffix))] + suffix
}

// safeName keeps what every model takes in a name; the rest becomes "_".
func safeName(s string) string {
	out := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, s)
	if out == "" {
		return "_"
	}
	return out
}

// toolNames gives each tool the name that models know it by: at most 64
// characters, no two alike. A name that is too long is cut and gets a suffix; of
// tools that would have one name only the one that spells it exactly keeps it.
// The refs are distinct; their order does not matter as long as none collides
// with another's suffix.
func toolNames(refs []ref) []string {
	count, exact := map[string]int{}, map[string]int{}
	for _, r := range refs {
		count[r.plain()]++
		if r.exact() {
			exact[r.plain()]++
		}
	}
	out, taken := make([]string, len(refs)), map[string]bool{}
	for i, r := range refs {
		p := r.plain()
		if len(p) <= maxName && (count[p] == 1 || exact[p] == 1 && r.exact()) {
			out[i], taken[p] = p, true
		}
	}
	for i, r := range refs {
		for n := 0; out[i] == ""; n++ {
			if name := r.hashed(n); !taken[name] {
				out[i], taken[name] = name, true
			}
		}
	}
	return out
}
