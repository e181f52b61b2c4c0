package delivery

import (
	"maps"

	"tote/internal/content"
)

// Settle checks what carrying out a plan gave and makes of it the prompt that
// an adapter may spell, one receipt for every order of the plan, and the ledger
// to decide with next time. What could not be carried out falls to the next
// lower form, with its reason.
func Settle(p Plan, r Results) (Prompt, []Receipt, Ledger) {
	s := &settler{plan: &p, results: &r, profile: &p.in.Profile}
	s.receipts = make([]Receipt, 0, len(p.orders))
	s.entries = maps.Clone(p.in.Ledger.entries)
	if s.entries == nil {
		s.entries = make(map[content.Handle]LedgerEntry, len(p.orders))
	}
	s.messages(p.in.Messages)
	s.mergeRoles()
	return s.prompt, s.receipts, Ledger{entries: s.entries}
}

// settler walks the conversation once, taking the orders in step.
type settler struct {
	plan     *Plan
	results  *Results
	profile  *Profile
	next     int
	prompt   Prompt
	receipts []Receipt
	entries  map[content.Handle]LedgerEntry
	// hoisted are parts of tool results that have to stand in a user
	// message after the whole batch.
	hoisted []content.Part
	// open are calls that wait for their result.
	open []content.ToolCall
}

func (s *settler) emit(m content.Message) { s.prompt.messages = append(s.prompt.messages, m) }

func (s *settler) messages(ms []content.Message) {
	for _, m := range ms {
		if m.Role != content.RoleTool {
			s.answerOpen(nil)
		}
		switch m.Role {
		case content.RoleUser:
			s.emit(content.Message{Role: m.Role, Parts: s.user(m.Parts)})
		case content.RoleAssistant:
			s.emit(content.Message{Role: m.Role, Parts: s.assistant(m.Parts)})
		case content.RoleTool:
			s.answerOpen(s.toolResults(m.Parts))
		}
	}
	s.answerOpen(nil)
}

func (s *settler) user(in []content.Part) []content.Part {
	out := make([]content.Part, 0, len(in)+4)
	for _, p := range in {
		if b, ok := p.(content.Block); ok {
			out = s.block(out, b, "")
		}
	}
	if len(out) == 0 {
		out = append(out, content.Text{Body: "[empty message]"})
	}
	return out
}

func (s *settler) assistant(in []content.Part) []content.Part {
	out := make([]content.Part, 0, len(in))
	for _, p := range in {
		switch p := p.(type) {
		case content.Text:
			if !blank(p.Body) {
				out = append(out, content.Text{Body: p.Body})
			}
		case content.Reasoning:
			if !s.profile.Placement.NoReasoning && p.Path == s.profile.Path {
				out = append(out, p)
			}
		case content.ToolCall:
			out = append(out, p)
			s.open = append(s.open, p)
		case content.ToolResult:
			// A result stands in a tool message only.
		case content.Block:
			out = append(out, content.Text{Body: content.Compact([]content.Block{p})})
		}
	}
	if len(out) == 0 {
		out = append(out, content.Text{Body: "[no answer]"})
	}
	return out
}

// answerOpen closes a batch: calls that a crash or a cancellation left without
// a result get one that says so, then come the hoisted media.
func (s *settler) answerOpen(results []content.Part) {
	for _, c := range s.open {
		results = append(results, content.ToolResult{
			CallID: c.ID, Name: c.Name, IsError: true,
			Blocks: []content.Block{content.Text{Body: "[interrupted: there is no result]"}},
		})
	}
	s.open = nil
	if len(results) > 0 {
		s.emit(content.Message{Role: content.RoleTool, Parts: results})
	}
	if len(s.hoisted) == 0 {
		return
	}
	if s.profile.Placement.Bridge {
		s.emit(content.Message{Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: "[tool results received]"}}})
	}
	s.emit(content.Message{Role: content.RoleUser, Parts: s.hoisted})
	s.hoisted = nil
}

func (s *settler) toolResults(in []content.Part) []content.Part {
	out := make([]content.Part, 0, len(in))
	for _, p := range in {
		r, ok := p.(content.ToolResult)
		if !ok {
			continue // a tool message holds results and nothing else
		}
		for i, c := range s.open {
			if c.ID == r.CallID {
				s.open = append(s.open[:i:i], s.open[i+1:]...)
				break
			}
		}
		out = append(out, s.toolResult(r))
	}
	return out
}

func (s *settler) toolResult(r content.ToolResult) content.ToolResult {
	hoist := s.profile.Placement.HoistResults || r.IsError && s.profile.Placement.TextErrors
	var parts []content.Part
	for _, b := range r.Blocks {
		n := len(parts)
		parts = s.block(parts, b, r.CallID)
		if !hoist || !hasMedia(parts[n:]) {
			continue
		}
		s.hoisted = append(s.hoisted, parts[n:]...)
		parts = append(parts[:n:n], content.Text{Body: "[" + string(b.BlockHandle()) + ": shown in the next user message]"})
	}
	settled := content.ToolResult{CallID: r.CallID, Name: r.Name, IsError: r.IsError}
	for _, p := range parts {
		if b, ok := p.(content.Block); ok {
			settled.Blocks = append(settled.Blocks, b)
		}
	}
	if len(settled.Blocks) == 0 {
		settled.Blocks = []content.Block{content.Text{Body: "[no output]"}}
	}
	return settled
}

func hasMedia(parts []content.Part) bool {
	for _, p := range parts {
		switch p.(type) {
		case content.Image, content.Audio, content.Document:
			return true
		}
	}
	return false
}

