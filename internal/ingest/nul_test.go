package ingest_test

import (
	"bytes"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/ingest"
)

// wide is text in UTF-16, little end first, of characters below U+0100.
func wide(s string) string {
	var sb strings.Builder
	for _, r := range s {
		sb.WriteByte(byte(r))
		sb.WriteByte(0)
	}
	return sb.String()
}

// Bytes with NULs are text where they are clearly UTF-16, and nothing else. What is no
// text says why.
func TestNULs(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for name, c := range map[string]struct{ data, why string }{
		"issue":           {"a\x00b\nc\n", "it is no text: byte 2 of it is a NUL"},
		"the same longer": {strings.Repeat("a\x00b\nc\n", 400), "it is no text: byte 2 of it is a NUL"},
		"list":            {"one\x00two\x00three\x00four\x00", "it is no text: byte 4 of it is a NUL"},
		"one in a log":    {strings.Repeat("a line of a log\n", 100) + "\x00\x00", "it is no text: byte 1601 of it is a NUL"},
		"short UTF-16":    {wide("hi\n"), "it is no text: byte 2 of it is a NUL"},
		"UTF-16":          {wide("hello world\n"), ""},
		"UTF-16 shifted":  {"\x00" + wide("hello world\n") + "x", ""}, // big end first
		"odd UTF-16":      {wide("hello world") + "\n", "it is no text: byte 2 of it is a NUL"},
		"UTF-16, a third": {strings.Repeat("a\x00\x41\x30\x42\x30", 20), "it is no text: byte 2 of it is a NUL"},
		"small numbers":   {strings.Repeat("\x01\x00\x02\x00\x03\x00A\x00", 20), "it is no text: byte 2 of it is a NUL"},
		"signs":           {wide("!#!#!#!#!#!#"), "it is no text: byte 2 of it is a NUL"},
		"NUL in UTF-16":   {wide("hello world\x00\x00"), "it is no text: byte 2 of it is a NUL"},
		"marked, short":   {"\xff\xfea\x00", ""},
		"control":         {"a\x01\x02\x03", "it is no text: byte 2 of it is the control character 0x01"},
		"high":            {"\xe8\xe9\xea\xeb", "it is no text in a character set that can be told"},
	} {
		t.Run(name, func(t *testing.T) {
			b := takeOne(t, in, flag(content.Bytes{Data: []byte(c.data)}), ingest.Scope{})
			if c.why == "" {
				if _, ok := b.(content.ResourceText); !ok {
					t.Errorf("it is %+v", b)
				}
				return
			}
			d, ok := b.(content.Document)
			if want := c.why; !ok || d.Fault != 0 || d.Detail != want {
				t.Errorf("it is %+v, want %q", b, want)
			}
		})
	}
}

func FuzzNULs(f *testing.F) {
	for _, s := range []string{"a\x00b\nc\n", wide("hello world\n"), "\x00a\x00b\x00c\x00d\x00e\x00f\x00g\x00h", "x\x00", strings.Repeat("a\x00b", 9)} {
		f.Add([]byte(s))
	}
	in := ingest.New(newMemory(), ingest.Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		zeros := bytes.Count(data, []byte{0})
		if zeros == 0 || len(data) > 4096 || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")) {
			return
		}
		b := takeOne(t, in, flag(content.Bytes{Data: data}), ingest.Scope{})
		if _, ok := b.(content.ResourceText); ok && (len(data) < 16 || zeros*20 < len(data)*9) {
			t.Errorf("%q is taken for text", data)
		}
		if d, ok := b.(content.Document); ok && d.Original.MIME == "application/octet-stream" && d.Detail == "" {
			t.Errorf("%q is no text, and nothing says why", data)
		}
	})
}
