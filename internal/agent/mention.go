package agent

import (
	"context"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// maxMentions bounds how many mentions of one prompt are looked up. A longer
// list is pasted text that happens to be full of "@".
const maxMentions = 100

// takeIn turns the sources of a prompt into its message. The files that its
// text mentions follow the text, each once; what names no file stays text.
func (s *Session) takeIn(ctx context.Context, p Prompt) (content.Message, []delivery.Notice, error) {
	m := &mentions{s: s, front: p.Front, attached: map[string]bool{}, tried: map[string]bool{}}
	type taken struct {
		blocks []content.Block
		envs   []content.Envelope
	}
	all := make([]taken, len(p.Sources))
	for i, src := range p.Sources {
		blocks, envs, err := s.a.o.Inlet.Ingest(ctx, src, s.scope(p.Front))
		if err != nil {
			return content.Message{}, nil, err
		}
		all[i] = taken{blocks, envs}
		for _, b := range blocks {
			m.add(b)
		}
	}
	out := content.Message{Role: content.RoleUser}
	for i, src := range p.Sources {
		found, err := m.expand(ctx, src)
		if err != nil {
			return content.Message{}, nil, err
		}
		for _, b := range append(all[i].blocks, found...) {
			out.Parts = append(out.Parts, b)
		}
		out.Envelopes = append(out.Envelopes, all[i].envs...)
		out.Envelopes = append(out.Envelopes, make([]content.Envelope, len(found))...)
	}
	if m.more {
		m.notices = append(m.notices, delivery.Notice{
			Severity: delivery.SeverityInfo,
			Title:    fmt.Sprintf("only the first %d mentions were looked up: the rest is left as text", maxMentions),
		})
	}
	return out, m.notices, nil
}

// mentions attaches the files that a prompt's text mentions.
type mentions struct {
	s     *Session
	front Front
	// attached are the full paths of the prompt's files, tried the tokens
	// that were looked up.
	attached, tried map[string]bool
	notices         []delivery.Notice
	// more: there were more than maxMentions.
	more bool
}

// add notes a block and reports whether its file is new to the prompt.
func (m *mentions) add(b content.Block) bool {
	a, ok := content.AttachmentOf(b)
	if !ok || a.Origin.Path == "" {
		return true
	}
	if m.attached[a.Origin.Path] {
		return false
	}
	m.attached[a.Origin.Path] = true
	return true
}

// expand returns the files that a source mentions. Only what the user wrote
// himself is looked at.
func (m *mentions) expand(ctx context.Context, src content.Source) ([]content.Block, error) {
	prose, ok := src.Payload.(content.Prose)
	if !ok || src.Chooser != content.ChosenByUser {
		return nil, nil
	}
	inlet := content.InletMention
	switch src.Inlet {
	case content.InletPrompt:
	case content.InletACP:
		inlet = content.InletACP // so that a file outside the roots is asked for
	case content.InletFlag, content.InletStdin, content.InletMention, content.InletPaste, content.InletDrop, content.InletTool,
		content.InletMCP:
		return nil, nil
	default:
		return nil, nil
	}
	var out []content.Block
	for _, token := range m.s.a.o.Inlet.Mentions(prose.Text) {
		if m.tried[token] {
			continue
		}
		if len(m.tried) == maxMentions {
			m.more = true
			break
		}
		m.tried[token] = true
		blocks, err := m.file(ctx, token, inlet)
		if err != nil {
			return nil, err
		}
		out = append(out, blocks...)
	}
	return out, nil
}

// file takes in the file that a token names, nothing where it names none.
func (m *mentions) file(ctx context.Context, token string, inlet content.Inlet) ([]content.Block, error) {
	blocks, _, err := m.s.a.o.Inlet.Ingest(ctx, content.Source{
		Payload: content.Path{Path: token}, Inlet: inlet, Chooser: content.ChosenByUser,
	}, m.s.scope(m.front))
	if err != nil {
		return nil, err
	}
	looksLikeFile := strings.ContainsAny(token, `./\`)
	var out []content.Block
	for _, b := range blocks {
		a, ok := content.AttachmentOf(b)
		switch {
		case ok && a.Fault == content.FaultNotFound:
			if looksLikeFile {
				m.notices = append(m.notices, delivery.Notice{
					Severity: delivery.SeverityInfo, Title: "no file " + content.Clean(token) + ": left as text",
				})
			}
		case ok && a.Fault == content.FaultUnreadable && !looksLikeFile:
			// A word that happens to name a folder is prose; it may have been meant.
			m.notices = append(m.notices, delivery.Notice{
				Severity: delivery.SeverityInfo, Title: content.Clean(token) + " is a folder or cannot be read: left as text",
			})
		case m.add(b):
			out = append(out, b)
		}
	}
	return out, nil
}
