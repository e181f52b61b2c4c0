package sdk

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"testing"
	"time"

	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/document/documenttest"
	"tote/internal/profile"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
	"tote/internal/tool"
)

// Vendor is a server as its vendor runs it, and a model there.
type Vendor struct {
	Kind, Base, Model string
	// Audio and Documents: the wire has a form for them.
	Audio, Documents bool
	// Place changes where things stand from what is right for that server.
	Place func(*delivery.Placement)
}

// Medium is one attachment of the conversation.
type Medium struct {
	Kind content.Kind
	// Encoded is the start of its base64, which no other one has.
	Encoded string
	// InResult: it came out of a tool; Failed: out of a call that failed.
	InResult, Failed bool
}

// Stage is a conversation with a vendor's model, and what a request is made of.
type Stage struct {
	Profile delivery.Profile
	// Wire is how the server wants its protocol spelled.
	Wire  profile.Wire
	Media []Medium

	vendor   Vendor
	blobs    providertest.Blobs
	messages []content.Message
	handles  int
}

// NewStage begins a conversation: one prompt with every kind of block.
func NewStage(tb testing.TB, v Vendor) *Stage {
	tb.Helper()
	s := &Stage{vendor: v, Wire: profile.WireOf(v.Kind, v.Base, v.Model)}
	s.Profile = profile.Build(profile.Binding{
		Provider: "test", Kind: v.Kind, BaseURL: v.Base, Model: v.Model, Vision: profile.TriYes,
		Limits: profile.Overrides{MediaTypes: []string{"image/*", "audio/wav", "application/pdf"}},
	}, nil, time.Time{})
	if v.Place != nil {
		v.Place(&s.Profile.Placement)
	}
	words := s.blobs.Put([]byte("line 1\nline \"2\" <&> \u2028\n"), "text/plain")
	file := content.Attachment{Handle: s.handle(content.KindResourceText, ".txt"), Name: "a.txt", Original: words, Prepared: words}
	prompt := []content.Block{
		s.text("look at \"this\" <b> & \u2028 \U0001f600"), s.picture(tb, false, false),
		content.ResourceLink{Handle: s.handle(content.KindResourceLink, ""), URI: "https://example.invalid/a?b=c&d", Name: "a"},
		content.ResourceText{Attachment: file, URI: "file:///a.txt"},
		content.Opaque{Handle: s.handle(content.KindOpaque, ""), Type: "hologram", Raw: s.blobs.Put([]byte(`{}`), "application/json")},
	}
	s.Add(providertest.User(append(prompt, s.others(tb, false, false)...)...))
	return s
}

// Add adds messages as they are.
func (s *Stage) Add(messages ...content.Message) { s.messages = append(s.messages, messages...) }

// AddReply adds an answer that was read, and the results of its calls: the first
// with media of every kind between its words, the second of a call that failed
// with some, the others with nothing.
func (s *Stage) AddReply(tb testing.TB, r Reply) {
	tb.Helper()
	if len(r.Calls) < 3 {
		tb.Fatalf("the answer holds %d calls, too few to answer them in every way", len(r.Calls))
	}
	s.Add(providertest.Say(r.Parts...))
	var results []content.ToolResult
	for i, c := range r.Calls {
		out := content.ToolResult{CallID: c.ID, Name: c.Name}
		switch i {
		case 0:
			out.Blocks = append([]content.Block{s.text("before"), s.picture(tb, true, false)}, s.others(tb, true, false)...)
			out.Blocks = append(out.Blocks, s.text("after"))
		case 1:
			out.IsError = true
			out.Blocks = append([]content.Block{s.text("half of it"), s.picture(tb, true, true)}, s.others(tb, true, true)...)
		}
		results = append(results, out)
	}
	s.Add(providertest.Results(results...))
}

// Secret stands in the signatures of other paths. No request holds it.
const Secret = "c2VjcmV0LW9mLWFub3RoZXItcGF0aA"

// strangers are thinking and calls as every path leaves them behind.
var strangers = []struct{ path, thought, id, call string }{
	{"openai-chat", `{"by":"0123456789abcdef","field":"reasoning","reasoning_details":[{"type":"reasoning.text","text":"` + Secret + `"}]}`, "functions.read:0", `{"by":"0123456789abcdef","extra_content":{"google":{"thought_signature":"` + Secret + `"}}}`},
	{"openai-responses", `{"by":"0123456789abcdef","id":"rs_1","summary":["` + Secret + `"],"encrypted_content":"` + Secret + `"}`, "call_vN1f0mJ3o7YzXwQp5RkTs2Lb", ""},
	{"anthropic", "thinking:01234567:" + Secret, "toolu_01A09q90qw90lq917835lq9", ""},
	{"bedrock-converse", "redacted:" + Secret, "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", ""},
	{"gemini", "thought 0 0 0 " + Secret, "function-call-1234567890123456789", Secret},
	{"ollama", Secret, "call_0123456789abcdef", ""},
	{"cli-claude", Secret, "id|with/everything\u00e9 that no wire takes, and longer than any of them lets it be", Secret},
}

