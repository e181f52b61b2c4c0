package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tote/internal/agent/agenttest"
	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/document/documenttest"
	"tote/internal/ingest"
	"tote/internal/store"
	"tote/internal/tool"
)

// producers are the packages that hand over sources.
var producers = []string{
	"../../cmd/tote", "../front/acp", "../front/acp/wire", "../front/headless", "../tool", "../tool/web", "../agent", "../app", "../mcp", "../delegate",
}

// awaited are members of the closed sets of sources that no product code makes
// yet. Whoever adds a producer takes the entry out.
var awaited = map[string]string{
	"InletPaste": "no surface reads a clipboard",
	"InletDrop":  "no surface takes dropped files",
}

// produced lists the payloads (as composite literals) and inlets that product
// code makes, outside of switches, which only ask.
func produced(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	name := func(e ast.Expr) (string, bool) {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		id, ok := sel.X.(*ast.Ident)
		return sel.Sel.Name, ok && id.Name == "content"
	}
	for _, dir := range producers {
		for _, f := range source(t, dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if s, ok := name(n.Type); ok {
						out[s] = true
					}
				case *ast.KeyValueExpr:
					if s, ok := name(n.Value); ok {
						out[s] = true
					}
				case *ast.AssignStmt:
					for _, v := range n.Rhs {
						if s, ok := name(v); ok {
							out[s] = true
						}
					}
				}
				return true
			})
		}
	}
	return out
}

// TestEverySourceHasAProducer: a way in that no product code takes is a promise
// that nobody keeps.
func TestEverySourceHasAProducer(t *testing.T) {
	made := produced(t)
	for _, name := range slices.Concat(declared(t, "payload"), constants(t, "Inlet")) {
		_, waits := awaited[name]
		switch {
		case !made[name] && !waits:
			t.Errorf("content.%s: no product code makes it", name)
		case made[name] && waits:
			t.Errorf("content.%s is made now: take it out of awaited", name)
		}
	}
	for name := range awaited {
		if !slices.Contains(declared(t, "payload"), name) && !slices.Contains(constants(t, "Inlet"), name) {
			t.Errorf("content.%s is awaited and not declared", name)
		}
	}
}

