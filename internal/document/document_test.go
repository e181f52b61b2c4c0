package document_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/ascii85"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"tote/internal/document"
	"tote/internal/document/documenttest"
)

func wantKind(tb testing.TB, err error, want document.Kind) {
	tb.Helper()
	var e *document.Error
	if !errors.As(err, &e) || e.Kind != want {
		tb.Fatalf("error = %v, want kind %v", err, want)
	}
}

func deflate(s string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write([]byte(s)) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.String()
}

func ascii85Text(s string) string {
	out := make([]byte, ascii85.MaxEncodedLen(len(s)))
	return string(out[:ascii85.Encode(out, []byte(s))])
}

// lzw packs with codes of nine bits, which is enough for short texts.
func lzw(s string) string {
	var out []byte
	var acc, bits uint
	emit := func(code uint) {
		acc, bits = acc<<9|code, bits+9
		for bits >= 8 {
			out = append(out, byte(acc>>(bits-8)))
			bits -= 8
		}
	}
	table := map[string]uint{}
	for c := range 256 {
		table[string([]byte{byte(c)})] = uint(c)
	}
	emit(256)
	next, word := uint(258), ""
	for i := range len(s) {
		longer := word + s[i:i+1]
		if _, ok := table[longer]; ok {
			word = longer
			continue
		}
		emit(table[word])
		table[longer] = next
		next++
		word = s[i : i+1]
	}
	emit(table[word])
	emit(257)
	emit(0)
	return string(out)
}

// page returns a file of one page with a content stream and a font object.
func page(content, font string, more ...string) []byte {
	return documenttest.File("/Root 1 0 R", append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F 4 0 R >> /XObject << /X 6 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>",
		font, content,
	}, more...)...)
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

func TestMeasure(t *testing.T) {
	for _, n := range []int{1, 2, 37} {
		info, err := document.Measure(t.Context(), documenttest.PDF(n, "hello"))
		if err != nil || info != (document.Info{MIME: "application/pdf", Pages: n}) {
			t.Errorf("%d pages: %+v, %v", n, info, err)
		}
	}
}

func TestKinds(t *testing.T) {
	pdf := documenttest.PDF(3, "hello")
	cut := bytes.LastIndex(pdf, []byte("%%EOF"))
	tests := []struct {
		name string
		data []byte
		want document.Kind
	}{
		{"no bytes", nil, document.Empty},
		{"text", []byte("a note named report.pdf"), document.NotDocument},
		{"half", pdf[:len(pdf)/2], document.Damaged},
		{"no end mark", pdf[:cut], document.Damaged},
		{"header and end only", []byte("%PDF-1.4\n%%EOF"), document.Damaged},
		{"no pages", documenttest.PDF(0, ""), document.Empty},
		{"page missing", bytes.Replace(pdf, []byte("6 0 obj"), []byte("6 0 xxx"), 1), document.Damaged},
		{"encrypted", documenttest.File("/Root 1 0 R /Encrypt 9 0 R", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page >>"), document.Encrypted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info, err := document.Measure(t.Context(), tt.data)
			wantKind(t, err, tt.want)
			if info.Encrypted != (tt.want == document.Encrypted) || tt.want == document.Encrypted && info.Pages != 1 {
				t.Errorf("info = %+v", info)
			}
			_, _, _, err = document.Text(t.Context(), tt.data, 100)
			wantKind(t, err, tt.want)
		})
	}
}

func TestEveryPrefixIsAnError(t *testing.T) {
	pdf := bytes.TrimSpace(documenttest.PDF(2, "hello"))
	for n := range pdf {
		if info, err := document.Measure(t.Context(), pdf[:n]); err == nil {
			t.Fatalf("%d of %d bytes: %+v, want an error", n, len(pdf), info)
		}
	}
}

