package ingest

import (
	"bytes"
	"mime"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"tote/internal/audio"
	"tote/internal/content"
	"tote/internal/imaging"
)

const (
	svgType    = "image/svg+xml"
	plainType  = "text/plain"
	binaryType = "application/octet-stream"
	pdfType    = "application/pdf"
)

// class is what the content of some bytes turned out to be.
type class struct {
	kind content.Kind
	mime string
	// text is the UTF-8 form of a text and charset what it was written in,
	// "" where that is UTF-8 already.
	text    []byte
	charset string
}

// classify finds out what data is. The order matters: a magic number of two or
// four letters ("BM", "MZ", "OggS") also begins prose, so bytes that are clean
// text to their end are text, unless they are a PDF, which may be pure ASCII.
func classify(data []byte, cl claim) class {
	f := imaging.Sniff(data)
	if f != 0 && f != imaging.GIF { // the others have bytes that text has not
		return class{kind: content.KindImage, mime: f.MIME()}
	}
	clean := cleanUTF8(data)
	if f != 0 && !clean {
		return class{kind: content.KindImage, mime: f.MIME()}
	}
	m := detect(data)
	if m.Is(pdfType) {
		return class{kind: content.KindDocument, mime: pdfType}
	}
	if clean {
		return class{kind: content.KindResourceText, mime: textTypeOf(m, data, cl.att.Declared), text: data}
	}
	if !m.Is(binaryType) && !textTree(m) {
		return magic(m, data, cl)
	}
	_, params := splitType(cl.att.Declared)
	if text, charset, ok := decodeText(data, params["charset"]); ok {
		return class{kind: content.KindResourceText, mime: textType(text, cl.att.Declared), text: text, charset: charset}
	}
	return inconclusive(data, cl)
}

// magic is for bytes with a magic number that is not a picture's here.
func magic(m *mimetype.MIME, data []byte, cl claim) class {
	found := baseType(m.String())
	top, _, _ := strings.Cut(found, "/")
	declared := baseType(cl.att.Declared)
	switch {
	case found == "audio/mpeg":
		// Two bytes are all of its magic, so its reader has to agree.
		return inconclusive(data, cl)
	case top == "audio":
		return class{kind: content.KindAudio, mime: audio.Normalize(found)}
	case soundContainer(found):
		if info, err := audio.Measure(data); err == nil {
			return class{kind: content.KindAudio, mime: info.MIME}
		}
		if strings.HasPrefix(declared, "audio/") {
			// The reader does not know this one; its sender does.
			return class{kind: content.KindAudio, mime: audio.Normalize(declared)}
		}
	case found == "image/bmp" || found == "image/png" || found == "image/jpeg" || found == "image/gif":
		// A weaker check than imaging's, which said no.
		return class{kind: content.KindDocument, mime: binaryType}
	}
	return class{kind: content.KindDocument, mime: found}
}

// soundContainer tells the containers that hold sound or films alike.
func soundContainer(found string) bool {
	switch found {
	case "application/ogg", "video/ogg", "video/webm", "video/matroska", "video/mp4", "video/quicktime", "video/x-m4v",
		"video/3gpp", "video/3gpp2", "video/x-ms-asf":
		return true
	}
	return false
}

// inconclusive is for bytes that say nothing. The declared type stands, except
// where the bytes contradict it: they are no picture and no text. Some audio
// formats have a magic that only their own reader knows.
func inconclusive(data []byte, cl claim) class {
	if info, err := audio.Measure(data); err == nil {
		return class{kind: content.KindAudio, mime: info.MIME}
	}
	declared := baseType(cl.att.Declared)
	top, _, _ := strings.Cut(declared, "/")
	switch {
	case top == "audio":
		return class{kind: content.KindAudio, mime: audio.Normalize(declared)}
	case declared == "" || top == "image" || textual(declared):
		return class{kind: content.KindDocument, mime: binaryType}
	}
	return class{kind: content.KindDocument, mime: declared}
}

// detect runs the sniffer. It walks into containers, so a fault of its own must
// not take the process down; the bytes then count as unknown.
func detect(data []byte) (m *mimetype.MIME) {
	defer func() {
		if recover() != nil {
			m = mimetype.Lookup(binaryType)
		}
	}()
	return mimetype.Detect(data)
}

// textTree reports whether m is a kind of text.
func textTree(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is(plainType) {
			return true
		}
	}
	return false
}

// textType finds the media type of a text in UTF-8.
func textType(text []byte, declared string) string {
	return textTypeOf(detect(text), text, declared)
}

