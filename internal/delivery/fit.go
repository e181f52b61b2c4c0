package delivery

import (
	"slices"
	"unicode"

	"tote/internal/content"
)

// This file holds what Decide asks of one block: faults, limits, and the next
// lower form.

// faulty returns the order for an attachment with something wrong with it.
func (d *decider) faulty(a content.Attachment) (Order, bool) {
	if f, ok := d.in.Facts.Failed[a.Handle]; ok {
		return d.lower(a, f.reason(), f.Detail), true
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

// reason is why it failed, in words that can be told to a model.
func (f Failed) reason() Reason {
	if f.Reason.Model() == "" {
		return ReasonPrepareFailed
	}
	return f.Reason
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

// gone reports whether there are no bytes to send, or none any more.
func (d *decider) gone(b content.Blob) bool { return b.IsZero() || d.in.Facts.Missing[b.Digest] }

// canStage reports whether the model can be given a file. What a tool just read
// from a file is never answered with the path of a file again: the model would
// read it for ever.
func (d *decider) canStage(a content.Attachment) bool {
	read := a.Origin.Inlet == content.InletTool && a.Origin.Path != ""
	return d.in.Facts.Files && !read && !d.gone(a.Original)
}

// lower gives a file that the model's tools can read, else a labelled line.
func (d *decider) lower(a content.Attachment, why Reason, detail string) Order {
	if d.canStage(a) {
		return Order{Disposition: Path, Reason: why, Detail: detail, Stage: a.Original}
	}
	if why != ReasonMissing && d.in.Facts.Missing[a.Original.Digest] {
		why, detail = ReasonMissing, ""
	}
	return Order{Disposition: Placeholder, Reason: why, Detail: detail}
}

// refused is the last form of what the endpoint does not accept, where neither
// words nor a file stand for it.
func refused(o Order) Order {
	if o.Disposition == Placeholder && o.Reason == ReasonEndpointRefused {
		o.Disposition = Refused
	}
	return o
}

// native sends an attachment as it is.
func native(a content.Attachment) Order {
	if a.Prepared.Digest != a.Original.Digest {
		return Order{Disposition: Converted, Reason: ReasonPrepared, Detail: a.Detail, Send: a.Prepared}
	}
	return Order{Disposition: Inline, Reason: ReasonFits, Send: a.Prepared}
}

// nativeTrouble says why a path does not take a recording or a document, of kind
// k, as it is, ReasonFits where it does. none is the reason for a kind that it
// lacks.
func (d *decider) nativeTrouble(a content.Attachment, k content.Kind, none Reason) (Reason, string) {
	c, l := &d.in.Profile.Documents, &d.in.Profile.DocumentLimits
	if k == content.KindAudio {
		c, l = &d.in.Profile.Audio, &d.in.Profile.AudioLimits
	}
	switch {
	case c.Answer != Yes:
		return none, ""
	case d.refuses(a) || d.in.Facts.RefusedMIMEs[a.Prepared.MIME]:
		return ReasonEndpointRefused, ""
	case d.gone(a.Prepared):
		return ReasonMissing, ""
	case !slices.Contains(d.mimes(l, k), a.Prepared.MIME):
		return none, a.Prepared.MIME + " is not taken"
	case over(a.Prepared.Size, l.MaxBytes) || over(EncodedLen(a.Prepared.Size), l.MaxEncoded):
		return ReasonPathSize, ""
	}
	return ReasonFits, ""
}

// refuses reports a verdict against any form of the attachment, or its whole
// family. A picture of a refused type is converted, not refused.
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
	kind := family(a.Prepared.MIME)
	if kind == "image/*" && d.in.Profile.Images == (Capability{Yes, EvidenceBinding, d.in.Profile.Images.Detail}) {
		return false // the user's word stands over what was once said of all pictures
	}
	return len(f.RefusedMIMEs) > 0 && f.RefusedMIMEs[kind]
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

// mimes are the media types of kind k, with the limits l, that the path takes
// where the block stands.
func (d *decider) mimes(l *Limits, k content.Kind) []string {
	if d.result && len(l.ResultMIMEs) > 0 && !d.in.Profile.Placement.hoists(k) {
		return l.ResultMIMEs
	}
	return l.MIMEs
}

// pictureTypes are the media types that a picture may have where it stands.
func (d *decider) pictureTypes() []string {
	return d.mimes(&d.in.Profile.ImageLimits, content.KindImage)
}

func (d *decider) takes(mime string) bool {
	return slices.Contains(d.pictureTypes(), mime) && !d.in.Facts.RefusedMIMEs[mime]
}

// pictureFits reports whether the path takes a picture as it is. That the server
// would shrink it does not stand against it: see wasteful.
func (d *decider) pictureFits(b content.Blob) bool {
	return !d.gone(b) && d.takes(b.MIME) && within(b, d.limitsOfPicture())
}

// wasteful reports whether the server would shrink a picture on arrival, so that
// some of it would be sent for nothing.
func (d *decider) wasteful(b content.Blob) bool {
	f := d.in.Profile.ImageLimits.Fit
	return !f.IsZero() && !f.holds(b.Width, b.Height)
}

// spared reports whether a picture of which no variant could be cut goes out as
// it was prepared: the path takes it like that.
func (d *decider) spared(a content.Attachment) bool {
	return d.uncut(a.Handle) && a.Fault == content.FaultNone && d.in.Profile.Images.Answer == Yes && d.pictureFits(a.Prepared)
}

// uncut reports whether cutting a variant of h has failed.
func (d *decider) uncut(h content.Handle) bool {
	f, failed := d.in.Facts.Failed[h]
	return failed && f.reason() == ReasonPrepareFailed
}

// within reports whether v keeps within the numbers of b, and within its media
// types where it names any. Bounds.Fit is no bound in this sense.
func within(v content.Blob, b Bounds) bool {
	return !over(v.Size, b.MaxBytes) && !over(int64(max(v.Width, v.Height)), int64(b.MaxEdge)) &&
		!over(int64(v.Width)*int64(v.Height), b.MaxPixels) && (len(b.MIMEs) == 0 || slices.Contains(b.MIMEs, v.MIME))
}

// limitsOfPicture folds budget, profile and learned limits into one bound.
func (d *decider) limitsOfPicture() Bounds {
	l := &d.in.Profile.ImageLimits
	b := Bounds{MaxEdge: l.MaxEdge, MaxPixels: l.MaxPixels, MaxBytes: orDefault(d.in.Budgets.Picture, DefaultPicture), Fit: l.Fit}
	b.MaxBytes = least(b.MaxBytes, l.MaxBytes)
	if l.MaxEncoded > 0 {
		b.MaxBytes = least(b.MaxBytes, max(1, l.MaxEncoded/4*3))
	}
	b.MaxBytes = least(b.MaxBytes, d.in.Facts.MaxBytes)
	b.MaxEdge = int(least(int64(b.MaxEdge), int64(d.in.Facts.MaxEdge)))
	return b
}

// A variant is as frugal as the picture that was prepared on the way in, so that
// what a plan counts for it is what it can take at most. Another format may
// need more bytes for the same pixels, so there is room for that.
const (
	variantEdge  = 2000
	variantBytes = 500_000
	variantRoom  = 4
	variantFloor = 64_000
)

// bounds are what a variant of b for this path must keep within.
func (d *decider) bounds(b content.Image) Bounds {
	x := d.limitsOfPicture()
	edge, size := variantEdge, int64(variantBytes)
	if p := b.Prepared; !p.IsZero() {
		size = max(p.Size, min(variantBytes, max(variantFloor, variantRoom*p.Size)))
		if long := max(p.Width, p.Height); long > 0 {
			edge = long
		}
	}
	x.MaxEdge = int(least(int64(x.MaxEdge), int64(edge)))
	x.MaxBytes = least(x.MaxBytes, size)
	if w, h := measured(b); !x.Fit.IsZero() && w > 0 && h > 0 {
		w, h = x.Fit.Size(w, h)
		x.MaxEdge = int(least(int64(x.MaxEdge), int64(max(w, h))))
	}
	for _, m := range d.pictureTypes() {
		if !d.in.Facts.RefusedMIMEs[m] {
			x.MIMEs = append(x.MIMEs, m)
		}
	}
	return x
}

// measured are the sides in pixels of what a variant is cut from, 0 where they
// are not known.
func measured(b content.Image) (w, h int) {
	if o := b.Original; o.Width > 0 && o.Height > 0 {
		return o.Width, o.Height
	}
	return b.Prepared.Width, b.Prepared.Height
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

func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
