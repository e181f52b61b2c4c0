package delivery

import (
	"strconv"

	"tote/internal/content"
)

// Input is everything that a decision rests on.
type Input struct {
	Profile Profile
	Ledger  Ledger
	// Messages is the conversation, oldest first.
	Messages []content.Message
	// Current is the index in Messages of the message that opened the
	// current turn; len(Messages) when there is no current turn.
	Current int
	Budgets Budgets
	Facts   Facts
}

// Budgets bound a request. A zero field takes the default named beside it.
type Budgets struct {
	// Picture bounds one picture in raw bytes: DefaultPicture.
	Picture int64
	// History bounds the media of earlier turns in raw bytes: DefaultHistory.
	History int64
	// Request bounds the body in bytes: the profile's, else DefaultRequest.
	Request int64
	// Count bounds the pictures of one request: the profile's.
	Count int
	// Tokens bounds the request's estimated tokens: the profile's context.
	Tokens int
	// Text bounds a text resource that is put into the prompt, in bytes:
	// DefaultText.
	Text int64
	// Summary is how full of history the window may get before a summary is
	// wanted, in percent: DefaultSummary.
	Summary int
}

// The default budgets, in bytes.
const (
	DefaultPicture = 10_000_000
	DefaultHistory = 30_000_000
	DefaultRequest = 20_000_000
	DefaultText    = 64_000
	DefaultSummary = 80
	// Unlimited switches a byte budget off.
	Unlimited = 1 << 60
)

// EvictTo is how far an eviction goes down at once, in percent of the budget,
// so that the prefix stays stable for many turns after it.
const EvictTo = 60

// Facts is what was learned since the blocks were measured. Facts force a
// block down, never up.
type Facts struct {
	// Missing holds the blobs that are gone from the store.
	Missing map[content.Digest]bool
	// Failed holds what could not be carried out, by handle.
	Failed map[content.Handle]Failed
	// Stripped holds what is taken out for the rest of this turn.
	Stripped map[content.Handle]bool
	// Refused holds the blobs that this endpoint refuses.
	Refused map[content.Digest]bool
	// RefusedMIMEs holds media types, or "image/*", that it refuses.
	RefusedMIMEs map[string]bool
	// Proven holds the blobs with which this endpoint has answered.
	Proven map[content.Digest]bool
	// Files: the model has tools that can read a file by its path.
	Files bool
	// Lookers names who can look at a picture for a model that cannot, sorted:
	// agents, and tools of others. The model reaches them by the tool look.
	Lookers []string
	// Describer: an agent is configured to describe pictures.
	Describer bool
	// Overhead is what a measured body had more than the estimate, in bytes.
	Overhead int64
	// MaxRequest is a learned limit on the body, 0 for none.
	MaxRequest int64
	// MaxBytes and MaxEdge are learned limits on one picture, 0 for none.
	MaxBytes int64
	MaxEdge  int
	// MaxCount is a learned limit on pictures per request, 0 for none.
	MaxCount int
	// MaxTokens bounds the request's estimated tokens (after an overflow), 0
	// for none.
	MaxTokens int64
	// Context is a learned context window in tokens, 0 for none. It lowers
	// the profile's and never raises it.
	Context int
	// DropHistory: no media of earlier turns at all (after an overflow).
	DropHistory bool
	// Fixed is the size of what is not blocks: system prompt and tools, in
	// bytes.
	Fixed int64
	// Detached holds the blocks that the user took out of the conversation:
	// attachments, and the output of tools. What the user wrote stays, and so
	// do links. To put a block back opens a new lane.
	Detached map[content.Handle]bool
	// Summary stands for the oldest turns, zero for none. Another summary
	// opens a new lane.
	Summary Summary
	// Reported is what the backend counted for the last request of this
	// lane, zero for nothing. It beats the estimate for what it covers.
	Reported Reported
	// View is the name of the tool with which the model looks at a picture of
	// the conversation again, "" for none. A model that takes no pictures is
	// not told of it.
	View string
}

// Summary is another model's or the same model's account of the leading messages
// of a conversation. It never holds a payload.
type Summary struct {
	// Messages is how many leading messages it stands for; they end with a
	// turn.
	Messages int
	Text     string
}

// Reported is what a backend counted.
type Reported struct {
	// Messages is how many leading messages of the conversation were in the
	// request.
	Messages int
	// Tokens is what they took, system prompt and tools included.
	Tokens int64
	// Estimate is what the same was estimated to take. Only a count of messages
	// that are not sent any more needs it: with Messages 0 nothing but the ratio
	// of the two is taken.
	Estimate int64
	// Ledger is the one that Settle gave with that request, so that what gave
	// way since then is known. nil takes Input.Ledger, which is right as long
	// as nothing was settled in between.
	Ledger *Ledger
}

// Failed says why an order could not be carried out.
type Failed struct {
	Reason Reason
	Detail string
}

// Bounds are what a variant must keep within.
type Bounds struct {
	MaxEdge   int
	MaxPixels int64
	MaxBytes  int64
	MIMEs     []string
	// Fit is the rule by which the server would shrink the variant. A variant
	// should keep it, and MaxEdge brings it at least close. One that does not
	// is sent all the same: the server shrinks it, and nothing is lost.
	Fit Fit
}

