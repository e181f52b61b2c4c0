package tool_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/tool"
)

// onePixel is a PNG of one pixel.
var onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

var encoded = base64.StdEncoding.EncodeToString(onePixel)

// sources reads a file and spells its sources; pictures by their length, type and
// name.
func sources(t testing.TB, env tool.Env, v map[string]any) []string {
	t.Helper()
	r, err := (tool.Read{}).Run(t.Context(), args(t, v), env)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range r.Sources {
		switch p := s.Payload.(type) {
		case content.Prose:
			out = append(out, p.Text)
		case content.Bytes:
			out = append(out, fmt.Sprintf("%d bytes, %s, %s, %s", len(p.Data), s.Declared, s.Name, s.Chooser))
		case content.Base64, content.DataURI, content.Path, content.Link, content.EmbeddedText, content.Given, content.Crop,
			content.Compare, content.Unknown, content.Broken:
			out = append(out, fmt.Sprintf("%T", p))
		}
	}
	return out
}

const sample = `{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "![x](attachment:a.png)"],
   "attachments": {"a.png": {"image/png": "PNG"}}},
  {"cell_type": "code", "execution_count": 7, "metadata": {}, "source": "plot(x)\nprint(1)",
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
    {"output_type": "display_data", "data": {"text/plain": ["<Figure>"], "image/png": "PNG\n", "text/html": "<img src='data:image/png;base64,PNG'>"}},
    {"output_type": "execute_result", "execution_count": 7, "data": {"application/vnd.x+json": {"a": 1}}},
    {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["\u001b[0;31mValueError\u001b[0m: bad"]},
    {"output_type": "display_data", "data": {"image/jpeg": "%%%"}}
   ]},
  {"cell_type": "raw", "source": []}
 ],
 "metadata": {"kernelspec": {"name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}`

