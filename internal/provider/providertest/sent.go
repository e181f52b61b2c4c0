package providertest

import "tote/internal/content"

// Sent is a request as the server of any wire reads it. Each wire has a function
// in this package that reads one strictly: what the real server would refuse is
// an error.
type Sent struct {
	Model, System string
	// Tools are the names of the tools.
	Tools    []string
	Messages []SentMessage
}

// SentMessage is one message. Role is the wire's own word.
type SentMessage struct {
	Role  string
	Parts []SentPart
}

// SentPart is one part of a message or of a tool result. Which members are set
// says what it is: Text alone is prose.
type SentPart struct {
	Text string
	// Kind is that of a medium, 0 for what is none; MIME and Data are its
	// declared type and its decoded bytes. Name is its file name, "" where
	// the wire has none.
	Kind content.Kind
	MIME string
	Data []byte
	Name string
	// Thought is a model's own thinking, Signature what goes with it or with
	// Call.
	Thought, Signature string
	// Call is a tool call.
	Call *content.ToolCall
	// Result is the answer to a call.
	Result *SentResult
	// Cache: the server is asked to cache up to here.
	Cache bool
}

// SentResult is the answer to a tool call.
type SentResult struct {
	// CallID is "" on wires that have none; Name is "" on wires that have
	// none.
	CallID, Name string
	IsError      bool
	Parts        []SentPart
}

// Media returns every medium of a request in order, those of results included.
func (s Sent) Media() []SentPart {
	var out []SentPart
	add := func(parts []SentPart) {
		for _, p := range parts {
			if p.Kind != 0 {
				out = append(out, p)
			}
		}
	}
	for _, m := range s.Messages {
		for _, p := range m.Parts {
			add([]SentPart{p})
			if p.Result != nil {
				add(p.Result.Parts)
			}
		}
	}
	return out
}
