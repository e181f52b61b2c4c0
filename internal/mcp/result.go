package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"

	asm "github.com/segmentio/asm/base64"

	"tote/internal/content"
)

// maxBlocks is how many blocks of one result are taken. Whoever takes them in has a
// bound of its own, which is told; this one is against floods.
const maxBlocks = 5000

// reader makes sources of what a server sent. from names it for people: "SERVER
// TOOL".
type reader struct {
	from    string
	counts  map[string]int // by the word of the kind
	sources []content.Source
	blocks  int
	// texts are the text blocks, to tell structured content that says the same.
	texts []string
}

func newReader(from string) *reader { return &reader{from: from, counts: map[string]int{}} }

// call reads the result of a tool.
func (r *reader) call(raw []byte) (isError bool, err error) {
	var list, structured []byte
	ok := members(raw, func(key string, v []byte) bool {
		switch key {
		case "content":
			list = v
		case "structuredContent":
			structured = v
		case "isError":
			isError = string(v) == "true"
		}
		return true
	})
	if !ok {
		return false, errors.New("its result is no JSON object")
	}
	if err := r.list(list, r.block); err != nil {
		return false, err
	}
	if len(structured) > 0 && string(structured) != "null" && !r.says(structured) {
		r.structured(structured)
	}
	r.done()
	return isError, nil
}

// resource reads the result of resources/read.
func (r *reader) resource(raw []byte) error {
	list, ok := field(raw, "contents")
	if !ok {
		return errors.New("its result is no JSON object")
	}
	if err := r.list(list, r.contents); err != nil {
		return err
	}
	r.done()
	return nil
}

// prompt reads the result of prompts/get. Where an assistant speaks in it too, it
// is said who speaks.
func (r *reader) prompt(raw []byte) error {
	list, ok := field(raw, "messages")
	if !ok {
		return errors.New("its result is no JSON object")
	}
	speakers := false
	elements(list, func(v []byte) bool {
		role, _ := field(v, "role")
		speakers = speakers || string(role) == `"assistant"`
		return true
	})
	err := r.list(list, func(v []byte) {
		role, _ := field(v, "role")
		body, _ := field(v, "content")
		if who, _ := text(role); speakers {
			r.prose("[" + oneLine(who) + "]")
		}
		if len(body) > 0 && body[0] == '[' {
			elements(body, func(b []byte) bool { r.block(b); return true })
			return
		}
		r.block(body)
	})
	if err != nil {
		return err
	}
	r.done()
	return nil
}

// list reads the elements of an array, which may be missing.
func (r *reader) list(raw []byte, one func([]byte)) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	left := 0
	ok := elements(raw, func(v []byte) bool {
		if r.blocks++; r.blocks > maxBlocks {
			left++
			return true
		}
		one(v)
		return true
	})
	if !ok {
		return errors.New("its content is no JSON array")
	}
	if left > 0 {
		r.prose(fmt.Sprintf("[%d more blocks were left out; %d are taken of one result]", left, maxBlocks))
	}
	return nil
}

// done ends a result. An empty one says so.
func (r *reader) done() {
	if len(r.sources) == 0 {
		r.prose("[" + r.from + " gave no content]")
	}
}

func (r *reader) add(s content.Source) {
	s.Inlet, s.Chooser = content.InletMCP, content.ChosenByTool
	r.sources = append(r.sources, s)
}

func (r *reader) prose(s string) {
	r.add(content.Source{Payload: content.Prose{Text: s}, As: content.KindText})
}

// name numbers what has no name of its own.
func (r *reader) name(k content.Kind) string {
	r.counts[k.String()]++
	return fmt.Sprintf("%s %s %d", r.from, k, r.counts[k.String()])
}

// block reads one content block.
func (r *reader) block(raw []byte) {
	var b struct {
		Type, Text, MIMEType                string
		data, resource                      []byte
		uri, linkName, linkTitle, linkWords string
		bytes                               int64
	}
	ok := members(raw, func(key string, v []byte) bool {
		switch key {
		case "type":
			b.Type, _ = text(v)
		case "text":
			b.Text, _ = text(v)
		case "mimeType":
			b.MIMEType, _ = text(v)
		case "data":
			b.data = v
		case "resource":
			b.resource = v
		case "uri":
			b.uri, _ = text(v)
		case "name":
			b.linkName, _ = text(v)
		case "title":
			b.linkTitle, _ = text(v)
		case "description":
			b.linkWords, _ = text(v)
		case "size":
			_ = json.Unmarshal(v, &b.bytes) // 0: not known
		}
		return true
	})
	switch {
	case !ok || b.Type == "":
		r.unknown("untyped", raw)
	case b.Type == "text":
		r.text(b.Text)
	case b.Type == "image":
		r.media(content.KindImage, b.data, b.MIMEType)
	case b.Type == "audio":
		r.media(content.KindAudio, b.data, b.MIMEType)
	case b.Type == "resource":
		r.contents(b.resource)
	case b.Type == "resource_link" && b.uri != "":
		r.add(content.Source{As: content.KindResourceLink, Declared: b.MIMEType, URI: b.uri, Payload: content.Link{
			URI: b.uri, Name: b.linkName, Title: b.linkTitle, Description: b.linkWords, MIME: b.MIMEType, Size: max(0, b.bytes),
		}})
	default:
		r.unknown(b.Type, raw)
	}
}

