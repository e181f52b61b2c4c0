package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/mcp"
)

// src is a source of a server, as all of them are.
func src(as content.Kind, p content.Payload, declared, name, uri string) content.Source {
	return content.Source{Payload: p, As: as, Declared: declared, Name: name, URI: uri, Inlet: content.InletMCP, Chooser: content.ChosenByTool}
}

func prose(s string) content.Source {
	return src(content.KindText, content.Prose{Text: s}, "", "", "")
}

func TestCallResult(t *testing.T) {
	for name, c := range map[string]struct {
		in      string
		want    []content.Source
		isError bool
	}{
		"order": {
			`{"content":[{"type":"text","text":"A"},{"type":"image","data":"cmVk","mimeType":"image/png"},{"type":"text","text":"B"},{"type":"image","data":"Z3JlZW4=","mimeType":"image/webp"}]}`,
			[]content.Source{
				prose("A"), src(content.KindImage, content.Bytes{Data: []byte("red")}, "image/png", "srv tool image 1", ""),
				prose("B"), src(content.KindImage, content.Bytes{Data: []byte("green")}, "image/webp", "srv tool image 2", ""),
			},
			false,
		},
		"audio": {
			`{"content":[{"mimeType":"audio/wav","type":"audio","data":"d2F2"}]}`,
			[]content.Source{src(content.KindAudio, content.Bytes{Data: []byte("wav")}, "audio/wav", "srv tool audio 1", "")},
			false,
		},
		"one broken": {
			`{"content":[{"type":"image","data":"!!!","mimeType":"image/png"},{"type":"image","data":"","mimeType":"image/png"},{"type":"image"},{"type":"image","data":7},{"type":"text","text":"on"}]}`,
			[]content.Source{
				src(content.KindImage, content.Broken{Why: "its data is no base64"}, "image/png", "srv tool image 1", ""),
				src(content.KindImage, content.Broken{Why: "its data is empty"}, "image/png", "srv tool image 2", ""),
				src(content.KindImage, content.Broken{Why: "its data is missing"}, "", "srv tool image 3", ""),
				src(content.KindImage, content.Broken{Why: "its data is missing"}, "", "srv tool image 4", ""),
				prose("on"),
			},
			false,
		},
		"data uri in its place": {
			`{"content":[{"type":"image","data":"data:image\/png;base64,cmVk","mimeType":"image/png"}]}`,
			[]content.Source{src(content.KindImage, content.DataURI{URI: "data:image/png;base64,cmVk"}, "image/png", "srv tool image 1", "")},
			false,
		},
		"text stays text": {
			`{"content":[{"type":"text","text":"see data:image/png;base64,cmVk and /tmp/a.png"}]}`,
			[]content.Source{prose("see data:image/png;base64,cmVk and /tmp/a.png")},
			false,
		},
		"resources": {
			`{"content":[{"type":"resource","resource":{"uri":"x://n/a.txt","mimeType":"text/plain","text":"T"}},` +
				`{"type":"resource","resource":{"uri":"x://n/a.pdf","mimeType":"application/pdf","blob":"cGRm"}},` +
				`{"type":"resource","resource":{"uri":"x://n","blob":"emlw"}},` +
				`{"type":"resource","resource":{"uri":"x://n/only"}},{"type":"resource","resource":{}},` +
				`{"type":"resource_link","uri":"file:///etc/passwd","name":"n","title":"t","description":"d","mimeType":"text/plain","size":5}]}`,
			[]content.Source{
				src(content.KindResourceText, content.EmbeddedText{URI: "x://n/a.txt", Text: "T"}, "text/plain", "a.txt", "x://n/a.txt"),
				src(0, content.Bytes{Data: []byte("pdf")}, "application/pdf", "a.pdf", "x://n/a.pdf"),
				src(0, content.Bytes{Data: []byte("zip")}, "", "srv tool document 1", "x://n"),
				src(content.KindResourceLink, content.Link{URI: "x://n/only"}, "", "", "x://n/only"),
				src(0, content.Broken{Why: "a resource without text, data and address"}, "", "", ""),
				src(content.KindResourceLink, content.Link{URI: "file:///etc/passwd", Name: "n", Title: "t", Description: "d", MIME: "text/plain", Size: 5}, "text/plain", "", "file:///etc/passwd"),
			},
			false,
		},
		"unknown": {
			`{"content":[{"type":"video","data":"AA"},17,{"text":"x"},{"type":"text","text":"on"}]}`,
			[]content.Source{
				src(content.KindOpaque, content.Unknown{Type: "video", Raw: []byte(`{"type":"video","data":"AA"}`)}, "", "", ""),
				src(content.KindOpaque, content.Unknown{Type: "untyped", Raw: []byte(`17`)}, "", "", ""),
				src(content.KindOpaque, content.Unknown{Type: "untyped", Raw: []byte(`{"text":"x"}`)}, "", "", ""),
				prose("on"),
			},
			false,
		},
		"structured alone":        {`{"structuredContent":{"n": 12345678901234567890},"content":[]}`, []content.Source{prose(`{"n":12345678901234567890}`)}, false},
		"structured said already": {`{"content":[{"type":"text","text":"{ \"a\" : [1] }"}],"structuredContent":{"a":[1]}}`, []content.Source{prose(`{ "a" : [1] }`)}, false},
		"structured says more":    {`{"content":[{"type":"text","text":"one row"}],"structuredContent":{"a":[1]}}`, []content.Source{prose("one row"), prose(`{"a":[1]}`)}, false},
		"error":                   {`{"isError":true,"content":[{"type":"text","text":"no"}]}`, []content.Source{prose("no")}, true},
		"empty":                   {`{"content":[]}`, []content.Source{prose("[srv tool gave no content]")}, false},
		"empty text":              {`{"content":[{"type":"text","text":""}]}`, []content.Source{prose("[srv tool gave no content]")}, false},
		"nothing":                 {`{}`, []content.Source{prose("[srv tool gave no content]")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, isError, err := mcp.CallResult(c.in)
			if err != nil || isError != c.isError {
				t.Fatalf("isError %v, err %v", isError, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallResultBounds(t *testing.T) {
	var sb strings.Builder
	for i := range 5003 {
		fmt.Fprintf(&sb, `,{"type":"text","text":"%d"}`, i)
	}
	got, _, err := mcp.CallResult(`{"content":[` + sb.String()[1:] + `]}`)
	if err != nil || len(got) != 5001 {
		t.Fatalf("%d sources, %v", len(got), err)
	}
	if diff := cmp.Diff(prose("[3 more blocks were left out; 5000 are taken of one result]"), got[5000]); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`7`, `"x"`, `{"content":{}}`, `{"content":"x"}`, `{"content":[`} {
		if _, _, err := mcp.CallResult(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestPromptResult(t *testing.T) {
	got, err := mcp.PromptResult(`{"messages":[{"role":"user","content":{"type":"text","text":"look"}},{"role":"user","content":[{"type":"image","data":"cmVk","mimeType":"image/png"}]}]}`)
	want := []content.Source{prose("look"), src(content.KindImage, content.Bytes{Data: []byte("red")}, "image/png", "srv prompt image 1", "")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = mcp.PromptResult(`{"messages":[{"role":"user","content":{"type":"text","text":"q"}},{"role":"assistant","content":{"type":"text","text":"a"}}]}`)
	want = []content.Source{prose("[user]"), prose("q"), prose("[assistant]"), prose("a")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzCallResult(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"A"},{"type":"image","data":"cmVk"},{"type":"resource","resource":{"uri":"u","blob":"AA"}}],"structuredContent":{"a":1}}`)
	f.Add(`{"content":[{"type":"x","y":[{}]}],"isError":true}`)
	f.Fuzz(func(t *testing.T, in string) {
		got, _, err := mcp.CallResult(in)
		if err == nil && len(got) == 0 {
			t.Errorf("%q gave nothing at all", in)
		}
		for _, s := range got {
			if s.Inlet != content.InletMCP || s.Chooser != content.ChosenByTool || s.Payload == nil {
				t.Errorf("%q gave %+v", in, s)
			}
		}
	})
}
