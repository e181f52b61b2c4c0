package delivery

import "tote/internal/content"

// Decide says what has to be done with every block of in. It never leaves one
// out: the orders of the plan are the blocks, in order.
func Decide(in Input) Plan {
	d := &decider{in: &in, orders: make([]Order, 0, countBlocks(in.Messages))}
	for i, m := range in.Messages {
		d.route = RouteHistory
		if i >= in.Current {
			d.route = RoutePrompt
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case content.ToolResult:
				was := d.route
				if was == RoutePrompt {
					d.route = RouteResult
				}
				for _, b := range p.Blocks {
					d.add(b)
				}
				d.route = was
			case content.Block:
				if m.Role == content.RoleUser {
					d.add(p)
				}
			case content.Reasoning, content.ToolCall:
			}
		}
	}
	d.applyManyRule()
	d.applyBudgets()
	return Plan{in: in, orders: d.orders, wants: d.wants}
}

func countBlocks(ms []content.Message) int {
	n := 0
	for _, m := range ms {
		for _, p := range m.Parts {
			if r, ok := p.(content.ToolResult); ok {
				n += len(r.Blocks)
				continue
			}
			n++
		}
	}
	return n
}

// decider makes the order of one block after the other, then lets the whole
// request's budgets push some of them down.
type decider struct {
	in     *Input
	route  Route
	orders []Order
	wants  Wants
}

var _ content.Visitor[Order] = (*decider)(nil)

func (d *decider) add(b content.Block) {
	o, _ := content.Visit(b, content.Visitor[Order](d)) // its methods return no error
	o.block, o.route, o.Handle = b, d.route, b.BlockHandle()
	d.orders = append(d.orders, o)
}

// remembered returns what the lane last sent for h. What was stripped or is
// decided by nothing but the block itself is never remembered.
func (d *decider) remembered(h content.Handle) (LedgerEntry, bool) {
	return d.in.Ledger.Lookup(h)
}

// hold keeps a block as low as the lane has it: within a lane nothing goes up.
func (d *decider) hold(h content.Handle, o Order, original content.Blob) Order {
	e, ok := d.remembered(h)
	if !ok || e.Disposition.rank() > o.Disposition.rank() {
		return o
	}
	if e.Disposition.rank() == rankWhole {
		return o // the kind's own method has looked at the variant
	}
	if o.Disposition == Stripped {
		return o
	}
	kept := Order{Disposition: e.Disposition, Reason: e.Reason, Detail: o.Detail, Note: e.Note}
	if kept.Reason != o.Reason && o.Disposition.rank() == rankWhole {
		kept.Detail = ""
	}
	if e.Disposition == Path {
		kept.Stage = original
	}
	return kept
}

// Text implements content.Visitor.
func (d *decider) Text(b content.Text) (Order, error) {
	if blank(b.Body) {
		return Order{Disposition: Inline, Reason: ReasonBlank}, nil
	}
	return Order{Disposition: Inline, Reason: ReasonFits}, nil
}

// Image implements content.Visitor.
func (d *decider) Image(b content.Image) (Order, error) {
	return d.hold(b.Handle, d.image(b), b.Original), nil
}

func (d *decider) image(b content.Image) Order {
	f := &d.in.Facts
	if f.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	if o, bad := d.faulty(b.Attachment); bad && b.Fault != content.FaultTooManyPixels {
		return o
	}
	switch d.in.Profile.Images.Answer {
	case No:
		reason := ReasonNoImages
		if d.in.Profile.Images.Evidence == EvidenceBinding {
			reason = ReasonUserOff
		}
		return d.blind(b, reason)
	case Unknown:
		d.wants = WantsVision
		return d.blind(b, ReasonUnknownModel)
	case Yes:
	}
	if d.refuses(b.Attachment) {
		return Order{Disposition: Refused, Reason: ReasonEndpointRefused}
	}
	if e, ok := d.remembered(b.Handle); ok && e.Disposition.rank() == rankWhole && !f.Missing[e.Variant.Digest] && d.pictureFits(e.Variant) {
		return Order{Disposition: e.Disposition, Reason: e.Reason, Detail: preparedDetail(b), Send: e.Variant}
	}
	return d.picture(b)
}

// picture finds the form in which a path that sees takes a picture.
func (d *decider) picture(b content.Image) Order {
	f := &d.in.Facts
	send := b.Prepared
	if b.Fault == content.FaultTooManyPixels {
		if send = b.Original; !d.pictureFits(send) {
			return d.lower(b.Attachment, ReasonTooManyPixels, b.Detail)
		}
	}
	if f.Missing[send.Digest] || send.IsZero() {
		if b.Original.IsZero() || f.Missing[b.Original.Digest] {
			return Order{Disposition: Placeholder, Reason: ReasonMissing}
		}
		return d.cut(b, ReasonPrepared)
	}
	if d.pictureFits(send) {
		switch {
		case send.Digest == b.Original.Digest:
			return Order{Disposition: Inline, Reason: ReasonFits, Send: send}
		case b.Changes&(content.ChangeShrunk|content.ChangeRecompressed) != 0:
			return Order{Disposition: Shrunk, Reason: ReasonPrepared, Detail: preparedDetail(b), Send: send}
		}
		return Order{Disposition: Converted, Reason: ReasonPrepared, Detail: preparedDetail(b), Send: send}
	}
	if !d.takes(send.MIME) {
		return d.cut(b, ReasonFormat)
	}
	return d.cut(b, ReasonPathLimit)
}

