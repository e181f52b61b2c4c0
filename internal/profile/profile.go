package profile

import (
	"slices"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Tri is a choice that may be left to evidence. The zero value leaves it.
type Tri uint8

// The choices.
const (
	TriAuto Tri = iota
	TriYes
	TriNo
)

// Binding is how the user's configuration binds an agent to a model.
type Binding struct {
	// Provider and Model are the user's names for them.
	Provider, Model string
	// Kind is the protocol, such as "openai-chat".
	Kind string
	// BaseURL is the address under which the protocol's paths lie.
	BaseURL string
	// Vision says whether the model sees pictures.
	Vision Tri
	Limits Overrides
	// Offline: this is the built-in stand-in for a model, whatever Kind is.
	Offline bool
	// Said is what the server said of this model, zero for nothing.
	Said Said
}

// Overrides are the user's own limits. They win over all that is known. Zero
// means not given.
type Overrides struct {
	// Images is the most pictures in one request.
	Images int
	// ImageEdge is the longest side of a picture in pixels.
	ImageEdge int
	// Context and Output are the context window and the longest answer, in
	// tokens.
	Context, Output int
	// ImageBytes bounds one picture before base64, RequestBytes the body.
	ImageBytes, RequestBytes int64
	// MediaTypes is the whole list of media types that the backend takes;
	// "image/*" stands for the formats that the protocol can carry. A list
	// without a picture, sound or document type turns that kind off. A list
	// with a sound or document type turns that kind on, since nothing else
	// in a configuration can say so.
	MediaTypes []string
}

// Fact is one piece of evidence about an endpoint, as it is stored.
type Fact struct {
	// Kind is KindImage, KindAudio or KindDocument; others say nothing.
	Kind   content.Kind
	Answer delivery.Answer
	// Evidence is EvidenceAnswered, EvidenceProbe or EvidenceServer; others
	// are not learned and say nothing.
	Evidence delivery.Evidence
	// Detail is for people, "" for a sentence made from the rest.
	Detail string
	At     time.Time
}

// How long evidence counts. A model behind an id is replaced without notice, so
// what was measured once is measured again; an answered request needs no
// expiry, since every further one proves the same and a refusal is newer.
const (
	// LifeProbe is for a probe that said yes or no.
	LifeProbe = 90 * 24 * time.Hour
	// LifeUnsettled is for a probe that said neither: until it is over,
	// nobody probes again.
	LifeUnsettled = 24 * time.Hour
	// LifeRefusedKind is for an endpoint that refused a kind: a local server
	// may have been given the missing part since.
	LifeRefusedKind = 30 * 24 * time.Hour
	// LifeServer is for what a server says of itself.
	LifeServer = 24 * time.Hour
)

// counts reports whether a fact still says something about answers.
func (f *Fact) counts(now time.Time) bool {
	age := now.Sub(f.At)
	switch f.Evidence {
	case delivery.EvidenceAnswered:
		return f.Answer == delivery.Yes || f.Answer == delivery.No && age < LifeRefusedKind
	case delivery.EvidenceProbe:
		return f.Answer != delivery.Unknown && age < LifeProbe
	case delivery.EvidenceServer:
		return f.Answer != delivery.Unknown && age < LifeServer
	case delivery.EvidenceNone, delivery.EvidenceBinding, delivery.EvidenceCatalogue:
		return false
	}
	return false
}

// ProbedRecently reports whether pictures were probed within LifeUnsettled, so
// that a probe which settles nothing is not repeated each turn. A time from the
// future counts as recent only by the same distance: the clock may have been
// wrong then.
func ProbedRecently(facts []Fact, now time.Time) bool {
	return slices.ContainsFunc(facts, func(f Fact) bool {
		return f.Kind == content.KindImage && f.Evidence == delivery.EvidenceProbe && now.Sub(f.At).Abs() < LifeUnsettled
	})
}

// Build returns what the bound path and model accept at the time now, given
// what was learned of that endpoint.
func Build(b Binding, learned []Fact, now time.Time) delivery.Profile {
	return build(Open(), &b, learned, now)
}

func build(c *Catalogue, b *Binding, learned []Fact, now time.Time) delivery.Profile {
	kind := b.Kind
	if b.Offline {
		kind = kindOffline
	}
	e := evidence{binding: b, facts: learned, now: now, kind: kindOf(kind)}
	if kind != kindOffline && b.Said.counts(now) {
		e.said = b.Said
		e.facts = slices.Concat(b.Said.Facts(now), learned)
	}
	if kind != kindOffline {
		e.catalogue = c
		e.record, e.exact = c.Lookup(kind, addressOf(kind, b.BaseURL), b.Model)
	}
	e.server = serverOf(kind, b.BaseURL)

	p := delivery.Profile{
		Path: kind, Provider: b.Provider, Model: b.Model, Endpoint: Endpoint(kind, b.BaseURL, b.Model),
		Context: e.record.ContextWindow, Output: e.record.MaxOutput,
	}
	if sibling, ok := siblings[kind]; ok && !e.exact {
		// The window of a model does not depend on the protocol by which
		// the same endpoint is asked. It narrows and enables nothing.
		r, _ := c.Lookup(sibling, b.BaseURL, b.Model)
		p.Context, p.Output = r.ContextWindow, r.MaxOutput
	}
	p.Images = e.images()
	p.Audio = e.audio(p.Images)
	p.Documents = e.documents(p.Images)
	e.limit(&p)
	return p
}

// addressOf is the address under which the catalogue has a server. No address
// stands for that of AWS, where the catalogue has all regions in one.
func addressOf(kind, baseURL string) string {
	if kind == kindConverse && baseURL == "" {
		return "https://bedrock-runtime.us-east-1.amazonaws.com"
	}
	return baseURL
}

// siblings are two protocols of one endpoint.
var siblings = map[string]string{kindChat: kindResponses, kindResponses: kindChat}

// evidence is all that one profile rests on.
type evidence struct {
	binding   *Binding
	facts     []Fact
	said      Said
	now       time.Time
	catalogue *Catalogue // nil for the built-in stand-in
	record    Record
	exact     bool
	kind      *kindRow
	server    *serverRow // nil for an endpoint of which nothing is known
}

func (e *evidence) images() delivery.Capability {
	if types := e.binding.Limits.MediaTypes; len(types) > 0 && !hasFamily(types, "image/") {
		return bound(delivery.No, "media_types in the configuration names no picture format")
	}
	switch e.binding.Vision {
	case TriYes:
		return bound(delivery.Yes, "you said so in the configuration")
	case TriNo:
		return bound(delivery.No, "you said so in the configuration")
	case TriAuto:
	}
	if c, ok := e.measured(content.KindImage); ok {
		return c
	}
	switch {
	case e.catalogue == nil:
		return builtIn
	case e.exact:
		a := delivery.No
		if e.record.Image {
			a = delivery.Yes
		}
		return e.unlessDenied(content.KindImage, delivery.Capability{
			Answer: a, Evidence: delivery.EvidenceCatalogue, Detail: e.catalogue.Meta().sentence(),
		})
	}
	if c := e.documented(func(r *documentedRow) delivery.Answer { return r.images }); c.Answer != delivery.Unknown {
		return e.unlessDenied(content.KindImage, c)
	}
	return e.unsettled(content.KindImage)
}

// unlessDenied lets the server withhold what others say that it takes: it may
// have been started without the part that sees.
func (e *evidence) unlessDenied(k content.Kind, c delivery.Capability) delivery.Capability {
	if c.Answer != delivery.Yes {
		return c
	}
	f := e.serverWord(k)
	if f == nil || f.Answer != delivery.No {
		return c
	}
	return delivery.Capability{
		Answer: delivery.No, Evidence: delivery.EvidenceServer,
		Detail: f.sentence() + "; against it stands " + c.Detail,
	}
}

// serverWord is the newest that the server said of a kind, nil for nothing.
func (e *evidence) serverWord(k content.Kind) *Fact {
	return e.best(k, func(f *Fact) bool { return f.Evidence == delivery.EvidenceServer && f.counts(e.now) })
}

// documented is what the vendor's documentation says of the model.
func (e *evidence) documented(about func(*documentedRow) delivery.Answer) delivery.Capability {
	if e.catalogue == nil || !secure(e.binding.BaseURL) {
		return delivery.Capability{}
	}
	host, bare := hostOf(e.binding.BaseURL), bareModel(e.kind.kind, e.binding.Model)
	for i := range documented {
		r := &documented[i]
		if r.kind == e.binding.Kind && among(host, r.hosts) && about(r) != delivery.Unknown &&
			(slices.Contains(r.models, e.binding.Model) || named(bare, r.older)) {
			return delivery.Capability{
				Answer: about(r), Evidence: delivery.EvidenceCatalogue, Detail: "the vendor's documentation, read on " + readOn,
			}
		}
	}
	return delivery.Capability{}
}

func (e *evidence) audio(images delivery.Capability) delivery.Capability {
	vendor := e.documented(func(r *documentedRow) delivery.Answer { return r.audio })
	if e.kind.soundWithPictures && images.Answer == delivery.Yes {
		vendor = e.handedOn(content.KindAudio)
	}
	return e.native(content.KindAudio, "audio/", e.kind.audio.MIMEs, vendor)
}

func (e *evidence) documents(images delivery.Capability) delivery.Capability {
	vendor := e.documented(func(r *documentedRow) delivery.Answer { return r.documents })
	if e.server != nil && e.server.pdfWithPictures && images.Answer == delivery.Yes && secure(e.binding.BaseURL) {
		vendor = delivery.Capability{
			Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue,
			Detail: "the vendor's documentation, read on " + readOn + ": models there that see pictures take PDF",
		}
	}
	if e.kind.pdfWithPictures && images.Answer == delivery.Yes {
		vendor = e.handedOn(content.KindDocument)
	}
	c := e.native(content.KindDocument, "application/", e.kind.documents.MIMEs, vendor)
	if c.Answer != delivery.Yes {
		c.Detail += "; their text is sent"
	}
	return c
}

// handedOn is what the documentation of a runner's program says of a kind that
// the program hands on together with pictures. It is nothing for a version that
// is known to lose the kind.
func (e *evidence) handedOn(k content.Kind) delivery.Capability {
	if f := e.serverWord(k); f != nil && f.Answer == delivery.No {
		return delivery.Capability{}
	}
	_, noun := nouns(k)
	if k == content.KindDocument {
		noun = "PDF"
	}
	return delivery.Capability{
		Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue,
		Detail: "the program's documentation, read on " + readOn + ": it hands " + noun + " on like pictures",
	}
}

// native settles sound and documents. vendor is what the vendor's tables say,
// zero for nothing.
func (e *evidence) native(k content.Kind, family string, spelled []string, vendor delivery.Capability) delivery.Capability {
	if len(spelled) == 0 {
		noun := "sound"
		if k == content.KindDocument {
			noun = "documents as they are"
		}
		return delivery.Capability{
			Answer: delivery.No, Evidence: delivery.EvidenceCatalogue, Detail: "this kind of backend has no place for " + noun,
		}
	}
	if types := e.binding.Limits.MediaTypes; len(types) > 0 {
		if len(chosen(types, family, spelled)) > 0 {
			return bound(delivery.Yes, "media_types in the configuration says so")
		}
		return bound(delivery.No, "media_types in the configuration names none that this kind of backend can carry")
	}
	if c, ok := e.measured(k); ok {
		return c
	}
	switch {
	case e.catalogue == nil:
		return builtIn
	case vendor.Answer != delivery.Unknown:
		return e.unlessDenied(k, vendor)
	}
	return e.unsettled(k)
}

var builtIn = delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue, Detail: "built in"}