// AddStrangers adds a round of a call and its result for every path but the
// vendor's own.
func (s *Stage) AddStrangers() {
	for _, x := range strangers {
		if x.path == s.vendor.Kind {
			continue
		}
		s.Add(
			providertest.Say(
				content.Reasoning{Text: "thought by " + x.path, Signature: x.thought, Path: x.path},
				content.Text{Body: "I look, says " + x.path + "."},
				content.ToolCall{ID: x.id, Name: "read", Arguments: `{"path":"a.png"}`, Signature: x.call, Path: x.path},
				content.ToolCall{ID: x.id + "+", Name: "list", Arguments: `{"path":"broken`},
			),
			providertest.Results(
				content.ToolResult{CallID: x.id, Name: "read", Blocks: []content.Block{s.text("found by " + x.path)}},
				content.ToolResult{CallID: x.id + "+", Name: "list", IsError: true, Blocks: []content.Block{s.text("no object")}},
			),
		)
	}
	s.Add(providertest.Say(content.Text{Body: "Done."}), providertest.User(s.text("and now?")))
}

// Request is the next request of the conversation, with the product's own tools.
func (s *Stage) Request(tb testing.TB, e provider.Effort) provider.Request {
	tb.Helper()
	tools, err := tool.NewRegistry(tool.List{}, tool.Read{})
	if err != nil {
		tb.Fatal(err)
	}
	r := provider.Request{
		Prompt: providertest.Settle(tb, s.Profile, &s.blobs, s.messages...), Blobs: &s.blobs,
		System: "be brief", Seed: 7, MaxOutput: 9000, Effort: e,
	}
	for _, t := range tools.All() {
		r.Tools = append(r.Tools, provider.ToolSpec{Name: t.Spec().Name, Description: t.Spec().Description, Schema: t.Spec().Schema})
	}
	return r
}

// Body spells a request and returns it with its bytes.
func Body(tb testing.TB, p provider.Provider, r provider.Request) (provider.Body, []byte) {
	tb.Helper()
	body, err := p.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	rd := body.Open()
	defer func() { _ = rd.Close() }() // read only
	data, err := io.ReadAll(rd)
	if err != nil {
		tb.Fatal(err)
	}
	return body, data
}

// Whole reports media of the conversation that do not stand in a body exactly
// once, and secrets of other paths that do. It returns the places of those that
// came out of tools.
func (s *Stage) Whole(tb testing.TB, body []byte) (results, failed []string) {
	tb.Helper()
	tree := Tree(tb, body)
	for _, m := range s.Media {
		at := Find(tree, m.Encoded)
		if len(at) != 1 {
			tb.Errorf("the %s %.20s… stands at %v", m.Kind, m.Encoded, at)
			continue
		}
		switch {
		case m.Failed:
			failed = append(failed, plain(at[0]))
		case m.InResult:
			results = append(results, plain(at[0]))
		}
	}
	if at := Find(tree, Secret); len(at) > 0 {
		tb.Errorf("a signature of another path stands at %v", at)
	}
	return results, failed
}

func (s *Stage) handle(k content.Kind, ext string) content.Handle {
	s.handles++
	return content.NewHandle(k, s.handles, ext)
}

func (s *Stage) text(words string) content.Text {
	return content.Text{Handle: s.handle(content.KindText, ""), Body: words}
}

// picture makes one that no other is like.
func (s *Stage) picture(tb testing.TB, inResult, failed bool) content.Block {
	tb.Helper()
	w, h := 8+s.handles, 6
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		tb.Fatal(err)
	}
	blob := s.media(content.KindImage, shot.Bytes(), "image/png", inResult, failed)
	return providertest.Picture(s.handle(content.KindImage, ".png"), blob, w, h)
}

// others makes a recording and a document where the wire has a form for them.
func (s *Stage) others(tb testing.TB, inResult, failed bool) []content.Block {
	tb.Helper()
	var out []content.Block
	if s.vendor.Audio {
		wav := audiotest.WAV(time.Duration(20+s.handles)*time.Millisecond, 440)
		b := s.media(content.KindAudio, wav, "audio/wav", inResult, failed)
		out = append(out, content.Audio{Attachment: s.attachment(content.KindAudio, ".wav", b), Millis: 20})
	}
	if s.vendor.Documents {
		b := s.media(content.KindDocument, documenttest.PDF(1, fmt.Sprintf("words %d", s.handles)), "application/pdf", inResult, failed)
		out = append(out, content.Document{Attachment: s.attachment(content.KindDocument, ".pdf", b), Pages: 1})
	}
	return out
}

func (s *Stage) attachment(k content.Kind, ext string, b content.Blob) content.Attachment {
	h := s.handle(k, ext)
	return content.Attachment{Handle: h, Name: "my " + string(h), Declared: b.MIME, Original: b, Prepared: b}
}

func (s *Stage) media(k content.Kind, data []byte, mime string, inResult, failed bool) content.Blob {
	s.Media = append(s.Media, Medium{Kind: k, Encoded: base64.StdEncoding.EncodeToString(data), InResult: inResult, Failed: failed})
	return s.blobs.Put(data, mime)
}
