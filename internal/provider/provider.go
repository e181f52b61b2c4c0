package provider

import (
	"context"
	"io"
	"iter"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Blobs is how adapters get bytes.
type Blobs interface {
	// Open returns the bytes of a blob. It may be called again for the same
	// blob, also at the same time. The caller closes what it gets.
	Open(content.Digest) (io.ReadCloser, error)
}

// ToolSpec is a tool as a model is told about it.
type ToolSpec struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments, an object.
	Schema []byte
}

// Request is everything that one request to a model is made of.
type Request struct {
	Prompt delivery.Prompt
	Blobs  Blobs
	// System is the system prompt, "" for none.
	System string
	// Tools are sorted by name and stay the same within a turn.
	Tools []ToolSpec
	// Seed is the same for every sending of one request.
	Seed int64
	// MaxOutput is the longest answer in tokens, 0 to leave it to the backend.
	MaxOutput int
	// Effort is how hard the model should think.
	Effort Effort
	// Expect asks the server for permission before a large body is sent
	// ("Expect: 100-continue").
	Expect bool
}

// Effort is how hard a model should think before it answers. Each wire has its
// own words for it.
type Effort uint8

// The efforts. The zero value leaves it to the backend.
const (
	EffortDefault Effort = iota
	EffortNone
	EffortLow
	EffortMedium
	EffortHigh
)

var effortNames = [...]string{"", "none", "low", "medium", "high"}

// String is the word in use for e on most wires, "" for EffortDefault.
func (e Effort) String() string {
	if int(e) < len(effortNames) {
		return effortNames[e]
	}
	return "effort?"
}

// A Provider is one path to one model.
//
// Both methods may be called from several goroutines. Nothing of a request is
// kept in the provider.
type Provider interface {
	// Encode spells the request. The body is the same to the byte for the
	// same request.
	Encode(Request) (Body, error)
	// Stream sends a body and yields what comes back. It yields events with
	// a nil error, then at most one *Error, after which it stops. A
	// cancelled context ends it with an *Error of kind FailCancelled. An
	// answer that ended well has yielded Finish.
	Stream(context.Context, Body) iter.Seq2[Event, error]
}

// An Event is something that a backend said. The set is closed: TextDelta,
// ThoughtDelta, Thought, Call, UsageReport, Retry, Remark and Finish.
//
//sumtype:decl
type Event interface{ event() }

// TextDelta is more of the answer's text.
type TextDelta struct{ Text string }

// ThoughtDelta is more of the model's thinking.
type ThoughtDelta struct{ Text string }

// Thought is one finished piece of thinking, with what has to be sent back.
type Thought struct{ Reasoning content.Reasoning }

// Call is one complete tool call.
type Call struct{ Call content.ToolCall }

// UsageReport is what the backend accounts for. A later report of the same
// answer replaces an earlier one. Raw is the backend's own JSON.
type UsageReport struct {
	Usage content.Usage
	Raw   []byte
}

// Retry says that the transport tries again, before anything was answered.
type Retry struct {
	// Attempt counts from 1; Seconds is how long it waits first.
	Attempt int
	Seconds float64
	// Why is a short cause for people: "429 rate limit".
	Why string
}

// Remark is a line for the user about what the backend did with the request, in
// its own way and without being asked: it left a picture out, or shrank it.
type Remark struct {
	// Text is a sentence without a full stop.
	Text string
	// Lost: something that was sent did not reach the model.
	Lost bool
}

// Finish ends an answer. Note is the backend's own word where it is none of
// the stop reasons.
type Finish struct {
	Stop content.StopReason
	Note string
}

func (TextDelta) event()    {}
func (ThoughtDelta) event() {}
func (Thought) event()      {}
func (Call) event()         {}
func (UsageReport) event()  {}
func (Retry) event()        {}
func (Remark) event()       {}
func (Finish) event()       {}
