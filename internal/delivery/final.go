package delivery

import (
	"unicode/utf8"

	"tote/internal/content"
)

// MaxDescription bounds another model's words about a picture, in bytes.
const MaxDescription = 16_000

// final holds the order against what carrying it out gave.
func (s *settler) final(o *Order) Order {
	out := *o
	if o.spare != nil && !s.pays(o) {
		out = *o.spare
		out.stand(o)
		return out
	}
	if f, failed := s.results.Failed[o.Handle]; failed && out.toBeMade() {
		return s.fall(out, f.reason(), f.Detail)
	}
	switch {
	case out.Cut != nil:
		v, ok := s.results.Variants[o.Handle]
		switch {
		case !ok || v.IsZero() || !within(v, *out.Cut):
			return s.fall(out, ReasonPrepareFailed, "")
		case s.plan.in.Facts.Refused[v.Digest]:
			return refused(s.fall(out, ReasonEndpointRefused, ""))
		}
		out.Send, out.Cut = v, nil
	case out.loadsText():
		if _, ok := s.results.Texts[o.Handle]; !ok {
			return s.fall(out, ReasonMissing, "")
		}
	case out.Disposition == Described:
		if out.Note != "" {
			return out
		}
		d, ok := s.results.Descriptions[o.Handle]
		if !ok || blank(d.Text) {
			return s.fall(out, out.Reason, out.Detail)
		}
		out.Note = "described by " + content.Clean(d.Model) + ":\n" + clip(d.Text, MaxDescription)
	case out.Disposition == Path:
		return s.fall(out, out.Reason, out.Detail)
	}
	return out
}

// pays reports whether the variant that an order asks for, with a picture to
// spare that the server would shrink by itself, is there and has fewer bytes.
func (s *settler) pays(o *Order) bool {
	v, ok := s.results.Variants[o.Handle]
	if _, failed := s.results.Failed[o.Handle]; failed || !ok || v.IsZero() {
		return false
	}
	return within(v, *o.Cut) && v.Size < o.spare.Send.Size && !s.plan.in.Facts.Refused[v.Digest]
}

// toBeMade reports whether the order sends what had to be made or read first.
// What the ledger remembers in words needs nothing.
func (o *Order) toBeMade() bool {
	return o.Cut != nil || !o.Send.IsZero() || !o.Load.IsZero() || o.Describe
}

// clip cuts a text to n bytes on a rune boundary, marked.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// fall gives the staged file, else a line.
func (s *settler) fall(o Order, why Reason, detail string) Order {
	o.Reason, o.Detail = why, detail
	o.Send, o.Load, o.Cut, o.Describe = content.Blob{}, content.Blob{}, nil, false
	if p := s.results.Paths[o.Handle]; p != "" {
		o.Disposition, o.Note = Path, p
		return o
	}
	o.Disposition, o.Note = Placeholder, ""
	return o
}

// account writes the receipt and the ledger's entry.
func (s *settler) account(o *Order, b content.Block) {
	r := Receipt{
		Handle: o.Handle, Kind: b.Kind(), Disposition: o.Disposition, Reason: o.Reason, Detail: o.Detail, Route: o.route,
		Path: s.profile.Path, Model: s.profile.Model, Tokens: orderTokens(s.profile, o),
	}
	switch b := b.(type) {
	case content.Text:
		r.Tokens += textTokens(int64(len(b.Body)))
		r.Partial = o.Reason == ReasonTrimmed
	case content.ResourceLink:
		r.Name, r.Origin, r.Tokens = b.Name, b.Origin, Estimate(b, s.profile.Tokens)
	case content.Opaque:
		r.Name, r.Origin, r.Blob = b.Type, b.Origin, b.Raw
	case content.Image, content.Audio, content.Document, content.ResourceText:
		a, _ := content.AttachmentOf(b)
		r.Partial = o.whole() && a.Changes.Has(content.ChangeFirstFrame) && o.Send.Digest != a.Original.Digest
		r.Name, r.Origin, r.Blob = a.Name, a.Origin, a.Original
	}
	switch {
	case !o.Send.IsZero():
		r.Blob = o.Send
	case !o.Load.IsZero():
		r.Blob = o.Load
	}
	if o.out {
		r.Tokens = 0
	}
	s.receipts = append(s.receipts, r)
	prose := b.Kind() == content.KindText && o.Reason != ReasonTrimmed && o.Reason != ReasonDetached && (o.out || o.whole())
	if prose || o.Handle == "" || o.Disposition == Stripped {
		return // prose is itself; what is stripped comes back after the turn
	}
	s.remember(o.Handle, LedgerEntry{Disposition: o.Disposition, Reason: o.Reason, Detail: o.Detail, Variant: o.Send, Note: o.Note})
}

func (s *settler) remember(h content.Handle, e LedgerEntry) {
	if old, ok := s.ledger.entries[h]; ok && old == e {
		return
	}
	if !s.changed {
		s.changed = true
		s.ledger = s.ledger.copied()
	}
	s.ledger.entries[h] = e
}