func bound(a delivery.Answer, detail string) delivery.Capability {
	return delivery.Capability{Answer: a, Evidence: delivery.EvidenceBinding, Detail: detail}
}

// measured returns what this endpoint itself has shown: the strongest kind of
// evidence, and of one kind the newest.
func (e *evidence) measured(k content.Kind) (delivery.Capability, bool) {
	best := e.best(k, func(f *Fact) bool { return f.Evidence != delivery.EvidenceServer && f.counts(e.now) })
	if best == nil {
		return delivery.Capability{}, false
	}
	return delivery.Capability{Answer: best.Answer, Evidence: best.Evidence, Detail: best.sentence()}, true
}

// unsettled is for what nothing stronger than the server's own words is known
// of.
func (e *evidence) unsettled(k content.Kind) delivery.Capability {
	if f := e.serverWord(k); f != nil {
		c := delivery.Capability{Answer: delivery.No, Evidence: delivery.EvidenceServer, Detail: f.sentence()}
		if f.Answer == delivery.Yes {
			c.Answer = delivery.Unknown
			c.Detail += ", which is not taken for proof; " + proof(k)
		}
		return c
	}
	unsettledProbe := func(f *Fact) bool {
		return f.Evidence == delivery.EvidenceProbe && f.Answer == delivery.Unknown && e.now.Sub(f.At).Abs() < LifeUnsettled
	}
	if f := e.best(k, unsettledProbe); f != nil {
		return delivery.Capability{Evidence: delivery.EvidenceProbe, Detail: f.sentence()}
	}
	if isRunner(e.kind.kind) {
		return delivery.Capability{Detail: "nothing is known yet of this model by this program"}
	}
	return delivery.Capability{Detail: "nothing is known yet of this model at this address"}
}

