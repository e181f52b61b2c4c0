package openai

import (
	"errors"
	"fmt"
	"mime"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// form is what a piece becomes in its message.
type form uint8

const (
	formText    form = iota // text, in the string or the array form
	formMedia               // a part of the array form
	formThought             // a field of an assistant message
	formCall                // an entry of tool_calls
	formResult              // a message of its own
)

// piece is one part, spelled as far as it can be without its message.
type piece struct {
	form form
	// text is the prose of formText and formThought.
	text string
	// field is the name of the field for formThought.
	field string
	// segments is the JSON of the other forms, and of a formThought that is
	// more than prose.
	segments []delivery.Segment
}

// chatEncoder spells parts for Chat Completions.
type chatEncoder struct {
	detail string
	// by is the maker whose signatures are given back.
	by string
	// thoughtAlways: an assistant message without thinking says so.
	thoughtAlways bool
	// names gives calls and results their identifiers.
	names *callNames
	// marks collects where the cache may be marked, nil where it may not.
	marks *chatMarks
}

var _ delivery.Encoder[piece] = chatEncoder{}

// Text implements [content.Visitor].
func (chatEncoder) Text(b content.Text) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// Image implements [content.Visitor].
func (e chatEncoder) Image(b content.Image) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"type":"image_url","image_url":{"url":"data:` + mediaType(b.Prepared.MIME) + `;base64,`)
	s.Base64(b.Prepared)
	s.Raw(`"`)
	if e.detail != "" {
		s.Raw(`,"detail":`)
		s.String(e.detail)
	}
	s.Raw(`}}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// mediaType is safe to stand inside a JSON string and a data URI.
func mediaType(t string) string {
	if m, _, err := mime.ParseMediaType(t); err == nil && !strings.ContainsAny(m, `"\`) {
		return m
	}
	return "application/octet-stream"
}

// Audio implements [content.Visitor].
func (chatEncoder) Audio(b content.Audio) (piece, error) {
	var format string
	switch b.Prepared.MIME {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		format = "wav"
	case "audio/mpeg", "audio/mp3":
		format = "mp3"
	default:
		return piece{}, fmt.Errorf("sound of type %q has no form in Chat Completions", b.Prepared.MIME)
	}
	var s provider.Spelling
	s.Raw(`{"type":"input_audio","input_audio":{"data":"`)
	s.Base64(b.Prepared)
	s.Raw(`","format":"` + format + `"}}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// Document implements [content.Visitor].
func (chatEncoder) Document(b content.Document) (piece, error) {
	if b.Prepared.MIME != "application/pdf" {
		return piece{}, fmt.Errorf("a document of type %q has no form in Chat Completions", b.Prepared.MIME)
	}
	name := b.Name
	if name == "" {
		name = string(b.Handle)
	}
	var s provider.Spelling
	s.Raw(`{"type":"file","file":{"filename":`)
	s.String(name)
	s.Raw(`,"file_data":"data:application/pdf;base64,`)
	s.Base64(b.Prepared)
	s.Raw(`"}}`)
	return piece{form: formMedia, segments: s.Segments()}, nil
}

// ResourceText implements [content.Visitor]. Its label stands before it.
func (chatEncoder) ResourceText(b content.ResourceText) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (chatEncoder) ResourceLink(b content.ResourceLink) (piece, error) {
	return piece{form: formText, text: "[link: " + b.URI + "]"}, nil
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (chatEncoder) Opaque(b content.Opaque) (piece, error) {
	return piece{form: formText, text: "[" + content.Clean(b.Type) + " block: " + string(b.Handle) + "]"}, nil
}

// Reasoning implements [delivery.Encoder]. The signature is the name of the
// field that it came in and goes back in, or holds it beside the entries that
// the server wants back as they were. Another server, or another model of it,
// gets the words alone.
func (e chatEncoder) Reasoning(r content.Reasoning) (piece, error) {
	field := r.Signature
	k, ok := parseKept(r.Signature)
	if ok {
		field = k.Field
	}
	if field != reasoningShort {
		field = reasoningContent
	}
	p := piece{form: formThought, text: r.Text, field: field}
	if ok && k.By == e.by && k.Details != nil {
		// The entries without their brackets, to be joined to others.
		p.segments = []delivery.Segment{delivery.Literal([]byte(k.Details[1 : len(k.Details)-1]))}
	}
	return p, nil
}

// The fields that servers give a model's thinking in.
const (
	reasoningContent = "reasoning_content"
	reasoningShort   = "reasoning"
)

// ToolCall implements [delivery.Encoder].
func (e chatEncoder) ToolCall(c content.ToolCall) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"id":`)
	s.String(e.names.call(c.ID))
	s.Raw(`,"type":"function","function":{"name":`)
	s.String(c.Name)
	s.Raw(`,"arguments":`)
	s.String(provider.Arguments(c.Arguments))
	s.Raw(`}`)
	if k, ok := parseKept(c.Signature); ok && k.By == e.by && k.Call != nil {
		s.Raw(`,"extra_content":`)
		s.Bytes(k.Call)
	}
	s.Raw(`}`)
	return piece{form: formCall, segments: s.Segments()}, nil
}

// ToolResult implements [delivery.Encoder].
func (e chatEncoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	id, err := e.names.result(r.CallID)
	if err != nil {
		return piece{}, err
	}
	var s provider.Spelling
	s.Raw(`{"role":"tool","tool_call_id":`)
	s.String(id)
	s.Raw(`,"content":`)
	if allText(parts) {
		s.String(joinText(parts))
	} else {
		spellArray(&s, parts, -1)
	}
	s.Raw(`}`)
	return piece{form: formResult, segments: s.Segments()}, nil
}

// Message implements [delivery.Encoder].
func (e chatEncoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	e.marks.next(role, parts)
	var s provider.Spelling
	switch role {
	case content.RoleUser:
		for _, p := range parts {
			if p.form != formText && p.form != formMedia {
				return nil, errors.New("a user message holds what only a model or a tool says")
			}
		}
		s.Raw(`{"role":"user","content":`)
		spellArray(&s, parts, -1)
		s.Raw(`}`)
	case content.RoleAssistant:
		if err := e.assistant(&s, parts); err != nil {
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

func (e chatEncoder) assistant(s *provider.Spelling, parts []piece) error {
	var text, calls, thoughts []piece
	for _, p := range parts {
		switch p.form {
		case formText:
			text = append(text, p)
		case formCall:
			calls = append(calls, p)
		case formThought:
			thoughts = append(thoughts, p)
		case formMedia, formResult:
			return errors.New("an assistant message holds media or tool results")
		}
	}
	s.Raw(`{"role":"assistant","content":`)
	if len(text) == 0 && len(calls) > 0 {
		s.Raw("null")
	} else {
		s.String(joinText(text))
	}
	e.thoughts(s, thoughts)
	if len(calls) > 0 {
		s.Raw(`,"tool_calls":[`)
		for i, p := range calls {
			if i > 0 {
				s.Raw(",")
			}
			s.Append(p.segments)
		}
		s.Raw(`]`)
	}
	s.Raw(`}`)
	return nil
}

// thoughts spells the fields of an assistant message that hold its thinking:
// the entries that a server wants back, else the words.
func (e chatEncoder) thoughts(s *provider.Spelling, thoughts []piece) {
	var details, plain []piece
	for _, p := range thoughts {
		if p.segments != nil {
			details = append(details, p)
		} else if p.text != "" {
			plain = append(plain, p)
		}
	}
	switch {
	case len(plain) > 0:
		s.Raw(`,"` + plain[0].field + `":`)
		s.String(joinText(plain))
	case e.thoughtAlways && len(details) == 0:
		s.Raw(`,"` + reasoningContent + `":""`)
	}
	for i, p := range details {
		if i == 0 {
			s.Raw(`,"reasoning_details":[`)
		} else {
			s.Raw(",")
		}
		s.Append(p.segments)
	}
	if len(details) > 0 {
		s.Raw(`]`)
	}
}

func allText(parts []piece) bool {
	for _, p := range parts {
		if p.form != formText {
			return false
		}
	}
	return true
}

func joinText(parts []piece) string {
	if len(parts) == 1 {
		return parts[0].text
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n")
}

// spellArray spells the array form of content, with a mark for the cache in the
// text part at index marked, -1 for none. No text part is empty: servers refuse
// that.
func spellArray(s *provider.Spelling, parts []piece, marked int) {
	s.Raw(`[`)
	sep := ""
	for i, p := range parts {
		if p.form == formText && p.text == "" {
			continue
		}
		s.Raw(sep)
		sep = ","
		if p.form == formText {
			s.Raw(`{"type":"text","text":`)
			s.String(p.text)
			if i == marked {
				s.Raw(cacheMark)
			}
			s.Raw(`}`)
			continue
		}
		s.Append(p.segments)
	}
	s.Raw(`]`)
}
