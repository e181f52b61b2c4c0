package delivery_test

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// This file holds what the tests of the package share: blocks, profiles, an
// agent that carries out a plan without any I/O, and a plain encoder.

const (
	png  = "image/png"
	jpeg = "image/jpeg"
	webp = "image/webp"
	pdf  = "application/pdf"
)

func digest(n int) content.Digest {
	var d content.Digest
	d[0] = 0xd0
	binary.BigEndian.PutUint64(d[1:], uint64(n))
	return d
}

func blob(n int, mime string, size int64, w, h int) content.Blob {
	return content.Blob{Digest: digest(n), MIME: mime, Size: size, Width: w, Height: h}
}

func origin() content.Origin {
	return content.Origin{Inlet: content.InletPrompt, Chooser: content.ChosenByUser}
}

// picture is the n-th picture: sound, 800x600, 100 KB, as it came.
func picture(n int, change ...func(*content.Image)) content.Image {
	b := blob(1000+n, png, 100_000, 800, 600)
	p := content.Image{Attachment: content.Attachment{
		Handle: content.NewHandle(content.KindImage, n, ".png"), Name: "shot.png", Origin: origin(), Declared: png, Original: b, Prepared: b,
	}}
	for _, c := range change {
		c(&p)
	}
	return p
}

// shrunk makes a picture whose original is larger than what was prepared.
func shrunk(p *content.Image) {
	p.Original = blob(int(p.Original.Digest[8])+5000, png, 7_400_000, 4000, 3000)
	p.Changes = content.ChangeShrunk
}

// inWebP makes a picture of a type that no path of these tests takes.
func inWebP(p *content.Image) { p.Original.MIME, p.Prepared.MIME, p.Declared = webp, webp, webp }

func sized(size int64) func(*content.Image) {
	return func(p *content.Image) { p.Original.Size, p.Prepared.Size = size, size }
}

func edge(w, h int) func(*content.Image) {
	return func(p *content.Image) {
		p.Original.Width, p.Original.Height, p.Prepared.Width, p.Prepared.Height = w, h, w, h
	}
}

// faulty is a picture of which nothing was prepared.
func faulty(f content.Fault) func(*content.Image) {
	return func(p *content.Image) { p.Fault, p.Prepared, p.Detail = f, content.Blob{}, "detail of the fault" }
}

func recording(n int) content.Audio {
	b := blob(2000+n, "audio/wav", 200_000, 0, 0)
	return content.Audio{Attachment: content.Attachment{
		Handle: content.NewHandle(content.KindAudio, n, ".wav"), Name: "memo.wav", Origin: origin(), Original: b, Prepared: b,
	}, Millis: 2500}
}

func document(n int) content.Document {
	b := blob(3000+n, pdf, 300_000, 0, 0)
	return content.Document{Attachment: content.Attachment{
		Handle: content.NewHandle(content.KindDocument, n, ".pdf"), Name: "paper.pdf", Origin: origin(), Original: b, Prepared: b,
	}, Pages: 3, Text: blob(3500+n, "text/plain", 9_000, 0, 0)}
}

func resource(n int) content.ResourceText {
	b := blob(4000+n, "text/plain", 5_000, 0, 0)
	return content.ResourceText{Attachment: content.Attachment{
		Handle: content.NewHandle(content.KindResourceText, n, ".txt"), Name: "notes.txt", Origin: origin(), Original: b, Prepared: b,
	}, URI: "file:///notes.txt"}
}

func link() content.ResourceLink {
	return content.ResourceLink{
		Handle: content.NewHandle(content.KindResourceLink, 1, ""), Origin: origin(), URI: "https://example.invalid/a?b=c", Name: "page",
	}
}

func prose(n int, body string) content.Text {
	return content.Text{Handle: content.NewHandle(content.KindText, n, ""), Body: body}
}

