package delivery

import "tote/internal/content"

// Decide says what has to be done with every block of in. It never leaves one
// out: the orders of the plan are the blocks, in order.
func Decide(in Input) Plan {
	d := &decider{in: &in, orders: make([]Order, 0, countBlocks(in.Messages))}
	d.hidden = max(d.summarised(), d.turnStart(in.Ledger.LeftOut()))
	for i, m := range in.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(content.ToolResult); ok {
				d.enter(i, RouteResult)
				d.results++
				for _, b := range r.Blocks {
					d.add(b)
				}
			} else if b, ok := p.(content.Block); ok && m.Role != content.RoleAssistant {
				d.enter(i, RoutePrompt)
				d.add(b)
			}
		}
	}
	d.summarise()
	d.leaveRemembered()
	d.weigh()
	d.applyBudgets()
	return Plan{in: in, orders: d.orders, state: d.state}
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
	in      *Input
	route   Route
	result  bool
	message int
	// hidden is how many leading messages are left out from the start: no
	// picture in them waits for evidence.
	hidden int
	orders []Order
	state
}

var _ content.Visitor[Order] = (*decider)(nil)

// enter says where the blocks that follow stand: in message i, by the route that
// they take in the current turn.
func (d *decider) enter(i int, route Route) {
	d.message, d.result = i, route == RouteResult
	d.route = RouteHistory
	if i >= d.in.Current {
		d.route = route
	}
}

func (d *decider) add(b content.Block) {
	o, _ := content.Visit(b, content.Visitor[Order](d)) // its methods return no error
	o.block, o.route, o.result, o.message, o.Handle = b, d.route, d.result, d.message, b.BlockHandle()
	if d.result {
		o.seq = d.results
	}
	d.orders = append(d.orders, o)
}

// remembered returns what the lane last sent for h.
func (d *decider) remembered(h content.Handle) (LedgerEntry, bool) {
	return d.in.Ledger.Lookup(h)
}

// hold keeps a block as low as the lane has it: within a lane nothing goes up,
// and what stays where it is keeps its words.
func (d *decider) hold(a content.Attachment, o Order) Order {
	e, ok := d.remembered(a.Handle)
	switch {
	case !ok || o.Disposition == Stripped || o.Reason == ReasonDetached || e.Disposition.rank() > o.Disposition.rank():
		return o
	case e.Disposition.rank() == rankWhole:
		return o // the kind's own method has looked at the variant
	case e.Disposition == Path:
		return d.lower(a, e.Reason, e.Detail)
	}
	return Order{Disposition: e.Disposition, Reason: e.Reason, Detail: e.Detail, Note: e.Note}
}

// detached is the order for what the user took out of the conversation. No file
// of it is given either.
func (d *decider) detached(h content.Handle) (Order, bool) {
	return Order{Disposition: Placeholder, Reason: ReasonDetached}, d.in.Facts.Detached[h]
}

// Text implements content.Visitor. Only the output of tools ever gives way.
func (d *decider) Text(b content.Text) (Order, error) {
	if blank(b.Body) {
		return Order{Disposition: Inline, Reason: ReasonBlank}, nil
	}
	if d.result && b.Handle != "" {
		if o, off := d.detached(b.Handle); off {
			return o, nil
		}
		if e, ok := d.remembered(b.Handle); ok && e.Disposition.Degraded() {
			return Order{Disposition: Placeholder, Reason: e.Reason, Detail: e.Detail}, nil
		} else if ok && e.Reason == ReasonTrimmed && len(b.Body) > trimOver {
			return Order{Disposition: Inline, Reason: ReasonTrimmed}, nil
		}
	}
	return Order{Disposition: Inline, Reason: ReasonFits}, nil
}

// Image implements content.Visitor.
func (d *decider) Image(b content.Image) (Order, error) {
	return d.hold(b.Attachment, d.image(b)), nil
}

func (d *decider) image(b content.Image) Order {
	if o, off := d.detached(b.Handle); off {
		return o
	}
	if d.in.Facts.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	a := b.Attachment
	if a.Fault == content.FaultTooManyPixels {
		a.Fault = content.FaultNone // picture looks at it: the path may take it as it is
	}
	if o, bad := d.faulty(a); bad && !d.spared(a) {
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
		d.wantsVision = d.wantsVision || d.message >= d.hidden
		return d.blind(b, ReasonUnknownModel)
	case Yes:
	}
	if d.refuses(a) {
		return refused(d.blind(b, ReasonEndpointRefused))
	}
	if e, ok := d.remembered(b.Handle); ok && e.Disposition.rank() == rankWhole && d.pictureFits(e.Variant) {
		return Order{Disposition: e.Disposition, Reason: e.Reason, Detail: e.Detail, Send: e.Variant}
	}
	return d.picture(b)
}

// picture finds the form in which a path that sees takes a picture.
func (d *decider) picture(b content.Image) Order {
	send := b.Prepared
	if b.Fault == content.FaultTooManyPixels {
		if send = b.Original; !d.pictureFits(send) {
			return d.lower(b.Attachment, ReasonTooManyPixels, b.Detail)
		}
	}
	if d.gone(send) {
		if d.gone(b.Original) {
			return Order{Disposition: Placeholder, Reason: ReasonMissing}
		}
		return d.cut(b, ReasonPrepared)
	}
	if d.pictureFits(send) {
		whole := d.whole(b, send)
		if b.Fault != content.FaultNone || !d.wasteful(send) || d.uncut(b.Handle) || d.gone(b.Original) {
			return whole
		}
		o := d.cut(b, ReasonPathLimit)
		o.spare = &whole
		return o
	}
	if !d.takes(send.MIME) {
		return d.cut(b, ReasonFormat)
	}
	return d.cut(b, ReasonPathLimit)
}

