package ingest_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/document/documenttest"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
)

// This file holds the faults that real users met with attachments, each by the
// number that the list of them gives it.

// result is what a table expects of a block.
type result struct {
	kind  content.Kind
	mime  string // of the original
	fault content.Fault
}

func (want result) check(t *testing.T, b content.Block) content.Attachment {
	t.Helper()
	a := attachment(t, b)
	if got := (result{b.Kind(), a.Original.MIME, a.Fault}); got != want {
		t.Errorf("got %v %q %v (%s), want %v %q %v", got.kind, got.mime, got.fault, a.Detail, want.kind, want.mime, want.fault)
	}
	return a
}

// A webp of one pixel.
func webp(t testing.TB) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bmp is 4x4 pixels of 24 bits, all red.
func bmp() []byte {
	out := []byte("BM\x66\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00\x01\x00\x18\x00")
	out = append(out, make([]byte, 24)...)
	return append(out, bytes.Repeat([]byte{0, 0, 255}, 16)...)
}

// tiff is 4x4 grey pixels in the byte order of its first two letters.
func tiff(order string) []byte {
	put := func(b []byte, n, size int) []byte {
		for i := range size {
			shift := 8 * i
			if order == "MM" {
				shift = 8 * (size - 1 - i)
			}
			b = append(b, byte(n>>shift))
		}
		return b
	}
	out := put(put([]byte(order), 42, 2), 8, 4)
	entries := [][3]int{{256, 4, 4}, {257, 4, 4}, {258, 3, 8}, {259, 3, 1}, {262, 3, 1}, {273, 4, 8 + 2 + 9*12 + 4}, {277, 3, 1}, {278, 4, 4}, {279, 4, 16}}
	out = put(out, len(entries), 2)
	for _, e := range entries {
		out = put(put(put(out, e[0], 2), e[1], 2), 1, 4)
		if e[1] == 3 {
			out = put(put(out, e[2], 2), 0, 2)
		} else {
			out = put(out, e[2], 4)
		}
	}
	return append(put(out, 0, 4), bytes.Repeat([]byte{0x80}, 16)...)
}

func ftyp(brand string) []byte {
	return []byte("\x00\x00\x00\x14ftyp" + brand + "\x00\x00\x00\x00mif1")
}

func TestB04NotAPicture(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{})
	png := imagingtest.Screenshot(640, 400, 1)
	for _, c := range []struct {
		name     string
		data     []byte
		file     result // read as a file
		asAnACP  result // sent as a picture
		contains string // of the detail in the block
	}{
		{"x.jpeg", []byte("hello"), result{content.KindResourceText, "text/plain", 0}, result{content.KindResourceText, "text/plain", content.FaultBadPayload}, "not a picture"},
		{"e.png", []byte("<!DOCTYPE html><html><body>404</body></html>"), result{content.KindResourceText, "text/html", 0}, result{content.KindResourceText, "text/html", content.FaultBadPayload}, "not a picture"},
		{"y.png", nil, result{content.KindImage, "", content.FaultEmpty}, result{content.KindImage, "", content.FaultEmpty}, ""},
		{"z.png", imagingtest.Truncated(png), result{content.KindImage, "image/png", content.FaultDamaged}, result{content.KindImage, "image/png", content.FaultDamaged}, ""},
		{"b.png", []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x00\x80\x81"), result{content.KindDocument, "application/octet-stream", 0}, result{content.KindDocument, "application/octet-stream", 0}, "sent as a picture"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, dir, c.name, c.data)
			c.file.check(t, takeOne(t, in, flag(content.Path{Path: c.name}), ingest.Scope{Cwd: dir}))
			a := c.asAnACP.check(t, takeOne(t, in, acp(b64(c.data), content.KindImage, "image/png"), ingest.Scope{}))
			if !strings.Contains(a.Detail, c.contains) {
				t.Errorf("detail %q", a.Detail)
			}
		})
	}
}

