package delivery

import "tote/internal/content"

// Settle checks what carrying out a plan gave and makes of it the prompt that
// an adapter may spell, one receipt for every order of the plan, and the ledger
// to decide with next time. What could not be carried out falls to the next
// lower form, with its reason.
func Settle(p Plan, r Results) (Prompt, []Receipt, Ledger) {
	s := &settler{plan: &p, results: &r, profile: &p.in.Profile, ledger: p.in.Ledger}
	s.label = labelFor(&p.in, &s.order)
	s.receipts = make([]Receipt, 0, len(p.orders))
	s.prompt.messages = make([]content.Message, 0, len(p.in.Messages))
	s.messages(p.in.Messages)
	s.rememberLeftOut()
	s.mergeRoles()
	s.collectMedia()
	return s.prompt, s.receipts, s.ledger
}

// settler walks the conversation once, taking the orders in step.
type settler struct {
	plan     *Plan
	results  *Results
	profile  *Profile
	next     int
	prompt   Prompt
	receipts []Receipt
	// ledger is the plan's until the first change, which copies it.
	ledger  Ledger
	changed bool
	// order and label are those of the block in hand.
	order Order
	label label
	// media counts the parts that go out as blobs.
	media int
	// hoisted are parts of tool results that have to stand in a user
	// message after the whole batch.
	hoisted []content.Part
	// open are calls that wait for their result.
	open []content.ToolCall
}

// emit appends a message. Between two messages of the user, of which a failed
// turn leaves the first without an answer, stands one of the assistant: strict
// chat templates refuse any other order. So it does between tool results and the
// user where the path demands it.
func (s *settler) emit(m content.Message) {
	if n := len(s.prompt.messages); n > 0 && m.Role == content.RoleUser {
		switch last := s.prompt.messages[n-1].Role; {
		case last == content.RoleTool && s.profile.Placement.Bridge:
			s.assist("[tool results received]")
		case last == content.RoleUser && !s.profile.Placement.MergeRoles:
			s.assist("[no answer was given]")
		}
	}
	s.prompt.messages = append(s.prompt.messages, m)
}

func (s *settler) assist(words string) {
	s.prompt.messages = append(s.prompt.messages, content.Message{
		Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: words}},
	})
}

// messages takes a message of no known role as the user's: what it holds must
// not get lost.
func (s *settler) messages(ms []content.Message) {
	for i, m := range ms {
		if i < s.plan.left {
			s.skip(m)
			continue
		}
		if m.Role == content.RoleTool {
			s.answerOpen(s.toolResults(m.Parts))
			continue
		}
		s.answerOpen(nil)
		if m.Role == content.RoleAssistant {
			s.emit(content.Message{Role: m.Role, Parts: s.assistant(m.Parts)})
			continue
		}
		parts := s.user(m.Parts)
		if i > 0 && i == s.plan.left {
			parts = append([]content.Part{s.leftOut()}, parts...)
		}
		s.emit(content.Message{Role: content.RoleUser, Parts: parts})
	}
	s.answerOpen(nil)
}

func (s *settler) user(in []content.Part) []content.Part {
	out := make([]content.Part, 0, 2*len(in)+1)
	for _, p := range in { // a user neither thinks nor calls
		if r, ok := p.(content.ToolResult); ok {
			out = s.stray(out, r)
		} else if b, ok := p.(content.Block); ok {
			out = s.block(out, b, "")
		}
	}
	if len(out) == 0 {
		out = append(out, content.Text{Body: "[empty message]"})
	}
	return out
}

