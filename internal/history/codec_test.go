package history_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/history"
)

// samples is every kind of part, twice: with everything filled in and with
// nothing.
func samples() []content.Part {
	var out []content.Part
	for _, b := range contenttest.Blocks() {
		out = append(out, b)
	}
	for _, b := range contenttest.Sound() {
		out = append(out, b)
	}
	out = append(out, contenttest.Parts()...)
	return append(
		out, content.ToolResult{CallID: "c", Name: "n", Blocks: contenttest.Sound()},
		content.Text{}, content.Image{}, content.Audio{}, content.Document{}, content.ResourceText{}, content.ResourceLink{},
		content.Opaque{}, content.Reasoning{}, content.ToolCall{}, content.ToolResult{},
	)
}

// stored is what is left of a part in the record: the body of a text resource
// is a blob.
func stored(p content.Part) content.Part {
	switch p := p.(type) {
	case content.ResourceText:
		p.Body = ""
		return p
	case content.ToolResult:
		var blocks []content.Block
		for _, b := range p.Blocks {
			blocks = append(blocks, stored(b).(content.Block))
		}
		p.Blocks = blocks
		return p
	case content.Text, content.Image, content.Audio, content.Document, content.ResourceLink, content.Opaque, content.Reasoning, content.ToolCall:
		return p
	}
	panic("unknown part")
}

func TestCodecKeepsEveryField(t *testing.T) {
	for _, p := range samples() {
		text, err := history.EncodeParts([]content.Part{p})
		if err != nil {
			t.Fatalf("encode %T: %v", p, err)
		}
		got, err := history.DecodeParts([]byte(text))
		if err != nil {
			t.Fatalf("decode %T: %v", p, err)
		}
		if diff := cmp.Diff([]content.Part{stored(p)}, got); diff != "" {
			t.Errorf("%T in %s (-want +got):\n%s", p, text, diff)
		}
	}
}

func TestEveryKindCanBeRead(t *testing.T) {
	var want []string
	for _, p := range samples() {
		w, err := history.KindWord(p)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, w)
	}
	slices.Sort(want)
	got := history.KindWords()
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("kinds written and read differ (-written +read):\n%s", diff)
	}
}

// Every member of every enumeration keeps its value.
func TestCodecKeepsEveryWord(t *testing.T) {
	for n := range uint8(40) {
		a := content.Attachment{}
		if inlet := content.Inlet(n); !strings.Contains(inlet.String(), "(") {
			a.Origin.Inlet = inlet
		}
		if chooser := content.Chooser(n); !strings.Contains(chooser.String(), "(") {
			a.Origin.Chooser = chooser
		}
		if fault := content.Fault(n); !strings.Contains(fault.String(), "(") {
			a.Fault = fault
		}
		want := []content.Part{content.Image{Attachment: a}}
		text, err := history.EncodeParts(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := history.DecodeParts([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("value %d, error %v (-want +got):\n%s", n, err, diff)
		}
	}
}

func TestCodecRefusesWhatHasNoWord(t *testing.T) {
	_, err := history.EncodeParts([]content.Part{content.Image{Attachment: content.Attachment{Fault: 200}}})
	if err == nil {
		t.Error("a fault that does not exist was stored")
	}
}

func TestTextIsVerbatim(t *testing.T) {
	for _, body := range []string{
		"", " ", "\n\n a <b> & c </b> \t", "\x00\x1b[31m", "naïve 画像 👩‍👩‍👧 \u2028\u2029\u202e", `"\u0041\\`, strings.Repeat("x", 1_000_000),
	} {
		want := []content.Part{content.Text{Body: body}, content.ToolCall{Arguments: body}, content.Reasoning{Signature: body}}
		text, err := history.EncodeParts(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := history.DecodeParts([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	for text, want := range map[string]history.UnknownKindError{
		`[{"k":"text","v":{"b":"x"}},{"k":"hologram","v":{}}]`:           {What: "part", Kind: "hologram"},
		`[{"k":"result","v":{"i":"1","n":"x","b":[{"k":"smell"}]}}]`:     {What: "part", Kind: "smell"},
		`[{"k":"result","v":{"i":"1","n":"x","b":[{"k":"reasoning"}]}}]`: {What: "part", Kind: "reasoning"},
		`[{"k":"image","v":{"o":{"i":"telepathy"}}}]`:                    {What: "inlet", Kind: "telepathy"},
		`[{"k":"image","v":{"o":{"c":"nobody"}}}]`:                       {What: "chooser", Kind: "nobody"},
		`[{"k":"image","v":{"o":{},"f":"fault(99)"}}]`:                   {What: "fault", Kind: "fault(99)"},
		`[{}]`: {What: "part", Kind: ""},
	} {
		parts, err := history.DecodeParts([]byte(text))
		var got *history.UnknownKindError
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%s = %v, %v, want %+v", text, parts, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range samples() {
		text, err := history.EncodeParts([]content.Part{p})
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(text))
	}
	f.Add([]byte(`[{"k":"hologram"}]`))
	f.Add([]byte(`[{"k":"image","v":null},{"k":"result","v":{"b":[null]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := history.DecodeParts(data)
		if err != nil {
			return
		}
		text, err := history.EncodeParts(parts)
		if err != nil {
			t.Fatalf("what was decoded does not encode: %v", err)
		}
		again, err := history.DecodeParts([]byte(text))
		if err != nil {
			t.Fatalf("decode %s again: %v", text, err)
		}
		if diff := cmp.Diff(parts, again); diff != "" {
			t.Errorf("changed on the way (-first +second):\n%s", diff)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	parts := samples()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := history.EncodeParts(parts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text, err := history.EncodeParts(samples())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := history.DecodeParts([]byte(text)); err != nil {
			b.Fatal(err)
		}
	}
}
