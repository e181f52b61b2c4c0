package gemini

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// form is what a piece becomes in its content.
type form uint8

const (
	formText form = iota
	formMedia
	formThought
	formCall
	formResult
)

// piece is one part, spelled as far as it can be without its place.
type piece struct {
	form form
	// text is the prose of formText.
	text string
	// blob, mime and name are those of formMedia: the name is what a result
	// calls it.
	blob       content.Blob
	mime, name string
	thought    content.Reasoning
	call       content.ToolCall
	// segments is the JSON of formResult.
	segments []delivery.Segment
}

// encoder spells the parts of contents. It belongs to one Encode.
type encoder struct {
	config *Config
	// roles are those of the messages so far.
	roles []content.Role
}

var _ delivery.Encoder[piece] = (*encoder)(nil)

// Text implements [content.Visitor].
func (*encoder) Text(b content.Text) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// Image implements [content.Visitor].
func (*encoder) Image(b content.Image) (piece, error) { return media(b.Attachment), nil }

func media(a content.Attachment) piece {
	return piece{form: formMedia, blob: a.Prepared, mime: mediaType(a.Prepared.MIME), name: string(a.Handle)}
}

// mediaType drops parameters, which the backend refuses.
func mediaType(t string) string {
	if m, _, err := mime.ParseMediaType(t); err == nil {
		return m
	}
	return "application/octet-stream"
}

// soundTypes are Google's names for the types of sound
// (https://ai.google.dev/gemini-api/docs/audio, read 2026-11-30).
var soundTypes = map[string]string{
	"audio/wav": "audio/wav", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav",
	"audio/mpeg": "audio/mp3", "audio/mp3": "audio/mp3", "audio/aiff": "audio/aiff", "audio/x-aiff": "audio/aiff",
	"audio/aac": "audio/aac", "audio/ogg": "audio/ogg", "audio/flac": "audio/flac", "audio/x-flac": "audio/flac",
}

// Audio implements [content.Visitor].
func (*encoder) Audio(b content.Audio) (piece, error) {
	p := media(b.Attachment)
	name, ok := soundTypes[p.mime]
	if !ok {
		return piece{}, fmt.Errorf("sound of type %q has no form on this wire", b.Prepared.MIME)
	}
	p.mime = name
	return p, nil
}

// Document implements [content.Visitor].
func (*encoder) Document(b content.Document) (piece, error) {
	p := media(b.Attachment)
	if p.mime != "application/pdf" {
		return piece{}, fmt.Errorf("a document of type %q has no form on this wire", b.Prepared.MIME)
	}
	return p, nil
}