// text takes a text block as it is. An empty one says nothing.
func (r *reader) text(s string) {
	if s == "" {
		return
	}
	r.texts = append(r.texts, s)
	r.prose(s)
}

func (r *reader) unknown(kind string, raw []byte) {
	if !json.Valid(raw) {
		r.add(content.Source{Payload: content.Broken{Why: "a block of its result is no JSON"}, As: content.KindOpaque, Name: r.name(content.KindOpaque)})
		return
	}
	r.add(content.Source{Payload: content.Unknown{Type: kind, Raw: bytes.Clone(raw)}, As: content.KindOpaque})
}

func (r *reader) media(k content.Kind, data []byte, declared string) {
	r.add(content.Source{Payload: bytesOf(data), As: k, Declared: declared, Name: r.name(k)})
}

// contents reads the contents of a resource: text, bytes, or its address alone.
func (r *reader) contents(raw []byte) {
	var uri, declared, body string
	var isText bool
	var blob []byte
	ok := members(raw, func(key string, v []byte) bool {
		switch key {
		case "uri":
			uri, _ = text(v)
		case "mimeType":
			declared, _ = text(v)
		case "text":
			body, isText = text(v)
		case "blob":
			blob = v
		}
		return true
	})
	s := content.Source{Declared: declared, URI: uri, Name: baseName(uri)}
	switch {
	case !ok:
		r.unknown("resource", raw)
		return
	case isText:
		s.Payload, s.As = content.EmbeddedText{URI: uri, Text: body}, content.KindResourceText
	case blob != nil:
		s.Payload = bytesOf(blob)
		if s.Name == "" {
			s.Name = r.name(content.KindDocument)
		}
	case uri != "":
		s.Payload, s.As = content.Link{URI: uri, Name: s.Name, MIME: declared}, content.KindResourceLink
	default:
		s.Payload = content.Broken{Why: "a resource without text, data and address"}
	}
	r.add(s)
}

// baseName is the last element of an address that ends in a file name.
func baseName(uri string) string {
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri = uri[:i]
	}
	base := path.Base(uri)
	if uri == "" || strings.HasSuffix(uri, "/") || path.Ext(base) == "" || strings.Contains(base, ":") {
		return ""
	}
	return oneLine(base)
}

// bytesOf decodes the base64 of a JSON string. A whole data: URI in its place is
// one; anything else that is wrong is a broken payload that says why.
func bytesOf(raw []byte) content.Payload {
	if len(raw) < 2 || raw[0] != '"' {
		return content.Broken{Why: "its data is missing"}
	}
	data := raw[1 : len(raw)-1]
	if bytes.IndexByte(data, '\\') >= 0 {
		s, ok := text(raw)
		if !ok {
			return content.Broken{Why: "its data is no JSON string"}
		}
		data = []byte(s)
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return content.Broken{Why: "its data is empty"}
	case len(data) > 5 && strings.EqualFold(string(data[:5]), "data:"):
		return content.DataURI{URI: string(data)}
	}
	out := make([]byte, asm.StdEncoding.DecodedLen(len(data)))
	if n, err := asm.StdEncoding.Decode(out, data); err == nil {
		return content.Bytes{Data: out[:n]}
	}
	out, err := lenient(data)
	if err != nil {
		return content.Broken{Why: "its data is no base64"}
	}
	return content.Bytes{Data: out}
}

// lenient decodes base64 with white space, in the URL alphabet, or without
// padding.
func lenient(data []byte) ([]byte, error) {
	clean := bytes.Map(func(c rune) rune {
		switch c {
		case ' ', '\t', '\r', '\n':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return c
	}, data)
	clean = bytes.TrimRight(clean, "=")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
	n, err := base64.RawStdEncoding.Decode(out, clean)
	return out[:n], err
}

// says reports whether a text block is the same JSON.
func (r *reader) says(structured []byte) bool {
	want, ok := decoded(structured)
	for _, t := range r.texts {
		if got, ok2 := decoded([]byte(t)); ok && ok2 && reflect.DeepEqual(got, want) {
			return true
		}
	}
	return false
}

func decoded(raw []byte) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return v, dec.Decode(&v) == nil
}

func (r *reader) structured(raw []byte) {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		r.add(content.Source{Payload: content.Broken{Why: "its structured content is no JSON"}, As: content.KindOpaque, Name: r.name(content.KindOpaque)})
		return
	}
	r.prose(buf.String())
}

// field returns one member of an object; ok is false where raw is none.
func field(raw []byte, name string) (value []byte, ok bool) {
	ok = members(raw, func(key string, v []byte) bool {
		if key == name {
			value = v
		}
		return true
	})
	return value, ok
}
