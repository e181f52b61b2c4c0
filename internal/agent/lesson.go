package agent

import (
	"context"

	"tote/internal/content"
	"tote/internal/delivery"
)

// This file keeps what an answer taught about its endpoint. Nothing is learned
// from a request that failed for good.

// answered books a good answer: what it cost, and what it proves.
func (t *turn) answered(ctx context.Context, r *request, ready settled, got *answer) error {
	t.charge(got)
	t.report(got)
	t.counted(ready, got.usage)
	t.warnIgnored(ready, got)
	return t.record(ctx, func(ctx context.Context) error { return t.saveLessons(ctx, r, ready, got) })
}

func (t *turn) saveLessons(ctx context.Context, r *request, ready settled, got *answer) error {
	endpoint := t.model.Profile.Endpoint
	if err := t.saveVerdicts(ctx, append(t.proven(ready), t.verdicts(r)...)); err != nil {
		return err
	}
	for _, l := range r.limits() {
		if err := t.s.a.o.Endpoints.SaveLimit(ctx, endpoint, l.name, l.value); err != nil {
			return err
		}
	}
	return t.saveAnswered(ctx, ready, got)
}

// saveAnswered keeps that the endpoint takes a kind for which it has accounted.
func (t *turn) saveAnswered(ctx context.Context, ready settled, got *answer) error {
	p := &t.model.Profile
	save := func(k content.Kind, tokens content.Count) error {
		if tokens.N == 0 || count(ready.prompt, k) == 0 || capability(p, k).Evidence == delivery.EvidenceAnswered {
			return nil
		}
		return t.s.a.o.Endpoints.SaveEvidence(ctx, p.Endpoint, k, delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceAnswered})
	}
	if err := save(content.KindImage, got.usage.Image); err != nil {
		return err
	}
	return save(content.KindAudio, got.usage.Audio)
}

func (t *turn) saveVerdicts(ctx context.Context, vs []Verdict) error {
	if len(vs) == 0 {
		return nil
	}
	return t.s.a.o.Endpoints.SaveVerdicts(ctx, vs)
}

// proven are the verdicts on the media that the endpoint has now answered with.
func (t *turn) proven(ready settled) []Verdict {
	var out []Verdict
	for _, m := range ready.prompt.Media() {
		if !m.Proven {
			t.facts.Proven[m.Blob.Digest] = true
			out = append(out, Verdict{Endpoint: t.model.Profile.Endpoint, Digest: m.Blob.Digest, Accepted: true})
		}
	}
	return out
}

func count(p delivery.Prompt, k content.Kind) int {
	n := 0
	for _, m := range p.Media() {
		if m.Kind == k {
			n++
		}
	}
	return n
}

// limit is a number to remember about an endpoint.
type limit struct {
	name  string
	value int64
}

// smallestLimit is the least body size in bytes that is remembered as a limit.
// What fails below it fails for another reason.
const smallestLimit = 64_000

// limits are the numbers that a refusal named and that explain it, and the body
// size that an endpoint did not take.
func (r *request) limits() []limit {
	var out []limit
	switch {
	case r.limit < smallestLimit:
	case r.doubtedLimit:
		out = append(out, limit{delivery.LimitDoubted, r.limit})
	default:
		out = append(out, limit{delivery.LimitRequest, r.limit})
	}
	if r.context > 0 {
		out = append(out, limit{delivery.LimitContext, int64(r.context)})
	}
	if r.hoisted && len(r.suspects) == 0 {
		out = append(out, limit{LimitHoist, 1})
	}
	l := r.refusal.Learned
	if r.tooMany() {
		out = append(out, limit{delivery.LimitCount, int64(l.MaxCount)})
	}
	bytes, edge := false, false
	for _, m := range r.suspects {
		bytes, edge = bytes || r.tooHeavy(m), edge || r.tooLong(m)
	}
	if bytes {
		out = append(out, limit{delivery.LimitBytes, l.MaxBytes})
	}
	if edge {
		out = append(out, limit{delivery.LimitEdge, int64(l.MaxEdge)})
	}
	return out
}

func (r *request) tooMany() bool {
	n := r.refusal.Learned.MaxCount
	return n > 0 && r.pictures > n
}

func (r *request) tooHeavy(m delivery.Sent) bool {
	n := r.refusal.Learned.MaxBytes
	return m.Kind == content.KindImage && n > 0 && m.Blob.Size > n
}

func (r *request) tooLong(m delivery.Sent) bool {
	n := r.refusal.Learned.MaxEdge
	return m.Kind == content.KindImage && n > 0 && max(m.Blob.Width, m.Blob.Height) > n
}

// doubtful reports whether the suspects may not be to blame: the backend broke down,
// complained of what was said about them, or takes none at all.
func (r *request) doubtful() bool {
	return r.refusal.Kind != delivery.FailRefused || r.refusal.Class == delivery.ClassForm || r.refusal.Class == delivery.ClassBlind
}

// reason is what is kept of a refusal for people.
func (r *request) reason() string {
	if r.words == "" {
		return "refused"
	}
	return "it said: " + r.words
}

// verdicts are what a refusal taught, once the request without the media went
// through. A picture that is over a limit that was named is cut to it next time,
// so there is no verdict on it.
func (t *turn) verdicts(r *request) []Verdict {
	var out []Verdict
	endpoint := t.model.Profile.Endpoint
	for _, m := range r.suspects {
		if m.Kind == content.KindImage && r.tooMany() || r.tooHeavy(m) || r.tooLong(m) {
			continue
		}
		delete(t.facts.Proven, m.Blob.Digest)
		out = append(out, Verdict{Endpoint: endpoint, Digest: m.Blob.Digest, Reason: r.reason(), Suspects: len(r.suspects), Doubtful: r.doubtful()})
		switch r.refusal.Class {
		case delivery.ClassBlind:
			// Words alone do not make an endpoint blind that has been
			// seen to look at pictures, or has answered with some.
			if m.Kind == content.KindImage && !measured(t.model.Profile.Images.Evidence) && len(t.facts.Proven) == 0 {
				out = append(out, Verdict{Endpoint: endpoint, MIME: "image/*", Reason: "takes no pictures", Suspects: 1})
			}
		case delivery.ClassMIME:
			if r.proven[m.Blob.MIME] {
				break // it takes others of the type: this one is odd
			}
			out = append(out, Verdict{Endpoint: endpoint, MIME: m.Blob.MIME, Reason: "media type not taken", Suspects: len(r.suspects)})
		case delivery.ClassUnknown, delivery.ClassBytes, delivery.ClassEdge, delivery.ClassCount, delivery.ClassDecode,
			delivery.ClassPlacement, delivery.ClassBody, delivery.ClassForm, delivery.ClassReasoning:
		}
	}
	return out
}
