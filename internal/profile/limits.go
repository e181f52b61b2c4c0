package profile

import (
	"cmp"
	"slices"
	"strings"

	"tote/internal/delivery"
)

// kindOf is a protocol's row. What is not known is treated as Chat Completions,
// whose row is the most careful.
func kindOf(kind string) *kindRow {
	for i := range kinds {
		if kinds[i].kind == kind {
			return &kinds[i]
		}
	}
	return &kinds[0]
}

// serverOf is the row of a vendor's own server, nil where there is none.
func serverOf(kind, baseURL string) *serverRow {
	host := hostOf(baseURL)
	for i := range servers {
		if servers[i].kind == kind && among(host, servers[i].hosts) {
			return &servers[i]
		}
	}
	return nil
}

// among reports whether a host is one of hosts. One that begins with a dot or a
// hyphen stands for every name that ends in it.
func among(host string, hosts []string) bool {
	return host != "" && slices.ContainsFunc(hosts, func(h string) bool {
		return h == host || (h[0] == '.' || h[0] == '-') && strings.HasSuffix(host, h)
	})
}

// limit fills in everything that is not a capability: the protocol's row, then
// the server's, then the record, which may only narrow, then the user.
func (e *evidence) limit(p *delivery.Profile) {
	k := e.kind
	p.ImageLimits, p.AudioLimits, p.DocumentLimits = k.images, k.audio, k.documents
	p.MaxRequest, p.Placement = k.request, k.place
	bare := bareModel(k.kind, e.binding.Model)
	p.Tokens = k.tokens
	e.limitByServer(p)
	if f := familyOf(bare); f != nil && e.catalogue != nil {
		p.Tokens = cmp.Or(f.tokens, k.tokens)
		// At an address of which nothing is known any model may bear any name,
		// and a wrong guess would cost sharpness.
		if e.exact || e.server != nil {
			p.ImageLimits.Fit = f.fit
		}
	}
	for i := range places {
		if r := &places[i]; r.kind == k.kind && named(bare, r.models) {
			p.Placement.HoistResults = !r.native
			p.ImageLimits.ResultMIMEs = r.types
			p.ImageLimits.MaxCount = least(p.ImageLimits.MaxCount, r.count)
		}
	}
	if e.exact {
		limitByRecord(p, &e.record)
	}
	e.limitBySaid(p)
	e.limitByUser(p)

	// The tables are shared; what leaves this package is the caller's own.
	p.ImageLimits.MIMEs = slices.Clone(p.ImageLimits.MIMEs)
	p.ImageLimits.ResultMIMEs = slices.Clone(p.ImageLimits.ResultMIMEs)
	p.AudioLimits.MIMEs = slices.Clone(p.AudioLimits.MIMEs)
	p.DocumentLimits.MIMEs = slices.Clone(p.DocumentLimits.MIMEs)
}

func (e *evidence) limitByServer(p *delivery.Profile) {
	s := e.server
	if s == nil {
		return
	}
	if len(s.images.MIMEs) > 0 {
		p.ImageLimits = s.images
	}
	if s.request > 0 {
		p.MaxRequest = s.request
	}
	if s.place != nil {
		p.Placement = *s.place
	}
	if s.pages > 0 {
		p.DocumentLimits.MaxPages = s.pages
	}
	p.MaxMedia = s.media
	for _, l := range []*delivery.Limits{&p.ImageLimits, &p.AudioLimits, &p.DocumentLimits} {
		l.MaxBytes = least(l.MaxBytes, s.file)
	}
	if s.small.context > 0 && e.record.ContextWindow <= s.small.context {
		p.ImageLimits.MaxCount = least(p.ImageLimits.MaxCount, s.small.count)
		p.MaxMedia = least(p.MaxMedia, s.small.count)
		p.DocumentLimits.MaxPages = least(p.DocumentLimits.MaxPages, s.small.pages)
	}
}

