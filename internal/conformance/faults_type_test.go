package conformance_test

import (
	"bytes"
	"image/png"
	"testing"

	"tote/internal/imaging/imagingtest"
	"tote/internal/provider/providertest"
)

// TestRefusedType has a server refuse a media type that it never took before. The
// next picture of that type goes in another format, at the first attempt, and
// what was accepted stays as it is.
func TestRefusedType(t *testing.T) {
	for kind, words := range map[string][2]string{
		"openai-chat":      {"", "Invalid request: unsupported image format: image/jpeg"},
		"openai-responses": {"unsupported_image_media_type", "The media type of the picture is not supported."},
		"anthropic":        {"", "messages.2.content.1.image.source.base64.media_type: Input should be 'image/png'"},
		"gemini":           {"", "Unsupported MIME type: image/jpeg"},
		"bedrock-converse": {"", "1 validation error detected: Value 'jpeg' at 'messages.2.member.content.1.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png]"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := tongueOf(kind)
			r := newRig(t, g)
			const model = "m"
			r.on(model, func(_ int, l letter) providertest.Reply {
				for _, m := range l.sent.Media() {
					if m.MIME == "image/jpeg" {
						return g.rejects(400, words[0], words[1])
					}
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: model}))
			p := w.launch()
			s := p.with(model)
			one, first := w.snap("one.png", 20, 20, 1)
			p.prompt(s, one, prose("look"))
			photo := flagged(w.file("photo.jpg", imagingtest.JPEG(imagingtest.Photo(64, 48), 1)))
			f := p.prompt(s, photo, prose("and at this"))
			if n := len(told(f, "photo.jpg")); n != 1 || voided(f) != 1 {
				t.Errorf("%d attempts were withdrawn, %q", voided(f), f.Notices())
			}
			noRetry(t, p.prompt(s, prose("and now?")))
			p.stop()
			p = w.launch()
			defer p.stop()
			another := flagged(w.file("another.jpg", imagingtest.JPEG(imagingtest.Photo(60, 40), 1)))
			noRetry(t, p.prompt(p.open(s.ID()), another, prose("and at this?")))
			l := r.last(t, model)
			if len(l.media) != 2 || !l.holds(first) {
				t.Fatalf("%d pictures came", len(l.media))
			}
			if img, err := png.Decode(bytes.NewReader(l.media[1])); err != nil || img.Bounds().Dx() != 60 {
				t.Errorf("the second picture did not come as another format: %v", err)
			}
		})
	}
}