func TestB06DeclaredTypeIsAHint(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for _, declared := range []string{"image/x-foo", "", "image/png", "IMAGE/PNG; q=1", "text/plain", "garbage"} {
		a := result{content.KindImage, "image/png", 0}.check(t, takeOne(t, in, acp(b64(picture()), content.KindImage, declared), ingest.Scope{}))
		if a.Declared != declared || a.Prepared != a.Original {
			t.Errorf("%q: %+v", declared, a)
		}
	}
	a := result{content.KindImage, "image/tiff", 0}.check(t, takeOne(t, in, acp(b64(tiff("II")), content.KindImage, "image/png"), ingest.Scope{}))
	if a.Prepared.MIME != "image/png" || !a.Changes.Has(content.ChangeConverted) {
		t.Errorf("tiff: %+v", a)
	}
}

func TestB07Base64Spellings(t *testing.T) {
	store := newMemory()
	in := ingest.New(store, ingest.Options{})
	png := picture()
	std := base64.StdEncoding.EncodeToString(png)
	lines := func(end string) string {
		var sb strings.Builder
		for i := 0; i < len(std); i += 76 {
			sb.WriteString(std[i:min(i+76, len(std))] + end)
		}
		return sb.String()
	}
	for name, data := range map[string]string{
		"standard": std, "no padding": base64.RawStdEncoding.EncodeToString(png), "url": base64.URLEncoding.EncodeToString(png),
		"url no padding": base64.RawURLEncoding.EncodeToString(png), "lines": lines("\n"), "crlf": lines("\r\n"), "tabs": lines("\t \n"),
		"around": " \n" + std + "\n ", "prefix": "data:image/png;base64," + std, "upper prefix": " DATA:image/png;charset=x;BASE64," + std,
	} {
		t.Run(name, func(t *testing.T) {
			a := result{content.KindImage, "image/png", 0}.check(t, takeOne(t, in, acp(content.Base64{Data: []byte(data)}, content.KindImage, "image/png"), ingest.Scope{}))
			if !bytes.Equal(store.get(t, a.Original), png) {
				t.Error("other bytes")
			}
		})
	}
	bad := content.FaultBadPayload
	for name, c := range map[string]struct {
		data string
		want result
	}{
		"empty":      {"", result{content.KindImage, "", content.FaultEmpty}},
		"blank":      {" \n ", result{content.KindImage, "", content.FaultEmpty}},
		"marks":      {"!!!!", result{content.KindImage, "", bad}},
		"padding":    {"====", result{content.KindImage, "", bad}},
		"lone":       {"QUJDR", result{content.KindImage, "", bad}},
		"in between": {"QQ==QUJD", result{content.KindImage, "", bad}},
		"too padded": {"QUI==", result{content.KindImage, "", bad}},
		"mixed":      {"+-+-", result{content.KindImage, "", bad}},
		"non ascii":  {"QUJDé===", result{content.KindImage, "", bad}},
		"twice":      {base64.StdEncoding.EncodeToString([]byte(std)), result{content.KindResourceText, "text/plain", bad}},
		"prefixed twice": {
			"data:image/png;base64,data:image/png;base64," + std, result{content.KindImage, "", bad},
		},
		"empty prefix": {"data:image/png;base64,", result{content.KindImage, "", content.FaultEmpty}},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.want.check(t, takeOne(t, in, acp(content.Base64{Data: []byte(c.data)}, content.KindImage, "image/png"), ingest.Scope{}))
			if name == "twice" && a.Detail != "decodes to text, not a picture" {
				t.Errorf("detail %q", a.Detail)
			}
		})
	}
	// The prefix tells the type where nothing else does.
	b := takeOne(t, in, acp(content.Base64{Data: []byte("data:image/png;base64," + std)}, content.KindImage, ""), ingest.Scope{})
	if a := attachment(t, b); a.Declared != "image/png" {
		t.Errorf("declared %q", a.Declared)
	}
}