func TestText(t *testing.T) {
	text, pages, truncated, err := document.Text(t.Context(), documenttest.PDF(2, "first (line)\nback\\slash"), 0)
	want := "--- page 1 ---\npage 1\nfirst (line)\nback\\slash\n--- page 2 ---\npage 2\nfirst (line)\nback\\slash\n"
	if err != nil || text != want || pages != 2 || truncated {
		t.Errorf("Text = %q, %d, %v, %v", text, pages, truncated, err)
	}
}

func TestTextIsBounded(t *testing.T) {
	pdf := documenttest.PDF(50, strings.Repeat("caf\xe9 ", 200))
	for _, limit := range []int{1, 20, 27, 28, 1000, 5000} {
		text, pages, truncated, err := document.Text(t.Context(), pdf, limit)
		if err != nil || len(text) > limit || !truncated || pages != 50 || !utf8.ValidString(text) {
			t.Errorf("limit %d: %d bytes, truncated %v, %d pages, %v", limit, len(text), truncated, pages, err)
		}
	}
}

func TestTextLayouts(t *testing.T) {
	cmap := documenttest.Stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0001> <00480065> endbfchar "+
		"2 beginbfrange <0002> <0004> <006C> <0010> <0011> [<006F> <D83DDE00>] endbfrange")
	composite := "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 /W [1 [900] 2 4 400] >>] >>"
	differences := "<< /Type /Font /Subtype /Type1 /Encoding << /Differences [1 /H /eacute /fi /uni20AC /quoteright 7 /a.alt] >> >>"
	s := documenttest.Stream
	flate := deflate("BT /F 10 Tf (packed) Tj ET")
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"array with a gap", page(s("", "BT /F 10 Tf [(one) -400 (two) -20 (three)] TJ ET"), helvetica), "one twothree"},
		{"letter by letter", page(s("", "BT /F 10 Tf (a) Tj 5 0 Td (b) Tj 15 0 Td (c) Tj ET"), helvetica), "ab c"},
		{"new lines", page(s("", "BT /F 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' 1 2 (d) \" ET"), helvetica), "a\nb\nc\nd"},
		{"page turned", page(s("", "0 1 -1 0 500 0 cm BT /F 10 Tf (ab) Tj 10 0 Td (cd) Tj 0 -12 Td (ef) Tj ET"), helvetica), "abcd\nef"},
		{"escapes", page(s("", `BT /F 10 Tf (\101\)\\\
B) Tj <4 3> Tj ET`), helvetica), "A)\\BC"},
		{"windows codes", page(s("", "BT /F 10 Tf (\x80 \x93q\x94) Tj ET"), helvetica), "€ “q”"},
		{"composite font", page(s("", "BT /F 10 Tf <000100020002001000100011> Tj ET"), composite, cmap), "Helloo😀"},
		{"differences", page(s("", "BT /F 10 Tf <01020304050741> Tj ET"), differences), "Héfi€’aA"},
		{"flate", page(s("/Filter /FlateDecode", flate), helvetica), "packed"},
		{"flate in an array", page(s("/Filter [/ASCIIHexDecode /FlateDecode]", fmt.Sprintf("%x>", flate)), helvetica), "packed"},
		{"ascii 85", page(s("/Filter /ASCII85Decode", "<~"+ascii85Text("BT /F 10 Tf (packed) Tj ET")+"~>"), helvetica), "packed"},
		{"run length", page(s("/Filter /RunLengthDecode", "\x19BT /F 10 Tf (packed) Tj ET\x80"), helvetica), "packed"},
		{"lzw", page(s("/Filter /LZWDecode", lzw("BT /F 10 Tf (packed packed packed) Tj ET")), helvetica), "packed packed packed"},
		{"form", page(s("", "/X Do"), helvetica, s("/Type /XObject /Subtype /Form", "BT /F 10 Tf (inside) Tj ET /X Do")), "inside"},
		{"inline image", page(s("", "BI /W 1 /H 1 ID \x00(EIx EI BT /F 10 Tf (after) Tj ET"), helvetica), "after"},
		{"no text", page(s("", "0 0 10 10 re f"), helvetica), ""},
		{"unknown font", page(s("", "BT /Z 10 Tf (abc) Tj ET"), helvetica), ""},
		{"wrong length", page("<< /Length 3 >>\nstream\nBT /F 10 Tf (right) Tj ET\nendstream", helvetica), "right"},
		{"length elsewhere", page("<< /Length 6 0 R >>\nstream\nBT /F 10 Tf (right) Tj ET\nendstream", helvetica, "26"), "right"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, pages, _, err := document.Text(t.Context(), tt.data, 0)
			got := strings.TrimSpace(strings.TrimPrefix(text, "--- page 1 ---\n"))
			if err != nil || pages != 1 || got != tt.want {
				t.Errorf("Text = %q, %d, %v, want %q", got, pages, err, tt.want)
			}
		})
	}
}

