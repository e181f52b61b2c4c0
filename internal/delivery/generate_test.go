package delivery_test

import (
	"slices"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// world builds an input of any shape out of fuzzed bytes.
type world struct {
	*reader
	counts  [content.KindOpaque + 1]int
	digests int
	calls   int
	open    []string
	handles []content.Handle
	blobs   []content.Blob
	// outputs are the texts of tool results that say something.
	outputs []content.Handle
}

func newWorld(data []byte) *world {
	return &world{reader: &reader{data}}
}

func (w *world) handle(k content.Kind, ext string) content.Handle {
	w.counts[k]++
	h := content.NewHandle(k, w.counts[k], ext)
	w.handles = append(w.handles, h)
	return h
}

func (w *world) blob(mime string, size int64, x, y int) content.Blob {
	w.digests++
	b := blob(w.digests, mime, size, x, y)
	w.blobs = append(w.blobs, b)
	return b
}

func (w *world) fault() content.Fault {
	if w.n(4) != 1 {
		return content.FaultNone
	}
	return content.Fault(w.n(int(content.FaultMissing) + 1))
}

func (w *world) attachment(k content.Kind, ext string, mimes ...string) content.Attachment {
	a := content.Attachment{
		Handle: w.handle(k, ext), Name: pick(w.reader, "a", "b]\nc", ""), Origin: origin(),
		Original: w.blob(pick(w.reader, mimes...), int64(1+w.n(256)*w.n(256)*16), 0, 0),
	}
	if w.n(8) == 1 {
		a.Origin = content.Origin{Inlet: content.InletTool, Path: "/p", Chooser: content.ChosenByModel}
	}
	a.Fault = w.fault()
	a.Prepared = a.Original
	return a
}

func (w *world) image() content.Image {
	a := w.attachment(content.KindImage, ".png", png, jpeg, webp, "image/bmp")
	a.Original.Width, a.Original.Height = 1+w.n(256)*20, 1+w.n(256)*20
	a.Prepared = a.Original
	if w.bit() { // prepared on the way in
		e := pick(w.reader, 2000, 400)
		x, y := fitInto(a.Original.Width, a.Original.Height, e)
		a.Prepared = w.blob(pick(w.reader, png, jpeg, webp), min(a.Original.Size, 500_000), x, y)
		a.Changes = content.Changes(1 << w.n(8))
	}
	if a.Fault != content.FaultNone {
		a.Prepared = content.Blob{}
	}
	return content.Image{Attachment: a, Frames: w.n(3)}
}

// long is so long that its middle can be cut out, and longer has no runes.
var (
	long   = strings.Repeat("naïve ✓ 画像 ", 300)
	longer = strings.Repeat("\x80", 9_000)
)

func (w *world) block() content.Block {
	switch w.n(10) {
	case 0, 1:
		return content.Text{Handle: w.handle(content.KindText, ""), Body: pick(w.reader, "say", "", " \n", "[end]", "x", long, longer)}
	case 2, 3, 4, 5:
		return w.image()
	case 6:
		return content.Audio{Attachment: w.attachment(content.KindAudio, ".wav", "audio/wav", "audio/mpeg"), Millis: int64(w.n(256)) * 100}
	case 7:
		d := content.Document{Attachment: w.attachment(content.KindDocument, ".pdf", pdf, "application/zip"), Pages: w.n(9)}
		if w.bit() {
			d.Text = w.blob("text/plain", int64(1+w.n(256)*500), 0, 0)
		}
		return d
	case 8:
		return content.ResourceText{Attachment: w.attachment(content.KindResourceText, ".txt", "text/plain", "image/svg+xml"), URI: pick(w.reader, "", "file:///x")}
	}
	if w.bit() {
		return content.Opaque{Handle: w.handle(content.KindOpaque, ""), Type: "video"}
	}
	return content.ResourceLink{Handle: w.handle(content.KindResourceLink, ""), URI: "https://x/", Name: "x", Fault: w.fault()}
}

func (w *world) blocks(most int) []content.Block {
	var out []content.Block
	for range w.n(most) {
		out = append(out, w.block())
	}
	return out
}

func (w *world) user() content.Message {
	m := content.Message{Role: content.RoleUser}
	for _, b := range w.blocks(4) {
		m.Parts = append(m.Parts, b)
	}
	return m
}

func (w *world) assistant() content.Message {
	m := content.Message{Role: content.RoleAssistant}
	w.open = nil
	for range w.n(4) {
		switch w.n(4) {
		case 0:
			m.Parts = append(m.Parts, content.Text{Body: pick(w.reader, "well", "", " ")})
		case 1:
			m.Parts = append(m.Parts, content.Reasoning{Text: "hm", Path: pick(w.reader, "openai-chat", "other")})
		default:
			w.calls++
			id := "c" + strconv.Itoa(w.calls)
			w.open = append(w.open, id)
			m.Parts = append(m.Parts, call(id))
		}
	}
	return m
}

// tool answers open calls, some of them not, and now and then one that nobody
// made.
func (w *world) tool() content.Message {
	m := content.Message{Role: content.RoleTool}
	for _, id := range w.open {
		if w.n(5) == 1 {
			continue
		}
		r := result(id, w.blocks(3)...)
		for _, b := range r.Blocks {
			if t, ok := b.(content.Text); ok && strings.TrimSpace(t.Body) != "" {
				w.outputs = append(w.outputs, t.Handle)
			}
		}
		r.IsError = w.n(4) == 1
		m.Parts = append(m.Parts, r)
	}
	if w.n(6) == 1 {
		m.Parts = append(m.Parts, result("stray", w.blocks(3)...))
	}
	w.open = nil
	return m
}

// messages appends up to most messages. The first is one that may follow the
// last of what is there after a request was sent: never a tool result, and
// never of the last's role.
func (w *world) messages(ms []content.Message, most int) []content.Message {
	for range w.n(most + 1) {
		last := content.RoleAssistant
		if len(ms) > 0 {
			last = ms[len(ms)-1].Role
		}
		switch {
		case last != content.RoleAssistant:
			ms = append(ms, w.assistant())
		case len(w.open) > 0 && w.n(5) != 1:
			ms = append(ms, w.tool())
		default:
			ms = append(ms, w.user())
		}
	}
	return ms
}

func (w *world) capability() delivery.Capability {
	return delivery.Capability{
		Answer:   pick(w.reader, delivery.Yes, delivery.No, delivery.Unknown),
		Evidence: pick(w.reader, delivery.EvidenceCatalogue, delivery.EvidenceBinding, delivery.EvidenceProbe),
	}
}

func (w *world) limits(mimes ...string) delivery.Limits {
	l := delivery.Limits{
		MaxBytes: pick(w.reader, int64(0), 300_000, 20_000), MaxEncoded: pick(w.reader, int64(0), 100_000, 3),
		MaxEdge: pick(w.reader, 0, 1500, 300), MaxPixels: pick(w.reader, int64(0), 1_000_000, 50_000),
		MaxCount: pick(w.reader, 0, 4, 1), MaxPages: pick(w.reader, 0, 4),
	}
	for _, m := range mimes {
		if !w.bit() {
			l.MIMEs = append(l.MIMEs, m)
		}
		if w.n(4) == 1 {
			l.ResultMIMEs = append(l.ResultMIMEs, m)
		}
	}
	if w.bit() {
		l.ManyCount, l.ManyEdge = 1+w.n(3), pick(w.reader, 500, 100)
	}
	if w.bit() {
		l.Fit = pick(w.reader, claudeStandard, claudeHigh, openAITiles, openAIPatches, delivery.Fit{MaxEdge: 200}, delivery.Fit{Patch: 560, MaxPatches: 4})
	}
	return l
}

func (w *world) profile() delivery.Profile {
	p := delivery.Profile{
		Path: "openai-chat", Model: "m", Images: w.capability(), Audio: w.capability(), Documents: w.capability(),
		ImageLimits: w.limits(png, jpeg, webp), AudioLimits: w.limits("audio/wav", "audio/mpeg"), DocumentLimits: w.limits(pdf),
		MaxRequest: pick(w.reader, int64(0), 2_000_000, 200_000, 3_000),
		Context:    pick(w.reader, 0, 50_000, 5_000), Output: pick(w.reader, 0, 1_000, 1_000_000),
		Tokens: pick(w.reader, delivery.TokenModel{}, delivery.TokenModel{Flat: 100}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Cap: 1600}),
		Placement: delivery.Placement{
			HoistResults: w.bit(), TextErrors: w.bit(), Bridge: w.bit(), MergeRoles: w.bit(), NoReasoning: w.bit(),
			HoistAudio: w.bit(), HoistDocuments: w.bit(),
		},
		MaxMedia: pick(w.reader, 0, 0, 3),
	}
	return p
}

