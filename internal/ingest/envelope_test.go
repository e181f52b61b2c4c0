package ingest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/ingest"
)

// client makes the JSON of a block whose payload stands in the JSON string
// spelt, and the place of that.
func client(before, spelt string) content.ClientBlock {
	head := `{"type":"image","_meta":{"k":` + before + `},"data":"`
	return content.ClientBlock{Raw: []byte(head + spelt + `","mimeType":"image/png"}`), Start: len(head), End: len(head) + len(spelt)}
}

// restored ingests s and checks that its block comes back byte for byte, also
// when the client's line has been overwritten since.
func restored(t *testing.T, s content.Source) content.Envelope {
	t.Helper()
	store := newMemory()
	in := ingest.New(store, ingest.Options{Limit: 100_000})
	want := bytes.Clone(s.Client.Raw)
	_, envs := take(t, in, s, ingest.Scope{})
	for i := range s.Client.Raw {
		s.Client.Raw[i] = 'x'
	}
	got, err := ingest.Restore(envs[0], store)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("spelling %d: got %.200q, want %.200q", envs[0].Spelling, got, want)
	}
	if len(envs[0].JSON) > 4096 {
		t.Errorf("an envelope of %d bytes", len(envs[0].JSON))
	}
	return envs[0]
}

func TestEnvelopeSpellings(t *testing.T) {
	png := picture()
	two, one := png[:len(png)-len(png)%3-1], png[:len(png)-len(png)%3-2]
	std, raw := base64.StdEncoding.EncodeToString, base64.RawStdEncoding.EncodeToString
	u, rawURL := base64.URLEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	if !strings.ContainsAny(std(two), "+/") || !strings.ContainsAny(std(one), "+/") {
		t.Fatal("the sample does not tell the alphabets apart")
	}
	for name, c := range map[string]struct {
		spelt string
		want  content.Spelling
	}{
		"standard":       {std(two), content.SpellingBase64},
		"standard two":   {std(one), content.SpellingBase64},
		"raw":            {raw(two), content.SpellingBase64Raw},
		"url":            {u(two), content.SpellingBase64URL},
		"raw url":        {rawURL(one), content.SpellingBase64RawURL},
		"prefix":         {"data:image/png;base64," + std(two), content.SpellingBase64},
		"prefix raw url": {"data:image/png;base64," + rawURL(two), content.SpellingBase64RawURL},
		"blank before":   {" " + std(two), content.SpellingStored},
		"lines":          {strings.ReplaceAll(std(two), "A", `A\n`), content.SpellingStored},
		"escaped":        {strings.ReplaceAll(std(two), "/", `\/`), content.SpellingStored},
		"bits left over": {"QR==", content.SpellingStored},
		"not base64":     {"!!!!", content.SpellingStored},
		"too large":      {std(make([]byte, 200_000)), content.SpellingStored},
		"empty":          {"", content.SpellingNone},
	} {
		t.Run(name, func(t *testing.T) {
			s := acp(content.Base64{Data: unescaped(t, c.spelt)}, content.KindImage, "image/png")
			s.Client = client("1", c.spelt)
			if e := restored(t, s); e.Spelling != c.want {
				t.Errorf("spelling %d, want %d", e.Spelling, c.want)
			}
			s = acp(content.Base64{Data: unescaped(t, c.spelt)}, content.KindImage, "image/png")
			s.Client = client(`"`+strings.Repeat("m", 5000)+`"`, c.spelt)
			if e := restored(t, s); e.Spelling != content.SpellingStored {
				t.Errorf("a long envelope has the spelling %d", e.Spelling)
			}
		})
	}
}

// unescaped is what a JSON parser makes of the inside of a string.
func unescaped(t testing.TB, spelt string) []byte {
	t.Helper()
	var s string
	if err := json.Unmarshal([]byte(`"`+spelt+`"`), &s); err != nil {
		t.Fatal(err)
	}
	return []byte(s)
}

