package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// The roles of the wire.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// cachePoint is the block up to which the prompt is cached.
const cachePoint = `{"cachePoint":{"type":"default"}}`

// element is one content block of a message.
type element struct {
	segments []delivery.Segment
	form     form
	office   bool
}

// message is one message of the wire.
type message struct {
	role     string
	elements []element
}

// add appends pieces of the allowed forms. Blank text is left out, because the
// service refuses it; filler stands in a message that would be empty then, ""
// for none.
func (m *message) add(parts []piece, filler string, allowed ...form) error {
	for _, p := range parts {
		switch {
		case p.form == formNothing:
		case !slices.Contains(allowed, p.form):
			return errors.New("a message holds what its role does not say")
		case p.form == formText:
			m.text(p.text)
		default:
			m.elements = append(m.elements, element{segments: p.segments, form: p.form, office: p.office})
		}
	}
	if len(m.elements) == 0 && filler != "" {
		m.text(filler)
	}
	return nil
}

func (m *message) text(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	var s provider.Spelling
	s.Raw(`{"text":`)
	s.String(text)
	s.Raw(`}`)
	m.elements = append(m.elements, element{segments: s.Segments(), form: formText})
}

// segments is everything in the message, without what joins it.
func (m *message) segments() []delivery.Segment {
	var out []delivery.Segment
	for _, e := range m.elements {
		out = append(out, e.segments...)
	}
	return out
}

func (m *message) spell(s *provider.Spelling) {
	for i, e := range m.elements {
		if i > 0 {
			s.Raw(",")
		}
		s.Append(e.segments)
	}
}

// cache marks the end of the message. A mark directly behind a document that is
// no PDF is refused (strands-agents/harness-sdk#1966), so it stands before it,
// and a mark with nothing before it is, too.
func (m *message) cache() {
	at := len(m.elements)
	for at > 0 && m.elements[at-1].office {
		at--
	}
	if at > 0 {
		mark := element{segments: []delivery.Segment{delivery.Literal(cachePoint)}}
		m.elements = slices.Insert(m.elements, at, mark)
	}
}

// joined makes one message of neighbours of the same role: roles alternate.
func joined(in []message) []message {
	var out []message
	for _, m := range in {
		if n := len(out); n > 0 && out[n-1].role == m.role {
			out[n-1].elements = append(out[n-1].elements, m.elements...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// marked marks the last message of the user and the one before it. The second
// mark is where the last one was a request earlier, so that the cache is found.
func marked(messages []message) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if messages[i].role == roleUser {
			messages[i].cache()
			left--
		}
	}
}

// thoughtless reports whether the last calls were made without thinking, or by
// another model: Claude with a budget refuses to go on from them thinking
// (RooCodeInc/Roo-Code#11238).
func thoughtless(messages []message) bool {
	for _, m := range slices.Backward(messages) {
		if m.role == roleAssistant {
			calls := slices.ContainsFunc(m.elements, func(e element) bool { return e.form == formCall })
			return calls && m.elements[0].form != formThought
		}
	}
	return false
}

// Encode implements [provider.Provider].
func (b *Converse) Encode(r provider.Request) (provider.Body, error) {
	e := &encoder{status: b.config.ResultStatus}
	if _, err := delivery.Render(r.Prompt, e); err != nil {
		return provider.Body{}, fmt.Errorf("encode converse request: %w", err)
	}
	var s provider.Spelling
	s.Raw(`{`)
	messages := joined(e.messages)
	effort := r.Effort
	if b.config.Thinking == ThinkingBudget && thoughtless(messages) {
		effort = provider.EffortNone
	}
	t := b.config.Thinking.spell(effort, r.MaxOutput)
	if t.fields != "" {
		s.Raw(`"additionalModelRequestFields":` + t.fields + `,`)
	}
	if t.output > 0 {
		s.Raw(`"inferenceConfig":{"maxTokens":` + strconv.Itoa(t.output) + `},`)
	}
	b.spellSystem(&s, r.System)
	if err := b.spellTools(&s, r.Tools, e.called); err != nil {
		return provider.Body{}, fmt.Errorf("encode converse request: %w", err)
	}
	if b.config.CachePoints != CacheOff {
		marked(messages)
	}
	s.Raw(`"messages":[`)
	for i := range messages {
		if i > 0 {
			s.Raw(",")
		}
		s.Raw(`{"role":"` + messages[i].role + `","content":[`)
		messages[i].spell(&s)
		s.Raw(`]}`)
	}
	s.Raw(`]}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	body.Header = map[string]string{"Accept": mediaType}
	body.Attached = &attached{names: toolNames(r.Tools)}
	return body, nil
}

// mediaType is that of an answer.
const mediaType = "application/vnd.amazon.eventstream"

func (b *Converse) spellSystem(s *provider.Spelling, system string) {
	if strings.TrimSpace(system) == "" {
		return
	}
	s.Raw(`"system":[{"text":`)
	s.String(system)
	s.Raw(`}`)
	if b.config.CachePoints != CacheOff {
		s.Raw("," + cachePoint)
	}
	s.Raw(`],`)
}

// spellTools spells the tools. A conversation that holds calls is refused
// without any, so those that it calls stand in where there are none now.
func (b *Converse) spellTools(s *provider.Spelling, tools []provider.ToolSpec, called map[string]bool) error {
	if len(tools) == 0 {
		for _, name := range slices.Sorted(maps.Keys(called)) {
			tools = append(tools, provider.ToolSpec{Name: name, Description: "No longer available. Do not call it."})
		}
	}
	if len(tools) == 0 {
		return nil
	}
	s.Raw(`"toolConfig":{"tools":[`)
	for i, t := range tools {
		if i > 0 {
			s.Raw(",")
		}
		if err := spellTool(s, t); err != nil {
			return err
		}
	}
	if b.config.CachePoints == CacheAll {
		s.Raw("," + cachePoint)
	}
	s.Raw(`]},`)
	return nil
}

func spellTool(s *provider.Spelling, t provider.ToolSpec) error {
	schema := bytes.TrimSpace(t.Schema)
	if len(schema) == 0 {
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	if !json.Valid(schema) || schema[0] != '{' {
		return fmt.Errorf("tool %q: its schema is no JSON object", t.Name)
	}
	s.Raw(`{"toolSpec":{"name":`)
	s.String(toolName(t.Name))
	if strings.TrimSpace(t.Description) != "" {
		s.Raw(`,"description":`)
		s.String(t.Description)
	}
	s.Raw(`,"inputSchema":{"json":`)
	s.Bytes(schema)
	s.Raw(`}}}`)
	return nil
}