// inlets are ways in, each with the kind that has to come out.
func inlets(t *testing.T, w *world, in *ingest.Inlet) []struct {
	name string
	src  content.Source
	want []content.Kind
} {
	t.Helper()
	png, wav, pdf := agenttest.PNG(20, 20, 1), audiotest.WAV(50*time.Millisecond, 300), documenttest.PDF(1, "mark")
	zip := []byte("PK\x03\x04" + strings.Repeat("\x00", 60))
	user := func(p content.Payload, in content.Inlet, as content.Kind) content.Source {
		return content.Source{Payload: p, Inlet: in, Chooser: content.ChosenByUser, As: as}
	}
	std := base64.StdEncoding.EncodeToString
	b64 := func(data []byte) content.Base64 { return content.Base64{Data: []byte(std(data))} }
	path := func(name string, data []byte) content.Path { return content.Path{Path: w.file(name, data)} }
	image, audio, document := []content.Kind{content.KindImage}, []content.Kind{content.KindAudio}, []content.Kind{content.KindDocument}
	text, link := []content.Kind{content.KindResourceText}, []content.Kind{content.KindResourceLink}
	view := []content.Kind{content.KindText, content.KindImage} // what is seen, in words, and the picture
	looked := func(p content.Payload) content.Source {
		return content.Source{Payload: p, Inlet: content.InletTool, Chooser: content.ChosenByModel, As: content.KindImage}
	}
	w.file("linked.png", png)
	held, _, err := in.Ingest(t.Context(), user(b64(agenttest.PNG(21, 20, 2)), content.InletACP, content.KindImage), ingest.Scope{})
	if err != nil || len(held) != 1 {
		t.Fatalf("%d blocks, %v", len(held), err)
	}
	return []struct {
		name string
		src  content.Source
		want []content.Kind
	}{
		{"prose of a prompt", prose("hello"), []content.Kind{content.KindText}},
		{"picture by its path", flagged(w.file("a.png", png)), image},
		{"sound by its path", flagged(w.file("a.wav", wav)), audio},
		{"document by its path", flagged(w.file("a.pdf", pdf)), document},
		{"archive by its path", flagged(w.file("a.zip", zip)), document},
		{"text by its path", flagged(w.file("a.go", []byte("package a\n"))), text},
		{"svg by its path", flagged(w.file("a.svg", []byte(svg))), text},
		{"picture on standard input", user(content.Bytes{Data: png}, content.InletStdin, 0), image},
		{"sound on standard input", user(content.Bytes{Data: wav}, content.InletStdin, 0), audio},
		{"document on standard input", user(content.Bytes{Data: pdf}, content.InletStdin, 0), document},
		{"text on standard input", user(content.Bytes{Data: []byte("mark")}, content.InletStdin, 0), text},
		{"mentioned picture", user(path("m.png", png), content.InletMention, 0), image},
		{"mentioned text", user(path("m.txt", []byte("mark")), content.InletMention, 0), text},
		{"picture from an editor", user(b64(png), content.InletACP, content.KindImage), image},
		{"sound from an editor", user(b64(wav), content.InletACP, content.KindAudio), audio},
		{"document from an editor", user(b64(pdf), content.InletACP, 0), document},
		{"text from an editor", user(content.EmbeddedText{URI: "file:///a.md", Text: "# mark"}, content.InletACP, content.KindResourceText), text},
		{"link from an editor", user(content.Link{URI: "https://example.invalid/", Name: "x"}, content.InletACP, content.KindResourceLink), link},
		{"link to a file from an editor", user(content.Link{URI: fileURI(filepath.Join(w.cwd, "linked.png")), Name: "x"}, content.InletACP, content.KindResourceLink), append(link, content.KindImage)},
		{"unknown from an editor", user(content.Unknown{Type: "video", Raw: []byte(`{"type":"video"}`)}, content.InletACP, content.KindOpaque), []content.Kind{content.KindOpaque}},
		{"bad picture from an editor", user(content.Broken{Why: "data is no string"}, content.InletACP, content.KindImage), image},
		{"bad sound from an editor", user(content.Broken{Why: "data is no string"}, content.InletACP, content.KindAudio), audio},
		{"bad text from an editor", content.Source{
			Payload: content.Broken{Why: "text is no string"}, Inlet: content.InletACP, Chooser: content.ChosenByUser, As: content.KindText,
			Client: content.ClientBlock{Raw: []byte(`{"type":"text","text":1}`)},
		}, []content.Kind{content.KindOpaque}},
		{"picture as a data URI", user(content.DataURI{URI: "data:image/png;base64," + std(png)}, content.InletPaste, 0), image},
		{"text as a data URI", user(content.DataURI{URI: "data:,mark"}, content.InletPaste, 0), text},
		{"picture from an MCP server", content.Source{Payload: b64(png), Inlet: content.InletMCP, Chooser: content.ChosenByTool, As: content.KindImage}, image},
		{"picture from another session", content.Source{Payload: content.Given{Block: held[0]}, Inlet: content.InletTool, Chooser: content.ChosenByModel}, image},
		{"region of a picture", looked(content.Crop{Handle: "image-1.png", X: 2, Y: 2, W: 8, H: 8}), view},
		{"region of a picture, turned and enlarged", looked(content.Crop{Handle: "image-1.png", X: 2, Y: 2, W: 8, H: 6, Rotate: 90, Zoom: 4}), view},
		{"two pictures side by side", looked(content.Compare{A: "image-1.png", B: "image-1.png", How: content.CompareSide}), view},
		// There is nothing to mark on two pictures that are the same.
		{"two pictures that do not differ", looked(content.Compare{A: "image-1.png", B: "image-1.png", How: content.CompareDiff}), view[:1]},
		{"words of a tool", content.Source{Payload: content.Prose{Text: "done"}, Inlet: content.InletTool, Chooser: content.ChosenByTool, As: content.KindText}, []content.Kind{content.KindText}},
	}
}