func (w *world) budgets() delivery.Budgets {
	return delivery.Budgets{
		Picture: pick(w.reader, int64(0), 100_000), History: pick(w.reader, int64(0), 1_000_000, 100_000, 1),
		Request: pick(w.reader, int64(0), 1_000_000, 10_000), Count: pick(w.reader, 0, 3), Tokens: pick(w.reader, 0, 20_000, 100),
		Text: pick(w.reader, int64(0), 5_000),
	}
}

// some chooses a few of vs.
func some[T comparable](r *reader, vs []T) map[T]bool {
	out := map[T]bool{}
	if len(vs) > 0 {
		for range r.n(4) {
			out[vs[r.n(len(vs))]] = true
		}
	}
	return out
}

func (w *world) facts() delivery.Facts {
	var ds []content.Digest
	for _, b := range w.blobs {
		ds = append(ds, b.Digest)
	}
	f := delivery.Facts{
		Missing: some(w.reader, ds), Stripped: some(w.reader, w.handles), Refused: some(w.reader, ds), Proven: some(w.reader, ds),
		RefusedMIMEs: some(w.reader, []string{png, jpeg, "image/*", "audio/*", pdf}),
		Files:        w.bit(), Describer: w.bit(), Overhead: int64(w.n(2)) * 1_000, MaxRequest: pick(w.reader, int64(0), 900_000),
		MaxBytes: pick(w.reader, int64(0), 150_000), MaxEdge: pick(w.reader, 0, 700), MaxCount: pick(w.reader, 0, 2),
		MaxTokens: pick(w.reader, int64(0), 3_000), Context: pick(w.reader, 0, 0, 2_000), DropHistory: w.n(6) == 1, Fixed: int64(w.n(2)) * 2_000,
	}
	for h := range some(w.reader, w.handles) {
		if f.Failed == nil {
			f.Failed = map[content.Handle]delivery.Failed{}
		}
		f.Failed[h] = delivery.Failed{Reason: pick(w.reader, delivery.ReasonPrepareFailed, 0, delivery.ReasonFits), Detail: "why"}
	}
	if w.bit() {
		f.Lookers = []string{"eagle"}
	}
	if w.bit() {
		f.Detached, f.View = some(w.reader, w.handles), pick(w.reader, "", "view_image")
	}
	if w.n(4) == 1 {
		f.Summary = delivery.Summary{Messages: w.n(12) - 1, Text: pick(w.reader, "it was about x", " ", "[image-1.png: y]\n", longer)}
	}
	if w.n(3) == 1 {
		f.Reported = delivery.Reported{Messages: w.n(14) - 1, Tokens: pick(w.reader, int64(1), 500, 4_000, 100_000, 1<<60, -1)}
	}
	return f
}