func TestEnvelopeOfText(t *testing.T) {
	long := strings.Repeat("line\n", 2000)
	escape := func(s string) string {
		return strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`, "\t", `\t`, "\x01", `\u0001`, "\x1f", `\u001f`, "\b", `\b`, "\f", `\f`, "\r", `\r`).Replace(s)
	}
	for name, c := range map[string]struct {
		text, spelt string
		want        content.Spelling
	}{
		"shortest":     {"a\"b\\c\n\t\x01\x1f\b\f\r/é\u2028<\x7f", "", content.SpellingText},
		"long":         {long, "", content.SpellingText},
		"slash":        {"a/b", `a\/b`, content.SpellingStored},
		"unicode":      {"é", `\u00e9`, content.SpellingStored},
		"upper digits": {"\x1f", `\u001F`, content.SpellingStored},
		"surrogate":    {"\ufffd", `\ud800`, content.SpellingStored},
	} {
		t.Run(name, func(t *testing.T) {
			if c.spelt == "" {
				c.spelt = escape(c.text)
			}
			s := acp(content.EmbeddedText{URI: "file:///a", Text: c.text}, content.KindResourceText, "")
			s.Client = client("1", c.spelt)
			if e := restored(t, s); e.Spelling != c.want {
				t.Errorf("embedded: spelling %d, want %d", e.Spelling, c.want)
			}
			s = acp(content.Prose{Text: c.text}, content.KindText, "")
			s.Client = client("1", c.spelt)
			want := content.SpellingNone // short prose stays in its envelope
			if name == "long" {
				want = content.SpellingText
			}
			if e := restored(t, s); e.Spelling != want {
				t.Errorf("prose: spelling %d, want %d", e.Spelling, want)
			}
		})
	}
}

func TestEnvelopeOfOthers(t *testing.T) {
	dir := realDir(t)
	p := write(t, dir, "a.txt", []byte("text"))
	in := ingest.New(newMemory(), ingest.Options{})
	s := acp(content.Link{URI: fileURI(p)}, content.KindResourceLink, "")
	s.Client = content.ClientBlock{Raw: []byte(`{"type":"resource_link"}`)}
	blocks, envs := take(t, in, s, ingest.Scope{Roots: []string{dir}})
	if len(blocks) != 2 || envs[0].IsZero() || !envs[1].IsZero() {
		t.Errorf("%d blocks, envelopes %+v", len(blocks), envs)
	}
	restored(t, s)
	s.Client = content.ClientBlock{}
	if _, envs = take(t, in, s, ingest.Scope{Roots: []string{dir}}); !envs[0].IsZero() {
		t.Errorf("an envelope without a client: %+v", envs[0])
	}
	for _, c := range []content.ClientBlock{
		{Raw: []byte(`{"data":"QUJD"}`), Start: 9, End: 4}, {Raw: []byte(`{"data":"QUJD"}`), Start: -1, End: 4}, {Raw: []byte(`{"data":"QUJD"}`), Start: 9, End: 99},
	} {
		s := acp(content.Base64{Data: []byte("QUJD")}, content.KindImage, "")
		s.Client = c
		if e := restored(t, s); e.Spelling != content.SpellingStored {
			t.Errorf("%+v: spelling %d", c, e.Spelling)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	store := newMemory()
	d, err := store.PutBytes(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []content.Envelope{
		{JSON: []byte("{}"), Hole: 3, Payload: d, Spelling: content.SpellingBase64},
		{JSON: []byte("{}"), Hole: -1, Payload: d, Spelling: content.SpellingText},
		{JSON: []byte("{}"), Payload: d, Spelling: 99},
		{Payload: content.Digest{1}, Spelling: content.SpellingStored},
	} {
		if got, err := ingest.Restore(e, store); err == nil {
			t.Errorf("%+v gave %q", e, got)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"), uint8(0), "x")
	f.Add([]byte("ab"), uint8(1), `"\u00e9\/`)
	f.Add([]byte("abcd"), uint8(2), "")
	f.Add([]byte(strings.Repeat("?>~", 30)), uint8(11), "data:")
	f.Fuzz(func(t *testing.T, payload []byte, how uint8, meta string) {
		var spelt string
		switch how % 6 {
		case 0:
			spelt = base64.StdEncoding.EncodeToString(payload)
		case 1:
			spelt = base64.RawStdEncoding.EncodeToString(payload)
		case 2:
			spelt = base64.URLEncoding.EncodeToString(payload)
		case 3:
			spelt = base64.RawURLEncoding.EncodeToString(payload)
		case 4: // whatever the client wrote
			spelt = string(payload)
		case 5:
			b, err := json.Marshal(string(payload))
			if err != nil {
				t.Fatal(err)
			}
			spelt = string(b[1 : len(b)-1])
		}
		if how&8 != 0 {
			spelt = "data:image/png;base64," + spelt
		}
		m, err := json.Marshal(meta)
		if err != nil {
			t.Fatal(err)
		}
		var plain string
		if json.Unmarshal([]byte(`"`+spelt+`"`), &plain) != nil {
			plain = spelt
		}
		for _, p := range []content.Payload{content.Base64{Data: []byte(plain)}, content.EmbeddedText{Text: plain}, content.Prose{Text: plain}, content.Broken{Why: "x"}} {
			s := acp(p, content.KindImage, "image/png")
			s.Client = client(string(m), spelt)
			restored(t, s)
		}
	})
}

func FuzzBase64(f *testing.F) {
	for _, s := range []string{"QUJD", "QQ==", "QQ", "-_-_", "+/+/", "Q U\nJ\rD", "====", "QQ==QQ==", "data:;base64,QUJD", "data:x,QUJD", "data:base64,00", strings.Repeat("QUJD", 50) + "Q\n=="} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		store := newMemory()
		in := ingest.New(store, ingest.Options{})
		before := bytes.Clone(data)
		b := takeOne(t, in, acp(content.Base64{Data: data}, content.KindDocument, ""), ingest.Scope{})
		if !bytes.Equal(before, data) {
			t.Fatal("the client's line was written to")
		}
		a := attachment(t, b)
		if head, _, ok := bytes.Cut(data, []byte(",")); ok && bytes.ContainsAny(head, "% \t\r\n\v\f") {
			return // a prefix in a spelling that the reference does not read
		}
		want, ok := reference(data)
		switch {
		case ok && len(want) == 0:
			if a.Fault != content.FaultEmpty && a.Fault != content.FaultBadPayload {
				t.Fatalf("%q: %s", data, a.Fault)
			}
		case ok:
			if got := store.get(t, a.Original); !bytes.Equal(got, want) {
				t.Fatalf("%q decoded to %q, want %q", data, got, want)
			}
		case a.Fault != content.FaultBadPayload || !a.Original.IsZero():
			t.Fatalf("%q: %s, want bad payload", data, a.Fault)
		}
	})
}

