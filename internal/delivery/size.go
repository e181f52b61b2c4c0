package delivery

import "tote/internal/content"

// This file estimates a whole request, in bytes on the wire and in tokens. What
// is not yet made counts with the most that it may take, or with a usual
// length, so that deciding again after it is made evicts nothing more.

const (
	// labelSize is about what a label and the wire's own words take per
	// part, in bytes.
	labelSize = 160
	// describedSize is about what another model's words take, in bytes.
	describedSize = 2000
)

// WireSize is what the plan's request is estimated to take on the wire, in bytes,
// with Facts.Overhead.
func (p Plan) WireSize() int64 {
	return p.decider().wireSize()
}

// Tokens is what the plan's request takes of the context: as the backend counted
// it for what Facts.Reported covers, estimated for what came after.
func (p Plan) Tokens() int64 { return p.decider().tokens() }

// RequestLimit is the largest body that the plan's request may have, in bytes.
func (p Plan) RequestLimit() int64 {
	return p.decider().requestLimit()
}

// wireSize estimates the body; a measured body corrects it through
// Facts.Overhead.
func (d *decider) wireSize() int64 {
	n := d.in.Facts.Fixed + d.in.Facts.Overhead + int64(len(d.head))
	for i := range d.orders {
		n += d.orders[i].wireSize()
	}
	for _, m := range d.in.Messages[d.left:] {
		for _, p := range m.Parts {
			n += proseSize(p)
		}
	}
	return n
}

// wireSize is what an order takes in bytes beyond prose, which is counted apart
// and whole: what is cut out of it is taken off here.
func (o *Order) wireSize() int64 {
	if o.out {
		return 0
	}
	n := labelSize + o.wordsSize() - o.saved()
	if o.carriesMedia() {
		n += EncodedLen(o.rawSize())
	}
	if o.loadsText() {
		n += o.Load.Size
	}
	return n
}

// wordsSize is what a stub says beyond a usual label, in bytes. A path is part
// of a usual label.
func (o *Order) wordsSize() int64 {
	if o.Disposition != Described {
		return 0
	}
	if o.Note == "" {
		return describedSize
	}
	return int64(len(o.Note))
}

// saved is how much of prose an order keeps back, in bytes.
func (o *Order) saved() int64 {
	b, ok := o.block.(content.Text)
	switch {
	case !ok:
		return 0
	case o.Reason == ReasonTrimmed:
		return trimSaves(b.Body)
	case !o.whole():
		return int64(len(b.Body))
	}
	return 0
}

// proseSize is the length of what is text in itself, in bytes.
func proseSize(p content.Part) int64 {
	switch p := p.(type) {
	case content.Text:
		return int64(len(p.Body))
	case content.Reasoning:
		return labelSize + int64(len(p.Text)+len(p.Signature))
	case content.ToolCall:
		return labelSize + int64(len(p.Arguments)+len(p.Name)+len(p.ID))
	case content.ToolResult:
		n := int64(labelSize)
		for _, b := range p.Blocks {
			n += proseSize(b)
		}
		return n
	case content.ResourceLink:
		return int64(len(p.URI) + len(p.Name) + len(p.Title) + len(p.Description))
	case content.Image, content.Audio, content.Document, content.ResourceText, content.Opaque:
		return 0
	}
	return 0
}

// proseTokens is what the text of a part costs by itself.
func proseTokens(p content.Part) int64 { return int64(textTokens(proseSize(p))) }

// orderTokens is what an order costs beyond prose, which is counted apart and
// whole: what is cut out of it is taken off here, rounded so that the sum is not
// too small.
func orderTokens(p *Profile, o *Order) int {
	switch {
	case o.out:
		return 0
	case o.carries(content.KindImage):
		return pictureTokens(p, o) + labelTokens
	case o.carriesMedia():
		return Estimate(o.block, p.Tokens)
	case o.loadsText():
		return textTokens(o.Load.Size) + labelTokens
	case o.block.Kind() == content.KindText:
		n := -int(o.saved() / bytesPerToken)
		if !o.whole() {
			n += labelTokens
		}
		return n
	}
	return textTokens(o.wordsSize()) + labelTokens
}

// pictureTokens is what a picture costs in the size in which the backend looks at
// it. A variant that is not yet made has the size to which it will be cut.
func pictureTokens(p *Profile, o *Order) int {
	price := func(w, h int) int {
		w, h = p.ImageLimits.Fit.Size(w, h)
		return p.Tokens.PictureTokens(w, h)
	}
	b, ok := o.block.(content.Image)
	if o.Cut == nil || !ok {
		return price(o.Send.Width, o.Send.Height)
	}
	w, h := measured(b)
	w, h = Fit{MaxEdge: o.Cut.MaxEdge}.Size(w, h)
	n := price(w, h)
	if s := o.Spare(); !s.IsZero() {
		n = max(n, price(s.Width, s.Height))
	}
	return n
}
