package wire_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// view is what a block says, for comparing.
type view struct {
	Type, Text, Data, Mime, URI, Name, Title, Desc string
	Size                                           int64
	ResURI, ResMime, ResText, ResBlob              string
	Payload, Bad                                   string
}

func viewOf(b wire.Block) view {
	v := view{
		Type: b.Type, Text: string(b.Text), Data: string(b.Data), Mime: b.MimeType, URI: b.URI, Name: b.Name,
		Title: b.Title, Desc: b.Description, Size: b.Size, Payload: string(b.Raw[b.Start:b.End]),
	}
	if r := b.Resource; r != nil {
		v.ResURI, v.ResMime, v.ResText, v.ResBlob = r.URI, r.MimeType, string(r.Text), string(r.Blob)
	}
	if b.Bad != nil {
		v.Bad = b.Bad.Error()
	}
	return v
}

func TestParseBlock(t *testing.T) {
	tests := []struct {
		name, in string
		want     view
	}{
		{"text", `{"type":"text","text":"a\n\u00e9\/b"}`, view{Type: "text", Text: "a\né/b", Payload: `a\n\u00e9\/b`}},
		{"empty text", `{"type":"text","text":""}`, view{Type: "text"}},
		{"type last", `{"text":"a","type":"text"}`, view{Type: "text", Text: "a", Payload: "a"}},
		{"escaped names", `{"\u0074ype":"te\u0078t","te\u0078t":"a"}`, view{Type: "text", Text: "a", Payload: "a"}},
		{"lone surrogate", `{"type":"text","text":"\ud800"}`, view{Type: "text", Text: "\uFFFD", Payload: `\ud800`}},
		{"text of the wrong type", `{"type":"text","text":5}`, view{Type: "text", Bad: "text is not a string"}},
		{"text missing", `{"type":"text"}`, view{Type: "text", Bad: "text is not a string"}},
		{
			"image", `{"type":"image","data":"QUJD","mimeType":"image/png","uri":"zed:///x"}`,
			view{Type: "image", Data: "QUJD", Mime: "image/png", URI: "zed:///x", Payload: "QUJD"},
		},
		{"escaped slash", `{"type":"image","data":"QU\/D","mimeType":"image/png"}`, view{Type: "image", Data: "QU/D", Mime: "image/png", Payload: `QU\/D`}},
		{
			"malformed optional members", `{"type":"image","data":"QUJD","mimeType":5,"uri":{"a":1},"annotations":7,"_meta":[]}`,
			view{Type: "image", Data: "QUJD", Payload: "QUJD"},
		},
		{
			"data URI", `{"type":"image","data":"data:image/webp;base64,QUJD"}`,
			view{Type: "image", Data: "QUJD", Mime: "image/webp", Payload: "QUJD"},
		},
		{
			"data URI with parameters", `{"type":"audio","data":"DATA:audio/wav;codecs=1;base64,QUJD","mimeType":"audio/x-wav"}`,
			view{Type: "audio", Data: "QUJD", Mime: "audio/x-wav", Payload: "QUJD"},
		},
		{"no data", `{"type":"image","mimeType":"image/png"}`, view{Type: "image", Mime: "image/png", Bad: "data is not a string"}},
		{"empty data", `{"type":"audio","data":"","mimeType":"audio/wav"}`, view{Type: "audio", Mime: "audio/wav", Bad: "data is empty"}},
		{
			"link", `{"type":"resource_link","uri":"file:///a","name":"a","title":"t","description":"d","mimeType":"x/y","size":12}`,
			view{Type: "resource_link", URI: "file:///a", Name: "a", Title: "t", Desc: "d", Mime: "x/y", Size: 12},
		},
		{"link with odd sizes", `{"type":"resource_link","uri":"u","name":"a","size":-3}`, view{Type: "resource_link", URI: "u", Name: "a"}},
		{"link without a name", `{"type":"resource_link","uri":"u","name":null,"size":"7"}`, view{Type: "resource_link", URI: "u"}},
		{"link without a uri", `{"type":"resource_link","name":"a"}`, view{Type: "resource_link", Name: "a", Bad: "uri is not a string"}},
		{
			"resource text", ` {"type":"resource","resource":{"uri":"file:///a.go","text":"x\ty","mimeType":"text/x-go"},"annotations":{"priority":1}}`,
			view{Type: "resource", ResURI: "file:///a.go", ResMime: "text/x-go", ResText: "x\ty", Payload: `x\ty`},
		},
		{
			"resource blob", `{"resource":{"blob":"QUJD","uri":"u"},"type":"resource"}`,
			view{Type: "resource", ResURI: "u", ResBlob: "QUJD", Payload: "QUJD"},
		},
		{
			"resource with both", `{"type":"resource","resource":{"blob":"QUJD","text":"t"}}`,
			view{Type: "resource", ResText: "t", Payload: "t"},
		},
		{"resource with neither", `{"type":"resource","resource":{"uri":"u","text":null,"blob":1}}`, view{Type: "resource", Bad: "resource has neither a text nor a blob"}},
		{"resource is no object", `{"type":"resource","resource":"u"}`, view{Type: "resource", Bad: "resource is not an object"}},
		{"unknown with known members", `{"type":"video","data":"QUJD","mimeType":"video/mp4"}`, view{Type: "video", Mime: "video/mp4"}},
		{"last one counts", `{"type":"text","type":"image","data":"QQ==","data":"QUJD"}`, view{Type: "image", Data: "QUJD", Payload: "QUJD"}},
		{"type is no string", `{"type":5,"text":"a"}`, view{}},
		{"no object", `"text"`, view{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, viewOf(wire.ParseBlock([]byte(tt.in)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParsePrompt(t *testing.T) {
	blocks, fault := wire.ParsePrompt([]byte(`{"sessionId":"s","prompt":[ {"type":"text","text":"a"} , {"type":"_x"},{"type":"image"}]}`))
	if fault != nil {
		t.Fatal(fault)
	}
	var raw []string
	for _, b := range blocks {
		raw = append(raw, string(b.Raw))
	}
	want := []string{`{"type":"text","text":"a"}`, `{"type":"_x"}`, `{"type":"image"}`}
	if diff := cmp.Diff(want, raw); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for in, message := range map[string]string{
		`{"prompt":[{"type":"text","text":"a"},{"typ":"text"}]}`: "prompt[1] is not a content block: it has no type",
		`{"prompt":["hello"]}`:       "prompt[0] is not a content block: it has no type",
		`{"prompt":[{"type":null}]}`: "prompt[0] is not a content block: it has no type",
		`{"prompt":[]}`:              "prompt is empty",
		`{"prompt":"hello"}`:         "prompt is not an array",
		`{"prompt":{}}`:              "prompt is not an array",
		`{}`:                         "prompt is not an array",
		`[]`:                         "prompt is not an array",
	} {
		blocks, fault := wire.ParsePrompt([]byte(in))
		if fault == nil || fault.Code != rpc.CodeInvalidParams || fault.Message != message {
			t.Errorf("ParsePrompt(%s) = %v, %v; want %q", in, blocks, fault, message)
		}
	}
}

func TestBlockAliasesTheLine(t *testing.T) {
	line := []byte(`{"prompt":[{"type":"image","data":"QUJD"}]}`)
	blocks, fault := wire.ParsePrompt(line)
	if fault != nil {
		t.Fatal(fault)
	}
	line[bytes.Index(line, []byte("QUJD"))] = 'x'
	if string(blocks[0].Data) != "xUJD" {
		t.Error("the payload was copied")
	}
}

func TestBlockSource(t *testing.T) {
	tests := []struct {
		in   string
		as   content.Kind
		want content.Payload
	}{
		{`{"type":"text","text":"a"}`, content.KindText, content.Prose{Text: "a"}},
		{`{"type":"image","data":"QUJD"}`, content.KindImage, content.Base64{Data: []byte("QUJD")}},
		{`{"type":"audio","data":"QUJD"}`, content.KindAudio, content.Base64{Data: []byte("QUJD")}},
		{`{"type":"resource","resource":{"uri":"u","blob":"QUJD"}}`, 0, content.Base64{Data: []byte("QUJD")}},
		{`{"type":"resource","resource":{"uri":"u","text":"t"}}`, content.KindResourceText, content.EmbeddedText{URI: "u", Text: "t"}},
		{
			`{"type":"resource_link","uri":"u","name":"n","size":3}`, content.KindResourceLink,
			content.Link{URI: "u", Name: "n", Size: 3},
		},
		{`{"type":"_w"}`, content.KindOpaque, content.Unknown{Type: "_w", Raw: []byte(`{"type":"_w"}`)}},
		{`{"type":"image"}`, content.KindImage, content.Broken{Why: "data is not a string"}},
		{`{"type":"resource"}`, 0, content.Broken{Why: "resource is not an object"}},
	}
	for _, tt := range tests {
		s := wire.ParseBlock([]byte(tt.in)).Source()
		if diff := cmp.Diff(tt.want, s.Payload); diff != "" || s.As != tt.as {
			t.Errorf("%s: As = %v, want %v; payload (-want +got):\n%s", tt.in, s.As, tt.as, diff)
		}
		if s.Inlet != content.InletACP || s.Chooser != content.ChosenByUser || string(s.Client.Raw) != tt.in {
			t.Errorf("%s: %+v", tt.in, s)
		}
	}
}
