package delivery

import (
	"unicode"

	"tote/internal/content"
)

// This file holds what Decide asks of one block: faults, limits, and the next
// lower form.

// faulty returns the order for an attachment with something wrong with it.
func (d *decider) faulty(a content.Attachment) (Order, bool) {
	if f, ok := d.in.Facts.Failed[a.Handle]; ok {
		return d.lower(a, f.Reason, f.Detail), true
	}
	switch a.Fault {
	case content.FaultNone:
		return Order{}, false
	case content.FaultDamaged, content.FaultUnsupported, content.FaultEncrypted, content.FaultTooManyPixels:
		return d.lower(a, faultReason(a.Fault), a.Detail), true
	case content.FaultMissing:
		return Order{Disposition: Placeholder, Reason: ReasonMissing, Detail: a.Detail}, true
	case content.FaultEmpty, content.FaultBadPayload, content.FaultTooLarge, content.FaultUnreadable, content.FaultNotFound,
		content.FaultDenied:
		return Order{Disposition: Refused, Reason: faultReason(a.Fault), Detail: a.Detail}, true
	}
	return Order{Disposition: Refused, Reason: ReasonBadPayload, Detail: a.Detail}, true
}

func faultReason(f content.Fault) Reason {
	switch f {
	case content.FaultNone:
		return ReasonFits
	case content.FaultEmpty:
		return ReasonEmpty
	case content.FaultBadPayload:
		return ReasonBadPayload
	case content.FaultDamaged:
		return ReasonDamaged
	case content.FaultTooManyPixels:
		return ReasonTooManyPixels
	case content.FaultTooLarge:
		return ReasonTooLarge
	case content.FaultUnreadable:
		return ReasonUnreadable
	case content.FaultNotFound:
		return ReasonNotFound
	case content.FaultDenied:
		return ReasonDenied
	case content.FaultUnsupported:
		return ReasonUnsupported
	case content.FaultEncrypted:
		return ReasonEncrypted
	case content.FaultMissing:
		return ReasonMissing
	}
	return ReasonBadPayload
}

// lower gives a file that the model's tools can read, else a labelled line. What
// a tool just read from a file is never answered with the path of a file again:
// the model would read it for ever.
func (d *decider) lower(a content.Attachment, why Reason, detail string) Order {
	read := a.Origin.Inlet == content.InletTool && a.Origin.Path != ""
	if d.in.Facts.Files && !read && !a.Original.IsZero() && !d.in.Facts.Missing[a.Original.Digest] {
		return Order{Disposition: Path, Reason: why, Detail: detail, Stage: a.Original}
	}
	if why != ReasonMissing && d.in.Facts.Missing[a.Original.Digest] {
		why, detail = ReasonMissing, ""
	}
	return Order{Disposition: Placeholder, Reason: why, Detail: detail}
}

// refuses reports a verdict against any form of the attachment.
func (d *decider) refuses(a content.Attachment) bool {
	f := &d.in.Facts
	if len(f.Refused) > 0 {
		if f.Refused[a.Prepared.Digest] || f.Refused[a.Original.Digest] {
			return true
		}
		if e, ok := d.remembered(a.Handle); ok && !e.Variant.IsZero() && f.Refused[e.Variant.Digest] {
			return true
		}
	}
	if len(f.RefusedMIMEs) == 0 {
		return false
	}
	return f.RefusedMIMEs[a.Prepared.MIME] || f.RefusedMIMEs[family(a.Prepared.MIME)]
}

// family turns "image/png" into "image/*".
func family(mime string) string {
	for i := range len(mime) {
		if mime[i] == '/' {
			return mime[:i+1] + "*"
		}
	}
	return mime
}

func (d *decider) mimes(l *Limits) []string {
	if d.route == RouteResult && len(l.ResultMIMEs) > 0 {
		return l.ResultMIMEs
	}
	return l.MIMEs
}

func (d *decider) takes(mime string) bool {
	return contains(d.mimes(&d.in.Profile.ImageLimits), mime) && !d.in.Facts.RefusedMIMEs[mime]
}

// pictureFits reports whether the path takes a picture as it is.
func (d *decider) pictureFits(b content.Blob) bool {
	if b.IsZero() || !d.takes(b.MIME) {
		return false
	}
	x := d.limitsOfPicture()
	return !over(b.Size, x.MaxBytes) && !over(int64(max(b.Width, b.Height)), int64(x.MaxEdge)) &&
		!over(int64(b.Width)*int64(b.Height), x.MaxPixels)
}

// limitsOfPicture folds budget, profile and learned limits into one bound.
func (d *decider) limitsOfPicture() Bounds {
	l := &d.in.Profile.ImageLimits
	b := Bounds{MaxEdge: l.MaxEdge, MaxPixels: l.MaxPixels, MaxBytes: orDefault(d.in.Budgets.Picture, DefaultPicture)}
	b.MaxBytes = least(b.MaxBytes, l.MaxBytes)
	b.MaxBytes = least(b.MaxBytes, l.MaxEncoded/4*3)
	b.MaxBytes = least(b.MaxBytes, d.in.Facts.MaxBytes)
	b.MaxEdge = int(least(int64(b.MaxEdge), int64(d.in.Facts.MaxEdge)))
	return b
}

// bounds are what a variant for this path must keep within.
func (d *decider) bounds() Bounds {
	b := d.limitsOfPicture()
	for _, m := range d.mimes(&d.in.Profile.ImageLimits) {
		if !d.in.Facts.RefusedMIMEs[m] {
			b.MIMEs = append(b.MIMEs, m)
		}
	}
	return b
}

func (d *decider) textBudget() int64 { return orDefault(d.in.Budgets.Text, DefaultText) }

func orDefault(v, def int64) int64 {
	if v > 0 {
		return v
	}
	return def
}

// least is the smaller of two limits, of which 0 is none.
func least(a, b int64) int64 {
	switch {
	case a <= 0:
		return b
	case b <= 0:
		return a
	}
	return min(a, b)
}

// over reports whether v is over a limit, of which 0 is none.
func over(v, limit int64) bool { return limit > 0 && v > limit }

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
