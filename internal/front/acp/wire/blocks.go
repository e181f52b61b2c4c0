package wire

import (
	"bytes"
	"errors"
	"strconv"

	"tote/internal/content"
	"tote/internal/front/acp/rpc"
)

// The kinds of content block of the protocol.
const (
	BlockText         = "text"
	BlockImage        = "image"
	BlockAudio        = "audio"
	BlockResourceLink = "resource_link"
	BlockResource     = "resource"
)

// Block is one content block of a prompt. Its slices alias the client's line,
// except where a JSON string has escapes. Optional members that are malformed read
// as absent.
type Block struct {
	// Raw is the block as the client sent it.
	Raw  []byte
	Type string
	// Text is set for a text block.
	Text []byte
	// Data is the base64 of an image or audio block, without the prefix of a
	// data URI.
	Data     []byte
	MimeType string
	URI      string
	// Name, Title, Description and Size, in bytes and 0 where it is not
	// stated, are set for a resource link.
	Name, Title, Description string
	Size                     int64
	// Resource is set for an embedded resource.
	Resource *Resource
	// Raw[Start:End] is the inside of the JSON string that holds the payload.
	// Start == End where there is none.
	Start, End int
	// Bad is why a block of a known kind cannot be read; nil for any other.
	Bad error
}

// Known reports whether the block is of a kind that the protocol has.
func (b Block) Known() bool {
	switch b.Type {
	case BlockText, BlockImage, BlockAudio, BlockResource, BlockResourceLink:
		return true
	}
	return false
}

// Resource is the content of an embedded resource. One of Text and Blob, which is
// base64, is set.
type Resource struct {
	URI, MimeType string
	Text, Blob    []byte
}

// ParsePrompt reads the content blocks of a session/prompt. The parameters must be
// JSON that Parse has validated. Only what is no block at all is an error: a value
// without a type. A block of a known kind with a bad payload comes back as Bad.
func ParsePrompt(params []byte) ([]Block, *rpc.Error) {
	raw := rpc.Member(params, "prompt")
	if len(raw) == 0 || raw[0] != '[' {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "prompt is not an array")
	}
	var out []Block
	for at := range rpc.Elements(raw) {
		b := ParseBlock(at.Of(raw))
		if b.Type == "" {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "prompt[%d] is not a content block: it has no type", len(out)).
				WithData(map[string]int{"index": len(out)})
		}
		out = append(out, b)
	}
	if len(out) == 0 {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "prompt is empty")
	}
	return out, nil
}

// ParseBlock reads one content block. Its Type is empty for a value that is none.
func ParseBlock(raw []byte) Block {
	p := blockParser{b: Block{Raw: raw}}
	for name, at := range rpc.Members(raw) {
		p.member(string(name), at)
	}
	p.b.Type = rpc.Unquote(p.typ.Of(raw))
	switch p.b.Type {
	case BlockText:
		p.text()
	case BlockImage, BlockAudio:
		p.media()
	case BlockResource:
		p.resource()
	case BlockResourceLink:
		if p.b.URI == "" {
			p.b.Bad = errors.New("uri is not a string")
		}
	}
	if p.b.Bad != nil {
		p.b.Start, p.b.End = 0, 0
	}
	return p.b
}

// blockParser collects where the members stand; which of them count depends on
// the type, which may come last.
type blockParser struct {
	b                         Block
	typ, textAt, dataAt, embd rpc.Span
}

func (p *blockParser) member(name string, at rpc.Span) {
	raw := at.Of(p.b.Raw)
	switch name {
	case "type":
		p.typ = at
	case "text":
		p.textAt = at
	case "data":
		p.dataAt = at
	case "resource":
		p.embd = at
	case "mimeType":
		p.b.MimeType = rpc.Unquote(raw)
	case "uri":
		p.b.URI = rpc.Unquote(raw)
	case "name":
		p.b.Name = rpc.Unquote(raw)
	case "title":
		p.b.Title = rpc.Unquote(raw)
	case "description":
		p.b.Description = rpc.Unquote(raw)
	case "size":
		p.b.Size = size(raw)
	}
}