// Key is the same for two bounds that ask for the same variant.
func (b Bounds) Key() string {
	var buf [128]byte
	k := buf[:0]
	for _, n := range [...]int64{
		int64(b.MaxEdge), b.MaxPixels, b.MaxBytes, int64(b.Fit.MaxEdge), int64(b.Fit.MaxShort), int64(b.Fit.Patch), int64(b.Fit.MaxPatches),
	} {
		k = append(strconv.AppendInt(k, n, 10), ' ')
	}
	k = strconv.AppendBool(k, b.Fit.Padded)
	for _, m := range b.MIMEs {
		k = append(append(k, ' '), m...)
	}
	return string(k)
}

// Order is what Decide wants done with one block.
type Order struct {
	Handle      content.Handle
	Disposition Disposition
	Reason      Reason
	Detail      string
	// Send is the blob to send, as it is; zero where nothing is sent, or
	// where Cut says that a variant has to be made first.
	Send content.Blob
	// Cut is set where a variant of the original has to be cut first.
	Cut *Bounds
	// Load is the blob whose text is put into the prompt.
	Load content.Blob
	// Stage is the blob that needs a file for the model's tools.
	Stage content.Blob
	// Describe: an agent that can see is asked about the picture.
	Describe bool
	// Note is what the ledger remembers of the words that stood in its
	// place.
	Note string

	block content.Block
	route Route
	// result: it stands in a tool result, of this turn or an earlier one.
	result bool
	// message is the index of the message that it stands in, out that the
	// message is left out.
	message int
	out     bool
	// seq counts the tool results up to the one that it stands in, 0 outside.
	seq int
	// was is what it cost in the request that Facts.Reported is about.
	was int64
	// spare is what goes out where a variant that nobody but the rule of
	// Limits.Fit asks for cannot be had or has no fewer bytes.
	spare *Order
}

// Spare is a blob that may be sent instead of the variant that Cut asks for, zero
// where there is none. Like Send, it has to be there.
func (o *Order) Spare() content.Blob {
	if o.spare == nil {
		return content.Blob{}
	}
	return o.spare.Send
}

// Block returns the block that the order is about.
func (o *Order) Block() content.Block { return o.block }

// Wants says what a plan would like to have before it is carried out.
type Wants uint8

// The wants.
const (
	WantsNothing Wants = iota
	// WantsVision: a picture waits for evidence whether the model sees.
	WantsVision
	// WantsSummary: turns of history are about to be left out, or history
	// fills most of the window; Plan.SummaryUpTo says what a summary should
	// stand for. Without one the oldest turns go.
	WantsSummary
)

// Plan is what Decide wants done: one order per block, in order. Only Decide
// makes one.
type Plan struct {
	in     Input
	orders []Order
	state
}

// state is what a decision knows beyond its orders.
type state struct {
	wantsVision, wantsSummary bool
	// left is how many leading messages are left out, leftWhy what for.
	left    int
	leftWhy Reason
	// covered is how many of them the summary stands for, head the text that
	// stands in their place, "" without a summary.
	covered int
	head    string
	// results is how many tool results there are.
	results int
	gauge   gauge
}

// Orders returns the orders. They are the plan's own and must not be changed.
func (p Plan) Orders() []Order { return p.orders }

// Wants says what the plan would like to have first: evidence before a summary
// where it would like both.
func (p Plan) Wants() Wants {
	switch {
	case p.wantsVision:
		return WantsVision
	case p.wantsSummary:
		return WantsSummary
	}
	return WantsNothing
}

// WantsVision reports whether a picture waits for evidence whether the model
// sees.
func (p Plan) WantsVision() bool { return p.wantsVision }

// DegradesPrompt reports whether a block that the user has just handed over is not
// delivered whole.
func (p Plan) DegradesPrompt() bool {
	for i := range p.orders {
		if o := &p.orders[i]; o.route == RoutePrompt && o.Disposition.Degraded() {
			return true
		}
	}
	return false
}

// WantsSummary reports whether a summary should be made first; see the constant.
func (p Plan) WantsSummary() bool { return p.wantsSummary }

// decider goes on where the decision ended.
func (p Plan) decider() *decider { return &decider{in: &p.in, orders: p.orders, state: p.state} }

// Results is what carrying out a plan gave, by handle.
type Results struct {
	// Variants are the cut variants.
	Variants map[content.Handle]content.Blob
	// Texts are the loaded texts.
	Texts map[content.Handle]string
	// Paths are the staged files, as the model should write them.
	Paths map[content.Handle]string
	// Descriptions are other models' words.
	Descriptions map[content.Handle]Description
	// Failed are the orders that could not be carried out.
	Failed map[content.Handle]Failed
}

// Description is what another model said about a picture.
type Description struct{ Model, Text string }

// Prompt is a conversation in which every block has been decided. Only Settle
// makes one, so an adapter cannot see an undecided block.
type Prompt struct {
	messages []content.Message
	media    []Sent
}

// Sent is one media part of a prompt.
type Sent struct {
	Handle content.Handle
	Name   string
	Kind   content.Kind
	Blob   content.Blob
	// Proven: this endpoint has answered a request with it before.
	Proven bool
}

// Len returns the number of messages.
func (p Prompt) Len() int { return len(p.messages) }

// Media lists the media parts in order. The slice is the prompt's own.
func (p Prompt) Media() []Sent { return p.media }

// Pictures returns how many of the media parts are pictures.
func (p Prompt) Pictures() int {
	n := 0
	for _, m := range p.media {
		if m.Kind == content.KindImage {
			n++
		}
	}
	return n
}

// Fresh returns how many media parts this endpoint has not proven to accept.
func (p Prompt) Fresh() int {
	n := 0
	for _, m := range p.media {
		if !m.Proven {
			n++
		}
	}
	return n
}