// whole sends a picture in the form that is there.
func (d *decider) whole(b content.Image, send content.Blob) Order {
	switch {
	case send.Digest == b.Original.Digest:
		return Order{Disposition: Inline, Reason: ReasonFits, Send: send}
	case b.Changes.Has(content.ChangeShrunk) || b.Changes == content.ChangeRecompressed:
		return Order{Disposition: Shrunk, Reason: ReasonPrepared, Detail: preparedDetail(b), Send: send}
	}
	return Order{Disposition: Converted, Reason: ReasonPrepared, Detail: preparedDetail(b), Send: send}
}

func preparedDetail(b content.Image) string {
	if b.Detail != "" {
		return b.Detail
	}
	return b.Changes.String()
}

// cut orders a variant of the original within the path's limits.
func (d *decider) cut(b content.Image, why Reason) Order {
	bounds := d.bounds(b)
	if len(bounds.MIMEs) == 0 {
		if len(d.pictureTypes()) > 0 {
			return refused(d.blind(b, ReasonEndpointRefused))
		}
		return d.blind(b, ReasonNoImages)
	}
	if d.gone(b.Original) { // there is nothing to cut from
		return d.blind(b, ReasonPrepareFailed)
	}
	o := Order{Disposition: Shrunk, Reason: why, Detail: preparedDetail(b), Cut: &bounds}
	if why == ReasonFormat {
		o.Disposition = Converted
	}
	return o
}

// blind is for a path on which this picture is not seen: another model's words,
// else a file, else a line. Words that the lane already has are kept.
func (d *decider) blind(b content.Image, why Reason) Order {
	if e, ok := d.remembered(b.Handle); ok && e.Disposition == Described {
		return Order{Disposition: Described, Reason: e.Reason, Detail: e.Detail, Note: e.Note}
	}
	seen := b.Fault == content.FaultNone && !d.gone(b.Prepared)
	if !d.in.Facts.Describer || why == ReasonUnknownModel || !seen {
		return d.lower(b.Attachment, why, d.deniedBy(why))
	}
	o := Order{Disposition: Described, Reason: why, Describe: true}
	if d.canStage(b.Attachment) {
		o.Stage = b.Original
	}
	return o
}

// deniedBy is how it is known that the model takes no pictures, where the server
// itself says so: users think that it does.
func (d *decider) deniedBy(why Reason) string {
	if c := d.in.Profile.Images; why == ReasonNoImages && c.Evidence == EvidenceServer {
		return c.Detail
	}
	return ""
}

// Audio implements content.Visitor.
func (d *decider) Audio(b content.Audio) (Order, error) {
	return d.hold(b.Attachment, d.audio(b)), nil
}

func (d *decider) audio(b content.Audio) Order {
	if o, off := d.detached(b.Handle); off {
		return o
	}
	if d.in.Facts.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	why, detail := d.nativeTrouble(b.Attachment, content.KindAudio, ReasonNoAudio)
	if why == ReasonFits {
		return native(b.Attachment)
	}
	return refused(d.lower(b.Attachment, why, detail))
}

// Document implements content.Visitor.
func (d *decider) Document(b content.Document) (Order, error) {
	return d.hold(b.Attachment, d.document(b)), nil
}

func (d *decider) document(b content.Document) Order {
	if o, off := d.detached(b.Handle); off {
		return o
	}
	if d.in.Facts.Stripped[b.Handle] {
		return Order{Disposition: Stripped, Reason: ReasonTurnRefused}
	}
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	none := ReasonBinary
	if b.Pages > 0 || b.Prepared.MIME == "application/pdf" {
		none = ReasonNoDocuments
	}
	why, detail := d.nativeTrouble(b.Attachment, content.KindDocument, none)
	if why == ReasonFits && over(int64(b.Pages), int64(d.in.Profile.DocumentLimits.MaxPages)) {
		why = ReasonPathSize
	}
	hasText := !d.gone(b.Text)
	textFits := hasText && b.Text.Size <= d.textBudget()
	e, ok := d.remembered(b.Handle)
	asText := ok && e.Disposition.rank() == rankWhole && e.Variant.IsZero()
	switch {
	case why == ReasonFits && (!asText || !textFits):
		return native(b.Attachment)
	case textFits:
		return Order{Disposition: Converted, Reason: ReasonTextForm, Load: b.Text}
	case hasText && why == none:
		return d.lower(b.Attachment, ReasonTextTooLong, "")
	}
	return refused(d.lower(b.Attachment, why, detail))
}

// ResourceText implements content.Visitor.
func (d *decider) ResourceText(b content.ResourceText) (Order, error) {
	return d.hold(b.Attachment, d.resource(b)), nil
}

func (d *decider) resource(b content.ResourceText) Order {
	if o, off := d.detached(b.Handle); off {
		return o
	}
	if o, bad := d.faulty(b.Attachment); bad {
		return o
	}
	switch {
	case d.gone(b.Prepared):
		return d.lower(b.Attachment, ReasonMissing, "")
	case b.Prepared.Size > d.textBudget():
		return d.lower(b.Attachment, ReasonTextTooLong, "")
	}
	if b.Prepared.Digest != b.Original.Digest {
		return Order{Disposition: Converted, Reason: ReasonTextForm, Detail: b.Detail, Load: b.Prepared}
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
