package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// piece is a block that is to be shown.
type piece struct {
	block rpc.Parts
	// kind and size say what stands in for it where it is too long.
	kind string
	size int
}

// returned is a block on its way back to the client that sent it, byte for byte where
// its version of the protocol can show it. What it cannot show rides along with a
// line of text.
func (s *server) returned(raw []byte) piece {
	b := wire.ParseBlock(raw)
	out := piece{block: rpc.Parts{raw}, kind: b.Type, size: len(raw)}
	if why := s.dialect().unshowable(b); why != "" {
		out.block = wire.StandIn(why, raw)
	}
	return out
}

// made is a block of our own.
func made(block rpc.Parts) piece { return piece{block: block, kind: "answer", size: block.Len()} }

// message shows a message, whole where the version can and the client can read it,
// else block by block. The caller holds show.
func (ses *session) message(ctx context.Context, kind, id string, list ...piece) error {
	blocks := make([]rpc.Parts, 0, len(list))
	for _, p := range list {
		blocks = append(blocks, p.block)
	}
	if all := ses.srv.dialect().whole(kind, id, blocks); all != nil {
		err := ses.put(ctx, all)
		if _, long := errors.AsType[*rpc.TooLongError](err); !long {
			return err
		}
		if err := ses.put(ctx, ses.srv.dialect().whole(kind, id, nil)); err != nil {
			return err
		}
	}
	return ses.chunks(ctx, kind, id, list...)
}