// reference decodes by the standard library, after one prefix and white space
// are taken out.
func reference(data []byte) ([]byte, bool) {
	s := strings.Trim(string(data), " \t\r\n\v\f")
	if len(s) >= 5 && strings.EqualFold(s[:5], "data:") {
		head, body, ok := strings.Cut(s, ",")
		if ok && len(head) < 1024 && strings.HasSuffix(strings.ToLower(head), ";base64") {
			s = body
		}
	}
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\v\f", r) {
			return -1
		}
		return r
	}, s)
	if s == "" {
		return nil, true
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if out, err := enc.DecodeString(s); err == nil {
			return out, true
		}
	}
	return nil, false
}

func FuzzSniff(f *testing.F) {
	for _, s := range [][]byte{
		picture(), []byte("%PDF-1.7\n%%EOF"), []byte("<svg/>"), []byte("\xff\xfea\x00"), []byte("OggS"), []byte("PK\x03\x04"), ftyp("heic"), bmp(), tiff("MM"),
		[]byte("RIFF\x00\x00\x00\x00WAVEfmt "), []byte("ID3\x04\x00\x00\x00\x00\x00\x00"), []byte("caf\xe9"), []byte("\x1aE\xdf\xa3"), []byte("GIF89a"),
	} {
		f.Add(s, "", uint8(0))
		f.Add(s, "image/png", uint8(content.KindImage))
	}
	f.Fuzz(func(t *testing.T, data []byte, declared string, as uint8) {
		store := newMemory()
		in := ingest.New(store, ingest.Options{})
		kinds := []content.Kind{0, content.KindImage, content.KindAudio, content.KindDocument, content.KindResourceText}
		b := takeOne(t, in, acp(content.Bytes{Data: data}, kinds[int(as)%len(kinds)], declared), ingest.Scope{})
		a := attachment(t, b)
		if len(data) > 0 && !bytes.Equal(store.get(t, a.Original), data) {
			t.Fatal("the original is not what came in")
		}
		if ext := ingest.Extension(b); len(data) > 0 && !strings.HasPrefix(ext, ".") {
			t.Fatalf("extension %q of %q", ext, a.Original.MIME)
		}
		if r, ok := b.(content.ResourceText); ok && r.Fault == 0 {
			if text := store.get(t, r.Prepared); !slices.Equal([]rune(string(text)), []rune(strings.ToValidUTF8(string(text), "\x00"))) {
				t.Fatalf("text that is not UTF-8: %q", text)
			}
		}
	})
}

func BenchmarkBase64Ingest(b *testing.B) {
	for _, size := range []int{100_000, 7_500_000} {
		data := bytes.Repeat([]byte{0x00, 0xff, 0x80, 0x13, 0x7f}, size/5)
		enc := []byte(base64.StdEncoding.EncodeToString(data))
		b.Run(fmt.Sprintf("%d", len(enc)), func(b *testing.B) {
			in := ingest.New(discard{}, ingest.Options{})
			raw := append(append([]byte(`{"type":"resource","data":"`), enc...), `"}`...)
			s := acp(content.Base64{Data: enc}, content.KindDocument, "")
			s.Client = content.ClientBlock{Raw: raw, Start: 27, End: 27 + len(enc)}
			b.SetBytes(int64(len(enc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := in.Ingest(b.Context(), s, ingest.Scope{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
