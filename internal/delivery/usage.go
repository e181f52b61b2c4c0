package delivery

import "tote/internal/content"

// PartKind is what a part of a conversation is to a reader.
type PartKind uint8

// The part kinds. The zero value is not one.
const (
	_             PartKind = iota
	PartBlock              // a block of the user's or of a tool's: Handle and Kind say which
	PartAnswer             // the model's own words
	PartReasoning          // the model's thinking, as far as it is sent back
	PartCall               // a tool call with its arguments
)

func (k PartKind) String() string {
	switch k {
	case PartBlock:
		return "block"
	case PartAnswer:
		return "answer"
	case PartReasoning:
		return "reasoning"
	case PartCall:
		return "call"
	}
	return "part?"
}

// Part is what one part of the conversation takes in a plan's request.
type Part struct {
	// Message is the index of its message in Input.Messages, Turn counts the
	// turns from 1 on.
	Message, Turn int
	Role          content.Role
	What          PartKind
	// Route, Handle, Kind, Name, Disposition, Reason and Detail are of a
	// block, zero otherwise. Name is a tool's for a call.
	Route       Route
	Handle      content.Handle
	Kind        content.Kind
	Name        string
	Disposition Disposition
	Reason      Reason
	Detail      string
	// Bytes is what it takes on the wire, Tokens what it takes of the window.
	// Both are estimates, 0 where it is left out. Tokens are rounded up part
	// by part.
	Bytes  int64
	Tokens int64
	// Trimmed: its middle is cut out. Detached: the user took it out.
	// LeftOut: its whole turn is left out.
	Trimmed, Detached, LeftOut bool
}

// Usage is what a plan's request takes of the window and the wire.
type Usage struct {
	Parts []Part
	// Fixed, Summary, Media and Text are estimated tokens: of system prompt and
	// tools, of the summary with its list of attachments, of what goes out as
	// blobs, and of all else.
	Fixed, Summary, Media, Text int64
	// Tokens is what the whole request takes, as Plan.Tokens has it. Reported
	// says that it rests on a backend's count and not on estimates alone; it
	// is then not the sum of the others.
	Tokens   int64
	Reported bool
	// LeftOut is how many leading messages are left out, Summarised for how
	// many of them the summary stands.
	LeftOut, Summarised int
	// Window is the model's context in tokens and Limit what of it a request
	// may take, 0 where they are not known.
	Window, Limit int64
	// Wire is what the body takes and WireLimit what it may take, in bytes.
	Wire, WireLimit int64
}

// Estimates are sizes of a plan's request in tokens, by estimate alone: a backend
// that finds a request too long has shown that its own counts are no guide.
type Estimates struct {
	// Whole is what the request takes, Fixed what of it stands before the first
	// message, and Alone what it would take if nothing of the earlier turns that
	// can be left out were in it.
	Whole, Fixed, Alone int64
}

// Estimates measures the plan's request.
func (p Plan) Estimates() Estimates {
	d := p.decider()
	d.gauge = gauge{}
	s := d.window(0)
	s.sum = s.measure()
	_, alone := d.oldest(s, 0)
	return Estimates{Whole: s.sum, Fixed: d.fixedTokens(), Alone: alone}
}

// A count of less than a share of the estimate is of the part of a request that no
// cache had; one of many times the estimate is of more than one request, as that
// of a program which makes several of one.
const (
	leastShare   = 8
	strangeTimes = 4
	strangeOver  = 20_000
)

// Plausible reports whether n tokens can be a backend's count of the request.
func (e Estimates) Plausible(n int64) bool {
	return n > 0 && n >= e.Whole/leastShare && n <= strangeTimes*e.Whole+strangeOver
}

// Usage tells what every part of the plan's request takes.
func (p Plan) Usage() Usage {
	d := p.decider()
	u := &usage{d: d, Usage: Usage{
		Fixed: int64(textTokens(p.in.Facts.Fixed)), Summary: int64(textTokens(int64(len(d.head)))), Tokens: d.tokens(),
		Reported: d.gauge.upTo > 0, LeftOut: d.left, Summarised: d.covered, Limit: d.tokenLimit(),
		Window: least(int64(p.in.Profile.Context), int64(p.in.Facts.Context)), Wire: d.wireSize(), WireLimit: d.requestLimit(),
	}}
	u.Parts = make([]Part, 0, countBlocks(p.in.Messages))
	for i, m := range p.in.Messages {
		u.message(i, m)
	}
	return u.Usage
}

// usage walks the conversation once, taking the orders in step.
type usage struct {
	Usage
	d          *decider
	next, turn int
	// at is what all parts of the message in hand have in common.
	at Part
}

func (u *usage) message(i int, m content.Message) {
	if i == 0 || m.Role != content.RoleAssistant && m.Role != content.RoleTool {
		u.turn++
	}
	u.at = Part{Message: i, Turn: u.turn, Role: m.Role, LeftOut: i < u.d.left}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case content.ToolResult:
			for _, b := range p.Blocks {
				u.block(b)
			}
		case content.Reasoning:
			if !u.d.in.Profile.Placement.NoReasoning && p.Path == u.d.in.Profile.Path {
				u.own(PartReasoning, "", p)
			}
		case content.ToolCall:
			u.own(PartCall, p.Name, p)
		case content.Text, content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
			if b, ok := p.(content.Block); ok && m.Role != content.RoleAssistant {
				u.block(b)
				continue
			}
			u.own(PartAnswer, "", p)
		}
	}
}

// own adds what is the model's own.
func (u *usage) own(what PartKind, name string, p content.Part) {
	out := u.at
	out.What, out.Name = what, name
	if !out.LeftOut {
		out.Bytes, out.Tokens = proseSize(p), proseTokens(p)
	}
	u.Text += out.Tokens
	u.Parts = append(u.Parts, out)
}

func (u *usage) block(b content.Block) {
	o := &u.d.orders[u.next]
	u.next++
	out := u.at
	out.What, out.Route, out.Handle, out.Kind, out.Name = PartBlock, o.route, o.Handle, b.Kind(), titleOf(b)
	out.Disposition, out.Reason, out.Detail = o.Disposition, o.Reason, o.Detail
	out.Trimmed, out.Detached = o.Reason == ReasonTrimmed, o.Reason == ReasonDetached
	if !o.out {
		out.Bytes = proseSize(b) + o.wireSize()
		out.Tokens = proseTokens(b) + int64(orderTokens(&u.d.in.Profile, o))
	}
	if o.carriesMedia() {
		u.Media += out.Tokens
	} else {
		u.Text += out.Tokens
	}
	u.Parts = append(u.Parts, out)
}

// titleOf is the name that a block came with, "" for none.
func titleOf(b content.Block) string {
	if l, ok := b.(content.ResourceLink); ok {
		return l.Name
	}
	a, _ := content.AttachmentOf(b)
	return a.Name
}