func preparedDetail(b content.Image) string {
	if b.Detail != "" {
		return b.Detail
	}
	return b.Changes.String()
}

// cut orders a variant of the original within the path's limits.
func (d *decider) cut(b content.Image, why Reason) Order {
	bounds := d.bounds()
	if len(bounds.MIMEs) == 0 {
		return d.lower(b.Attachment, ReasonNoImages, "")
	}
	o := Order{Disposition: Shrunk, Reason: why, Detail: preparedDetail(b), Cut: &bounds}
	if why == ReasonFormat {
		o.Disposition = Converted
	}
	return o
}

// blind is for a model that does not see, or of which that is not known.
func (d *decider) blind(b content.Image, why Reason) Order {
	if d.in.Facts.Describer && why != ReasonUnknownModel && !b.Prepared.IsZero() {
		o := d.lower(b.Attachment, why, "")
		o.Disposition, o.Describe = Described, true
		return o
	}
	return d.lower(b.Attachment, why, "")
}

// Audio implements content.Visitor.
func (d *decider) Audio(b content.Audio) (Order, error) {
	o := d.audio(b)
	return d.hold(b.Handle, o, b.Original), nil
}

func (d *decider) audio(b content.Audio) Order {
	if d.in.Facts.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	if d.in.Profile.Audio.Answer != Yes {
		return d.lower(b.Attachment, ReasonNoAudio, "")
	}
	if d.refuses(b.Attachment) {
		return Order{Disposition: Refused, Reason: ReasonEndpointRefused}
	}
	return d.native(b.Attachment, &d.in.Profile.AudioLimits, ReasonNoAudio)
}

// native sends an attachment as it is where the limits take it.
func (d *decider) native(a content.Attachment, l *Limits, why Reason) Order {
	switch {
	case d.in.Facts.Missing[a.Prepared.Digest] || a.Prepared.IsZero():
		return d.lower(a, ReasonMissing, "")
	case !contains(d.mimes(l), a.Prepared.MIME):
		return d.lower(a, why, a.Prepared.MIME+" is not taken")
	case over(a.Prepared.Size, l.MaxBytes) || over(EncodedLen(a.Prepared.Size), l.MaxEncoded):
		return d.lower(a, ReasonRequestSize, "")
	case a.Prepared.Digest != a.Original.Digest:
		return Order{Disposition: Converted, Reason: ReasonPrepared, Detail: a.Detail, Send: a.Prepared}
	}
	return Order{Disposition: Inline, Reason: ReasonFits, Send: a.Prepared}
}

// Document implements content.Visitor.
func (d *decider) Document(b content.Document) (Order, error) {
	return d.hold(b.Handle, d.document(b), b.Original), nil
}

func (d *decider) document(b content.Document) Order {
	if d.in.Facts.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	if d.refuses(b.Attachment) {
		return Order{Disposition: Refused, Reason: ReasonEndpointRefused}
	}
	l := &d.in.Profile.DocumentLimits
	native := d.in.Profile.Documents.Answer == Yes && contains(d.mimes(l), b.Prepared.MIME) &&
		!over(b.Prepared.Size, l.MaxBytes) && !over(EncodedLen(b.Prepared.Size), l.MaxEncoded) &&
		!over(int64(b.Pages), int64(l.MaxPages))
	if native {
		return d.native(b.Attachment, l, ReasonNoDocuments)
	}
	switch {
	case !b.Text.IsZero() && b.Text.Size <= d.textBudget() && !d.in.Facts.Missing[b.Text.Digest]:
		return Order{Disposition: Converted, Reason: ReasonTextForm, Load: b.Text}
	case !b.Text.IsZero():
		return d.lower(b.Attachment, ReasonTextTooLong, "")
	case b.Pages > 0 || b.Prepared.MIME == "application/pdf":
		return d.lower(b.Attachment, ReasonNoDocuments, "")
	}
	return d.lower(b.Attachment, ReasonBinary, "")
}

// ResourceText implements content.Visitor.
func (d *decider) ResourceText(b content.ResourceText) (Order, error) {
	return d.hold(b.Handle, d.resource(b), b.Original), nil
}

func (d *decider) resource(b content.ResourceText) Order {
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	switch {
	case d.in.Facts.Missing[b.Prepared.Digest] || b.Prepared.IsZero():
		return Order{Disposition: Placeholder, Reason: ReasonMissing}
	case b.Prepared.Size > d.textBudget():
		return d.lower(b.Attachment, ReasonTextTooLong, "")
	}
	return Order{Disposition: Inline, Reason: ReasonTextForm, Load: b.Prepared}
}

// ResourceLink implements content.Visitor.
func (d *decider) ResourceLink(b content.ResourceLink) (Order, error) {
	if b.Fault != content.FaultNone {
		return Order{Disposition: Placeholder, Reason: faultReason(b.Fault), Detail: b.Detail}, nil
	}
	return Order{Disposition: Inline, Reason: ReasonLink}, nil
}

// Opaque implements content.Visitor.
func (d *decider) Opaque(b content.Opaque) (Order, error) {
	return Order{Disposition: Placeholder, Reason: ReasonUnknownKind, Detail: "kind " + content.Clean(b.Type)}, nil
}
