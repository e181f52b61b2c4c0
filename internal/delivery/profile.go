package delivery

import "tote/internal/content"

// Answer says whether a model takes a kind of content.
type Answer uint8

// The answers. The zero value is Unknown: nothing is assumed.
const (
	Unknown Answer = iota
	Yes
	No
)

func (a Answer) String() string {
	switch a {
	case Unknown:
		return "unknown"
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "answer?"
}

// Evidence is what an answer rests on, strongest first.
type Evidence uint8

// The kinds of evidence. The zero value is none.
const (
	EvidenceNone      Evidence = iota
	EvidenceBinding            // the user's configuration says so
	EvidenceAnswered           // this endpoint answered, or refused, such a request
	EvidenceProbe              // a probe measured it
	EvidenceCatalogue          // the exact catalogue record says so
	EvidenceServer             // the server says so of itself: may withhold, never enables
)

var evidenceNames = [...]string{"none", "binding", "answered", "probe", "catalogue", "server"}

func (e Evidence) String() string {
	if int(e) < len(evidenceNames) {
		return evidenceNames[e]
	}
	return "evidence?"
}

// Capability is whether a model takes a kind, and how that is known.
type Capability struct {
	Answer   Answer
	Evidence Evidence
	// Detail is for people: "catalogue pi-ai 1.6.0 of 2026-11-20".
	Detail string
}

// Limits bound one kind of content on a path. A zero number means no limit.
type Limits struct {
	// MIMEs are the media types that the path takes; empty takes none.
	MIMEs []string
	// ResultMIMEs are those it takes in tool results, where they differ.
	ResultMIMEs []string
	// MaxBytes bounds the raw size of one, MaxEncoded its base64 length.
	MaxBytes, MaxEncoded int64
	// MaxEdge is the longest side in pixels, MaxPixels the area.
	MaxEdge   int
	MaxPixels int64
	// MaxCount is how many one request may hold.
	MaxCount int
	// ManyCount and ManyEdge: with more than ManyCount in a request, none
	// may have a side longer than ManyEdge.
	ManyCount, ManyEdge int
	// MaxPages bounds a document.
	MaxPages int
	// Fit is the rule by which the server shrinks pictures by itself, zero
	// where it does not or where that is not known. It is no limit: a larger
	// picture is cut to it where that saves bytes, and is never lost by it.
	Fit Fit
}

// TokenRule is how a backend prices a picture.
type TokenRule uint8

// The token rules.
const (
	// TokensFlat: every picture costs TokenModel.Flat.
	TokensFlat TokenRule = iota
	// TokensPatch: one per Size×Size patch, times Percent/100, at most Cap.
	TokensPatch
	// TokensTile: Base plus PerTile for each 512 px tile, after fitting into
	// 2048 px square and the short side to 768 px.
	TokensTile
)

// TokenModel prices pictures in tokens.
type TokenModel struct {
	Rule TokenRule
	// Flat is the price under TokensFlat.
	Flat int
	// Size is the patch side in pixels, Percent the multiplier times 100,
	// Cap the most that one picture costs (0: no cap).
	Size, Percent, Cap int
	Base, PerTile      int
}

// DefaultPictureTokens is the price of a picture without a known formula.
const DefaultPictureTokens = 4000

// Placement says where a path wants things to stand.
type Placement struct {
	// HoistResults: media in tool results go into one user message after
	// the whole batch of results, tied to their call by label.
	HoistResults bool
	// HoistAudio and HoistDocuments: recordings, or documents, go there even
	// where pictures may stay in the result.
	HoistAudio, HoistDocuments bool
	// TextErrors: error results hold text only; their media are hoisted.
	TextErrors bool
	// Bridge: an assistant message must stand between tool results and a
	// user message.
	Bridge bool
	// MergeRoles: two messages of the same role may not follow each other.
	MergeRoles bool
	// DocumentNeedsText: a document needs a text part in its message. The
	// label that stands before every document is one, so nothing is added.
	DocumentNeedsText bool
	// NoReasoning: reasoning of earlier turns is not sent back.
	NoReasoning bool
}

// hoists reports whether media of kind k in tool results stand after the batch.
func (p *Placement) hoists(k content.Kind) bool {
	return p.HoistResults || p.HoistAudio && k == content.KindAudio || p.HoistDocuments && k == content.KindDocument
}

// Profile is what one path and model accept, as data.
type Profile struct {
	// Path is the adapter or runner, for example "openai-chat".
	Path string
	// Provider and Model are the user's names for them.
	Provider, Model string
	// Endpoint is the hash of kind, base URL and model under which verdicts
	// and evidence are kept. It never contains a key.
	Endpoint string

	Images, Audio, Documents                 Capability
	ImageLimits, AudioLimits, DocumentLimits Limits

	// MaxMedia is how many pictures, recordings and documents one request may
	// hold together, 0 for no limit.
	MaxMedia int
	// MaxRequest is the largest request body in bytes.
	MaxRequest int64
	// Context is the context window and Output the longest answer, in
	// tokens; 0 when not known.
	Context, Output int
	Tokens          TokenModel
	Placement       Placement
}
