package anthropic

import (
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// form is what a piece is in its message.
type form uint8

const (
	formNothing form = iota // left out
	formText
	formMedia
	formThought
	formCall
	formResult
)

// piece is one part, spelled as a content block. A block ends in a literal that
// ends in "}".
type piece struct {
	form form
	// text is the prose of formText.
	text     string
	segments []delivery.Segment
}

// encoder spells one conversation. It is made for one rendering.
type encoder struct {
	origin         string
	unsigned       bool
	oversizedError bool
	ids            identifiers
	// roles are those of the messages so far; thoughtful says which of them
	// begin with thinking.
	roles      []content.Role
	thoughtful []bool
}

var _ delivery.Encoder[piece] = (*encoder)(nil)

func textPiece(body string) piece {
	if strings.TrimSpace(body) == "" {
		return piece{form: formNothing} // the API refuses text without a word in it
	}
	var s provider.Spelling
	s.Raw(`{"type":"text","text":`)
	s.String(body)
	s.Raw(`}`)
	return piece{form: formText, text: body, segments: s.Segments()}
}

// Text implements [content.Visitor].
func (*encoder) Text(b content.Text) (piece, error) { return textPiece(b.Body), nil }

// Image implements [content.Visitor].
func (e *encoder) Image(b content.Image) (piece, error) {
	switch b.Prepared.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return piece{}, fmt.Errorf("a picture of type %q has no form in the Messages API", b.Prepared.MIME)
	}
	var s provider.Spelling
	s.Raw(`{"type":"image","source":{"type":"base64","media_type":"` + b.Prepared.MIME + `","data":"`)
	s.Base64(b.Prepared)
	s.Raw(`"}`)
	if e.oversizedError {
		s.Raw(`,"transformations":{"oversized_image":"error"}`)
	}
	s.Raw(`}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// Audio implements [content.Visitor].
func (*encoder) Audio(b content.Audio) (piece, error) {
	return piece{}, fmt.Errorf("sound of type %q has no form in the Messages API", b.Prepared.MIME)
}

// maxTitle is the longest title of a document that is sent, in bytes.
const maxTitle = 255

// Document implements [content.Visitor].
func (*encoder) Document(b content.Document) (piece, error) {
	if b.Prepared.MIME != "application/pdf" {
		return piece{}, fmt.Errorf("a document of type %q has no form in the Messages API", b.Prepared.MIME)
	}
	title := b.Name
	if strings.TrimSpace(title) == "" {
		title = string(b.Handle)
	}
	if len(title) > maxTitle {
		title = strings.ToValidUTF8(title[:maxTitle], "")
	}
	var s provider.Spelling
	s.Raw(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"`)
	s.Base64(b.Prepared)
	s.Raw(`"}`)
	if title != "" {
		s.Raw(`,"title":`)
		s.String(title)
	}
	s.Raw(`}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// ResourceText implements [content.Visitor]. Its label stands before it.
func (*encoder) ResourceText(b content.ResourceText) (piece, error) { return textPiece(b.Body), nil }

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (*encoder) ResourceLink(b content.ResourceLink) (piece, error) {
	return textPiece("[link: " + b.URI + "]"), nil
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (*encoder) Opaque(b content.Opaque) (piece, error) {
	return textPiece("[" + content.Clean(b.Type) + " block: " + string(b.Handle) + "]"), nil
}

// Reasoning implements [delivery.Encoder]. What cannot be verified where it is
// sent is left out: it is the model's own, and the API refuses it.
func (e *encoder) Reasoning(r content.Reasoning) (piece, error) {
	kind, origin, signature := openSignature(r.Signature)
	if origin != "" && origin != e.origin {
		return piece{form: formNothing}, nil
	}
	var s provider.Spelling
	switch {
	case kind == typeRedacted && signature != "":
		s.Raw(`{"type":"redacted_thinking","data":`)
		s.String(signature)
		s.Raw(`}`)
	case kind == typeThinking && (signature != "" || e.unsigned && r.Text != ""):
		s.Raw(`{"type":"thinking","thinking":`)
		s.String(r.Text)
		s.Raw(`,"signature":`)
		s.String(signature)
		s.Raw(`}`)
	default:
		return piece{form: formNothing}, nil
	}
	return piece{form: formThought, segments: s.Segments()}, nil
}

// ToolCall implements [delivery.Encoder].
func (e *encoder) ToolCall(c content.ToolCall) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"type":"tool_use","id":"` + e.ids.call(c.ID) + `","name":"` + toolName(c.Name) + `","input":` + object(c.Arguments) + `}`)
	return piece{form: formCall, segments: s.Segments()}, nil
}

// ToolResult implements [delivery.Encoder].
func (e *encoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	id, ok := e.ids.result(r.CallID)
	if !ok {
		return piece{}, errors.New("a tool result answers no call that waits for one")
	}
	var s provider.Spelling
	s.Raw(`{"type":"tool_result","tool_use_id":"` + id + `"`)
	if r.IsError {
		s.Raw(`,"is_error":true`)
	}
	var said []piece
	for _, p := range parts {
		if p.form == formMedia && r.IsError {
			return piece{}, errors.New("the result of a call that failed holds media, which the Messages API refuses")
		}
		if p.form != formNothing {
			said = append(said, p)
		}
	}
	s.Raw(`,"content":`)
	switch {
	case len(said) == 0:
		s.String("[no output]")
	case len(said) == 1 && said[0].form == formText:
		s.String(said[0].text)
	default:
		s.Raw(`[`)
		spellBlocks(&s, said)
		s.Raw(`]`)
	}
	s.Raw(`}`)
	return piece{form: formResult, segments: s.Segments()}, nil
}

// Message implements [delivery.Encoder]. It gives the blocks of a message
// without what surrounds them, which join adds.
func (e *encoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	said := make([]piece, 0, len(parts))
	for _, p := range parts {
		if p.form == formNothing {
			continue
		}
		if err := fits(role, p.form); err != nil {
			return nil, err
		}
		said = append(said, p)
	}
	if len(said) == 0 {
		said = append(said, textPiece(emptyWords(role)))
	}
	e.roles = append(e.roles, role)
	e.thoughtful = append(e.thoughtful, said[0].form == formThought)
	var s provider.Spelling
	spellBlocks(&s, said)
	return s.Segments(), nil
}

// emptyWords stand in a message of which nothing is left.
func emptyWords(role content.Role) string {
	if role == content.RoleAssistant {
		return "[no answer]"
	}
	return "[empty message]"
}

// fits reports a part that may not stand in a message of a role.
func fits(role content.Role, f form) error {
	switch role {
	case content.RoleUser:
		if f != formText && f != formMedia {
			return errors.New("a user message holds what only a model or a tool says")
		}
	case content.RoleAssistant:
		if f != formText && f != formThought && f != formCall {
			return errors.New("an assistant message holds media or tool results")
		}
	case content.RoleTool:
		if f != formResult {
			return errors.New("a tool message holds something else than results")
		}
	default:
		return fmt.Errorf("unknown role %d", role)
	}
	return nil
}

func spellBlocks(s *provider.Spelling, blocks []piece) {
	for i, p := range blocks {
		if i > 0 {
			s.Raw(",")
		}
		s.Append(p.segments)
	}
}
