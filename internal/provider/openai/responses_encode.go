package openai

import (
	"errors"
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// responsesEncoder spells parts as items of a Responses input.
type responsesEncoder struct {
	detail string
	// by is the maker whose thinking is given back.
	by string
	// names gives calls and results their identifiers.
	names *callNames
}

var _ delivery.Encoder[piece] = responsesEncoder{}

// Text implements [content.Visitor].
func (responsesEncoder) Text(b content.Text) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// Image implements [content.Visitor].
func (e responsesEncoder) Image(b content.Image) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"type":"input_image","image_url":"data:` + mediaType(b.Prepared.MIME) + `;base64,`)
	s.Base64(b.Prepared)
	s.Raw(`"`)
	if e.detail != "" {
		s.Raw(`,"detail":`)
		s.String(e.detail)
	}
	s.Raw(`}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// Audio implements [content.Visitor]. The wire has no part for sound.
func (responsesEncoder) Audio(b content.Audio) (piece, error) {
	return piece{}, fmt.Errorf("sound of type %q has no form in Responses", b.Prepared.MIME)
}

// Document implements [content.Visitor]. Of other files than PDFs the server
// would pass on a part of the text only.
func (responsesEncoder) Document(b content.Document) (piece, error) {
	if b.Prepared.MIME != "application/pdf" {
		return piece{}, fmt.Errorf("a document of type %q has no form in Responses", b.Prepared.MIME)
	}
	name := b.Name
	if name == "" {
		name = string(b.Handle)
	}
	var s provider.Spelling
	s.Raw(`{"type":"input_file","filename":`)
	s.String(name)
	s.Raw(`,"file_data":"data:application/pdf;base64,`)
	s.Base64(b.Prepared)
	s.Raw(`"}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// ResourceText implements [content.Visitor]. Its label stands before it.
func (responsesEncoder) ResourceText(b content.ResourceText) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (responsesEncoder) ResourceLink(b content.ResourceLink) (piece, error) {
	return chatEncoder{}.ResourceLink(b)
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (responsesEncoder) Opaque(b content.Opaque) (piece, error) { return chatEncoder{}.Opaque(b) }

// Reasoning implements [delivery.Encoder]. Nothing is stored on the server, so
// only thinking that came encrypted can be given back, and only to the model
// that it came from.
func (e responsesEncoder) Reasoning(r content.Reasoning) (piece, error) {
	k, ok := parseKept(r.Signature)
	if !ok || k.By != e.by {
		return piece{form: formThought}, nil
	}
	p := piece{form: formThought, field: k.Phase}
	if k.ID == "" || k.Encrypted == "" {
		return p, nil
	}
	var s provider.Spelling
	s.Raw(`{"type":"reasoning","id":`)
	s.String(k.ID)
	s.Raw(`,"summary":[`)
	for i, text := range k.Summary {
		if i > 0 {
			s.Raw(",")
		}
		s.Raw(`{"type":"summary_text","text":`)
		s.String(text)
		s.Raw(`}`)
	}
	s.Raw(`],"encrypted_content":`)
	s.String(k.Encrypted)
	s.Raw(`}`)
	p.segments = s.Segments()
	return p, nil
}

// ToolCall implements [delivery.Encoder].
func (e responsesEncoder) ToolCall(c content.ToolCall) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"type":"function_call","call_id":`)
	s.String(e.names.call(c.ID))
	s.Raw(`,"name":`)
	s.String(c.Name)
	s.Raw(`,"arguments":`)
	s.String(provider.Arguments(c.Arguments))
	s.Raw(`}`)
	return piece{form: formCall, segments: s.Segments()}, nil
}

// ToolResult implements [delivery.Encoder].
func (e responsesEncoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	id, err := e.names.result(r.CallID)
	if err != nil {
		return piece{}, err
	}
	var s provider.Spelling
	s.Raw(`{"type":"function_call_output","call_id":`)
	s.String(id)
	s.Raw(`,"output":`)
	if allText(parts) {
		s.String(joinText(parts))
	} else {
		spellInput(&s, parts)
	}
	s.Raw(`}`)
	return piece{form: formResult, segments: s.Segments()}, nil
}

// spellInput spells the parts of a user message or of a result. No text part
// is empty.
func spellInput(s *provider.Spelling, parts []piece) {
	s.Raw(`[`)
	sep := ""
	for _, p := range parts {
		if p.form == formText && p.text == "" {
			continue
		}
		s.Raw(sep)
		sep = ","
		if p.form == formText {
			s.Raw(`{"type":"input_text","text":`)
			s.String(p.text)
			s.Raw(`}`)
			continue
		}
		s.Append(p.segments)
	}
	s.Raw(`]`)
}

// Message implements [delivery.Encoder].
func (responsesEncoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	var s provider.Spelling
	switch role {
	case content.RoleUser:
		for _, p := range parts {
			if p.form != formText && p.form != formMedia {
				return nil, errors.New("a user message holds what only a model or a tool says")
			}
		}
		s.Raw(`{"type":"message","role":"user","content":`)
		spellInput(&s, parts)
		s.Raw(`}`)
	case content.RoleAssistant:
		if err := spellOutput(&s, parts); err != nil {
			return nil, err
		}
	case content.RoleTool:
		for i, p := range parts {
			if p.form != formResult {
				return nil, errors.New("a tool message holds something else than results")
			}
			if i > 0 {
				s.Raw(",")
			}
			s.Append(p.segments)
		}
	default:
		return nil, fmt.Errorf("unknown role %d", role)
	}
	return s.Segments(), nil
}

// spellOutput spells what a model said as the items that it came in: thinking,
// one message, calls.
func spellOutput(s *provider.Spelling, parts []piece) error {
	sep, phase := "", ""
	item := func(segments []delivery.Segment) {
		s.Raw(sep)
		sep = ","
		s.Append(segments)
	}
	var text []piece
	for _, p := range parts {
		if p.form == formThought && p.field != "" {
			phase = p.field
		}
		if p.form == formText && p.text != "" {
			text = append(text, p)
		}
	}
	for _, p := range parts {
		switch p.form {
		case formThought:
			if p.segments != nil {
				item(p.segments)
			}
		case formText:
			if p.text != "" && len(text) > 0 {
				item(outputText(joinText(text), phase))
				text = nil // all of it stands in the one message
			}
		case formCall:
			item(p.segments)
		case formMedia, formResult:
			return errors.New("an assistant message holds media or tool results")
		}
	}
	return nil
}

// outputText spells what a model said. The form with parts is for what the server
// stores under an id; without one, strict servers refuse it
// (https://github.com/vercel/ai/issues/20995, read 2026-11-30).
func outputText(text, phase string) []delivery.Segment {
	var s provider.Spelling
	s.Raw(`{"type":"message","role":"assistant","content":`)
	s.String(text)
	if phase != "" {
		s.Raw(`,"phase":`)
		s.String(phase)
	}
	s.Raw(`}`)
	return s.Segments()
}