// chunks adds blocks to a message. The caller holds show.
func (ses *session) chunks(ctx context.Context, kind, id string, list ...piece) error {
	for _, p := range list {
		err := ses.put(ctx, wire.Chunk(kind, id, p.block))
		if long, ok := errors.AsType[*rpc.TooLongError](err); ok {
			text := fmt.Sprintf("[%s block of %d bytes: too long to be sent back, the limit is %d]", rpc.Clip(p.kind, 40), p.size, long.Limit)
			err = ses.put(ctx, wire.Chunk(kind, id, wire.StandIn(text, nil)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable says why a block of a known kind is none, "" for any other. What a schema
// demands of a block counts, not whether its payload makes sense.
func unreadable(b wire.Block) string {
	has := func(raw []byte, name string) bool { return rpc.IsString(rpc.Member(raw, name)) }
	ok := b.Bad == nil
	switch b.Type {
	case wire.BlockText:
	case wire.BlockImage, wire.BlockAudio:
		// Data may be empty, which is Bad, and is still a string.
		ok = has(b.Raw, "data") && has(b.Raw, "mimeType")
	case wire.BlockResourceLink:
		ok = ok && has(b.Raw, "name")
	case wire.BlockResource:
		ok = ok && has(rpc.Member(b.Raw, "resource"), "uri")
	}
	if !ok {
		return "[" + b.Type + " block: it cannot be read]"
	}
	return ""
}

// maxShown is the largest blob, in bytes, that is put into a message: its base64
// stays below what clients can read.
const maxShown = 20 << 20

// shower makes blocks of the protocol of blocks that came from elsewhere. What
// cannot be shown becomes a line of text that says so.
type shower struct{ a *agent.Session }

func (s shower) block(b content.Block) rpc.Parts {
	out, err := content.Visit(b, content.Visitor[rpc.Parts](s))
	if err != nil {
		return wire.TextBlock(content.Compact([]content.Block{b}) + ": " + err.Error())
	}
	return out
}

// gave puts blocks into the end of a tool call.
func (s shower) gave(e *ending, blocks []content.Block) {
	size := 0
	for _, b := range blocks {
		c := wire.ToolContent(s.block(b))
		if size += len(c); size > maxShown/3*4 {
			c = wire.ToolContent(wire.TextBlock(content.Compact([]content.Block{b}) + ": too large to be shown"))
		}
		e.content = append(e.content, c)
		if t, ok := b.(content.Text); ok {
			e.text += t.Body
		} else {
			e.media = append(e.media, c)
		}
	}
}

// read returns the bytes of the first blob that there are.
func (s shower) read(blobs ...content.Blob) (content.Blob, []byte, error) {
	err := errors.New("there are no bytes to show")
	for _, b := range blobs {
		switch {
		case b.IsZero():
			continue
		case b.Size > maxShown:
			err = fmt.Errorf("%d bytes are too many to be shown", b.Size)
			continue
		}
		rc, oerr := s.a.Blob(b.Digest)
		if oerr != nil {
			err = errors.New("its stored bytes are gone")
			continue
		}
		data, rerr := io.ReadAll(io.LimitReader(rc, maxShown))
		_ = rc.Close() // read only
		if rerr == nil {
			return b, data, nil
		}
		err = errors.New("its stored bytes are damaged")
	}
	return content.Blob{}, nil, err
}

// media is an image or audio block.
func media(kind, mime, uri string, data []byte) rpc.Parts {
	spelt := make([]byte, base64.StdEncoding.EncodedLen(len(data)))
	base64.StdEncoding.Encode(spelt, data)
	tail := `"}`
	if uri != "" {
		tail = `","uri":` + rpc.Quote(uri) + `}`
	}
	return rpc.Parts{[]byte(`{"type":"` + kind + `","mimeType":` + rpc.Quote(mime) + `,"data":"`), spelt, []byte(tail)}
}

// uriOf names an attachment.
func uriOf(a content.Attachment) string {
	if a.Origin.Path == "" {
		return "tote:attachment/" + url.PathEscape(string(a.Handle))
	}
	p := filepath.ToSlash(a.Origin.Path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// Text implements content.Visitor.
func (s shower) Text(b content.Text) (rpc.Parts, error) { return wire.TextBlock(b.Body), nil }

// Image implements content.Visitor.
func (s shower) Image(b content.Image) (rpc.Parts, error) {
	// Clients draw what browsers do; anything else goes in its prepared form.
	first, second := b.Prepared, b.Original
	switch b.Original.MIME {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		first, second = b.Original, b.Prepared
	}
	blob, data, err := s.read(first, second)
	if err != nil {
		return nil, err
	}
	uri := ""
	if b.Origin.Path != "" {
		uri = uriOf(b.Attachment)
	}
	return media(wire.BlockImage, typeOf(blob, b.Attachment), uri, data), nil
}

func typeOf(b content.Blob, a content.Attachment) string {
	switch {
	case b.MIME != "":
		return b.MIME
	case a.Declared != "":
		return a.Declared
	}
	return "application/octet-stream"
}

// Audio implements content.Visitor.
func (s shower) Audio(b content.Audio) (rpc.Parts, error) {
	blob, data, err := s.read(b.Original, b.Prepared)
	if err != nil {
		return nil, err
	}
	return media(wire.BlockAudio, typeOf(blob, b.Attachment), "", data), nil
}

// Document implements content.Visitor.
func (s shower) Document(b content.Document) (rpc.Parts, error) {
	blob, data, err := s.read(b.Original, b.Prepared)
	if err != nil {
		return nil, err
	}
	return s.resource(uriOf(b.Attachment), typeOf(blob, b.Attachment), `"blob":"`+base64.StdEncoding.EncodeToString(data)+`"`), nil
}

// ResourceText implements content.Visitor.
func (s shower) ResourceText(b content.ResourceText) (rpc.Parts, error) {
	blob, data, err := s.read(b.Prepared, b.Original)
	if err != nil {
		return nil, err
	}
	uri := b.URI
	if uri == "" {
		uri = uriOf(b.Attachment)
	}
	return s.resource(uri, typeOf(blob, b.Attachment), `"text":`+rpc.Quote(string(data))), nil
}

func (shower) resource(uri, mime, body string) rpc.Parts {
	return rpc.Parts{[]byte(`{"type":"resource","resource":{"uri":` + rpc.Quote(uri) + `,"mimeType":` + rpc.Quote(mime) + `,` + body + `}}`)}
}

// ResourceLink implements content.Visitor.
func (s shower) ResourceLink(b content.ResourceLink) (rpc.Parts, error) {
	name := b.Name
	if name == "" {
		name = b.URI
	}
	return rpc.Encode(struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		URI         string `json:"uri"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
		MIME        string `json:"mimeType,omitempty"`
		Size        int64  `json:"size,omitempty"`
	}{wire.BlockResourceLink, name, b.URI, b.Title, b.Description, b.MIME, b.Size})
}

// Opaque implements content.Visitor.
func (s shower) Opaque(b content.Opaque) (rpc.Parts, error) {
	_, raw, err := s.read(b.Raw)
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) || strings.ContainsRune(string(raw), '\n') {
		raw = nil
	}
	return wire.StandIn(content.Compact([]content.Block{b}), raw), nil
}
