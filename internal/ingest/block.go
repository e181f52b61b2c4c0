package ingest

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
)

// prose hands text on verbatim.
func (in *Inlet) prose(ctx context.Context, s content.Source, p content.Prose) (taken, error) {
	t := one(content.Text{Body: p.Text})
	if len(s.Client.Raw) <= maxEnvelope {
		return t, nil // its envelope holds the whole block
	}
	t.payload = []byte(p.Text)
	blob, err := in.put(ctx, t.payload)
	t.digest = blob.Digest
	return t, err
}

// embedded takes a text resource that came by value. It is text by
// construction; its content says at most which.
func (in *Inlet) embedded(ctx context.Context, s content.Source, p content.EmbeddedText) (taken, error) {
	cl := claimOf(s)
	if p.URI != "" {
		cl.uri = p.URI
	}
	if cl.att.Name == "" {
		cl.att.Name = uriName(cl.uri)
	}
	cl.as = content.KindResourceText
	switch size := int64(len(p.Text)); {
	case size == 0:
		return one(faulty(cl, content.FaultEmpty, "")), nil
	case size > in.limit:
		return one(faulty(cl, content.FaultTooLarge, tooLarge(size, in.limit))), nil
	}
	data := []byte(p.Text)
	if !utf8.Valid(data) {
		cl.as = 0 // no JSON gives such a string; its bytes have to tell
		return in.attach(ctx, data, cl)
	}
	blob, err := in.put(ctx, data)
	if err != nil {
		return taken{}, err
	}
	blob.MIME = textType(data, cl.att.Declared)
	cl.att.Original, cl.att.Prepared = blob, blob
	t := one(content.ResourceText{Attachment: cl.att, URI: cl.uri})
	t.payload, t.digest = data, blob.Digest
	return t, nil
}

// text makes a block of a text file. Text in another character set is prepared
// as UTF-8.
func (in *Inlet) text(ctx context.Context, c class, cl claim) (content.Block, error) {
	b := content.ResourceText{Attachment: cl.att, URI: cl.uri}
	if what := mistaken(cl.as, c.mime); what != "" {
		b.Fault, b.Detail = content.FaultBadPayload, "decodes to text, not "+what
		return b, nil
	}
	b.Prepared = b.Original
	if c.charset == "" {
		return b, nil
	}
	prepared, err := in.put(ctx, c.text)
	if err != nil {
		return nil, err
	}
	prepared.MIME = c.mime
	b.Original.MIME = c.mime + "; charset=" + c.charset
	b.Prepared, b.Detail = prepared, "read as "+c.charset
	if c.charset == cutUTF8 {
		b.Detail = "its last character is cut off"
	}
	return b, nil
}

// mistaken says what a block claimed to be whose payload turned out to be text.
// SVG is the one picture that is text.
func mistaken(as content.Kind, mime string) string {
	switch {
	case as == content.KindImage && mime != svgType:
		return "a picture"
	case as == content.KindAudio:
		return "sound"
	}
	return ""
}

// opaque carries a block that nobody here knows, verbatim.
func (in *Inlet) opaque(ctx context.Context, s content.Source, kind string, raw []byte) (taken, error) {
	b := content.Opaque{Origin: claimOf(s).att.Origin, Type: kind}
	if len(raw) > 0 {
		blob, err := in.put(ctx, raw)
		if err != nil {
			return taken{}, err
		}
		blob.MIME = "application/json"
		b.Raw = blob
	}
	return one(b), nil
}

// broken stands for a block of a known kind whose fields cannot be read.
func (in *Inlet) broken(ctx context.Context, s content.Source, why string) (taken, error) {
	if s.As == content.KindText {
		return in.opaque(ctx, s, content.KindText.String(), s.Client.Raw)
	}
	if s.As == content.KindOpaque {
		return in.opaque(ctx, s, content.KindOpaque.String(), s.Client.Raw)
	}
	return one(faulty(claimOf(s), content.FaultBadPayload, why)), nil
}