// TestEveryKindHasAnInlet drives the real inlet. A kind counts as having one
// when a payload that product code makes becomes it.
func TestEveryKindHasAnInlet(t *testing.T) {
	w := &world{t: t, cwd: t.TempDir()}
	in, st := newInlet(t)
	made := produced(t)
	has := make(map[content.Kind]bool)
	payloads := map[string]bool{}
	var picture content.Block
	for _, c := range inlets(t, w, in) {
		t.Run(c.name, func(t *testing.T) {
			blocks, _, err := in.Ingest(t.Context(), c.src, ingest.Scope{
				Cwd: w.cwd, Roots: []string{w.cwd}, Lookup: func(content.Handle) (content.Block, bool) { return picture, picture != nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []content.Kind
			for _, b := range blocks {
				got = append(got, b.Kind())
				has[b.Kind()] = has[b.Kind()] || made[typeName(c.src.Payload)]
				for _, blob := range content.Blobs(b) {
					if err := st.Check(blob.Digest); err != nil {
						t.Errorf("%v: %v", b.Kind(), err)
					}
				}
				if b.Kind() == content.KindImage && picture == nil {
					picture = b
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v came of it, want %v", got, c.want)
			}
			payloads[typeName(c.src.Payload)] = true
		})
	}
	for _, k := range kinds() {
		if !has[k] {
			t.Errorf("no product code hands over what becomes a %v", k)
		}
	}
	for _, p := range declared(t, "payload") {
		if !payloads[p] {
			t.Errorf("payload %s is not among the samples", p)
		}
	}
}

func newInlet(t *testing.T) (*ingest.Inlet, *store.Store) {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // it is thrown away
	return ingest.New(st, ingest.Options{}), st
}

// TestToolsHandOverEveryFile reads a file of each kind with the real tool: what
// is no text comes as a source, and the inlet makes the kind of it.
func TestToolsHandOverEveryFile(t *testing.T) {
	w := &world{t: t, cwd: t.TempDir()}
	in, _ := newInlet(t)
	for _, c := range []struct {
		name string
		data []byte
		want content.Kind
	}{
		{"a.png", agenttest.PNG(20, 20, 1), content.KindImage},
		{"a.wav", audiotest.WAV(50*time.Millisecond, 300), content.KindAudio},
		{"a.pdf", documenttest.PDF(1, "mark"), content.KindDocument},
		{"a.bin", []byte("\x00\x01\x02\xff"), content.KindDocument},
		{"a.txt", []byte("mark"), content.KindText},
		{"picture named as text.txt", agenttest.PNG(21, 20, 1), content.KindImage},
		{"text named as a picture.png", []byte("mark"), content.KindText},
	} {
		args, err := json.Marshal(map[string]string{"path": w.file(c.name, c.data)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := tool.Read{}.Run(t.Context(), args, tool.Env{Cwd: w.cwd, Roots: []string{w.cwd}})
		if err != nil || len(r.Sources) != 1 {
			t.Errorf("%s: %d sources, %v", c.name, len(r.Sources), err)
			continue
		}
		blocks, _, err := in.Ingest(t.Context(), r.Sources[0], ingest.Scope{Cwd: w.cwd, Roots: []string{w.cwd}})
		if err != nil || len(blocks) != 1 || blocks[0].Kind() != c.want {
			t.Errorf("%s: %d blocks, %v; want one %v", c.name, len(blocks), err, c.want)
			continue
		}
		if a, ok := content.AttachmentOf(blocks[0]); ok && (a.Fault != content.FaultNone || a.Original.Size != int64(len(c.data))) {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}