// block settles the next order and appends what stands for the block.
func (s *settler) block(out []content.Part, b content.Block, call string) []content.Part {
	o := s.final(&s.plan.orders[s.next])
	s.next++
	s.account(&o, b)
	if t, ok := b.(content.Text); ok {
		if o.Reason == ReasonBlank {
			return out
		}
		return append(out, content.Text{Body: t.Body})
	}
	l := label{order: &o, call: call, lookers: s.plan.in.Facts.Lookers}
	switch {
	case o.carriesMedia():
		s.prompt.media = append(s.prompt.media, Sent{
			Handle: o.Handle, Name: nameOf(b), Kind: b.Kind(), Blob: o.Send, Proven: s.plan.in.Facts.Proven[o.Send.Digest],
		})
		return append(out, content.Text{Body: l.text(b)}, prepared(b, o.Send))
	case o.loadsText():
		text := s.results.Texts[o.Handle]
		out = append(out, content.Text{Body: l.text(b)})
		if !blank(text) {
			out = append(out, loaded(b, text))
		}
		return append(out, content.Text{Body: "[end of " + string(o.Handle) + "]"})
	}
	return append(out, content.Text{Body: l.text(b)})
}

// prepared returns b with the blob that is sent.
func prepared(b content.Block, send content.Blob) content.Block {
	switch b := b.(type) {
	case content.Image:
		b.Prepared = send
		return b
	case content.Audio:
		b.Prepared = send
		return b
	case content.Document:
		b.Prepared = send
		return b
	case content.Text, content.ResourceText, content.ResourceLink, content.Opaque:
	}
	panic("delivery: " + b.Kind().String() + " does not carry media")
}

// loaded returns the part that holds a stored text.
func loaded(b content.Block, text string) content.Block {
	if r, ok := b.(content.ResourceText); ok {
		r.Body = text
		return r
	}
	return content.Text{Body: text}
}

// final holds the order against what carrying it out gave.
func (s *settler) final(o *Order) Order {
	out := *o
	if f, failed := s.results.Failed[o.Handle]; failed && out.Disposition.rank() > rankPath {
		return s.fall(out, f.Reason, f.Detail)
	}
	switch {
	case out.Cut != nil:
		v, ok := s.results.Variants[o.Handle]
		if !ok || v.IsZero() || !within(v, *out.Cut) {
			return s.fall(out, ReasonPrepareFailed, "")
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
			return s.fall(out, out.Reason, "")
		}
		out.Note = "described by " + content.Clean(d.Model) + ":\n" + d.Text
	case out.Disposition == Path:
		return s.fall(out, out.Reason, out.Detail)
	}
	return out
}

// fall gives the staged file, else a line.
func (s *settler) fall(o Order, why Reason, detail string) Order {
	o.Reason, o.Detail = why, detail
	o.Send, o.Load, o.Cut, o.Describe = content.Blob{}, content.Blob{}, nil, false
	if p := s.results.Paths[o.Handle]; p != "" && why != ReasonMissing {
		o.Disposition, o.Note = Path, p
		return o
	}
	o.Disposition, o.Note = Placeholder, ""
	return o
}

func within(v content.Blob, b Bounds) bool {
	return !over(v.Size, b.MaxBytes) && !over(int64(max(v.Width, v.Height)), int64(b.MaxEdge)) &&
		!over(int64(v.Width)*int64(v.Height), b.MaxPixels) && (len(b.MIMEs) == 0 || contains(b.MIMEs, v.MIME))
}

// account writes the receipt and the ledger's entry.
func (s *settler) account(o *Order, b content.Block) {
	r := Receipt{
		Handle: o.Handle, Kind: b.Kind(), Disposition: o.Disposition, Reason: o.Reason, Detail: o.Detail, Route: o.route,
		Path: s.profile.Path, Model: s.profile.Model, Tokens: orderTokens(s.profile, o),
	}
	switch b := b.(type) {
	case content.Text:
		r.Tokens = textTokens(int64(len(b.Body)))
	case content.ResourceLink:
		r.Name, r.Origin = b.Name, b.Origin
	case content.Opaque:
		r.Name, r.Origin, r.Blob = b.Type, b.Origin, b.Raw
	case content.Image, content.Audio, content.Document, content.ResourceText:
		a, _ := content.AttachmentOf(b)
		r.Name, r.Origin, r.Blob = a.Name, a.Origin, a.Original
	}
	switch {
	case !o.Send.IsZero():
		r.Blob = o.Send
	case !o.Load.IsZero():
		r.Blob = o.Load
	}
	s.receipts = append(s.receipts, r)
	if b.Kind() == content.KindText || o.Handle == "" || o.Disposition == Stripped {
		return // prose is itself; what is stripped comes back after the turn
	}
	e := LedgerEntry{Disposition: o.Disposition, Reason: o.Reason, Variant: o.Send, Note: o.Note}
	if old, ok := s.entries[o.Handle]; !ok || old != e {
		s.entries[o.Handle] = e
	}
}

// mergeRoles joins neighbours of the same role where the path demands it.
func (s *settler) mergeRoles() {
	if !s.profile.Placement.MergeRoles {
		return
	}
	var out []content.Message
	for _, m := range s.prompt.messages {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts[:len(out[n-1].Parts):len(out[n-1].Parts)], m.Parts...)
			continue
		}
		out = append(out, m)
	}
	s.prompt.messages = out
}
