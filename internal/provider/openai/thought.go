package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"tote/internal/content"
	"tote/internal/provider"
)

// kept is what a signature of these wires holds as JSON: what a backend wants
// back as it gave it. A signature of Chat Completions without such things is
// the bare name of the field that the thinking came in.
type kept struct {
	// By names the model and the server that made it. No other one is given
	// it: it would refuse what it cannot decrypt, or does not know.
	By string `json:"by"`
	// Field is the field of Chat Completions that the thinking came in.
	Field string `json:"field,omitempty"`
	// Details are the entries of OpenRouter's reasoning_details.
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	// Call is a tool call's extra_content, in which Google's endpoint keeps
	// the signature of its thinking.
	Call json.RawMessage `json:"extra_content,omitempty"`
	// ID, Summary and Encrypted are a reasoning item of Responses.
	ID        string   `json:"id,omitempty"`
	Summary   []string `json:"summary,omitempty"`
	Encrypted string   `json:"encrypted_content,omitempty"`
	// Phase is the phase of the message in the same answer.
	Phase string `json:"phase,omitempty"`
}

// signature spells k.
func (k kept) signature() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(k); err != nil {
		return "" // raw members were checked when they were read
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseKept reads a signature. ok is false for the bare name of a field and for
// anything else that is not in this form.
func parseKept(signature string) (k kept, ok bool) {
	if !strings.HasPrefix(signature, "{") || json.Unmarshal([]byte(signature), &k) != nil {
		return kept{}, false
	}
	if !isArray(k.Details) {
		k.Details = nil
	}
	if !isObject(k.Call) {
		k.Call = nil
	}
	return k, true
}

func isArray(raw json.RawMessage) bool  { return len(raw) > 2 && raw[0] == '[' }
func isObject(raw json.RawMessage) bool { return len(raw) > 2 && raw[0] == '{' }

// maker names the model on its server in signatures. It holds neither.
func maker(o provider.Options, model string) string {
	h := fnv.New64a()
	h.Write([]byte(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/") + "\x00" + model))
	return fmt.Sprintf("%016x", h.Sum64())
}

// detail is one entry of reasoning_details while it is streamed.
type detail struct {
	// raw is the entry as it came, as long as nothing was added to it.
	raw json.RawMessage
	// names are its members in the order in which they came, values what
	// stands in them; text grows in the member named prose.
	names  []string
	values map[string]json.RawMessage
	prose  string
	text   strings.Builder
}

// details collects the entries. OpenRouter streams them in pieces: one that has
// the kind and the index of the entry before it continues that entry
// (https://openrouter.ai/docs/use-cases/reasoning-tokens, read 2026-11-30).
type details struct{ list []*detail }

// proseMembers name the member that grows, by the kind of entry. Other kinds
// come whole.
var proseMembers = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// add takes the entries of one piece and returns the prose in them.
func (d *details) add(raw json.RawMessage) string {
	var items []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return ""
	}
	var prose strings.Builder
	for _, item := range items {
		if len(item) == 0 || item[0] != '{' {
			continue
		}
		next := newDetail(item)
		if next == nil {
			continue
		}
		prose.WriteString(next.text.String())
		if n := len(d.list); n > 0 && d.list[n-1].continues(next) {
			d.list[n-1].join(next)
			continue
		}
		d.list = append(d.list, next)
	}
	return prose.String()
}

func newDetail(raw json.RawMessage) *detail {
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	e := &detail{raw: raw, values: map[string]json.RawMessage{}}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		n, _ := name.(string) // names are nothing else
		e.set(n, value)
	}
	e.prose = proseMembers[str(e.values["type"])]
	if e.prose != "" {
		e.text.WriteString(str(e.values[e.prose]))
	}
	return e
}

func (e *detail) set(name string, value json.RawMessage) {
	if _, ok := e.values[name]; !ok {
		e.names = append(e.names, name)
	}
	e.values[name] = value
}

// continues reports whether next is more of e.
func (e *detail) continues(next *detail) bool {
	return e.prose != "" && e.prose == next.prose && bytes.Equal(e.values["index"], next.values["index"])
}

// join adds next, whose values stand over those of e.
func (e *detail) join(next *detail) {
	e.raw = nil
	for _, name := range next.names {
		if provider.Present(next.values[name]) {
			e.set(name, next.values[name])
		}
	}
	e.text.WriteString(next.text.String())
}

// json spells the entries, nil for none.
func (d *details) json() json.RawMessage {
	if len(d.list) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, e := range d.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = e.append(out)
	}
	return append(out, ']')
}

func (e *detail) append(out []byte) []byte {
	if e.raw != nil {
		return append(out, e.raw...)
	}
	for i, name := range e.names {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		out = provider.AppendString(append(out, sep), name)
		out = append(out, ':')
		if name == e.prose {
			out = provider.AppendString(out, e.text.String())
			continue
		}
		out = append(out, e.values[name]...)
	}
	return append(out, '}')
}

// thinking makes the reasoning of a chat answer.
func (c *collector) thought() (content.Reasoning, bool) {
	found := c.details.json()
	if c.thinking.Len() == 0 && found == nil {
		return content.Reasoning{}, false
	}
	r := content.Reasoning{Text: c.thinking.String(), Signature: c.field, Path: ChatPath}
	if found != nil {
		r.Signature = kept{By: c.by, Field: c.field, Details: found}.signature()
	}
	return r, true
}
