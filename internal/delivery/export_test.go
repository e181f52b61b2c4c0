package delivery

import "tote/internal/content"

// Messages shows a settled prompt to tests.
func (p Prompt) Messages() []content.Message { return p.messages }

// TokenLimit shows what the token budget is held against.
func (p Plan) TokenLimit() int64 {
	return p.decider().tokenLimit()
}

// LeftOut, Covered and LeftOutHandle show what is left out.
func (p Plan) LeftOut() int { return p.left }
func (p Plan) Covered() int { return p.covered }

const LeftOutHandle = leftOutHandle

// Holds and Hoists show rules to tests.
func (f Fit) Holds(w, h int) bool               { return f.holds(w, h) }
func (p *Placement) Hoists(k content.Kind) bool { return p.hoists(k) }

func (o *Order) Out() bool { return o.out }

func (o *Order) Route() Route   { return o.route }
func (o *Order) InResult() bool { return o.result }
func (o *Order) Media() bool    { return o.carriesMedia() }
func (o *Order) Text() bool     { return o.loadsText() }
func (o *Order) Raw() int64     { return o.rawSize() }

func (d Disposition) Rank() int { return d.rank() }

var (
	Fate        = fate
	Within      = within
	FaultReason = faultReason
	Percent     = percent
	Trim        = trim
	TrimSaves   = trimSaves
)

const (
	DescribedSize = describedSize
	VariantEdge   = variantEdge
	RankWhole     = rankWhole
	TrimOver      = trimOver
	Newest        = newest
)