func TestNotebook(t *testing.T) {
	env := desk(t, map[string]string{"a.ipynb": strings.ReplaceAll(sample, "PNG", encoded), "by content.json": strings.ReplaceAll(sample, "PNG", encoded)})
	for _, name := range []string{"a.ipynb", "by content.json"} {
		want := []string{
			"[notebook, python3, 3 cells; give offset to read its JSON]\n\n[cell 1, markdown]\n# Title\n![x](attachment:a.png)\n[attachment a.png]\n[a picture, image/png, follows]\n",
			fmt.Sprintf("%d bytes, image/png, %s cell 1 a.png, tool", len(onePixel), name),
			"\n[cell 2, code, run 7]\nplot(x)\nprint(1)\n[output 1 of cell 2]\n1\n2\n[output 2 of cell 2]\n<Figure>\n[a picture, image/png, follows]\n",
			fmt.Sprintf("%d bytes, image/png, %s cell 2 output 2, tool", len(onePixel), name),
			"[output 3 of cell 2]\n[not shown: application/vnd.x+json]\n[output 4 of cell 2]\nValueError: bad\n[output 5 of cell 2]\n[a picture, image/jpeg, that cannot be decoded]\n\n[cell 3, raw]\n",
		}
		if diff := cmp.Diff(want, sources(t, env, map[string]any{"path": name})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := sources(t, env, map[string]any{"path": "a.ipynb", "offset": 1, "limit": 2}); len(got) != 1 || !strings.HasPrefix(got[0], "1\t{\n2\t \"cells\": [\n[more") {
		t.Errorf("its JSON: %q", got)
	}
	// It was read to its end, so it may be changed.
	if _, err := run(t, tool.Edit{}, env, edits("a.ipynb", "print(1)", "print(2)")); err != nil {
		t.Error(err)
	}
}

// What is no notebook is text from its beginning, and known as read.
func TestNoNotebook(t *testing.T) {
	for name, text := range map[string]string{
		"cut off":      sample[:len(sample)/2],
		"old format":   `{"worksheets": [], "nbformat": 3, "cell_type": 1}`,
		"no cells":     `{"nbformat": 4, "cell_type": 1}`,
		"wrong types":  `{"nbformat": 4, "cells": [{"cell_type": 1}]}`,
		"wrong source": `{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}`,
		"an array":     `[1]`,
		"empty":        ``,
		"long":         `{"cell_type": ` + strings.Repeat("1\n", 30_000),
	} {
		env := desk(t, map[string]string{"a.ipynb": text})
		got := sources(t, env, map[string]any{"path": "a.ipynb"})
		first, _, _ := strings.Cut(text, "\n")
		if text == "" {
			first = "[the file is empty]"
		} else {
			first = "1\t" + first
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], first) {
			t.Errorf("%s: %.80q", name, got)
		}
		if _, err := run(t, tool.Write{}, env, map[string]any{"path": "a.ipynb", "content": "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An answer is bounded whatever a notebook holds, and says what is left out.
func TestHugeNotebook(t *testing.T) {
	cells := make([]any, 400)
	for i := range cells {
		outs := []any{map[string]any{"output_type": "stream", "text": strings.Repeat("0123456789\n", 20_000)}}
		for range 2 {
			outs = append(outs, map[string]any{"output_type": "display_data", "data": map[string]any{"image/png": encoded}})
		}
		cells[i] = map[string]any{"cell_type": "code", "source": strings.Repeat("x", 5000), "outputs": outs}
	}
	data, err := json.Marshal(map[string]any{"nbformat": 4, "cells": cells[:30]})
	if err != nil {
		t.Fatal(err)
	}
	env := project(t, map[string]string{"a.ipynb": string(data)})
	got := sources(t, env, map[string]any{"path": "a.ipynb"})
	text, pictures := strings.Join(got, ""), 0
	for _, s := range got {
		if strings.Contains(s, "image/png, a.ipynb") {
			pictures++
		}
	}
	if len(text) > 210_000 || pictures != 20 || !strings.Contains(text, "not shown: more than 20") ||
		!strings.Contains(text, "[output cut at 8000 of 220000 bytes]") || !strings.Contains(text, "more cells; give offset") || !strings.Contains(text, "[line cut]") {
		t.Errorf("%d bytes, %d pictures", len(text), pictures)
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(sample, "PNG", encoded)))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":["a",1]}]}`))
	f.Add([]byte(`{"nbformat":4,"cells":[null,{}],"metadata":{"kernelspec":null}}`))
	f.Add([]byte(`{"nbformat":4,"cells":[{"outputs":[{"data":{"image/png":["AA","=="]}},{"output_type":"error"}],"attachments":{"x":{"a/b":"c"}}}]}`))
	env := project(f, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		put(t, env.Cwd+"/a.ipynb", string(data))
		r, err := (tool.Read{}).Run(t.Context(), args(t, map[string]any{"path": "a.ipynb"}), env)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, s := range r.Sources {
			switch p := s.Payload.(type) {
			case content.Prose:
				size += len(p.Text)
				if !utf8.ValidString(p.Text) {
					t.Errorf("text is no UTF-8: %q", p.Text)
				}
			case content.Bytes:
				if len(p.Data) == 0 || bytes.Contains([]byte(s.Name), []byte("\n")) && !bytes.Contains(data, []byte(`\n`)) {
					t.Errorf("picture %q of %d bytes", s.Name, len(p.Data))
				}
			case content.Path:
			case content.Base64, content.DataURI, content.Link, content.EmbeddedText, content.Given, content.Crop,
				content.Compare, content.Unknown, content.Broken:
				t.Errorf("payload %T", p)
			}
		}
		if size > 4*len(data)+300_000 || len(r.Sources) == 0 {
			t.Errorf("%d bytes in %d sources", size, len(r.Sources))
		}
	})
}

func BenchmarkNotebook(b *testing.B) {
	env := project(b, map[string]string{"a.ipynb": strings.ReplaceAll(sample, "PNG", encoded)})
	a := args(b, map[string]any{"path": "a.ipynb"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (tool.Read{}).Run(b.Context(), a, env); err != nil {
			b.Fatal(err)
		}
	}
}
