package content

// A Part is one piece of a message: every [Block], and what only a model or a
// tool call produces: Reasoning, ToolCall and ToolResult. The set is closed.
//
//sumtype:decl
type Part interface{ part() }

// Reasoning is a model's thinking. Signature is opaque to everyone but the
// path that made it and is returned to that path alone.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Path is the path that made it, for example "openai-chat".
	Path string `json:"path,omitempty"`
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON object as the model wrote it.
	Arguments string `json:"arguments,omitempty"`
	// Signature is opaque to everyone but the path that made it, as that of
	// Reasoning is; "" where the path gives none. Path names that path.
	Signature string `json:"signature,omitempty"`
	Path      string `json:"path,omitempty"`
}

// ToolResult answers one ToolCall.
type ToolResult struct {
	CallID  string  `json:"call_id"`
	Name    string  `json:"name"`
	IsError bool    `json:"is_error,omitempty"`
	Blocks  []Block `json:"-"`
}

func (Reasoning) part()  {}
func (ToolCall) part()   {}
func (ToolResult) part() {}

// A PartVisitor handles every kind of part.
type PartVisitor[R any] interface {
	Visitor[R]
	Reasoning(Reasoning) (R, error)
	ToolCall(ToolCall) (R, error)
	ToolResult(ToolResult) (R, error)
}

// VisitPart calls the method of v for the kind of p. It panics on nil.
func VisitPart[R any](p Part, v PartVisitor[R]) (R, error) {
	switch p := p.(type) {
	case Reasoning:
		return v.Reasoning(p)
	case ToolCall:
		return v.ToolCall(p)
	case ToolResult:
		return v.ToolResult(p)
	case Text:
		return v.Text(p)
	case Image:
		return v.Image(p)
	case Audio:
		return v.Audio(p)
	case Document:
		return v.Document(p)
	case ResourceText:
		return v.ResourceText(p)
	case ResourceLink:
		return v.ResourceLink(p)
	case Opaque:
		return v.Opaque(p)
	}
	panic("content: nil or foreign Part")
}

// Role is who speaks in a message.
type Role uint8

// The roles. The zero value is not one.
const (
	_ Role = iota
	RoleUser
	RoleAssistant
	// RoleTool messages hold the results of one batch of calls, and nothing
	// else.
	RoleTool
)

var roleNames = [...]string{RoleUser: "user", RoleAssistant: "assistant", RoleTool: "tool"}

func (r Role) String() string {
	if int(r) < len(roleNames) && r > 0 {
		return roleNames[r]
	}
	return "role?"
}

// Message is one message of a conversation.
type Message struct {
	Role  Role
	Parts []Part
	// Envelopes are what the client sent, one for each of Parts, in a user
	// message; nil in any other. An entry is zero where the block did not
	// come from a client.
	Envelopes []Envelope
}

// Blocks returns the blocks of a user message, or of the results in a tool
// message, in order.
func (m Message) Blocks() []Block {
	var out []Block
	for _, p := range m.Parts {
		switch p := p.(type) {
		case ToolResult:
			out = append(out, p.Blocks...)
		case Text, Image, Audio, Document, ResourceText, ResourceLink, Opaque:
			if b, ok := p.(Block); ok {
				out = append(out, b)
			}
		case Reasoning, ToolCall:
		}
	}
	return out
}

// Spelling is how a payload was written inside a client's JSON block.
type Spelling uint8

// The spellings.
const (
	// SpellingNone: no payload was cut out; JSON is the whole block.
	SpellingNone Spelling = iota
	// SpellingBase64: RFC 4648 standard alphabet, padded.
	SpellingBase64
	// SpellingBase64Raw: standard alphabet, no padding.
	SpellingBase64Raw
	// SpellingBase64URL: URL alphabet, padded.
	SpellingBase64URL
	// SpellingBase64RawURL: URL alphabet, no padding.
	SpellingBase64RawURL
	// SpellingText: a JSON string with the shortest escapes only (quote,
	// backslash, control characters as \b \f \n \r \t or \u00xx).
	SpellingText
	// SpellingStored: the whole block is the stored blob, byte for byte;
	// JSON is empty.
	SpellingStored
)

// Envelope is a client's block as it came, with the payload cut out. With the
// payload's bytes it gives the block back byte for byte.
type Envelope struct {
	// JSON is the block without the payload.
	JSON []byte
	// Hole is the offset in JSON at which the payload stood.
	Hole     int
	Payload  Digest
	Spelling Spelling
}

// IsZero reports whether there was no client block.
func (e Envelope) IsZero() bool { return len(e.JSON) == 0 && e.Payload.IsZero() }

// StopReason is why a turn ended.
type StopReason uint8

// The stop reasons. The zero value means that the turn has not ended.
const (
	StopNone StopReason = iota
	StopEndTurn
	StopMaxTokens
	StopMaxSteps
	StopRefusal
	StopCancelled
	StopFailed
)

var stopNames = [...]string{
	StopNone: "none", StopEndTurn: "end_turn", StopMaxTokens: "max_tokens", StopMaxSteps: "max_turn_requests",
	StopRefusal: "refusal", StopCancelled: "cancelled", StopFailed: "failed",
}

func (s StopReason) String() string {
	if int(s) < len(stopNames) {
		return stopNames[s]
	}
	return "stop?"
}

// Count is a number that a backend may not have reported. Absent is not zero.
type Count struct {
	N     int64
	Known bool
}

// Reported returns a known count.
func Reported(n int64) Count { return Count{N: n, Known: true} }

// Usage is what one request or turn cost, in tokens.
type Usage struct {
	Input, Output, Cached, CacheWrite, Reasoning, Image, Audio Count
}

// Plus adds two usages; a count is known when either is.
func (u Usage) Plus(v Usage) Usage {
	add := func(a, b Count) Count {
		return Count{N: a.N + b.N, Known: a.Known || b.Known}
	}
	return Usage{
		Input: add(u.Input, v.Input), Output: add(u.Output, v.Output), Cached: add(u.Cached, v.Cached),
		CacheWrite: add(u.CacheWrite, v.CacheWrite), Reasoning: add(u.Reasoning, v.Reasoning),
		Image: add(u.Image, v.Image), Audio: add(u.Audio, v.Audio),
	}
}

// Turn is a prompt and all the work for it.
type Turn struct {
	// ID is stable over replays.
	ID string
	// Messages starts with the user's message.
	Messages []Message
	Stop     StopReason
	Usage    Usage
}