// sees is a path that takes everything, without a limit.
func sees(change ...func(*delivery.Profile)) delivery.Profile {
	yes := delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue}
	p := delivery.Profile{
		Path: "openai-chat", Provider: "p", Model: "m", Images: yes, Audio: yes, Documents: yes,
		ImageLimits:    delivery.Limits{MIMEs: []string{png, jpeg}},
		AudioLimits:    delivery.Limits{MIMEs: []string{"audio/wav"}},
		DocumentLimits: delivery.Limits{MIMEs: []string{pdf}},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

// capable sets what the path takes to a and why.
func capable(a delivery.Answer, e delivery.Evidence) func(*delivery.Profile) {
	return func(p *delivery.Profile) {
		c := delivery.Capability{Answer: a, Evidence: e}
		p.Images, p.Audio, p.Documents = c, c, c
	}
}

func limits(change func(*delivery.Limits)) func(*delivery.Profile) {
	return func(p *delivery.Profile) { change(&p.ImageLimits) }
}

func places(pl delivery.Placement) func(*delivery.Profile) {
	return func(p *delivery.Profile) { p.Placement = pl }
}

func user(parts ...content.Part) content.Message {
	return content.Message{Role: content.RoleUser, Parts: parts}
}

func assistant(parts ...content.Part) content.Message {
	return content.Message{Role: content.RoleAssistant, Parts: parts}
}

func results(parts ...content.Part) content.Message {
	return content.Message{Role: content.RoleTool, Parts: parts}
}

func call(id string) content.ToolCall {
	return content.ToolCall{ID: id, Name: "read", Arguments: `{"path":"a"}`}
}

func result(id string, blocks ...content.Block) content.ToolResult {
	return content.ToolResult{CallID: id, Name: "read", Blocks: blocks}
}

// spent is a conversation of one block per earlier turn, with the last in the
// current prompt.
func spent(p delivery.Profile, blocks ...content.Block) delivery.Input {
	in := delivery.Input{Profile: p}
	for i, b := range blocks {
		if i > 0 {
			in.Messages = append(in.Messages, assistant(content.Text{Body: "ok"}))
		}
		in.Messages = append(in.Messages, user(b))
	}
	in.Current = len(in.Messages) - 1
	return in
}

// prompt is one message, which is the current prompt.
func prompt(p delivery.Profile, parts ...content.Part) delivery.Input {
	return delivery.Input{Profile: p, Messages: []content.Message{user(parts...)}}
}

// mishap is how carrying out one order goes wrong.
type mishap int

const (
	works mishap = iota
	fails
	forgets   // no result at all
	tooLarge  // a variant that is over its bounds
	wrongMIME // a variant of a type that was not asked for
	heavy     // a variant of just as many bytes as it may have
	unfitted  // a variant that the server still shrinks
	mishaps   // how many there are
)

// carryOut does what an agent does, without I/O: the same order gives the same
// result always.
func carryOut(p delivery.Plan, goes func(content.Handle) mishap) delivery.Results {
	r := delivery.Results{
		Variants: map[content.Handle]content.Blob{}, Texts: map[content.Handle]string{}, Paths: map[content.Handle]string{},
		Descriptions: map[content.Handle]delivery.Description{}, Failed: map[content.Handle]delivery.Failed{},
	}
	for _, o := range p.Orders() {
		m := works
		if goes != nil {
			m = goes(o.Handle)
		}
		if m == fails {
			r.Failed[o.Handle] = delivery.Failed{Reason: delivery.ReasonPrepareFailed, Detail: "it broke"}
			continue
		}
		if m == forgets {
			continue
		}
		if o.Cut != nil {
			r.Variants[o.Handle] = variant(o, m)
		}
		if !o.Load.IsZero() {
			r.Texts[o.Handle] = "text of " + string(o.Handle)
		}
		if !o.Stage.IsZero() {
			r.Paths[o.Handle] = "/scratch/s/" + string(o.Handle)
		}
		if o.Describe {
			r.Descriptions[o.Handle] = delivery.Description{Model: "eye", Text: "a picture of " + string(o.Handle)}
		}
	}
	return r
}

// fitInto scales w by h down until no side is longer than edge.
func fitInto(w, h, edge int) (int, int) {
	if long := max(w, h); edge > 0 && long > edge {
		return max(1, w*edge/long), max(1, h*edge/long)
	}
	return w, h
}

func variant(o delivery.Order, m mishap) content.Blob {
	a, _ := content.AttachmentOf(o.Block())
	v := a.Original
	if v.IsZero() {
		v = a.Prepared
	}
	v.Digest[30], v.Digest[31] = byte(o.Cut.MaxEdge>>8), byte(o.Cut.MaxEdge)
	v.Width, v.Height = fitInto(v.Width, v.Height, o.Cut.MaxEdge)
	for o.Cut.MaxPixels > 0 && int64(v.Width)*int64(v.Height) > o.Cut.MaxPixels {
		v.Width, v.Height = fitInto(v.Width, v.Height, max(v.Width, v.Height)*3/4)
	}
	if m != unfitted {
		v.Width, v.Height = o.Cut.Fit.Size(v.Width, v.Height)
	}
	v.Size = max(1, min(v.Size/8, o.Cut.MaxBytes))
	if !strings.Contains(strings.Join(o.Cut.MIMEs, " "), v.MIME) {
		v.MIME = o.Cut.MIMEs[0]
	}
	switch m {
	case tooLarge:
		v.Size = o.Cut.MaxBytes + 1
	case wrongMIME:
		v.MIME = "image/x-other"
	case heavy:
		v.Size = o.Cut.MaxBytes
	case works, fails, forgets, unfitted, mishaps:
	}
	return v
}

// settle decides, carries out and settles.
func settle(in delivery.Input) (delivery.Prompt, []delivery.Receipt, delivery.Ledger) {
	p := delivery.Decide(in)
	return delivery.Settle(p, carryOut(p, nil))
}

// plain spells a prompt as JSON values, one a line, with digests for blobs. The
// lines of a message are not enclosed, so that a message that grows at its end
// keeps what stood before as a prefix.
type plain struct{}

var _ delivery.Encoder[[]delivery.Segment] = plain{}

func line(v any) ([]delivery.Segment, error) {
	b, err := json.Marshal(v)
	return []delivery.Segment{{Literal: append(b, '\n')}}, err
}

func media(kind string, a content.Attachment) ([]delivery.Segment, error) {
	return []delivery.Segment{delivery.Literal(kind + " " + a.Prepared.MIME + " "), delivery.Hole(a.Prepared), delivery.Literal("\n")}, nil
}

func (plain) Text(b content.Text) ([]delivery.Segment, error)   { return line(b) }
func (plain) Image(b content.Image) ([]delivery.Segment, error) { return media("image", b.Attachment) }

func (plain) Audio(b content.Audio) ([]delivery.Segment, error) { return media("audio", b.Attachment) }

func (plain) Document(b content.Document) ([]delivery.Segment, error) {
	return media("doc", b.Attachment)
}

func (plain) ResourceText(b content.ResourceText) ([]delivery.Segment, error) {
	return line([]any{b, b.Body})
}

func (plain) ResourceLink(b content.ResourceLink) ([]delivery.Segment, error) { return line(b) }
func (plain) Opaque(b content.Opaque) ([]delivery.Segment, error)             { return line(b) }
func (plain) Reasoning(r content.Reasoning) ([]delivery.Segment, error)       { return line(r) }
func (plain) ToolCall(c content.ToolCall) ([]delivery.Segment, error)         { return line(c) }

func (plain) ToolResult(r content.ToolResult, parts [][]delivery.Segment) ([]delivery.Segment, error) {
	out, err := line(r)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, err
}

func (plain) Message(role content.Role, parts [][]delivery.Segment) ([]delivery.Segment, error) {
	out := []delivery.Segment{delivery.Literal("== " + role.String() + "\n")}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// wire renders a prompt and puts digests into the holes.
func wire(t *testing.T, p delivery.Prompt) string {
	t.Helper()
	msgs, err := delivery.Render(p, plain{})
	if err != nil {
		t.Fatalf("Render: %v", err)
	}
	var sb strings.Builder
	for _, segs := range msgs {
		for _, s := range segs {
			sb.Write(s.Literal)
			if !s.Hole.IsZero() {
				sb.WriteString("hole:" + s.Hole.Digest.Short() + ":" + strconv.FormatInt(s.Hole.Size, 10))
			}
		}
	}
	return sb.String()
}

// fates lists what became of each block, "handle disposition reason".
func fates(rs []delivery.Receipt) []string {
	out := make([]string, 0, len(rs))
	for _, r := range rs {
		out = append(out, string(r.Handle)+" "+r.Disposition.String()+" "+r.Reason.String())
	}
	return out
}

// ordered lists what was ordered for each block in the same words.
func ordered(p delivery.Plan) []string {
	out := make([]string, 0, len(p.Orders()))
	for _, o := range p.Orders() {
		out = append(out, string(o.Handle)+" "+o.Disposition.String()+" "+o.Reason.String())
	}
	return out
}

// texts lists the text parts of a prompt with the roles that say them.
func texts(p delivery.Prompt) []string {
	var out []string
	for _, m := range p.Messages() {
		for _, part := range m.Parts {
			out = append(out, said(m.Role, part)...)
		}
	}
	return out
}

func said(role content.Role, part content.Part) []string {
	switch part := part.(type) {
	case content.Text:
		return []string{role.String() + ": " + part.Body}
	case content.ResourceText:
		return []string{role.String() + ": " + part.Body}
	case content.ToolResult:
		out := []string{role.String() + ": result " + part.CallID}
		for _, b := range part.Blocks {
			out = append(out, said(role, b)...)
		}
		return out
	case content.ToolCall:
		return []string{role.String() + ": call " + part.ID}
	case content.Reasoning:
		return []string{role.String() + ": thinks " + part.Text}
	case content.Image, content.Audio, content.Document, content.ResourceLink, content.Opaque:
	}
	b, _ := part.(content.Block)
	return []string{role.String() + ": <" + string(b.BlockHandle()) + ">"}
}