// limitByRecord narrows to what the exact record says. Its bounds on a picture
// are those to which its source prepares pictures: safe, if not the most.
func limitByRecord(p *delivery.Profile, r *Record) {
	l := &p.ImageLimits
	l.MaxEdge = least(l.MaxEdge, least(r.Limits.ImageWidth, r.Limits.ImageHeight))
	l.MaxEncoded = least(l.MaxEncoded, int64(r.Limits.ImageBytes))
	l.MaxCount = least(l.MaxCount, r.Limits.ImagesPerRequest)
	// A message is part of a request: as a bound on requests it is stricter
	// than the endpoint, and never too lax.
	l.MaxCount = least(l.MaxCount, r.Limits.ImagesPerMessage)
	p.MaxRequest = least(p.MaxRequest, int64(r.Limits.RequestBytes))
	if r.Quirks.Flags["requiresAssistantAfterToolResult"] {
		p.Placement.Bridge = true
	}
	if r.Quirks.Flags["requiresReasoningContentOnAssistantMessages"] {
		p.Placement.NoReasoning = false
	}
}

// limitBySaid narrows to what the server says of itself, and takes from it the
// windows that nothing exact is known of.
func (e *evidence) limitBySaid(p *delivery.Profile) {
	s := e.said
	l := &p.ImageLimits
	l.MaxCount, l.MaxBytes = least(l.MaxCount, s.MaxImages), least(l.MaxBytes, int64(s.ImageBytes))
	if types := both(l.MIMEs, s.MIMEs); len(types) > 0 {
		l.MIMEs = types
	}
	if types := both(l.ResultMIMEs, s.MIMEs); len(types) > 0 {
		l.ResultMIMEs = types
	}
	if p.Output == 0 {
		p.Output = max(s.Output, 0)
	}
	switch {
	case p.Context > 0:
	case e.kind.window == 0 || e.server != nil:
		p.Context = cmp.Or(max(s.Window, 0), max(s.Context, 0))
	case s.Window > 0:
		p.Context = s.Window
	case s.Context > 0:
		p.Context = min(s.Context, e.kind.windowMost)
	case e.catalogue != nil:
		p.Context = e.kind.window
	}
}

func (e *evidence) limitByUser(p *delivery.Profile) {
	u := &e.binding.Limits
	if u.Images > 0 {
		p.ImageLimits.MaxCount = u.Images
		if p.MaxMedia > 0 {
			p.MaxMedia = max(p.MaxMedia, u.Images)
		}
	}
	if u.ImageEdge > 0 {
		p.ImageLimits.MaxEdge = u.ImageEdge
	}
	if u.ImageBytes > 0 {
		p.ImageLimits.MaxBytes, p.ImageLimits.MaxEncoded = u.ImageBytes, 0
	}
	if u.RequestBytes > 0 {
		p.MaxRequest = u.RequestBytes
	}
	if u.Context > 0 {
		p.Context = u.Context
	}
	if u.Output > 0 {
		p.Output = u.Output
	}
	if len(u.MediaTypes) == 0 {
		return
	}
	p.ImageLimits.MIMEs = e.kind.pictureTypes(u.MediaTypes)
	if types := p.ImageLimits.ResultMIMEs; len(types) > 0 {
		p.ImageLimits.ResultMIMEs = both(types, p.ImageLimits.MIMEs)
		// None left would read as "the same as elsewhere".
		p.Placement.HoistResults = p.Placement.HoistResults || len(p.ImageLimits.ResultMIMEs) == 0
	}
	p.AudioLimits.MIMEs = chosen(u.MediaTypes, "audio/", e.kind.audio.MIMEs)
	p.DocumentLimits.MIMEs = chosen(u.MediaTypes, "application/", e.kind.documents.MIMEs)
}

// pictureTypes are the picture formats of the user's list that the protocol can
// carry. Most protocols carry any: what the server makes of it is its affair,
// and the user says that it takes it.
func (k *kindRow) pictureTypes(types []string) []string {
	out := chosen(types, "image/", k.pictures)
	if k.closed {
		return out
	}
	for _, t := range types {
		if strings.HasPrefix(t, "image/") && t != "image/*" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// chosen are the carried types that the user's list names, one by one or as a
// family.
func chosen(types []string, family string, carried []string) []string {
	if slices.Contains(types, family+"*") {
		return slices.Clone(carried)
	}
	return both(carried, types)
}

// both are the members of a that b holds too, in the order of a.
func both(a, b []string) []string {
	var out []string
	for _, t := range a {
		if slices.Contains(b, t) {
			out = append(out, t)
		}
	}
	return out
}

func hasFamily(types []string, family string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return strings.HasPrefix(t, family) })
}

// least is the smaller of two limits, of which 0 is none.
func least[T int | int64](a, b T) T {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	}
	return min(a, b)
}
