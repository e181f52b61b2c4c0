package conformance_test

import (
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// magic begins a file of a media type, where servers tell it by that.
var magic = map[string]string{
	"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x40\x00\x00\x00WEBPVP8 ",
	"audio/wav": "RIFF\x40\x00\x00\x00WAVEfmt ", "audio/mpeg": "ID3\x04\x00\x00", "application/pdf": "%PDF-1.7",
}

// oneOfEach is an attachment of every media type that a profile lists. Nothing
// on the way out decodes them.
func oneOfEach(s *shelf, p delivery.Profile, result bool) []content.Block {
	var out []content.Block
	attachment := func(mime string) content.Attachment {
		b := s.Put([]byte(magic[mime]+"a usual file of type "+mime), mime)
		b.Width, b.Height = 8, 8
		return content.Attachment{Name: "mark-" + strings.ReplaceAll(mime, "/", "-"), Declared: mime, Original: b, Prepared: b}
	}
	pictures := p.ImageLimits.MIMEs
	if result && len(p.ImageLimits.ResultMIMEs) > 0 && !p.Placement.HoistResults {
		pictures = p.ImageLimits.ResultMIMEs
	}
	for _, m := range pictures {
		out = append(out, content.Image{Attachment: attachment(m), Frames: 1})
	}
	if p.Audio.Answer == delivery.Yes {
		for _, m := range p.AudioLimits.MIMEs {
			out = append(out, content.Audio{Attachment: attachment(m)})
		}
	}
	if p.Documents.Answer == delivery.Yes {
		for _, m := range p.DocumentLimits.MIMEs {
			out = append(out, content.Document{Attachment: attachment(m), Pages: 1})
		}
	}
	return numbered(out)
}

// TestEveryMediaTypeHasAForm: what a profile says that a path takes, the wire can
// spell, as that type. What the user can enable in a configuration is among it.
func TestEveryMediaTypeHasAForm(t *testing.T) {
	t.Parallel()
	for path, a := range adapters {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			st := stand(t, a)
			for _, c := range conditions {
				if c.name != "own" && c.name != "everything" && (c.name != "native" || a.native.Model == "") {
					continue
				}
				for _, p := range placings {
					if a.runner != "" && p.name != "prompt" || p.name == "old result" || p.name == "history" {
						continue
					}
					t.Run(c.name+"/"+p.name, func(t *testing.T) {
						var s shelf
						blocks := oneOfEach(&s, c.profile(a), p.result)
						r := settle(t, &s, c, a, p, blocks)
						for _, b := range blocks {
							if x := r.receipts[b.BlockHandle()]; x.Disposition != delivery.Inline {
								t.Errorf("%s (%s) is %v: %v", x.Handle, x.Name, x.Disposition, x.Reason)
							}
						}
						checkWire(t, r, send(t, st, r))
					})
				}
			}
		})
	}
}
