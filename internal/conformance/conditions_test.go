package conformance_test

import (
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider/providertest"
)

// condition is what a model and its endpoint take, and what is known.
type condition struct {
	name    string
	profile func(a adapter) delivery.Profile
	// files: the model can open a file by its path.
	files bool
	facts func(blocks []content.Block) delivery.Facts
	// breaks: nothing that has to be made or read can be.
	breaks bool
	// limit bounds the request in bytes, 0 for no bound.
	limit int64
	// ledger is what the lane remembers.
	ledger delivery.Ledger
}

func (c condition) request() int64 {
	if c.limit > 0 {
		return c.limit
	}
	return delivery.Unlimited
}

func everything(a adapter) delivery.Profile { return providertest.Profile(a.path) }

func capability(a delivery.Answer, e delivery.Evidence) delivery.Capability {
	return delivery.Capability{Answer: a, Evidence: e}
}

func textOnly(a adapter) delivery.Profile {
	p := everything(a)
	no := capability(delivery.No, delivery.EvidenceCatalogue)
	p.Images, p.Audio, p.Documents = no, no, no
	p.ImageLimits, p.AudioLimits, p.DocumentLimits = delivery.Limits{}, delivery.Limits{}, delivery.Limits{}
	return p
}

func unknown(a adapter) delivery.Profile {
	p := everything(a)
	p.Images, p.Audio, p.Documents = delivery.Capability{}, delivery.Capability{}, delivery.Capability{}
	return p
}

func userOff(a adapter) delivery.Profile {
	p := everything(a)
	p.Images = capability(delivery.No, delivery.EvidenceBinding)
	return p
}

// small takes one format, and smaller pictures than the samples are.
func small(a adapter) delivery.Profile {
	p := everything(a)
	p.ImageLimits = delivery.Limits{MIMEs: []string{"image/jpeg"}, MaxEdge: 24}
	p.AudioLimits = delivery.Limits{MIMEs: []string{"audio/mpeg"}}
	p.DocumentLimits.MaxPages = 2
	return p
}

func fewer(a adapter) delivery.Profile {
	p := everything(a)
	p.ImageLimits.MaxCount, p.AudioLimits.MaxCount, p.DocumentLimits.MaxCount = 1, 1, 1
	return p
}

// fussy wants things to stand where few paths want them.
func fussy(a adapter) delivery.Profile {
	p := everything(a)
	p.Placement = delivery.Placement{HoistResults: true, TextErrors: true, Bridge: true, MergeRoles: true, DocumentNeedsText: true, NoReasoning: true}
	return p
}

// bound is what the program makes of a configuration.
func bound(vision profile.Tri, media ...string) func(adapter) delivery.Profile {
	return func(a adapter) delivery.Profile {
		return profile.Build(profile.Binding{
			Provider: "test", Model: "test-model", Kind: a.kind, BaseURL: "http://127.0.0.1:1", Vision: vision,
			Limits: profile.Overrides{MediaTypes: media}, Offline: a.kind == "offline",
		}, nil, time.Time{})
	}
}

func describing([]content.Block) delivery.Facts {
	return delivery.Facts{Describer: true, Lookers: []string{"looker"}}
}

func stripped(blocks []content.Block) delivery.Facts {
	f := delivery.Facts{Stripped: map[content.Handle]bool{}}
	for _, b := range blocks {
		f.Stripped[b.BlockHandle()] = true
	}
	return f
}

func digests(blocks []content.Block) map[content.Digest]bool {
	out := map[content.Digest]bool{}
	for _, b := range blocks {
		for _, blob := range content.Blobs(b) {
			out[blob.Digest] = true
		}
	}
	return out
}

func refused(blocks []content.Block) delivery.Facts { return delivery.Facts{Refused: digests(blocks)} }

func missing(blocks []content.Block) delivery.Facts { return delivery.Facts{Missing: digests(blocks)} }

func refusedTypes([]content.Block) delivery.Facts {
	return delivery.Facts{RefusedMIMEs: map[string]bool{"image/png": true, "audio/wav": true, "application/pdf": true}}
}

func noHistory([]content.Block) delivery.Facts { return delivery.Facts{DropHistory: true} }

// conditions are all of them, each with and without tools that read files.
func conditions() []condition {
	var out []condition
	for _, c := range []condition{
		{name: "everything", profile: everything},
		{name: "text only", profile: textOnly},
		{name: "unknown", profile: unknown},
		{name: "user off", profile: userOff},
		{name: "described", profile: textOnly, facts: describing},
		{name: "small", profile: small},
		{name: "fewer", profile: fewer},
		{name: "fussy", profile: fussy},
		{name: "bound yes", profile: bound(profile.TriYes, "image/*", "audio/wav", "application/pdf")},
		{name: "bound no", profile: bound(profile.TriNo)},
		{name: "bound auto", profile: bound(profile.TriAuto)},
		{name: "stripped", profile: everything, facts: stripped},
		{name: "refused", profile: everything, facts: refused},
		{name: "refused types", profile: everything, facts: refusedTypes},
		{name: "missing", profile: everything, facts: missing},
		{name: "no history", profile: everything, facts: noHistory},
		{name: "nothing can be made", profile: small, breaks: true},
		{name: "nothing can be described", profile: textOnly, facts: describing, breaks: true},
		{name: "tight", profile: everything, limit: 4000},
	} {
		for _, c.files = range []bool{false, true} {
			with := c
			if c.files {
				with.name += " with files"
			}
			out = append(out, with)
		}
	}
	return out
}