// ledger remembers any disposition for some of the handles.
func (w *world) ledger() delivery.Ledger {
	rows := map[content.Handle]delivery.LedgerEntry{}
	if w.n(4) == 1 {
		rows[delivery.LeftOutHandle] = delivery.LedgerEntry{
			Disposition: delivery.Placeholder, Reason: delivery.ReasonContextSize, Detail: pick(w.reader, "1", "3", "8", "-1", "x"),
		}
	}
	for h := range some(w.reader, w.outputs) {
		rows[h] = pick(w.reader, delivery.LedgerEntry{Disposition: delivery.Inline, Reason: delivery.ReasonTrimmed},
			delivery.LedgerEntry{Disposition: delivery.Placeholder, Reason: delivery.ReasonDetached})
	}
	handles := slices.DeleteFunc(slices.Clone(w.handles), func(h content.Handle) bool {
		k, _, _ := h.Ordinal()
		return k == "text" || k == "link" || k == "opaque" // decided by nothing but themselves
	})
	if len(handles) == 0 {
		return delivery.NewLedger(rows)
	}
	for range w.n(5) {
		e := delivery.LedgerEntry{
			Disposition: pick(w.reader, delivery.Dispositions()...), Reason: pick(w.reader, delivery.Reasons()...), Detail: pick(w.reader, "", "d"),
		}
		if w.bit() && len(w.blobs) > 0 {
			e.Variant = w.blobs[w.n(len(w.blobs))]
		}
		if e.Disposition == delivery.Described {
			e.Note = "described by eye:\nit"
		}
		rows[handles[w.n(len(handles))]] = e
	}
	return delivery.NewLedger(rows)
}

// mishaps chooses what goes wrong with which block.
func (w *world) mishaps() func(content.Handle) mishap {
	bad := map[content.Handle]mishap{}
	if len(w.handles) > 0 {
		for range w.n(4) {
			bad[w.handles[w.n(len(w.handles))]] = mishap(w.n(int(mishaps)))
		}
	}
	return func(h content.Handle) mishap { return bad[h] }
}

func (w *world) input() delivery.Input {
	in := delivery.Input{Profile: w.profile(), Budgets: w.budgets()}
	in.Messages = w.messages(nil, 12)
	in.Current = w.n(len(in.Messages) + 1)
	in.Facts = w.facts()
	in.Ledger = w.ledger()
	return in
}
