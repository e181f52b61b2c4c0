package openai

import (
	"slices"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// cacheMark asks the server to cache the prompt up to a text part
// (https://openrouter.ai/docs/features/prompt-caching, read 2026-11-30).
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// chatMarks finds the parts to mark: the last text of the last message of the
// user, and of the one before it, where the request before this one was marked.
// With the system prompt these are three of the four marks that are allowed.
type chatMarks struct {
	messages int
	last     [2]markable
}

// markable is a message of the user with a text to mark.
type markable struct {
	message, text int
	parts         []piece
}

// next takes the next message. It does nothing on nil.
func (m *chatMarks) next(role content.Role, parts []piece) {
	if m == nil {
		return
	}
	m.messages++
	if role != content.RoleUser {
		return
	}
	for i, p := range slices.Backward(parts) {
		if p.form == formText && p.text != "" {
			m.last[0], m.last[1] = m.last[1], markable{message: m.messages - 1, text: i, parts: parts}
			return
		}
	}
}

// mark spells the marked messages once more. It does nothing on nil.
func (m *chatMarks) mark(rendered [][]delivery.Segment) {
	if m == nil {
		return
	}
	for _, x := range m.last {
		if x.parts == nil {
			continue
		}
		var s provider.Spelling
		s.Raw(`{"role":"user","content":`)
		spellArray(&s, x.parts, x.text)
		s.Raw(`}`)
		rendered[x.message] = s.Segments()
	}
}