// A picture without words is one block, and blank text stays what it is.
func TestB10PictureWithoutText(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	if b := takeOne(t, in, acp(b64(picture()), content.KindImage, "image/png"), ingest.Scope{}); b.Kind() != content.KindImage {
		t.Errorf("got %s", b.Kind())
	}
	if b := takeOne(t, in, acp(content.Prose{Text: "  \n"}, content.KindText, ""), ingest.Scope{}); b != content.Block(content.Text{Body: "  \n"}) {
		t.Errorf("got %+v", b)
	}
}

func TestB11ContentBeatsTheName(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{})
	write(t, dir, "a.png", imagingtest.JPEG(imagingtest.Corners(16, 16), 0))
	write(t, dir, "a.jpg", webp(t))
	for name, mime := range map[string]string{"a.png": "image/jpeg", "a.jpg": "image/webp"} {
		for _, s := range []content.Source{
			flag(content.Path{Path: name}),
			{Payload: content.Path{Path: name}, Inlet: content.InletMention, Chooser: content.ChosenByUser},
			{Payload: content.Path{Path: filepath.Join(dir, name)}, Inlet: content.InletTool, Chooser: content.ChosenByModel},
		} {
			b := takeOne(t, in, s, ingest.Scope{Cwd: dir, Roots: []string{dir}})
			a := result{content.KindImage, mime, 0}.check(t, b)
			if a.Prepared.MIME != mime || a.Name != name {
				t.Errorf("%s: %+v", name, a)
			}
			if ext := ingest.Extension(b); mime != "image/"+strings.Replace(ext[1:], "jpg", "jpeg", 1) {
				t.Errorf("%s: extension %q", name, ext)
			}
		}
	}
}

func TestB12OtherFormats(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for name, c := range map[string]struct {
		data []byte
		want result
	}{
		"heic": {ftyp("heic"), result{content.KindImage, "image/heic", content.FaultUnsupported}},
		"avif": {ftyp("avif"), result{content.KindImage, "image/avif", content.FaultUnsupported}},
		"jxl":  {[]byte("\x00\x00\x00\x0cJXL \r\n\x87\n"), result{content.KindImage, "image/jxl", content.FaultUnsupported}},
		"bmp":  {bmp(), result{content.KindImage, "image/bmp", 0}},
		"II":   {tiff("II"), result{content.KindImage, "image/tiff", 0}},
		"MM":   {tiff("MM"), result{content.KindImage, "image/tiff", 0}},
		"psd":  {[]byte("8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x04"), result{content.KindDocument, "image/vnd.adobe.photoshop", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.want.check(t, takeOne(t, in, acp(b64(c.data), content.KindImage, "image/png"), ingest.Scope{}))
			switch {
			case a.Fault == content.FaultUnsupported && !strings.Contains(a.Detail, "convert it to PNG or JPEG"):
				t.Errorf("detail %q", a.Detail)
			case a.Original.IsZero():
				t.Error("the original is not kept")
			}
		})
	}
}

func TestB13SVGIsText(t *testing.T) {
	dir := realDir(t)
	store := newMemory()
	in := ingest.New(store, ingest.Options{})
	for name, svg := range map[string]string{
		"bare":    `<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>`,
		"xml":     `<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg"><image href="https://example.invalid/x.png"/></svg>`,
		"licence": "<?xml version=\"1.0\"?>\n<!--" + strings.Repeat("licence ", 1000) + "-->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir, "a.svg", []byte(svg))
			for _, s := range []content.Source{
				{Payload: content.Path{Path: "a.svg"}, Inlet: content.InletMention, Chooser: content.ChosenByUser},
				acp(b64([]byte(svg)), content.KindDocument, "image/svg+xml"),
				acp(b64([]byte(svg)), content.KindImage, "image/svg+xml"),
				acp(b64([]byte(svg)), content.KindImage, "image/png"),
				acp(content.EmbeddedText{URI: "file:///a.svg", Text: svg}, content.KindResourceText, "image/svg+xml"),
			} {
				b := takeOne(t, in, s, ingest.Scope{Cwd: dir})
				a := result{content.KindResourceText, "image/svg+xml", 0}.check(t, b)
				if string(store.get(t, a.Prepared)) != svg || ingest.Extension(b) != ".svg" {
					t.Errorf("%T: %+v", s.Payload, a)
				}
			}
		})
	}
}

