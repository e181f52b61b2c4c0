package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/document/documenttest"
	"tote/internal/front/headless"
	"tote/internal/history"
	"tote/internal/imaging/imagingtest"
	"tote/internal/provider/providertest"
)

// everyKind is one good block of each kind, and a picture that is mentioned.
func everyKind(w *world) []bad {
	user := func(p content.Payload, as content.Kind) content.Source {
		return content.Source{Payload: p, Inlet: content.InletACP, Chooser: content.ChosenByUser, As: as}
	}
	w.file("mentioned.png", agenttest.PNG(33, 22, 9))
	return []bad{
		{"prose and a mention", prose("please look at @mentioned.png and the rest"), []fate{itself, arrives}},
		{"good picture", flagged(w.file("good.png", agenttest.PNG(64, 48, 8))), []fate{arrives}},
		{"sound", flagged(w.file("a.wav", audiotest.WAV(200*time.Millisecond, 440))), []fate{itself}},
		{"document", flagged(w.file("a.pdf", documenttest.PDF(2, "mark-document"))), []fate{itself}},
		{"text", user(content.EmbeddedText{URI: "file:///a.md", Text: "# mark-notes"}, content.KindResourceText), []fate{itself}},
		{"link", user(content.Link{URI: "https://example.invalid/x", Name: "x"}, content.KindResourceLink), []fate{itself}},
		{"unknown", user(content.Unknown{Type: "video", Raw: []byte(`{"type":"video"}`)}, content.KindOpaque), []fate{stub}},
	}
}

func sourcesOf(list []bad) []content.Source {
	var out []content.Source
	for _, b := range list {
		out = append(out, b.src)
	}
	return out
}

func (f fate) of(r delivery.Receipt) bool {
	switch whole := !r.Disposition.Degraded(); f {
	case arrives:
		return whole && r.Kind == content.KindImage
	case itself:
		return whole && r.Kind != content.KindImage
	case stub:
		return !whole
	case nothing:
		return r.Reason == delivery.ReasonBlank
	}
	return false
}

// firstReceipts are those of the first attempt of a turn, in order.
func firstReceipts(f *agenttest.Front) []delivery.Receipt {
	for _, e := range f.Events() {
		if r, ok := e.(agent.Receipts); ok {
			return r.List
		}
	}
	return nil
}

func accepted(f *agenttest.Front) []content.Handle {
	for _, e := range f.Events() {
		if a, ok := e.(agent.Accepted); ok {
			var out []content.Handle
			for _, b := range a.Blocks {
				out = append(out, b.BlockHandle())
			}
			return out
		}
	}
	return nil
}

func handlesOf(list []delivery.Receipt) []content.Handle {
	var out []content.Handle
	for _, r := range list {
		out = append(out, r.Handle)
	}
	return out
}

// lawWorld is a program in which the law has to hold, whatever it can take.
type lawWorld struct {
	name, configuration string
	// taken are the requests that reached the far end, nil for the built-in
	// backend.
	taken func(t *testing.T) []wire
}

func lawWorlds(t *testing.T) []lawWorld {
	t.Helper()
	builtIn := func(name, faults, vision string) lawWorld {
		return lawWorld{name: name, configuration: fmt.Sprintf(
			`{"providers":{"p":{"kind":"offline","faults":%s}},"agents":{"main":{"provider":"p","model":"offline","vision":%s}}}`, faults, vision)}
	}
	chat := func(name, probe, vision string, replies ...providertest.Reply) lawWorld {
		f := serve(t, adapters["openai-chat"], replies...)
		return lawWorld{name, f.settings(probe, vision), f.taken}
	}
	out := []lawWorld{
		{name: "as installed"},
		builtIn("pictures off", `{}`, "false"),
		builtIn("backend refuses", `{"refuse_images":true}`, "true"),
		builtIn("backend takes little", `{"too_large_over":400000}`, "true"),
		chat("strict server", "never", "true"),
		chat("server of unknown", "never", `"auto"`),
		chat("server that is probed", "auto", `"auto"`),
		chat("server without sight", "never", "true", providertest.RefuseImages(400, "no", providertest.Text("ok"))),
	}
	for path, a := range adapters {
		if path != "openai-chat" && !a.own.Offline && tried(path) {
			f := serve(t, a)
			out = append(out, lawWorld{path, f.settings("never", "true"), f.taken})
		}
	}
	return out
}