// size reads a count of bytes; what is none reads as 0, not stated.
func size(raw []byte) int64 {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// payload marks the string at at as the block's payload and returns what it says;
// ok is false for what is no string.
func (p *blockParser) payload(at rpc.Span) (said []byte, ok bool) {
	raw := at.Of(p.b.Raw)
	if !rpc.IsString(raw) {
		return nil, false
	}
	p.b.Start, p.b.End = at.Start+1, at.End-1
	return rpc.UnquoteBytes(raw), true
}

func (p *blockParser) text() {
	var ok bool
	if p.b.Text, ok = p.payload(p.textAt); !ok {
		p.b.Bad = errors.New("text is not a string")
	}
}

func (p *blockParser) media() {
	data, ok := p.payload(p.dataAt)
	switch {
	case !ok:
		p.b.Bad = errors.New("data is not a string")
		return
	case len(data) == 0:
		p.b.Bad = errors.New("data is empty")
		return
	}
	p.b.Data = p.bare(data, &p.b.MimeType)
}

func (p *blockParser) resource() {
	inner := p.embd.Of(p.b.Raw)
	if len(inner) == 0 || inner[0] != '{' {
		p.b.Bad = errors.New("resource is not an object")
		return
	}
	r := &Resource{}
	var text, blob rpc.Span
	for name, at := range rpc.Members(inner) {
		raw, at := at.Of(inner), rpc.Span{Start: at.Start + p.embd.Start, End: at.End + p.embd.Start}
		switch string(name) {
		case "uri":
			r.URI = rpc.Unquote(raw)
		case "mimeType":
			r.MimeType = rpc.Unquote(raw)
		case "text":
			text = at
		case "blob":
			blob = at
		}
	}
	var ok bool
	if r.Text, ok = p.payload(text); ok {
		p.b.Resource = r
		return
	}
	if r.Blob, ok = p.payload(blob); !ok {
		p.b.Bad = errors.New("resource has neither a text nor a blob")
		return
	}
	r.Blob = p.bare(r.Blob, &r.MimeType)
	p.b.Resource = r
}

// bare takes the prefix of a base64 data URI off a payload, where a client has put
// one, and moves the start of the payload behind it. The prefix gives the media
// type where the block does not.
func (p *blockParser) bare(data []byte, mime *string) []byte {
	const marker = ";base64,"
	if len(data) < 5 || !bytes.EqualFold(data[:5], []byte("data:")) {
		return data
	}
	i := bytes.Index(data[:min(len(data), 256)], []byte(marker))
	if i < 0 {
		return data
	}
	if *mime == "" {
		kind, _, _ := bytes.Cut(data[5:i], []byte(";"))
		*mime = string(kind)
	}
	if p.b.End-p.b.Start == len(data) { // no escapes: the offsets are the same
		p.b.Start += i + len(marker)
	}
	return data[i+len(marker):]
}

// Source is the block as the agent takes it in. Every block gives one.
func (b Block) Source() content.Source {
	s := content.Source{
		Inlet: content.InletACP, Chooser: content.ChosenByUser, Declared: b.MimeType, URI: b.URI, Name: b.Name,
		Client: content.ClientBlock{Raw: b.Raw, Start: b.Start, End: b.End},
	}
	switch b.Type {
	case BlockText:
		s.As, s.Payload = content.KindText, content.Prose{Text: string(b.Text)}
	case BlockImage:
		s.As, s.Payload = content.KindImage, content.Base64{Data: b.Data}
	case BlockAudio:
		s.As, s.Payload = content.KindAudio, content.Base64{Data: b.Data}
	case BlockResourceLink:
		s.As = content.KindResourceLink
		s.Payload = content.Link{
			URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description, MIME: b.MimeType, Size: b.Size,
		}
	case BlockResource:
		s = b.resourceSource(s)
	default:
		s.As, s.Payload = content.KindOpaque, content.Unknown{Type: b.Type, Raw: b.Raw}
	}
	if b.Bad != nil {
		s.Payload = content.Broken{Why: b.Bad.Error()}
	}
	return s
}

func (b Block) resourceSource(s content.Source) content.Source {
	r := b.Resource
	switch {
	case r == nil: // the caller sees that the block is bad
	case r.Blob != nil:
		s.URI, s.Declared, s.Payload = r.URI, r.MimeType, content.Base64{Data: r.Blob}
	default:
		s.URI, s.Declared, s.As = r.URI, r.MimeType, content.KindResourceText
		s.Payload = content.EmbeddedText{URI: r.URI, Text: string(r.Text)}
	}
	return s
}