// textTypeOf is the sniffed type where the sniffer knows better than "text",
// else the declared one where that is a kind of text. Text never goes by a
// picture's type, except SVG.
func textTypeOf(m *mimetype.MIME, text []byte, declared string) string {
	found := plainType
	if textTree(m) {
		found = baseType(m.String())
	}
	if strings.HasPrefix(found, "image/") && found != svgType {
		found = plainType
	}
	declared = baseType(declared)
	switch {
	case (found == "text/xml" || found == plainType) && hasSVGRoot(text):
		return svgType
	case found == plainType && textual(declared) && declared != svgType:
		return declared
	}
	return found
}

// hasSVGRoot looks for an SVG behind a preamble that is longer than the sniffer
// reads. Only a document that begins like XML counts.
func hasSVGRoot(text []byte) bool {
	const far = 64 << 10
	head := bytes.TrimLeft(bytes.TrimPrefix(text[:min(len(text), far)], []byte("\ufeff")), " \t\r\n")
	for {
		switch {
		case bytes.HasPrefix(head, []byte("<svg")):
			return len(head) > 4 && bytes.IndexByte([]byte(" \t\r\n>/"), head[4]) >= 0
		case bytes.HasPrefix(head, []byte("<!--")):
			_, after, ok := bytes.Cut(head, []byte("-->"))
			if !ok {
				return false
			}
			head = bytes.TrimLeft(after, " \t\r\n")
		case bytes.HasPrefix(head, []byte("<?")), bytes.HasPrefix(head, []byte("<!")):
			_, after, ok := bytes.Cut(head, []byte(">"))
			if !ok {
				return false
			}
			head = bytes.TrimLeft(after, " \t\r\n")
		default:
			return false
		}
	}
}

// textual reports whether a media type is a kind of text.
func textual(base string) bool {
	top, sub, _ := strings.Cut(base, "/")
	if top == "text" || strings.HasSuffix(sub, "+xml") || strings.HasSuffix(sub, "+json") || strings.HasSuffix(sub, "+yaml") {
		return true
	}
	switch base {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/typescript",
		"application/x-javascript", "application/yaml", "application/x-yaml", "application/toml", "application/x-toml", "application/sql",
		"application/graphql", "application/x-sh", "application/x-ndjson", "application/jsonl", "application/x-httpd-php",
		"application/x-python", "application/x-subrip", "application/rtf", "application/json5", "application/jsonc":
		return true
	}
	return false
}

// baseType is a media type in lower case without its parameters; "" for
// something that is none.
func baseType(t string) string {
	base, _ := splitType(t)
	return base
}

func splitType(t string) (string, map[string]string) {
	base, params, err := mime.ParseMediaType(t)
	if err != nil {
		base, _, _ = strings.Cut(t, ";")
		base, params = strings.ToLower(strings.TrimSpace(base)), nil
	}
	if top, sub, ok := strings.Cut(base, "/"); !ok || top == "" || sub == "" || strings.ContainsAny(base, " \t\r\n") {
		return "", nil
	}
	return base, params
}

// extensions are those that handles carry, by media type as sniffed. What is
// not here takes the sniffer's.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp", "image/tiff": ".tiff",
	"image/heic": ".heic", "image/avif": ".avif", "image/jxl": ".jxl", "image/x-icon": ".ico", svgType: ".svg",
	"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/x-m4a": ".m4a", "audio/flac": ".flac", "audio/ogg": ".ogg",
	"audio/aac": ".aac", "audio/aiff": ".aiff", "audio/webm": ".webm", "audio/opus": ".opus",
	pdfType: ".pdf", plainType: ".txt", "text/markdown": ".md", "text/html": ".html", "text/csv": ".csv", "text/xml": ".xml",
	"application/json": ".json", "application/yaml": ".yaml", binaryType: ".bin",
}

// Extension returns the file ending, with its dot, that belongs to the content
// of b as it was sniffed, for handles and staged files. It is empty for blocks
// without bytes of their own.
func Extension(b content.Block) string {
	a, ok := content.AttachmentOf(b)
	if !ok || a.Original.IsZero() {
		return ""
	}
	base := baseType(a.Original.MIME)
	if ext, ok := extensions[base]; ok {
		return ext
	}
	if m := mimetype.Lookup(base); m != nil && m.Extension() != "" {
		return m.Extension()
	}
	if b.Kind() == content.KindResourceText {
		return ".txt"
	}
	return ".bin"
}
