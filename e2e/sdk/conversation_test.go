package sdk_test

import (
	"bytes"
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
)

// stage is what one request is made of.
type stage struct {
	blobs  providertest.Blobs
	prompt delivery.Prompt
}

// has says which media a path has a form for.
type has struct{ audio, documents bool }

// conversation settles one with every kind of block and every place on a path: a
// prompt, thinking, calls, results and an error result that hold pictures.
func conversation(t *testing.T, kind, base, model string, h has) *stage {
	t.Helper()
	s := &stage{}
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	blob := s.blobs.Put(shot.Bytes(), "image/png")
	pic := func(n int) content.Block {
		return providertest.Picture(content.NewHandle(content.KindImage, n, ".png"), blob, 8, 6)
	}
	text := func(n int, words string) content.Block {
		return content.Text{Handle: content.NewHandle(content.KindText, n, ""), Body: words}
	}
	prompt := []content.Block{text(1, "look at this"), pic(1), content.ResourceLink{Handle: "link-1", URI: "https://example.invalid/a", Name: "a"}}
	if h.audio {
		wav := s.blobs.Put(audiotest.WAV(50*time.Millisecond, 440), "audio/wav")
		prompt = append(prompt, content.Audio{Attachment: content.Attachment{Handle: "audio-1.wav", Name: "a.wav", Original: wav, Prepared: wav}, Millis: 50})
	}
	if h.documents {
		pdf := s.blobs.Put(documenttest.PDF(1, "words"), "application/pdf")
		prompt = append(prompt, content.Document{Attachment: content.Attachment{Handle: "document-1.pdf", Name: "a.pdf", Original: pdf, Prepared: pdf}, Pages: 1})
	}
	p := profile.Build(profile.Binding{Provider: "test", Kind: kind, BaseURL: base, Model: model, Vision: profile.TriYes, Limits: profile.Overrides{
		MediaTypes: []string{"image/*", "audio/wav", "application/pdf"},
	}}, nil, time.Time{})
	call := func(id string) content.ToolCall {
		return content.ToolCall{ID: id, Name: "read", Arguments: `{"path":"a.png"}`}
	}
	s.prompt = providertest.Settle(t, p, &s.blobs,
		providertest.User(prompt...),
		providertest.Say(content.Text{Body: "I read both."}, call("call_a"), call("call_b")),
		providertest.Results(
			content.ToolResult{CallID: "call_a", Name: "read", Blocks: []content.Block{text(2, "the file"), pic(2)}},
			content.ToolResult{CallID: "call_b", Name: "read", IsError: true, Blocks: []content.Block{text(3, "half of it"), pic(3)}},
		),
		providertest.Say(content.Text{Body: "Done."}),
		providertest.User(text(4, "and now?")),
	)
	return s
}

// body spells the request of a stage.
func (s *stage) body(t *testing.T, p provider.Provider) []byte {
	t.Helper()
	body, err := p.Encode(provider.Request{
		Prompt: s.prompt, Blobs: &s.blobs, System: "be brief", Seed: 7, MaxOutput: 4096, Effort: provider.EffortLow,
		Tools: []provider.ToolSpec{{Name: "read", Description: "reads a file", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := body.Open()
	defer func() { _ = r.Close() }() // read only
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
