package anthropic

import (
	"bytes"
	"errors"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// breakpoints is how many blocks of the conversation are breakpoints of the
// cache. The API takes four, and two are for the tools and the system prompt.
const breakpoints = 2

// join spells the messages: neighbours of one role as one, and with mark in the
// blocks that are breakpoints of the cache.
func (e *encoder) join(s *provider.Spelling, rendered [][]delivery.Segment, mark string) error {
	marked := e.ends()
	for i, blocks := range rendered {
		role := wireRole(e.roles[i])
		switch {
		case i > 0 && wireRole(e.roles[i-1]) == role:
			if e.roles[i] == content.RoleTool && e.roles[i-1] != content.RoleTool {
				return errors.New("tool results stand behind words of the user")
			}
			s.Raw(`,`)
		case i > 0:
			s.Raw(`]},`)
			fallthrough
		default:
			s.Raw(`{"role":"` + role + `","content":[`)
		}
		if marked[i] && mark != "" {
			spellMarked(s, blocks, mark)
			continue
		}
		s.Append(blocks)
	}
	if len(rendered) > 0 {
		s.Raw(`]}`)
	}
	return nil
}

// spellMarked spells blocks with a field more in the last one.
func spellMarked(s *provider.Spelling, blocks []delivery.Segment, mark string) {
	n := len(blocks) - 1
	head, ok := bytes.CutSuffix(blocks[n].Literal, []byte("}"))
	if !ok {
		panic("anthropic: a block that does not end with a brace")
	}
	s.Append(blocks[:n])
	s.Bytes(head)
	s.Raw(mark + `}`)
}

// ends finds the messages with which this request and the one before it end: the
// last ones of the user before the model speaks.
func (e *encoder) ends() map[int]bool {
	out := make(map[int]bool, breakpoints)
	for i := len(e.roles) - 1; i >= 0 && len(out) < breakpoints; i-- {
		last := i == len(e.roles)-1 || e.roles[i+1] == content.RoleAssistant
		if last && e.roles[i] != content.RoleAssistant {
			out[i] = true
		}
	}
	return out
}

// mayThink reports whether the API takes a budget for thinking: where tools are
// at work, the model must have begun the turn with a thought
// (https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read
// 2026-11-30).
func (e *encoder) mayThink() bool {
	began := -1
	for i := len(e.roles) - 1; i >= 0; {
		tools := false
		for i >= 0 && e.roles[i] != content.RoleAssistant {
			tools = tools || e.roles[i] == content.RoleTool
			i--
		}
		if !tools || i < 0 {
			break
		}
		for i >= 0 && e.roles[i] == content.RoleAssistant {
			began = i
			i--
		}
	}
	return began < 0 || e.thoughtful[began]
}
