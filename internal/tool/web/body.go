package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/net/html/charset"

	"tote/internal/content"
	"tote/internal/tool"
)

const (
	// sniffBytes decide what a body is.
	sniffBytes = 8192
	// perPage is how much text one answer shows, in bytes.
	perPage = 50_000
)

// kind is what is done with a body.
type kind uint8

const (
	kindText   kind = iota
	kindPage        // HTML
	kindMedia       // a picture, a PDF file or sound: for the inlet
	kindBinary      // anything else: facts only
)

// body is what a server sent, read as far as its kind allows.
type body struct {
	kind kind
	// mime is what the bytes say, declared what the server says.
	mime, declared string
	data           []byte
	// cut: there is more than was read.
	cut bool
}

func readBody(ctx context.Context, ans *answer) (body, error) {
	b := body{declared: ans.Header.Get("Content-Type")}
	head, err := io.ReadAll(io.LimitReader(ans.Body, sniffBytes))
	if err != nil {
		return b, err
	}
	b.kind, b.mime = classify(head, b.declared)
	limit := int64(maxText)
	switch b.kind {
	case kindMedia:
		limit = maxMedia
	case kindBinary:
		limit = int64(len(head))
	case kindText, kindPage:
	}
	if b.data, err = io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), ans.Body), limit+1)); err != nil {
		return b, err
	}
	if int64(len(b.data)) > limit {
		b.data, b.cut = b.data[:limit], true
		if b.kind == kindText || b.kind == kindPage {
			// Half a character at the end would make all of it look like no UTF-8.
			b.data = wholeRunes(b.data)
		}
	}
	return b, ctx.Err()
}

// wholeRunes takes half a character off the end.
func wholeRunes(data []byte) []byte {
	for i := len(data) - 1; i >= 0 && i > len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return data[:i]
			}
			return data
		}
	}
	return data
}

// classify judges a body by its beginning. The server's word decides only where
// the bytes leave it open.
func classify(head []byte, declared string) (kind, string) {
	said, params, _ := mime.ParseMediaType(declared)
	m := detect(head)
	found, _, _ := strings.Cut(m.String(), ";")
	top, _, _ := strings.Cut(found, "/")
	soundSaid := strings.HasPrefix(said, "audio/")
	switch {
	case found == "text/html":
		return kindPage, found
	case textual(m) || wideText(head, params["charset"]):
		if said == "text/html" || said == "application/xhtml+xml" {
			if found == "text/plain" || found == "text/xml" || found == "application/octet-stream" {
				return kindPage, "text/html"
			}
		}
		return kindText, found
	case top == "image", found == "application/pdf", top == "audio", found == "application/ogg":
		return kindMedia, found
	case soundSaid && (top == "video" || found == "application/octet-stream"):
		// Containers that hold films too, and sound without a magic number.
		return kindMedia, said
	}
	return kindBinary, found
}

// detect runs the sniffer. It walks into containers, so a fault of its own must
// not take the process down; the bytes then count as unknown.
func detect(head []byte) (m *mimetype.MIME) {
	defer func() {
		if recover() != nil {
			m = mimetype.Lookup("application/octet-stream")
		}
	}()
	return mimetype.Detect(head)
}

func textual(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// wideText reports whether bytes that look like no text are one of two or four
// bytes a character, by its mark or by the server's word.
func wideText(head []byte, declared string) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) ||
		strings.HasPrefix(strings.ToLower(declared), "utf-16")
}

// text is the body as text: a page in the format, anything else as it is.
func (b body) text(base *url.URL, f Format) string {
	s := decoded(b.data, b.declared)
	if b.kind != kindPage || f == Raw {
		return s
	}
	return render(s, base, f)
}

// decoded turns a text into UTF-8: by its byte order mark, by what the server
// says, by what the page says, else as it looks.
func decoded(data []byte, declared string) string {
	e, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], declared)
	if name == "windows-1252" && utf8.Valid(data) {
		name = "utf-8" // a guess from the first bytes, or a wrong word, which the whole refutes
	}
	if name != "utf-8" {
		if out, err := e.NewDecoder().Bytes(data); err == nil {
			data = out
		}
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
}

// sources are what a fetch gives.
func (b body) sources(ans *answer, a fetchArgs) []content.Source {
	switch b.kind {
	case kindMedia:
		return b.media(ans)
	case kindBinary:
		return []content.Source{tool.Prose(b.facts(ans) + "\n[it is neither text nor a picture, PDF file or sound, so its content is not shown]\n")}
	case kindText, kindPage:
	}
	return []content.Source{tool.Prose(b.facts(ans) + "\n\n" + page(b.text(ans.url, a.Format), a.Offset, b.cut))}
}

func (b body) media(ans *answer) []content.Source {
	switch {
	case b.cut:
		return []content.Source{tool.Prose(fmt.Sprintf("%s\n[it is larger than %d MiB, so it is not attached]\n", b.facts(ans), maxMedia>>20))}
	case len(b.data) == 0:
		return []content.Source{tool.Prose(b.facts(ans) + "\n[it is empty]\n")}
	}
	name := fileName(ans.url)
	said, _, err := mime.ParseMediaType(b.declared)
	if err != nil {
		said = b.mime
	}
	return []content.Source{
		tool.Prose(b.facts(ans) + "\n[attached]\n"),
		{
			Payload: content.Bytes{Data: b.data}, Inlet: content.InletTool, Chooser: content.ChosenByTool,
			Declared: said, Name: name,
		},
	}
}

// facts is the line at the head of an answer.
func (b body) facts(ans *answer) string {
	s := ans.url.String() + ": " + b.mime
	if said, _, err := mime.ParseMediaType(b.declared); err == nil && said != b.mime && b.kind != kindText {
		s += " (the server says " + short(said) + ")"
	}
	switch {
	case b.cut && ans.ContentLength > 0:
		s += fmt.Sprintf(", %d bytes", ans.ContentLength)
	case b.cut:
		s += fmt.Sprintf(", more than %d bytes", len(b.data))
	default:
		s += fmt.Sprintf(", %d bytes", len(b.data))
	}
	return s
}

// page is the part of a text that begins at offset.
func page(text string, offset int, cut bool) string {
	if offset > 0 && offset >= len(text) {
		return fmt.Sprintf("[the text has %d bytes]\n", len(text))
	}
	start := runeStart(text, offset)
	rest := text[start:]
	end := len(rest)
	if end > perPage {
		end = runeStart(rest, perPage)
		if nl := strings.LastIndexByte(rest[:end], '\n'); nl > perPage/2 {
			end = nl + 1
		}
	}
	out := rest[:end]
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	switch {
	case end < len(rest):
		out += fmt.Sprintf("[more follows: %d of %d bytes; read on with offset %d]\n", start+end, len(text), start+end)
	case cut:
		out += fmt.Sprintf("[only the first %d MiB were read]\n", maxText>>20)
	case text == "":
		out = "[there is no text]\n"
	}
	return out
}

// runeStart is the start of the rune that byte i of s belongs to.
func runeStart(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// short cuts a word of a server.
func short(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) > 80 {
		s = s[:runeStart(s, 80)]
	}
	return s
}