// TestTheLaw sends one good picture, every other kind and every bad file that
// users reported in one prompt: the prompt is answered, each block has a receipt,
// and the next turn works, also in another process.
func TestTheLaw(t *testing.T) {
	for _, c := range lawWorlds(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.configuration)
			list := append(everyKind(w), badFiles(t, w)...)
			if c.configuration != "" { // preparing it costs more than all the others together
				list = slices.DeleteFunc(list, func(b bad) bool { return b.id == "B01" })
			}
			p := w.start()
			s := p.create()
			f := p.prompt(s, sourcesOf(list)...)
			handles := accepted(f)
			if diff := cmp.Diff(handles, handlesOf(firstReceipts(f))); diff != "" {
				t.Errorf("blocks and receipts (-blocks +receipts):\n%s", diff)
			}
			if c.configuration == "" {
				checkFates(t, list, f)
			}
			arrived(t, c, f)
			rebuilt(t, p, s.ID(), handles)
			f = p.prompt(s, prose("and now?"))
			noRetry(t, f)
			lost := loseBlob(p, s, "good.png")
			p.stop()

			p = w.start()
			defer p.stop()
			s = p.open(s.ID())
			f = p.prompt(s, prose("and after a restart, without one of the files?"))
			noRetry(t, f)
			arrivedWithout(t, c, f, lost)
			noPayload(t, w.database(), "mark-document")
		})
	}
}

// arrived compares the pictures that the answered request held with those that
// the newest receipts promise.
func arrived(t *testing.T, c lawWorld, f *agenttest.Front) {
	t.Helper()
	newest := map[content.Handle]delivery.Receipt{}
	for _, e := range f.Events() {
		if r, ok := e.(agent.Receipts); ok {
			for _, x := range r.List {
				newest[x.Handle] = x
			}
		}
	}
	want := 0
	for _, x := range newest {
		if x.Kind == content.KindImage && !x.Disposition.Degraded() {
			want++
		}
	}
	if c.taken == nil {
		checkSight(t, f.Shown(), want)
		return
	}
	all := c.taken(t)
	if len(all) == 0 {
		t.Fatal("nothing reached the far end")
	}
	got := all[len(all)-1]
	if pictures := slices.DeleteFunc(got.media, func(m medium) bool { return m.kind != content.KindImage }); len(pictures) != want {
		t.Errorf("%d pictures reached the far end, the receipts promise %d", len(pictures), want)
	}
}

// loseBlob takes the stored bytes of an attachment away, as a disk may, and
// returns its handle and its bytes.
func loseBlob(p *process, s *agent.Session, name string) content.Attachment {
	p.t.Helper()
	for _, turn := range s.Turns() {
		for _, m := range turn.Messages {
			for _, b := range m.Blocks() {
				a, ok := content.AttachmentOf(b)
				if !ok || a.Name != name {
					continue
				}
				for _, blob := range content.Blobs(b) {
					if err := os.RemoveAll(filepath.Join(p.home, "data", "attachments", blob.Digest.String())); err != nil {
						p.t.Fatal(err)
					}
				}
				return a
			}
		}
	}
	p.t.Fatalf("no block is called %s", name)
	return content.Attachment{}
}

// arrivedWithout checks that a lost attachment is told about where it would have
// been sent.
func arrivedWithout(t *testing.T, c lawWorld, f *agenttest.Front, lost content.Attachment) {
	t.Helper()
	if c.name != "as installed" && c.name != "strict server" {
		return // it was not being sent
	}
	told := false
	for _, e := range f.Events() {
		if r, ok := e.(agent.Receipts); ok {
			told = told || slices.ContainsFunc(r.List, func(x delivery.Receipt) bool {
				return x.Handle == lost.Handle && x.Disposition.Degraded() && x.Reason == delivery.ReasonMissing
			})
		}
	}
	if !told {
		t.Errorf("%s is gone from the store, and nobody is told", lost.Handle)
	}
}

// checkFates holds the receipts against what is right for each source, and
// against what the backend says it saw.
func checkFates(t *testing.T, list []bad, f *agenttest.Front) {
	t.Helper()
	got := firstReceipts(f)
	pictures := 0
	for _, b := range list {
		if len(b.fates) > len(got) {
			t.Fatalf("%s: no receipts are left", b.id)
		}
		for i, want := range b.fates {
			r := got[i]
			if !want.of(r) {
				t.Errorf("%s (%s, %s): %v as %v, for %v: %s", b.id, r.Handle, r.Name, r.Disposition, r.Kind, r.Reason, r.Detail)
			}
			if r.Disposition.Degraded() && (r.Reason.User() == "" || r.Notice().Severity != delivery.SeverityWarning) {
				t.Errorf("%s (%s): the user is not told why", b.id, r.Handle)
			}
			if r.Kind == content.KindImage && !r.Disposition.Degraded() {
				pictures++
			}
		}
		got = got[len(b.fates):]
	}
	if len(got) > 0 {
		t.Errorf("receipts that belong to no source: %v", handlesOf(got))
	}
	checkSight(t, f.Shown(), pictures)
}