func TestB14ExoticEndings(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{})
	for name, text := range map[string]string{
		"notes.pcx": "grüße, world\n", "data.ico": "width=4\n", "a.psd": "8BPS is a magic number\n", "b.bmp": "BM stands for bitmap and more text",
		"c.gif": "GIF89a is a format", "d.exe": "MZ are initials", "e.ogg": "OggS begins a page", "f.mp3": "ID3 tags hold titles", "g.jp2": "\u00ff",
	} {
		write(t, dir, name, []byte(text))
		result{content.KindResourceText, "text/plain", 0}.check(t, takeOne(t, in, flag(content.Path{Path: name}), ingest.Scope{Cwd: dir}))
	}
}

func TestB20DepthAndColours(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	deep := image.NewNRGBA64(image.Rect(0, 0, 8, 8))
	bit := image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.Black, color.White})
	moving := imagingtest.AnimatedGIF()
	for name, c := range map[string]struct {
		data   []byte
		mime   string
		change content.Changes
		detail string
	}{
		"16 bit": {imagingtest.PNG(deep), "image/png", content.ChangeDepth, ""},
		"1 bit":  {imagingtest.PNG(bit), "image/png", content.ChangeColor, ""},
		"turned": {imagingtest.JPEG(imagingtest.Corners(40, 20), 6), "image/jpeg", content.ChangeOriented, "turned upright"},
		"moving": {moving, "image/gif", content.ChangeFirstFrame, "frame 1 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			b := takeOne(t, in, flag(content.Bytes{Data: c.data}), ingest.Scope{})
			a := result{content.KindImage, c.mime, 0}.check(t, b)
			if !a.Changes.Has(c.change) || !strings.Contains(a.Detail, c.detail) {
				t.Errorf("changes %q, detail %q", a.Changes, a.Detail)
			}
			if name == "turned" && (a.Original.Width != 20 || a.Prepared.Width != 20 || a.Prepared.Height != 40) {
				t.Errorf("measures %+v %+v", a.Original, a.Prepared)
			}
			if name == "moving" && b.(content.Image).Frames != 2 {
				t.Errorf("frames %d", b.(content.Image).Frames)
			}
		})
	}
}

// A picture that is too large to decode keeps its measures and its original.
func TestTooManyPixels(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, image.NewGray(image.Rect(0, 0, 8000, 7000)), nil); err != nil {
		t.Fatal(err)
	}
	a := result{content.KindImage, "image/jpeg", content.FaultTooManyPixels}.check(t, takeOne(t, in, flag(content.Bytes{Data: buf.Bytes()}), ingest.Scope{}))
	if a.Original.Width != 8000 || a.Original.Height != 7000 || !strings.Contains(a.Detail, "56.0 megapixels") {
		t.Errorf("%+v", a)
	}
}