// Objects in an object stream, the table in a stream with a predictor: what
// writers since PDF 1.5 make.
func TestObjectStreams(t *testing.T) {
	inner := []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>", "<< /Type /Page /Parent 2 0 R >>", "<< /Type /Page /Parent 2 0 R >>"}
	var head, body strings.Builder
	for i, o := range inner {
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + " ")
	}
	for _, predictor := range []string{"", "/DecodeParms << /Predictor 12 /Columns 1 >>"} {
		content := head.String() + body.String()
		if predictor != "" {
			var rows []byte
			above := byte(0)
			for _, c := range []byte(content) {
				rows = append(rows, 2, c-above)
				above = c
			}
			content = string(rows)
		}
		stream := documenttest.Stream(fmt.Sprintf("/Type /ObjStm /N 4 /First %d /Filter /FlateDecode %s", head.Len(), predictor), deflate(content))
		pdf := fmt.Sprintf("%%PDF-2.0\n9 0 obj\n%s\nendobj\n10 0 obj\n%s\nendobj\nstartxref\n0\n%%%%EOF", stream,
			documenttest.Stream("/Type /XRef /Root 1 0 R /W [1 2 1] /Size 11", "x"))
		info, err := document.Measure(t.Context(), []byte(pdf))
		if err != nil || info.Pages != 2 {
			t.Errorf("%q: %+v, %v", predictor, info, err)
		}
	}
}

// An amended file defines objects again; the last definition counts.
func TestAmendedFile(t *testing.T) {
	pdf := documenttest.PDF(3, "x")
	pdf = append(pdf, "2 0 obj\n<< /Type /Pages /Kids [4 0 R] /Count 1 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"...)
	if info, err := document.Measure(t.Context(), pdf); err != nil || info.Pages != 1 {
		t.Errorf("%+v, %v", info, err)
	}
	// A file attached inside, not packed, is not taken for part of the outer one.
	outer := page(documenttest.Stream("", "BT ET"), helvetica, documenttest.Stream("/Type /EmbeddedFile", string(documenttest.PDF(9, "inner"))))
	if info, err := document.Measure(t.Context(), outer); err != nil || info.Pages != 1 {
		t.Errorf("with attachment: %+v, %v", info, err)
	}
}