// proof is what turns on a kind that a server says it takes.
func proof(k content.Kind) string {
	if k == content.KindImage {
		return "tote probe measures it"
	}
	return "media_types in the provider's limits turns it on"
}

// best returns the strongest and newest fact about k that ok lets through.
func (e *evidence) best(k content.Kind, ok func(*Fact) bool) *Fact {
	var best *Fact
	for i := range e.facts {
		f := &e.facts[i]
		if f.Kind != k || !ok(f) {
			continue
		}
		if best == nil || f.Evidence < best.Evidence || f.Evidence == best.Evidence && !f.At.Before(best.At) {
			best = f
		}
	}
	return best
}

// sentence says where a record comes from.
func (m Meta) sentence() string {
	return "catalogue " + m.Source[strings.LastIndexByte(m.Source, '/')+1:] + " " + m.Version + " of " + m.Date
}

// nouns names a kind of which evidence speaks, for people: after "with", and by
// itself.
func nouns(k content.Kind) (with, bare string) {
	switch k {
	case content.KindImage:
		return "a picture", "pictures"
	case content.KindAudio:
		return "sound", "sound"
	case content.KindDocument:
		return "a document", "documents"
	case content.KindText, content.KindResourceText, content.KindResourceLink, content.KindOpaque:
	}
	return "a block", "blocks"
}

// sentence says what a fact rests on.
func (f *Fact) sentence() string {
	if f.Detail != "" {
		return f.Detail
	}
	on := " on " + f.At.UTC().Format(time.DateOnly)
	with, bare := nouns(f.Kind)
	switch f.Evidence {
	case delivery.EvidenceAnswered:
		if f.Answer == delivery.Yes {
			return "answered a request with " + with + on
		}
		return "refused a request with " + with + on
	case delivery.EvidenceProbe:
		switch f.Answer {
		case delivery.Yes:
			return "a probe" + on + " showed that it takes " + bare
		case delivery.No:
			return "a probe" + on + " showed that it takes no " + bare
		case delivery.Unknown:
		}
		return "a test picture" + on + " was answered without being read"
	case delivery.EvidenceServer:
		if f.Answer == delivery.Yes {
			return "the server said" + on + " that it takes " + bare
		}
		return "the server said" + on + " that it takes no " + bare
	case delivery.EvidenceNone, delivery.EvidenceBinding, delivery.EvidenceCatalogue:
	}
	return ""
}