func TestOtherKinds(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	wav := []byte("RIFF\xac\x02\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x88\x02\x00\x00" + strings.Repeat("\x80", 648))
	unknown := []byte("\x00\x01\x02\x80\x81\x82\xff\xfe\x00\x00\x07")
	for name, c := range map[string]struct {
		data     []byte
		declared string
		as       content.Kind
		want     result
		ext      string
	}{
		"wav":             {wav, "", 0, result{content.KindAudio, "audio/wav", 0}, ".wav"},
		"wav as picture":  {wav, "image/png", content.KindImage, result{content.KindAudio, "audio/wav", 0}, ".wav"},
		"zip":             {[]byte("PK\x03\x04\x14\x00\x00\x00\x00\x00"), "", 0, result{content.KindDocument, "application/zip", 0}, ".zip"},
		"elf":             {[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00"), "text/plain", 0, result{content.KindDocument, "application/x-sharedlib", 0}, ".so"},
		"unknown":         {unknown, "", 0, result{content.KindDocument, "application/octet-stream", 0}, ".bin"},
		"unknown picture": {unknown, "image/x-foo", content.KindImage, result{content.KindDocument, "application/octet-stream", 0}, ".bin"},
		"unknown sound":   {unknown, "audio/x-foo", content.KindAudio, result{content.KindAudio, "audio/x-foo", 0}, ".bin"},
		"unknown text":    {unknown, "text/plain", 0, result{content.KindDocument, "application/octet-stream", 0}, ".bin"},
		"unknown named":   {unknown, "application/x-thing", 0, result{content.KindDocument, "application/x-thing", 0}, ".bin"},
		"text as sound":   {[]byte("hi"), "audio/wav", content.KindAudio, result{content.KindResourceText, "text/plain", content.FaultBadPayload}, ".txt"},
		"markdown":        {[]byte("# hi\n"), "text/markdown", 0, result{content.KindResourceText, "text/markdown", 0}, ".md"},
		"json":            {[]byte(`{"a":[1,2]}`), "", 0, result{content.KindResourceText, "application/json", 0}, ".json"},
		"log with colour": {[]byte("\x1b[31mred\x1b[0m\n"), "", 0, result{content.KindResourceText, "text/plain", 0}, ".txt"},
		"bad pdf":         {[]byte("%PDF-1.7\nnothing"), "", 0, result{content.KindDocument, "application/pdf", content.FaultDamaged}, ".pdf"},
		"not a pdf":       {unknown, "application/pdf", 0, result{content.KindDocument, "application/pdf", content.FaultDamaged}, ".pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			b := takeOne(t, in, acp(b64(c.data), c.as, c.declared), ingest.Scope{})
			c.want.check(t, b)
			if got := ingest.Extension(b); got != c.ext {
				t.Errorf("extension %q, want %q", got, c.ext)
			}
			if s, ok := b.(content.Audio); ok && name == "wav" && s.Millis != 81 {
				t.Errorf("%d ms", s.Millis)
			}
		})
	}
}

func TestDocumentsAndSound(t *testing.T) {
	store := newMemory()
	in := ingest.New(store, ingest.Options{})
	pdf := documenttest.PDF(3, "hello from the page")
	doc := takeOne(t, in, flag(content.Bytes{Data: pdf}), ingest.Scope{}).(content.Document)
	result{content.KindDocument, "application/pdf", 0}.check(t, doc)
	if text := string(store.get(t, doc.Text)); doc.Pages != 3 || doc.Text.MIME != "text/plain" || !strings.Contains(text, "hello from the page") {
		t.Errorf("%d pages, text %q", doc.Pages, text)
	}
	locked := documenttest.File("/Root 1 0 R /Encrypt << /Filter /Standard >>",
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R >>")
	for name, c := range map[string]struct {
		data []byte
		want content.Fault
	}{"encrypted": {locked, content.FaultEncrypted}, "cut": {imagingtest.Truncated(pdf), content.FaultDamaged}} {
		b := takeOne(t, in, flag(content.Bytes{Data: c.data}), ingest.Scope{})
		a := result{content.KindDocument, "application/pdf", c.want}.check(t, b)
		if a.Detail == "" || a.Original.IsZero() || !b.(content.Document).Text.IsZero() {
			t.Errorf("%s: %+v", name, b)
		}
	}
	// A PDF in a picture block is a document and says what happened.
	a := result{content.KindDocument, "application/pdf", 0}.check(t, takeOne(t, in, acp(b64(pdf), content.KindImage, "image/png"), ingest.Scope{}))
	if a.Detail != "sent as a picture, but it is application/pdf" {
		t.Errorf("detail %q", a.Detail)
	}
	s := takeOne(t, in, acp(b64(audiotest.WAV(200*time.Millisecond, 440)), content.KindAudio, "audio/x-wav"), ingest.Scope{}).(content.Audio)
	if s.Millis != 200 || s.Prepared.MIME != "audio/wav" || s.Declared != "audio/x-wav" {
		t.Errorf("%+v", s)
	}
}

func TestCharacterSets(t *testing.T) {
	store := newMemory()
	in := ingest.New(store, ingest.Options{})
	const german = "Größe und Länge, ein längerer Satz.\n"
	utf16of := func(s string, high bool, bom string) []byte {
		out := []byte(bom)
		for _, u := range utf16.Encode([]rune(s)) {
			if high {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
		return out
	}
	latin := func(s string) []byte {
		var out []byte
		for _, r := range s {
			out = append(out, byte(r))
		}
		return out
	}
	for name, c := range map[string]struct {
		data     []byte
		declared string
		mime     string
		text     string
	}{
		"utf-8":          {[]byte(german), "", "text/plain", german},
		"utf-8 with bom": {[]byte("\ufeff" + german), "", "text/plain", "\ufeff" + german},
		"utf-16le bom":   {utf16of(german+"😀", false, "\xff\xfe"), "", "text/plain; charset=utf-16le", german + "😀"},
		"utf-16be bom":   {utf16of(german, true, "\xfe\xff"), "", "text/plain; charset=utf-16be", german},
		"utf-16le":       {utf16of(german, false, ""), "", "text/plain; charset=utf-16le", german},
		"utf-16be":       {utf16of(german, true, ""), "", "text/plain; charset=utf-16be", german},
		"utf-16 svg":     {utf16of(`<svg xmlns="http://www.w3.org/2000/svg"/>`, false, "\xff\xfe"), "", "image/svg+xml; charset=utf-16le", `<svg xmlns="http://www.w3.org/2000/svg"/>`},
		"latin-1":        {latin(german), "", "text/plain; charset=iso-8859-1", german},
		"windows-1252":   {[]byte("price: 10 \x80, \x93quoted\x94\n"), "", "text/plain; charset=windows-1252", "price: 10 €, “quoted”\n"},
		"declared":       {[]byte("\xcf\xf0\xe8\xe2\xe5\xf2\n"), `text/plain; charset="CP1251"`, "text/plain; charset=windows-1251", "Привет\n"},
		"cut":            {[]byte(german + "\xc3"), "", "text/plain; charset=utf-8", german + "\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			a := result{content.KindResourceText, c.mime, 0}.check(t, takeOne(t, in, acp(b64(c.data), content.KindDocument, c.declared), ingest.Scope{}))
			if got := string(store.get(t, a.Prepared)); got != c.text {
				t.Errorf("got %q, want %q", got, c.text)
			}
			if !bytes.Equal(store.get(t, a.Original), c.data) || strings.Contains(a.Prepared.MIME, "charset") {
				t.Errorf("%+v", a)
			}
		})
	}
	for name, data := range map[string][]byte{
		"lone surrogate": []byte("\xff\xfea\x00\x00\xd8b\x00"), "odd utf-16": []byte("\xff\xfea\x00b"), "cyrillic undeclared": []byte("\xcf\xf0\xe8\xe2\xe5\xf2\n"),
		"nul": []byte("text\x00text"),
	} {
		t.Run(name, func(t *testing.T) {
			result{content.KindDocument, "application/octet-stream", 0}.check(t, takeOne(t, in, flag(content.Bytes{Data: data}), ingest.Scope{}))
		})
	}
}