func TestHostile(t *testing.T) {
	zeros := deflate(strings.Repeat("\x00", 8<<20))
	files := map[string][]byte{
		"kids loop":     documenttest.File("/Root 1 0 R", "<< /Pages 2 0 R >>", "<< /Kids [2 0 R 2 0 R 3 0 R] >>", "<< /Kids [2 0 R] >>"),
		"deep array":    append([]byte("%PDF-1.4\n1 0 obj\n"), append(bytes.Repeat([]byte("["), 1<<20), "%%EOF"...)...),
		"deep dict":     append([]byte("%PDF-1.4\n1 0 obj\n"), append(bytes.Repeat([]byte("<</a"), 1<<20), "\n%%EOF"...)...),
		"self length":   page("<< /Length 5 0 R >>\nstream\nx\nendstream", helvetica),
		"huge columns":  page(documenttest.Stream("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 99999999999 >>", deflate("abc")), helvetica),
		"packed thrice": page(documenttest.Stream("/Filter [/FlateDecode /FlateDecode]", deflate(zeros)), helvetica),
		"huge xref":     []byte("%PDF-1.4\nxref\n0 4000000000\ntrailer << /Root 1 0 R /Size 4000000000 >>\n1 0 obj << /Pages 1 0 R /Kids [] >>\n%%EOF"),
		"many obj":      append(bytes.Repeat([]byte("1 0 obj "), 1<<17), "%PDF-1.4\n%%EOF"...),
		"shared contents": documenttest.File("/Root 1 0 R", "<< /Pages 2 0 R >>", "<< /Kids ["+strings.Repeat("<</Contents 3 0 R>>", 1<<12)+"] >>",
			"["+strings.Repeat("4 0 R ", 1<<12)+"]", documenttest.Stream("", strings.Repeat("%", 1<<12))),
		"font again and again": page(documenttest.Stream("", strings.Repeat("/G 1 Tf ", 1<<20)), "<< /Differences [1] >>"),
		"ref loop":             documenttest.File("/Root 1 0 R", "2 0 R", "1 0 R"),
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			_, _ = document.Measure(t.Context(), data)               // must only end
			text, _, _, _ := document.Text(t.Context(), data, 1<<20) // as above
			if len(text) > 1<<20 {
				t.Errorf("%d bytes of text", len(text))
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := document.Measure(ctx, documenttest.PDF(3, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("Measure: %v", err)
	}
	if _, _, _, err := document.Text(ctx, documenttest.PDF(3, "x"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("Text: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	for kind := document.Damaged; kind <= document.NotDocument; kind++ {
		if s := (&document.Error{Kind: kind}).Error(); strings.Contains(s, "unknown") {
			t.Errorf("kind %d has no text", kind)
		}
	}
	cause := errors.New("cause")
	if e := (&document.Error{Kind: document.Damaged, Detail: "d", Err: cause}); e.Error() != "read pdf: damaged: d: cause" || !errors.Is(e, cause) {
		t.Errorf("Error() = %q", e.Error())
	}
}

func FuzzMeasure(f *testing.F) {
	f.Add([]byte("%PDF-1.4\n%%EOF"))
	f.Add(documenttest.PDF(2, "hello"))
	f.Add(page(documenttest.Stream("/Filter /FlateDecode", deflate("BT /F 10 Tf [(a) -300 (b)] TJ ET")), helvetica))
	f.Add(page(documenttest.Stream("", "q 1 0 0 1 2 3 cm /X Do Q"), helvetica, documenttest.Stream("/Subtype /Form", "BT /F 9 Tf (x) Tj ET")))
	f.Add(page(documenttest.Stream("", "BT /F 10 Tf <00010002> Tj ET"), "<< /Subtype /Type0 /ToUnicode 6 0 R /DescendantFonts [<< /W [1 [2] 3 4 5] >>] >>",
		documenttest.Stream("", "<0000> <ffff> endcodespacerange <0001> <0041> endbfchar <0002> <0009> <0061> endbfrange")))
	f.Add([]byte("%PDF-1.5\n9 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Length 20 >>\nstream\n1 0 << /Pages 1 0 R >>\nendstream\ntrailer << /Root 1 0 R >>\n%%EOF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := document.Measure(t.Context(), data)
		var e *document.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == 0) {
			t.Fatalf("error = %v", err)
		}
		text, pages, _, textErr := document.Text(t.Context(), data, 4096)
		if (err == nil) != (textErr == nil) || pages != info.Pages || len(text) > 4096 || !utf8.ValidString(text) {
			t.Fatalf("Text: %d bytes, %d pages, %v; Measure: %+v, %v", len(text), pages, textErr, info, err)
		}
	})
}

func BenchmarkMeasure(b *testing.B) {
	data := documenttest.PDF(200, strings.Repeat("a line of text\n", 50))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := document.Measure(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	data := documenttest.PDF(200, strings.Repeat("a line of text\n", 50))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := document.Text(b.Context(), data, 0); err != nil {
			b.Fatal(err)
		}
	}
}
