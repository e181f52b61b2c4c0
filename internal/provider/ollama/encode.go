package ollama

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// form is what a piece becomes in its message.
type form uint8

const (
	formText    form = iota
	formMedia        // an entry of images
	formThought      // a field of an assistant message
	formCall         // an entry of tool_calls
	formResult       // a message of its own
)

// piece is one part, spelled as far as it can be without its message.
type piece struct {
	form form
	// text is the prose of formText and formThought.
	text string
	blob content.Blob
	call content.ToolCall
	// segments is the JSON of formResult.
	segments []delivery.Segment
}

// encoder spells parts as messages. prose makes text safe beside pictures.
type encoder struct{ prose func(string) string }

var _ delivery.Encoder[piece] = encoder{}

func plain(s string) string { return s }

// marks are the server's words for the place of a picture
// (https://github.com/ollama/ollama/blob/main/server/prompt.go and
// model/renderers/image_tags.go, read 2026-11-30).
var marks = strings.NewReplacer("[img]", "[img ]", "[img-", "[img -")

// unmarked puts a space into what the server would take for the place of a
// picture: it would put one there, and none where it belongs.
func unmarked(s string) string { return marks.Replace(s) }

// Text implements [content.Visitor].
func (e encoder) Text(b content.Text) (piece, error) {
	return piece{form: formText, text: e.prose(b.Body)}, nil
}

// Image implements [content.Visitor].
func (encoder) Image(b content.Image) (piece, error) {
	return piece{form: formMedia, blob: b.Prepared}, nil
}

// Audio implements [content.Visitor]. Sound stands among the pictures, and the
// server tells it by its bytes.
func (encoder) Audio(b content.Audio) (piece, error) {
	switch b.Prepared.MIME {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/mpeg", "audio/mp3":
		return piece{form: formMedia, blob: b.Prepared}, nil
	}
	return piece{}, fmt.Errorf("sound of type %q has no form on this wire", b.Prepared.MIME)
}

// Document implements [content.Visitor].
func (encoder) Document(b content.Document) (piece, error) {
	return piece{}, fmt.Errorf("a document of type %q has no form on this wire", b.Prepared.MIME)
}

// ResourceText implements [content.Visitor]. Its label stands before it.
func (e encoder) ResourceText(b content.ResourceText) (piece, error) {
	return piece{form: formText, text: e.prose(b.Body)}, nil
}

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (e encoder) ResourceLink(b content.ResourceLink) (piece, error) {
	return piece{form: formText, text: e.prose("[link: " + b.URI + "]")}, nil
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (e encoder) Opaque(b content.Opaque) (piece, error) {
	return piece{form: formText, text: e.prose("[" + content.Clean(b.Type) + " block: " + string(b.Handle) + "]")}, nil
}

// Reasoning implements [delivery.Encoder].
func (e encoder) Reasoning(r content.Reasoning) (piece, error) {
	return piece{form: formThought, text: e.prose(r.Text)}, nil
}

// ToolCall implements [delivery.Encoder].
func (encoder) ToolCall(c content.ToolCall) (piece, error) {
	return piece{form: formCall, call: c}, nil
}

// ToolResult implements [delivery.Encoder]. The server reads the name, the
// template of the model the identifier.
func (encoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"role":"tool","content":`)
	s.String(joinText(parts, formText))
	spellImages(&s, parts)
	s.Raw(`,"tool_name":`)
	s.String(r.Name)
	s.Raw(`,"tool_call_id":`)
	s.String(r.CallID)
	s.Raw(`}`)
	return piece{form: formResult, segments: s.Segments()}, nil
}

// Message implements [delivery.Encoder].
func (e encoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	var s provider.Spelling
	switch role {
	case content.RoleUser:
		for _, p := range parts {
			if p.form != formText && p.form != formMedia {
				return nil, errors.New("a user message holds what only a model or a tool says")
			}
		}
		s.Raw(`{"role":"user","content":`)
		s.String(joinText(parts, formText))
		spellImages(&s, parts)
		s.Raw(`}`)
	case content.RoleAssistant:
		if err := e.spellAssistant(&s, parts); err != nil {
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

func (e encoder) spellAssistant(s *provider.Spelling, parts []piece) error {
	var calls []content.ToolCall
	for _, p := range parts {
		switch p.form {
		case formCall:
			calls = append(calls, p.call)
		case formText, formThought:
		case formMedia, formResult:
			return errors.New("an assistant message holds media or tool results")
		}
	}
	s.Raw(`{"role":"assistant","content":`)
	s.String(joinText(parts, formText))
	if t := joinText(parts, formThought); t != "" {
		s.Raw(`,"thinking":`)
		s.String(t)
	}
	for i, c := range calls {
		if i == 0 {
			s.Raw(`,"tool_calls":[`)
		} else {
			s.Raw(`,`)
		}
		s.Raw(`{"id":`)
		s.String(c.ID)
		s.Raw(`,"function":{"index":` + strconv.Itoa(i) + `,"name":`)
		s.String(c.Name)
		s.Raw(`,"arguments":` + e.prose(provider.Arguments(c.Arguments)) + `}}`)
	}
	if len(calls) > 0 {
		s.Raw(`]`)
	}
	s.Raw(`}`)
	return nil
}

// joinText joins the pieces of one form, one a line.
func joinText(parts []piece, f form) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.form == f {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}

func spellImages(s *provider.Spelling, parts []piece) {
	open := false
	for _, p := range parts {
		if p.form != formMedia {
			continue
		}
		if open {
			s.Raw(`,"`)
		} else {
			s.Raw(`,"images":["`)
			open = true
		}
		s.Base64(p.blob)
		s.Raw(`"`)
	}
	if open {
		s.Raw(`]`)
	}
}