// faulty makes a block that has nothing to send. Its kind is the claimed one, so
// that the user sees what is missing; nothing of it is ever sent as that kind.
func faulty(cl claim, f content.Fault, detail string) content.Block {
	a := cl.att
	a.Fault, a.Detail = f, detail
	switch claimedKind(cl) {
	case content.KindImage:
		return content.Image{Attachment: a}
	case content.KindAudio:
		return content.Audio{Attachment: a}
	case content.KindResourceText:
		return content.ResourceText{Attachment: a, URI: cl.uri}
	case content.KindResourceLink:
		return content.ResourceLink{Origin: a.Origin, URI: cl.uri, Name: a.Name, MIME: a.Declared, Fault: f, Detail: detail}
	case content.KindDocument, content.KindText, content.KindOpaque:
	}
	return content.Document{Attachment: a}
}

// claimedKind is the kind that a source without readable bytes goes by: the
// inlet's word, else the declared type, else the ending of its name.
func claimedKind(cl claim) content.Kind {
	if cl.as != 0 {
		return cl.as
	}
	if d := baseType(cl.att.Declared); d != "" {
		switch top, _, _ := strings.Cut(d, "/"); {
		case top == "image" && d != svgType:
			return content.KindImage
		case top == "audio":
			return content.KindAudio
		case textual(d):
			return content.KindResourceText
		}
		return content.KindDocument
	}
	switch strings.ToLower(path.Ext(cl.att.Name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".jxl":
		return content.KindImage
	case ".wav", ".mp3", ".m4a", ".flac", ".ogg", ".oga", ".opus", ".aac", ".aiff":
		return content.KindAudio
	}
	return content.KindDocument
}

// baseName drops the folder of a name that a client gave. A backslash divides
// only what is a Windows path by its beginning; elsewhere it is a character.
func baseName(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if hasDrive(name) || strings.HasPrefix(name, `\\`) {
		name = name[strings.LastIndexByte(name, '\\')+1:]
	}
	return name
}

// uriName is the last element of a URI's path, decoded.
func uriName(uri string) string {
	if strings.HasPrefix(uri, "data:") {
		return ""
	}
	rest, _, _ := strings.Cut(uri, "#")
	rest, _, _ = strings.Cut(rest, "?")
	if i := strings.Index(rest, "://"); i >= 0 {
		_, after, ok := strings.Cut(rest[i+3:], "/")
		if !ok {
			return ""
		}
		rest = after
	}
	return baseName(percentDecode(strings.TrimRight(rest, "/")))
}

// sourceName names a source in an error.
func sourceName(s content.Source) string {
	switch p := s.Payload.(type) {
	case content.Path:
		return fmt.Sprintf("%q", p.Path)
	case content.Link:
		return fmt.Sprintf("%q", p.URI)
	case content.EmbeddedText:
		if s.Name == "" && p.URI != "" {
			return fmt.Sprintf("%q", p.URI)
		}
	case content.Given:
		if p.Block != nil && p.Block.BlockHandle() != "" {
			return string(p.Block.BlockHandle())
		}
	case content.Crop:
		return fmt.Sprintf("a region of %s", p.Handle)
	case content.Compare:
		return fmt.Sprintf("%s beside %s", p.A, p.B)
	case content.Prose:
		return "text from " + s.Inlet.String()
	case content.Bytes, content.Base64, content.DataURI, content.Unknown, content.Broken:
	}
	switch {
	case s.Name != "":
		return fmt.Sprintf("%q", s.Name)
	case s.URI != "" && !strings.HasPrefix(s.URI, "data:"):
		return fmt.Sprintf("%q", s.URI)
	}
	return "an attachment from " + s.Inlet.String()
}

// byteSize writes a size for people; KB is 10³ and MB is 10⁶ bytes.
func byteSize(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

func tooLarge(size, limit int64) string { return byteSize(size) + ", limit " + byteSize(limit) }
