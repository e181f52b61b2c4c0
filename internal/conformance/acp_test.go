package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tote/internal/agent/agenttest"
	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/document/documenttest"
	"tote/internal/front/acp/rpc"
	acpwire "tote/internal/front/acp/wire"
	"tote/internal/ingest"
	"tote/internal/store"
)

// clientBlock is a block as an editor sends it.
type clientBlock struct {
	name string
	raw  string
	// kind is what comes of it; shown whether version 1 can show it as it is.
	kind  content.Kind
	shown bool
	// cut: its payload is not kept a second time inside the block.
	cut bool
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>`

// clientBlocks are blocks of every kind of the protocol and of none, in the
// spellings that editors use. file is the URI of a file that may be read.
func clientBlocks(file string) []clientBlock {
	png, wav, pdf := agenttest.PNG(40, 30, 5), audiotest.WAV(100*time.Millisecond, 440), documenttest.PDF(2, "mark-pdf")
	std, raw, urlsafe := base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding
	// Three bytes that every alphabet spells otherwise, and a length that wants padding.
	odd := agenttest.PNG(41, 30, 0)
	for len(odd)%3 == 0 || !strings.ContainsAny(std.EncodeToString(odd), "+/") {
		odd = agenttest.PNG(41, 30, uint64(len(odd))+1)
	}
	image := func(data string) string { return `{"type":"image","mimeType":"image/png","data":"` + data + `"}` }
	lines := strings.Join(slices.Collect(chunks(std.EncodeToString(png), 76)), `\n`)
	return []clientBlock{
		{"text", `{"type":"text","text":"look at this"}`, content.KindText, true, false},
		{"text with escapes", `{ "text" : "a\u00e9\/\ud83d\ude00\n\"x\"" , "_meta":{"k":[1,2 ]},"type":"text" }`, content.KindText, true, false},
		{"long text", `{"type":"text","text":"` + strings.Repeat("a long line of words. ", 400) + `","annotations":{"audience":["user"]}}`, content.KindText, true, true},
		{"blank text", `{"type":"text","text":" \n"}`, content.KindText, true, false},
		{"image", image(std.EncodeToString(png)), content.KindImage, true, true},
		{"image with more", `{"data":"` + std.EncodeToString(png) + `" ,"uri":"file:///x/a.png","_meta":{"a":1.50},"type":"image","mimeType":"image/x-foo"}`, content.KindImage, true, true},
		{"image without padding", image(raw.EncodeToString(odd)), content.KindImage, true, true},
		{"image in the URL alphabet", image(urlsafe.EncodeToString(odd)), content.KindImage, true, true},
		{"image in lines", image(lines), content.KindImage, true, false},
		{"image as a data URI", image("data:image/png;base64," + std.EncodeToString(png)), content.KindImage, true, true},
		{"image with escaped slashes", image(strings.ReplaceAll(std.EncodeToString(odd), "/", `\/`)), content.KindImage, true, false},
		{"image of nothing", image(""), content.KindImage, true, false},
		{"image of no base64", image("!!!!"), content.KindImage, true, false},
		{"image without data", `{"type":"image","mimeType":"image/png"}`, content.KindImage, false, false},
		{"audio", `{"type":"audio","mimeType":"audio/wav","data":"` + std.EncodeToString(wav) + `"}`, content.KindAudio, true, true},
		{"audio of another type", `{"type":"audio","mimeType":"audio/x-wav","data":"` + std.EncodeToString(wav) + `"}`, content.KindAudio, true, true},
		{"resource text", `{"type":"resource","resource":{"uri":"file:///a/notes.md","mimeType":"text/markdown","text":"# mark-notes\n\tx"}}`, content.KindResourceText, true, true},
		{"long resource text", `{"type":"resource","resource":{"text":"` + strings.Repeat(`line\n`, 2000) + `","uri":"file:///a/long.txt"}}`, content.KindResourceText, true, true},
		{"svg", `{"type":"resource","resource":{"uri":"file:///a.svg","mimeType":"image/svg+xml","blob":"` + std.EncodeToString([]byte(svg)) + `"}}`, content.KindResourceText, true, true},
		{"resource picture", `{"type":"resource","resource":{"uri":"file:///a.png","mimeType":"image/png","blob":"` + std.EncodeToString(png) + `"},"_meta":null}`, content.KindImage, true, true},
		{"resource document", `{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"` + std.EncodeToString(pdf) + `"}}`, content.KindDocument, true, true},
		{"resource of nothing", `{"type":"resource","resource":{"uri":"file:///a"}}`, content.KindDocument, false, false},
		{"link to a file", `{"type":"resource_link","name":"notes","uri":` + rpc.Quote(file) + `}`, content.KindResourceLink, true, false},
		{"link", `{"type":"resource_link","uri":"https://example.invalid/mark","name":"mark-link","title":"T","description":"D","mimeType":"text/html","size":7}`, content.KindResourceLink, true, false},
		{"link without a name", `{"type":"resource_link","uri":"https://example.invalid/2"}`, content.KindResourceLink, false, false},
		{"unknown", `{"type":"video","mimeType":"video/mp4","data":"` + std.EncodeToString(wav) + `","x":{"y":[true,null,1e3]}}`, content.KindOpaque, false, false},
		{"unknown and small", `{ "type":"future" }`, content.KindOpaque, false, false},
	}
}

// chunks cuts a text into pieces of n bytes.
func chunks(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for ; len(s) > n; s = s[n:] {
			if !yield(s[:n]) {
				return
			}
		}
		yield(s)
	}
}

func fileURI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

func promptOf(session string, blocks []clientBlock) string {
	var list []string
	for _, b := range blocks {
		list = append(list, b.raw)
	}
	return `{"sessionId":` + rpc.Quote(session) + `,"prompt":[` + strings.Join(list, " ,\t") + `]}`
}

// TestEditorsBlocksComeBack reads every block, takes it in, and gives it back
// byte for byte out of what a record keeps.
func TestEditorsBlocksComeBack(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }() // it is thrown away
	w := &world{t: t, cwd: dir}
	w.file("notes.txt", []byte("mark-notes"))
	in := ingest.New(st, ingest.Options{})
	blocks := clientBlocks(fileURI(filepath.Join(dir, "notes.txt")))
	parsed, fault := acpwire.ParsePrompt([]byte(promptOf("s", blocks)))
	if fault != nil || len(parsed) != len(blocks) {
		t.Fatalf("%d blocks of %d, %v", len(parsed), len(blocks), fault)
	}
	met := make(map[content.Kind]bool)
	types := map[string]bool{}
	for i, b := range blocks {
		t.Run(b.name, func(t *testing.T) {
			got, envs, err := in.Ingest(t.Context(), parsed[i].Source(), ingest.Scope{Cwd: dir, Roots: []string{dir}})
			if err != nil || len(got) == 0 || len(envs) != len(got) {
				t.Fatalf("%d blocks, %d envelopes, %v", len(got), len(envs), err)
			}
			if got[0].Kind() != b.kind {
				t.Errorf("a %v came of it, want %v", got[0].Kind(), b.kind)
			}
			for _, x := range got {
				met[x.Kind()] = true
			}
			types[parsed[i].Type] = true
			back, err := ingest.Restore(envs[0], st)
			if err != nil || string(back) != b.raw {
				t.Errorf("it comes back as %.200q, %v; want %.200q", back, err, b.raw)
			}
			if kept := !envs[0].Payload.IsZero() && envs[0].Spelling != content.SpellingStored; kept != b.cut {
				t.Errorf("its payload was cut out of the block: %v", kept)
			}
			if a, ok := content.AttachmentOf(got[0]); ok && b.cut && envs[0].Payload != a.Original.Digest {
				t.Error("its payload is stored twice")
			}
			if len(envs[0].JSON) > 4096 || longestRun(string(envs[0].JSON)) > maxRun {
				t.Errorf("its envelope holds %d bytes, a payload among them", len(envs[0].JSON))
			}
		})
	}
	for _, k := range kinds() {
		if !met[k] {
			t.Errorf("no editor's block becomes a %v", k)
		}
	}
	for _, name := range []string{acpwire.BlockText, acpwire.BlockImage, acpwire.BlockAudio, acpwire.BlockResource, acpwire.BlockResourceLink} {
		if !types[name] {
			t.Errorf("no block of type %q is among the samples", name)
		}
	}
}

// TestEditorsSeeTheirBlocksAgain sends every block through a whole session: the
// echo, and the replay of another process, show what was sent.
func TestEditorsSeeTheirBlocksAgain(t *testing.T) {
	w := newWorld(t, "")
	w.file("notes.txt", []byte("mark-notes"))
	blocks := clientBlocks(fileURI(filepath.Join(w.cwd, "notes.txt")))
	p := w.start()
	e := p.edit()
	_, result := e.call("session/new", `{"cwd":`+rpc.Quote(w.cwd)+`,"mcpServers":[]}`)
	id := rpc.Unquote(rpc.Member(result, "sessionId"))
	updates, result := e.call("session/prompt", promptOf(id, blocks))
	if stop := rpc.Unquote(rpc.Member(result, "stopReason")); stop != acpwire.StopEndTurn {
		t.Fatalf("the turn ended with %q", stop)
	}
	t.Run("echo", func(t *testing.T) { sameBlocks(t, blocks, userBlocks(updates)) })
	e.leave()
	p.stop()
	noPayload(t, w.database())

	p = w.start()
	defer p.stop()
	e = p.edit()
	updates, _ = e.call("session/load", `{"sessionId":`+rpc.Quote(id)+`,"cwd":`+rpc.Quote(w.cwd)+`,"mcpServers":[]}`)
	t.Run("replay", func(t *testing.T) { sameBlocks(t, blocks, userBlocks(updates)) })
	if _, result = e.call("session/prompt", promptOf(id, []clientBlock{{raw: `{"type":"text","text":"and now?"}`}})); rpc.Unquote(rpc.Member(result, "stopReason")) != acpwire.StopEndTurn {
		t.Errorf("the turn after the replay: %s", result)
	}
	e.leave()
}

func sameBlocks(t *testing.T, want []clientBlock, got [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d blocks are shown of %d", len(got), len(want))
	}
	for i, b := range want {
		if b.shown {
			if string(got[i]) != b.raw {
				t.Errorf("%s is shown as %.200q, want %.200q", b.name, got[i], b.raw)
			}
			continue
		}
		said := rpc.Unquote(rpc.Member(got[i], "text"))
		along := rpc.Member(rpc.Member(got[i], "_meta"), "tote/block")
		if rpc.Unquote(rpc.Member(got[i], "type")) != acpwire.BlockText || said == "" || string(along) != b.raw {
			t.Errorf("%s is shown as %.200q, want words with the block in their metadata", b.name, got[i])
		}
	}
}

// shownBlock is what an editor reads of a block.
type shownBlock struct {
	Type, Text, Data, MimeType, URI, Name string
	Resource                              struct{ URI, MimeType, Text, Blob string }
	Meta                                  map[string]json.RawMessage `json:"_meta"`
}

// elsewhere has every kind of block given in a shell and shown in an editor, which
// opens the session later. want tells the block of a kind.
func elsewhere(t *testing.T) (shown []shownBlock, want map[content.Kind]func(b shownBlock) bool) {
	t.Helper()
	w := newWorld(t, "")
	pic, wav, pdf := agenttest.PNG(30, 20, 3), audiotest.WAV(100*time.Millisecond, 300), documenttest.PDF(1, "mark")
	opaque := `{"type":"hologram","mark":"mark-opaque"}`
	p := w.start()
	s := p.create()
	p.prompt(
		s, prose("mark-prose"), flagged(w.file("a.png", pic)), flagged(w.file("a.wav", wav)), flagged(w.file("a.pdf", pdf)),
		flagged(w.file("a.txt", []byte("mark-text"))),
		content.Source{Payload: content.Link{URI: "https://example.invalid/mark", Name: "mark-link"}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser},
		content.Source{Payload: content.Unknown{Type: "hologram", Raw: []byte(opaque)}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser},
	)
	p.stop()

	p = w.start()
	defer p.stop()
	e := p.edit()
	updates, _ := e.call("session/load", `{"sessionId":`+rpc.Quote(s.ID())+`,"cwd":`+rpc.Quote(w.cwd)+`,"mcpServers":[]}`)
	e.leave()
	for _, raw := range userBlocks(updates) {
		var b shownBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b)
	}
	return shown, map[content.Kind]func(b shownBlock) bool{
		content.KindText:  func(b shownBlock) bool { return b.Type == "text" && b.Text == "mark-prose" },
		content.KindImage: func(b shownBlock) bool { return b.Type == "image" && b.MimeType == "image/png" && decodes(b.Data, pic) },
		content.KindAudio: func(b shownBlock) bool { return b.Type == "audio" && b.MimeType == "audio/wav" && decodes(b.Data, wav) },
		content.KindDocument: func(b shownBlock) bool {
			return b.Type == "resource" && b.Resource.MimeType == "application/pdf" && decodes(b.Resource.Blob, pdf)
		},
		content.KindResourceText: func(b shownBlock) bool { return b.Type == "resource" && b.Resource.Text == "mark-text" },
		content.KindResourceLink: func(b shownBlock) bool {
			return b.Type == "resource_link" && b.URI == "https://example.invalid/mark" && b.Name == "mark-link"
		},
		content.KindOpaque: func(b shownBlock) bool {
			return b.Type == "text" && b.Text != "" && string(b.Meta["tote/block"]) == opaque
		},
	}
}

// TestEditorsSeeWhatCameElsewhere opens a session in an editor that was held in a
// shell: every kind of block is shown with its content.
func TestEditorsSeeWhatCameElsewhere(t *testing.T) {
	blocks, checks := elsewhere(t)
	for _, k := range kinds() {
		check, ok := checks[k]
		if !ok {
			t.Errorf("nothing here knows how an editor shows a %v", k)
			continue
		}
		if !slices.ContainsFunc(blocks, check) {
			t.Errorf("the %v is not shown as it is: %s", k, shorts(blocks))
		}
	}
	if len(blocks) != len(checks) {
		t.Errorf("%d blocks are shown of %d", len(blocks), len(checks))
	}
}

func decodes(spelt string, want []byte) bool {
	data, err := base64.StdEncoding.Strict().DecodeString(spelt)
	return err == nil && bytes.Equal(data, want)
}

func shorts(blocks []shownBlock) string {
	var out []string
	for _, b := range blocks {
		out = append(out, fmt.Sprintf("%s %.60q %s", b.Type, b.Text, b.Resource.URI))
	}
	return strings.Join(out, "; ")
}
