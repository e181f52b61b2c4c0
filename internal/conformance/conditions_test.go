package conformance_test

import (
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

// condition is what a model and its endpoint take, and what is known. says tells
// it to the readers of docs/outcomes.md.
type condition struct {
	name, says string
	// shown is the placing that the page shows, "" for the prompt.
	shown   string
	profile func(a adapter) delivery.Profile
	// native: it is for paths whose results may hold media.
	native bool
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

// everything is a model that takes all that the wire has a form for, as much of
// it as there is, where the wire itself wants it.
func everything(a adapter) delivery.Profile {
	p := boundTo(profile.TriYes, "image/*", "audio/*", "application/*")(a)
	for _, l := range []*delivery.Limits{&p.ImageLimits, &p.AudioLimits, &p.DocumentLimits} {
		*l = delivery.Limits{MIMEs: l.MIMEs, ResultMIMEs: l.ResultMIMEs, MaxCount: l.MaxCount}
	}
	p.MaxRequest, p.MaxMedia, p.Context = 0, 0, 1_000_000
	p.Placement.NoReasoning = a.think.reply == nil
	return p
}

// native is everything on a server that takes media in tool results.
func native(a adapter) delivery.Profile {
	p, x := everything(a), a.profileOf(a.native)
	p.Placement, p.ImageLimits.ResultMIMEs = x.Placement, x.ImageLimits.ResultMIMEs
	return p
}

// own is the vendor's own server with a model that sees pictures.
func own(a adapter) delivery.Profile { return a.profileOf(a.own) }

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

// boundTo is what the program makes of a configuration with a server of which
// nothing is known.
func boundTo(vision profile.Tri, media ...string) func(adapter) delivery.Profile {
	return func(a adapter) delivery.Profile {
		return profile.Build(a.bind(profile.Binding{
			Model: testModel, BaseURL: "http://127.0.0.1:1", Vision: vision, Limits: profile.Overrides{MediaTypes: media},
			Offline: a.own.Offline,
		}), nil, time.Time{})
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
func (a adapter) conditions() []condition {
	var out []condition
	for _, c := range conditions {
		if c.native && a.native.Model == "" {
			continue
		}
		for _, c.files = range []bool{false, true} {
			if !c.files && a.runner != "" && c.name != "own" && c.name != "text only" {
				continue // to start a program is dear, and files change nothing but words
			}
			with := c
			if c.files {
				with.name += " with files"
			}
			out = append(out, with)
		}
	}
	return out
}

var conditions = []condition{
	{name: "own", says: "The vendor's own server and a model there that sees pictures, as the first table has it.", profile: own},
	{name: "native", says: "A model that takes everything the wire has a form for, on a server that takes media in tool results.", profile: native, native: true},
	{name: "everything", says: "A model that takes everything the wire has a form for, on a server of which nothing else is known.", profile: everything},
	{name: "text only", says: "The model is known to take text alone.", profile: textOnly},
	{name: "unknown", says: "Nothing is known of the model.", profile: unknown},
	{name: "user off", says: "The user turned pictures off: `\"vision\": false`.", profile: userOff},
	{name: "described", says: "The model takes text alone, and another agent describes pictures.", profile: textOnly, facts: describing},
	{name: "small", says: "The backend takes JPEG of 24 pixels, MP3 and documents of two pages, which the samples are not.", profile: small},
	{name: "fewer", says: "The backend takes one picture, one recording and one document in a request, and there are more of each.", profile: fewer},
	{name: "fussy", says: "The backend wants results without media, turns that alternate, and no thinking back.", profile: fussy},
	{name: "bound yes", says: "The user says that the model takes pictures, WAV and PDF.", profile: boundTo(profile.TriYes, "image/*", "audio/wav", "application/pdf")},
	{name: "bound no", says: "The user says that the model sees no pictures, and no more.", profile: boundTo(profile.TriNo)},
	{name: "bound auto", says: "The user says nothing, and the server is unknown.", profile: boundTo(profile.TriAuto)},
	{name: "stripped", says: "The backend has just refused the request, so this turn goes on without attachments.", profile: everything, facts: stripped},
	{name: "refused", says: "The backend has refused these very bytes before.", profile: everything, facts: refused},
	{name: "refused types", says: "The backend has refused PNG, WAV and PDF before.", profile: everything, facts: refusedTypes},
	{name: "missing", says: "The stored bytes are gone.", profile: everything, facts: missing},
	{name: "no history", says: "The conversation is too long for the model; what is shown is a block of an earlier turn.", profile: everything, facts: noHistory, shown: "history"},
	{name: "nothing can be made", says: "What the backend takes cannot be made of it, for example because the disk is full.", profile: small, breaks: true},
	{name: "nothing can be described", says: "The model takes text alone, and the describing agent fails.", profile: textOnly, facts: describing, breaks: true},
	{name: "tight", says: "The whole request may have 4,000 bytes.", profile: everything, limit: 4000},
}
