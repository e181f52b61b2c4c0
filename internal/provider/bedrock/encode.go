package bedrock

import (
	"encoding/base64"
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
	formNothing form = iota // thinking that no model takes back
	formText
	formMedia // a picture or a document: also in a tool result
	formSound // never in a tool result
	formThought
	formCall
	formResult
)

// piece is one part, spelled as far as it can be without its message.
type piece struct {
	form form
	// text is that of formText.
	text string
	// segments is the JSON of the other forms but formResult.
	segments []delivery.Segment
	// office marks a document that is no PDF: no cache point may follow it.
	office bool
	result result
}

// result is an answer to a call whose parts are not joined yet.
type result struct {
	id     string
	failed bool
	parts  []piece
}

// encoder spells parts for Converse and collects the messages.
type encoder struct {
	status    bool
	ids       ids
	documents map[string]int
	// called are the names of the tools that the conversation calls.
	called   map[string]bool
	messages []message
}

var _ delivery.Encoder[piece] = (*encoder)(nil)

// Text implements [content.Visitor].
func (*encoder) Text(b content.Text) (piece, error) {
	return piece{form: formText, text: b.Body}, nil
}

// Image implements [content.Visitor].
func (*encoder) Image(b content.Image) (piece, error) {
	f, ok := format(imageFormats, b.Prepared.MIME)
	if !ok {
		return piece{}, fmt.Errorf("a picture of type %q has no form in Converse", b.Prepared.MIME)
	}
	return piece{form: formMedia, segments: media("image", `"format":"`+f+`"`, b.Prepared)}, nil
}

// media spells a block whose source is bytes.
func media(kind, fields string, b content.Blob) []delivery.Segment {
	var s provider.Spelling
	s.Raw(`{"` + kind + `":{` + fields + `,"source":{"bytes":"`)
	s.Base64(b)
	s.Raw(`"}}}`)
	return s.Segments()
}

// Audio implements [content.Visitor].
func (*encoder) Audio(b content.Audio) (piece, error) {
	f, ok := format(audioFormats, b.Prepared.MIME)
	if !ok {
		return piece{}, fmt.Errorf("sound of type %q has no form in Converse", b.Prepared.MIME)
	}
	return piece{form: formSound, segments: media("audio", `"format":"`+f+`"`, b.Prepared)}, nil
}

// Document implements [content.Visitor]. The label before it is the text that
// the service wants in its message.
func (e *encoder) Document(b content.Document) (piece, error) {
	f, ok := format(documentFormats, b.Prepared.MIME)
	if !ok {
		return piece{}, fmt.Errorf("a document of type %q has no form in Converse", b.Prepared.MIME)
	}
	name := documentName(string(b.Handle))
	if e.documents == nil {
		e.documents = map[string]int{}
	}
	e.documents[name]++
	if n := e.documents[name]; n > 1 { // the same one again, in another message
		name += " (" + strconv.Itoa(n) + ")"
	}
	fields := `"format":"` + f + `","name":"` + name + `"`
	return piece{form: formMedia, segments: media("document", fields, b.Prepared), office: f != "pdf"}, nil
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

// redacted marks the signature of a thought that came encrypted; the rest of it
// is the base64 of what came. A signature is base64 and never begins so.
const redacted = "redacted:"

// Reasoning implements [delivery.Encoder]. What has no signature stays away:
// Claude refuses it, and so do others (langchain-aws#401).
func (*encoder) Reasoning(r content.Reasoning) (piece, error) {
	if r.Path != Path || r.Signature == "" {
		return piece{}, nil
	}
	var s provider.Spelling
	if data, ok := strings.CutPrefix(r.Signature, redacted); ok {
		if _, err := base64.StdEncoding.DecodeString(data); err != nil {
			return piece{}, nil //nolint:nilerr // a damaged record of thinking is no reason to refuse the conversation
		}
		s.Raw(`{"reasoningContent":{"redactedContent":"` + data + `"}}`)
	} else {
		s.Raw(`{"reasoningContent":{"reasoningText":{"text":`)
		s.String(r.Text)
		s.Raw(`,"signature":`)
		s.String(r.Signature)
		s.Raw(`}}}`)
	}
	return piece{form: formThought, segments: s.Segments()}, nil
}

// ToolCall implements [delivery.Encoder].
func (e *encoder) ToolCall(c content.ToolCall) (piece, error) {
	name := toolName(c.Name)
	if e.called == nil {
		e.called = map[string]bool{}
	}
	e.called[name] = true
	var s provider.Spelling
	s.Raw(`{"toolUse":{"toolUseId":`)
	s.String(e.ids.call(c.ID))
	s.Raw(`,"name":`)
	s.String(name)
	s.Raw(`,"input":` + provider.Arguments(c.Arguments) + `}}`)
	return piece{form: formCall, segments: s.Segments()}, nil
}

// ToolResult implements [delivery.Encoder].
func (e *encoder) ToolResult(r content.ToolResult, parts []piece) (piece, error) {
	return piece{form: formResult, result: result{id: e.ids.answer(r.CallID), failed: r.IsError, parts: parts}}, nil
}

// Message implements [delivery.Encoder]. What it returns is what stands in the
// message's content; joining messages of one role is left to Encode.
func (e *encoder) Message(role content.Role, parts []piece) ([]delivery.Segment, error) {
	var m message
	var err error
	switch role {
	case content.RoleUser:
		m.role = roleUser
		err = m.add(parts, "[empty message]", formText, formMedia, formSound)
	case content.RoleAssistant:
		m.role = roleAssistant
		err = m.add(parts, "[no answer]", formText, formThought, formCall)
	case content.RoleTool:
		m.role = roleUser
		err = e.results(&m, parts)
	default:
		err = fmt.Errorf("unknown role %d", role)
	}
	if err != nil {
		return nil, err
	}
	e.messages = append(e.messages, m)
	return m.segments(), nil
}

// results spells the answers to a batch of calls. Sound has no place in them, so
// it follows behind all of them, each under its label; media that come after it
// go along, because media keep their order.
func (e *encoder) results(m *message, parts []piece) error {
	var behind []piece
	for _, p := range parts {
		if p.form != formResult {
			return errors.New("a tool message holds something else than results")
		}
		var inside message
		var label *piece
		for i := range p.result.parts {
			q := &p.result.parts[i]
			switch {
			case q.form == formText:
				label = q
			case q.form == formSound, q.form == formMedia && len(behind) > 0:
				if label != nil {
					behind = append(behind, *label)
				}
				behind = append(behind, *q)
				continue
			}
			if err := inside.add([]piece{*q}, "", formText, formMedia); err != nil {
				return err
			}
		}
		if len(inside.elements) == 0 {
			inside.text("[no output]")
		}
		m.elements = append(m.elements, element{segments: e.result(p.result, inside), form: formResult})
	}
	return m.add(behind, "", formText, formMedia, formSound)
}

func (e *encoder) result(r result, inside message) []delivery.Segment {
	var s provider.Spelling
	s.Raw(`{"toolResult":{"toolUseId":`)
	s.String(r.id)
	s.Raw(`,"content":[`)
	inside.spell(&s)
	s.Raw(`]`)
	switch {
	case e.status && r.failed:
		s.Raw(`,"status":"error"`)
	case e.status:
		s.Raw(`,"status":"success"`)
	}
	s.Raw(`}}`)
	return s.Segments()
}