func (s *settler) assistant(in []content.Part) []content.Part {
	out := make([]content.Part, 0, len(in)+1)
	spoken := false
	for _, p := range in {
		switch p := p.(type) {
		case content.Text:
			if !blank(p.Body) {
				out = append(out, content.Text{Body: p.Body})
				spoken = true
			}
		case content.Reasoning:
			if !s.profile.Placement.NoReasoning && p.Path == s.profile.Path {
				out = append(out, p)
			}
		case content.ToolCall:
			if p.Path != s.profile.Path || s.profile.Placement.NoReasoning { // a signature is for its own path alone
				p.Signature, p.Path = "", ""
			}
			out = append(out, p)
			s.open = append(s.open, p)
			spoken = true
		case content.ToolResult:
			s.hoisted = s.stray(s.hoisted, p)
		case content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
			if b, ok := p.(content.Block); ok {
				out = append(out, content.Text{Body: content.Compact([]content.Block{b})})
				spoken = true
			}
		}
	}
	if !spoken { // no path takes a message of nothing, or of thoughts alone
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
	if len(s.hoisted) > 0 {
		s.emit(content.Message{Role: content.RoleUser, Parts: s.hoisted})
		s.hoisted = nil
	}
}

func (s *settler) toolResults(in []content.Part) []content.Part {
	out := make([]content.Part, 0, len(in))
	for _, p := range in {
		r, ok := p.(content.ToolResult)
		switch b, isBlock := p.(content.Block); {
		case isBlock:
			s.hoisted = s.block(s.hoisted, b, "")
		case ok && s.close(r.CallID):
			out = append(out, s.toolResult(r))
		case ok:
			s.hoisted = s.stray(s.hoisted, r)
		}
	}
	return out
}

// close takes the call of an open batch that id answers.
func (s *settler) close(id string) bool {
	for i, c := range s.open {
		if c.ID == id {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			return true
		}
	}
	return false
}

// stray appends a result whose call is not in view as words of the user: every
// path refuses a result without its call.
func (s *settler) stray(out []content.Part, r content.ToolResult) []content.Part {
	out = append(out, content.Text{Body: "[result of " + content.Clean(r.Name) + ", tool call " + content.Clean(r.CallID) + ", which is not in view]"})
	for _, b := range r.Blocks {
		out = s.block(out, b, r.CallID)
	}
	return out
}

func (s *settler) toolResult(r content.ToolResult) content.ToolResult {
	settled := content.ToolResult{CallID: r.CallID, Name: r.Name, IsError: r.IsError}
	settled.Blocks = make([]content.Block, 0, 2*len(r.Blocks)+1)
	var parts []content.Part
	for _, b := range r.Blocks {
		parts = s.block(parts[:0], b, r.CallID)
		hoist := s.profile.Placement.hoists(b.Kind()) || r.IsError && s.profile.Placement.TextErrors
		if hoist && hasMedia(parts) {
			s.hoisted = append(s.hoisted, parts...)
			settled.Blocks = append(settled.Blocks, content.Text{Body: "[" + string(b.BlockHandle()) + ": shown in the next user message]"})
			continue
		}
		for _, p := range parts {
			if b, ok := p.(content.Block); ok { // block makes nothing else
				settled.Blocks = append(settled.Blocks, b)
			}
		}
	}
	if len(settled.Blocks) == 0 {
		settled.Blocks = append(settled.Blocks, content.Text{Body: "[no output]"})
	}
	return settled
}

func hasMedia(parts []content.Part) bool {
	for _, p := range parts {
		if _, ok := mediaOf(p); ok {
			return true
		}
	}
	return false
}

// mediaOf returns the attachment of a part that goes out as a blob.
func mediaOf(p content.Part) (content.Attachment, bool) {
	switch p := p.(type) {
	case content.Image:
		return p.Attachment, true
	case content.Audio:
		return p.Attachment, true
	case content.Document:
		return p.Attachment, true
	case content.Text, content.ResourceText, content.ResourceLink, content.Opaque, content.Reasoning, content.ToolCall, content.ToolResult:
	}
	return content.Attachment{}, false
}

// block settles the next order and appends what stands for the block.
func (s *settler) block(out []content.Part, b content.Block, call string) []content.Part {
	ordered := &s.plan.orders[s.next]
	s.next++
	if t, ok := b.(content.Text); ok && ordered.whole() { // nothing about prose can fail
		s.account(ordered, b)
		if ordered.Reason == ReasonBlank {
			return out
		}
		if ordered.Reason == ReasonTrimmed {
			t.Body = trim(t.Body)
		}
		return append(out, content.Text{Body: t.Body})
	}
	o := &s.order
	*o = s.final(ordered)
	s.account(o, b)
	s.label.call = call
	out = append(out, content.Text{Body: s.label.text(b)})
	switch {
	case o.carriesMedia():
		s.media++
		return append(out, prepared(b, o.Send))
	case o.loadsText():
		text := s.results.Texts[o.Handle]
		if !blank(text) {
			out = append(out, loaded(b, text))
		}
		return append(out, content.Text{Body: "[end of " + string(o.Handle) + "]"})
	}
	return out
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

// mergeRoles joins neighbours of the same role where the path demands it.
func (s *settler) mergeRoles() {
	if !s.profile.Placement.MergeRoles {
		return
	}
	out := s.prompt.messages[:0]
	for _, m := range s.prompt.messages {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts, m.Parts...)
			continue
		}
		out = append(out, m)
	}
	s.prompt.messages = out
}

// collectMedia lists what the prompt sends as blobs, in the prompt's order.
func (s *settler) collectMedia() {
	s.prompt.media = make([]Sent, 0, s.media)
	for _, m := range s.prompt.messages {
		for _, p := range m.Parts {
			s.sent(p)
			if r, ok := p.(content.ToolResult); ok {
				for _, b := range r.Blocks {
					s.sent(b)
				}
			}
		}
	}
}

func (s *settler) sent(p content.Part) {
	a, ok := mediaOf(p)
	if !ok {
		return
	}
	b, _ := p.(content.Block) // every part with media is a block
	s.prompt.media = append(s.prompt.media, Sent{
		Handle: a.Handle, Name: nameOf(b), Kind: b.Kind(), Blob: a.Prepared, Proven: s.plan.in.Facts.Proven[a.Prepared.Digest],
	})
}