// rebuilt checks that the record gives back one receipt for each block of the
// first request.
func rebuilt(t *testing.T, p *process, session string, want []content.Handle) {
	t.Helper()
	const request = 1
	db, err := p.app.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Receipts(t.Context(), session, history.Query{Request: request})
	if err != nil {
		t.Fatal(err)
	}
	got := map[content.Handle]int{}
	for _, r := range list {
		got[r.Handle]++
	}
	for _, h := range want {
		if got[h] != 1 {
			t.Errorf("the record of request %d has %d receipts for %s", request, got[h], h)
		}
	}
	if len(list) != len(want) {
		t.Errorf("the record of request %d has %d receipts for %d blocks", request, len(list), len(want))
	}
}

// noRetry checks that a turn was answered at its first attempt.
func noRetry(t *testing.T, f *agenttest.Front) {
	t.Helper()
	for _, e := range f.Events() {
		if v, ok := e.(agent.Voided); ok {
			t.Errorf("a later turn needed attempt %d: %s", v.Attempt, v.Reason)
		}
	}
}

// TestScriptsSeeTheLaw runs the same prompt for a script: one object a line, one
// receipt a block, before the first token.
func TestScriptsSeeTheLaw(t *testing.T) {
	w := newWorld(t, "")
	list := everyKind(w)
	p := w.start()
	defer p.stop()
	var out, errs bytes.Buffer
	code := headless.Run(t.Context(), headless.Turn{Session: p.create(), Sources: sourcesOf(list)}, headless.Streams{Out: &out, Err: &errs, Format: headless.JSON})
	if code != headless.ExitAnswered || errs.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, errs.String())
	}
	var types, labels []string
	met := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var x struct{ Type, Label, Kind, Disposition, Reason string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if n := len(types); n == 0 || types[n-1] != x.Type {
			types = append(types, x.Type)
		}
		if x.Type == "receipt" {
			labels = append(labels, x.Label)
			met[x.Kind] = true
		}
	}
	if first, text := slices.Index(types, "receipt"), slices.Index(types, "text"); first < 0 || text < first || slices.Contains(types[text:], "receipt") {
		t.Errorf("lines come as %q", types)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(labels))); len(got) != len(labels) {
		t.Errorf("a label has two receipts: %q", labels)
	}
	for _, k := range kinds() {
		if !met[k.String()] {
			t.Errorf("no receipt for the %v", k)
		}
	}
}

// TestTheLawForTools has the backend read files of every kind with the real
// tool: what it read arrives, or the result says why not.
func TestTheLawForTools(t *testing.T) {
	w := newWorld(t, `{"providers":{"p":{"kind":"offline","faults":{"tool_calls":[
		{"name":"read","arguments":{"path":"a.png"}},{"name":"read","arguments":{"path":"a.pdf"}},{"name":"read","arguments":{"path":"a.wav"}},
		{"name":"read","arguments":{"path":"cut.png"}},{"name":"read","arguments":{"path":"a.bin"}},{"name":"read","arguments":{"path":"a.txt"}},
		{"name":"read","arguments":{"path":"nowhere"}},{"name":"no such tool","arguments":{}}]}}},
		"agents":{"main":{"provider":"p","model":"offline"}}}`)
	w.file("a.png", agenttest.PNG(24, 24, 1))
	w.file("a.pdf", documenttest.PDF(1, "mark"))
	w.file("a.wav", audiotest.WAV(50*time.Millisecond, 300))
	w.file("cut.png", imagingtest.Truncated(imagingtest.Screenshot(160, 100, 1)))
	w.file("a.bin", []byte("\x00\x01\x02\xff"))
	w.file("a.txt", []byte("mark"))
	p := w.start()
	defer p.stop()
	f := p.prompt(p.create(), prose("read them"))
	want := []delivery.Disposition{delivery.Inline, delivery.Inline, delivery.Inline, delivery.Placeholder, delivery.Placeholder, delivery.Inline, delivery.Inline, delivery.Inline}
	var got []delivery.Disposition
	finished := 0
	for _, e := range f.Events() {
		if _, ok := e.(agent.ToolFinished); ok {
			finished++
		}
		rs, _ := e.(agent.Receipts) // anything else has none
		for _, r := range rs.List {
			if r.Route == delivery.RouteResult {
				got = append(got, r.Disposition)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || finished != len(want) {
		t.Errorf("%d calls ended; results (-want +got):\n%s", finished, diff)
	}
	checkSight(t, f.Shown(), 1)
}