// ResourceText implements [content.Visitor]. Its label stands before it.
func (*encoder) ResourceText(b content.ResourceText) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (*encoder) ResourceLink(b content.ResourceLink) (piece, error) {
	return piece{form: formText, text: "[link: " + b.URI + "]"}, nil
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (*encoder) Opaque(b content.Opaque) (piece, error) {
	return piece{form: formText, text: "[" + content.Clean(b.Type) + " block: " + string(b.Handle) + "]"}, nil
}

// Reasoning implements [delivery.Encoder].
func (*encoder) Reasoning(r content.Reasoning) (piece, error) {
	return piece{form: formThought, thought: r}, nil
}

// ToolCall implements [delivery.Encoder].
func (*encoder) ToolCall(c content.ToolCall) (piece, error) {
	return piece{form: formCall, call: c}, nil
}

// ToolResult implements [delivery.Encoder]. Media stand in the result, where the
// profile left them there.
func (e *encoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	var s provider.Spelling
	s.Raw(`{"functionResponse":{`)
	if !e.config.NoCallIDs {
		s.Raw(`"id":`)
		s.String(r.CallID)
		s.Raw(`,`)
	}
	s.Raw(`"name":`)
	s.String(r.Name)
	if r.IsError {
		s.Raw(`,"response":{"error":`)
	} else {
		s.Raw(`,"response":{"output":`)
	}
	s.String(joinText(parts))
	s.Raw(`}`)
	open := false
	for i := range parts {
		p := &parts[i]
		if p.form != formMedia {
			continue
		}
		if !open {
			s.Raw(`,"parts":[`)
			open = true
		} else {
			s.Raw(`,`)
		}
		s.Raw(`{"inlineData":{"displayName":`)
		s.String(p.name)
		s.Raw(`,`)
		spellInline(&s, p)
	}
	if open {
		s.Raw(`]`)
	}
	s.Raw(`}}`)
	return piece{form: formResult, segments: s.Segments()}, nil
}

// spellInline ends an inlineData part.
func spellInline(s *provider.Spelling, p *piece) {
	s.Raw(`"mimeType":`)
	s.String(p.mime)
	s.Raw(`,"data":"`)
	s.Base64(p.blob)
	s.Raw(`"}}`)
}

func joinText(parts []piece) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.form == formText {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}

// Message implements [delivery.Encoder]. It returns the parts alone: Encode
// joins neighbours of the same wire role.
func (e *encoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	e.roles = append(e.roles, role)
	var l list
	switch role {
	case content.RoleUser:
		for i := range parts {
			switch p := &parts[i]; p.form {
			case formText:
				l.text(p.text, "")
			case formMedia:
				l.next()
				l.s.Raw(`{"inlineData":{`)
				spellInline(&l.s, p)
			case formThought, formCall, formResult:
				return nil, errors.New("a user message holds what only a model or a tool says")
			}
		}
	case content.RoleAssistant:
		if err := e.model(&l, parts); err != nil {
			return nil, err
		}
	case content.RoleTool:
		for _, p := range parts {
			if p.form != formResult {
				return nil, errors.New("a tool message holds something else than results")
			}
			l.next()
			l.s.Append(p.segments)
		}
	default:
		return nil, fmt.Errorf("unknown role %d", role)
	}
	return l.s.Segments(), nil
}

// list spells parts with commas between them.
type list struct {
	s     provider.Spelling
	begun bool
}

func (l *list) next() {
	if l.begun {
		l.s.Raw(`,`)
	}
	l.begun = true
}

// text adds prose. An empty part is left out, which servers refuse, unless the
// model signed it.
func (l *list) text(text, signature string) {
	if text == "" && signature == "" {
		return
	}
	l.next()
	l.s.Raw(`{"text":`)
	l.s.String(text)
	l.sign(signature)
	l.s.Raw(`}`)
}

func (l *list) thought(text, signature string) {
	l.next()
	l.s.Raw(`{"text":`)
	l.s.String(text)
	l.s.Raw(`,"thought":true`)
	l.sign(signature)
	l.s.Raw(`}`)
}

func (l *list) sign(signature string) {
	if signature != "" {
		l.s.Raw(`,"thoughtSignature":`)
		l.s.String(signature)
	}
}

func (e *encoder) call(l *list, c content.ToolCall, signature string) {
	l.next()
	l.s.Raw(`{"functionCall":{`)
	if !e.config.NoCallIDs {
		l.s.Raw(`"id":`)
		l.s.String(c.ID)
		l.s.Raw(`,`)
	}
	l.s.Raw(`"name":`)
	l.s.String(c.Name)
	l.s.Raw(`,"args":`)
	l.s.Raw(provider.Arguments(c.Arguments))
	l.s.Raw(`}`)
	l.sign(signature)
	l.s.Raw(`}`)
}

// foreignSignature is what Google documents for calls that another model made:
// https://ai.google.dev/gemini-api/docs/thought-signatures (read 2026-11-30).
const foreignSignature = "skip_thought_signature_validator"

// model spells what the model said. Of the calls of one message only the first
// has to be signed.
func (e *encoder) model(l *list, parts []piece) error {
	calls := slices.ContainsFunc(parts, func(p piece) bool { return p.form == formCall })
	signed := slices.ContainsFunc(parts, func(p piece) bool { return p.form == formCall && p.call.Signature != "" })
	first := ""
	if calls && !signed && e.config.CallSignatures {
		first = foreignSignature
	}
	var sp speech
	flush := func() {
		sp.spell(l, func(c content.ToolCall) {
			signature := c.Signature
			if signature == "" {
				signature = first
			}
			first = ""
			e.call(l, c, signature)
		})
		sp = speech{}
	}
	for _, p := range parts {
		switch p.form {
		case formThought:
			if len(sp.texts) > 0 || len(sp.calls) > 0 {
				flush() // another answer, joined to the one before it
			}
			if m, ok := parseMark(p.thought); ok {
				sp.marks = append(sp.marks, m)
			}
		case formText:
			sp.texts = append(sp.texts, p.text)
		case formCall:
			sp.calls = append(sp.calls, p.call)
		case formMedia, formResult:
			return errors.New("an assistant message holds media or tool results")
		}
	}
	flush()
	return nil
}
