package delivery

import "tote/internal/content"

// Messages shows a settled prompt to tests.
func (p Prompt) Messages() []content.Message { return p.messages }

// Tokens and TokenLimit show what the token budget is held against.
func (p Plan) Tokens() int64 {
	d := decider{in: &p.in, orders: p.orders}
	return d.tokens()
}

func (p Plan) TokenLimit() int64 {
	d := decider{in: &p.in}
	return d.tokenLimit()
}

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
)

const (
	DescribedSize = describedSize
	VariantEdge   = variantEdge
	RankWhole     = rankWhole
)
