package profile_test

import (
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

const handsOnPDF = "the program's documentation, read on 2026-11-30: it hands PDF on like pictures"

// Where a runner is known to see, PDF and sound go as its program takes them, on
// whatever evidence it sees. Where it is not, nothing is guessed.
func TestRunnersHandOn(t *testing.T) {
	handsOn := map[string][2]bool{ // documents, audio
		"cli-claude": {true, false}, "cli-codex": {}, "cli-gemini": {true, true}, "cli-custom": {},
	}
	for kind, want := range handsOn {
		for name, sees := range map[string]func(*profile.Binding) []profile.Fact{
			"bound": func(b *profile.Binding) []profile.Fact { b.Vision = profile.TriYes; return nil },
			"answered": func(*profile.Binding) []profile.Fact {
				return []profile.Fact{fact(delivery.EvidenceAnswered, delivery.Yes, ago(time.Hour))}
			},
			"probed": func(*profile.Binding) []profile.Fact {
				return []profile.Fact{fact(delivery.EvidenceProbe, delivery.Yes, ago(time.Hour))}
			},
		} {
			b := profile.Binding{Kind: kind, BaseURL: "program 1.0.0", Model: other}
			facts := sees(&b)
			p := profile.Build(b, facts, now)
			if (p.Documents.Answer == delivery.Yes) != want[0] || (p.Audio.Answer == delivery.Yes) != want[1] {
				t.Errorf("%s, %s: documents %+v, audio %+v", kind, name, p.Documents, p.Audio)
			}
			if want[0] && (p.Documents.Detail != handsOnPDF || p.Documents.Evidence != delivery.EvidenceCatalogue) {
				t.Errorf("%s: %+v", kind, p.Documents)
			}
			if want[1] && p.Audio.Detail != "the program's documentation, read on 2026-11-30: it hands sound on like pictures" {
				t.Errorf("%s: %+v", kind, p.Audio)
			}
			// What this program has refused since stands above its documentation.
			refused := append(facts, profile.Fact{Kind: content.KindDocument, Answer: delivery.No, Evidence: delivery.EvidenceAnswered, At: now})
			if p := profile.Build(b, refused, now); p.Documents.Answer != delivery.No {
				t.Errorf("%s, refused: %+v", kind, p.Documents)
			}
		}
		for _, v := range []profile.Tri{profile.TriAuto, profile.TriNo} {
			p := profile.Build(profile.Binding{Kind: kind, Vision: v}, nil, now)
			if p.Documents.Answer == delivery.Yes || p.Audio.Answer == delivery.Yes {
				t.Errorf("%s, vision %v: documents %+v, audio %+v", kind, v, p.Documents, p.Audio)
			}
		}
	}
}

// A program that is too old loses PDF as it does pictures. The sentence about it
// is told as it is, and the user's word about pictures is none about PDF.
func TestOldRunner(t *testing.T) {
	const why = "claude 2.1.0 is older than 2.1.240: older versions lose pictures without a word; update it"
	b := profile.Binding{
		Kind: "cli-claude", BaseURL: "claude 2.1.0",
		Said: profile.Said{Images: delivery.No, Documents: delivery.No, Detail: "not told", Sentence: why, At: now},
	}
	p := profile.Build(b, nil, now)
	if p.Images != (delivery.Capability{Answer: delivery.No, Evidence: delivery.EvidenceServer, Detail: why}) {
		t.Errorf("images %+v", p.Images)
	}
	b.Vision = profile.TriYes
	p = profile.Build(b, nil, now)
	if p.Images.Answer != delivery.Yes {
		t.Errorf("images %+v", p.Images)
	}
	if p.Documents != (delivery.Capability{Answer: delivery.No, Evidence: delivery.EvidenceServer, Detail: why + "; their text is sent"}) {
		t.Errorf("documents %+v", p.Documents)
	}
}

// What cannot go as it is says so without the words of the program's inside.
func TestNoPlace(t *testing.T) {
	for kind, want := range map[string][2]string{
		"ollama": {
			"this kind of backend has no place for documents as they are; their text is sent",
			"nothing is known yet of this model at this address",
		},
		"cli-codex": {
			"this kind of backend has no place for documents as they are; their text is sent",
			"this kind of backend has no place for sound",
		},
		"cli-gemini": {
			"nothing is known yet of this model by this program; their text is sent",
			"nothing is known yet of this model by this program",
		},
	} {
		p := profile.Build(profile.Binding{Kind: kind, BaseURL: madeURL, Model: other}, nil, now)
		if p.Documents.Detail != want[0] || p.Audio.Detail != want[1] {
			t.Errorf("%s: %q, %q", kind, p.Documents.Detail, p.Audio.Detail)
		}
	}
	said := profile.Binding{Kind: "ollama", BaseURL: madeURL, Model: other, Said: profile.Said{Audio: delivery.Yes}}
	const want = "the server said on 2026-12-01 that it takes sound, which is not taken for proof; media_types in the provider's limits turns it on"
	if got := profile.Build(said, nil, now).Audio.Detail; got != want {
		t.Errorf("%q", got)
	}
	said.Said = profile.Said{}
	said.Limits.MediaTypes = []string{"audio/wav"}
	if got := profile.Build(said, nil, now).Audio; got.Answer != delivery.Yes {
		t.Errorf("what turns it on does not: %+v", got)
	}
}
