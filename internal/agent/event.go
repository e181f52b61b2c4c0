package agent

import (
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/tool"
)

// An Event is something that happened in a turn. The set is closed; every front
// visits it.
//
//sumtype:decl
type Event interface{ event() }

// Accepted says that a prompt is on the disk. It comes before anything else of
// its turn.
type Accepted struct {
	Turn   string
	Blocks []content.Block
}

// Receipts are new or changed receipts of a request. They come before the first
// token of the attempt that they are about.
type Receipts struct {
	Request, Attempt int
	List             []delivery.Receipt
}

// Text is more of the answer.
type Text struct {
	Turn, Message string
	Text          string
}

// Thought is more of the model's thinking.
type Thought struct {
	Turn, Message string
	Text          string
}

// Voided withdraws the text and thoughts since the last attempt.
type Voided struct {
	Message string
	// Attempt is the number of the attempt that follows.
	Attempt int
	Reason  string
}

// ToolStarted says that a call was announced. It comes before permission is
// asked.
type ToolStarted struct {
	Call  content.ToolCall
	Title string
	// Path is the file that the call is about, "" for none.
	Path string
}

// ToolRunning says that a call has begun.
type ToolRunning struct{ Call content.ToolCall }

// ToolOutput is what a call printed while it ran. It is shown and not recorded.
type ToolOutput struct {
	Call content.ToolCall
	Text string
}

// Planned is the model's plan, whole, whenever it changes.
type Planned struct{ Steps []tool.Step }

// JobChanged says that a background job began, ended, or was stopped. It may come
// between turns.
type JobChanged struct{ Job tool.JobState }

// ToolFinished brings a call to its end. Every started call gets one.
type ToolFinished struct {
	Call    content.ToolCall
	Blocks  []content.Block
	IsError bool
}

// Noticed is a line for the user.
type Noticed struct{ Notice delivery.Notice }

// Retrying says that the transport tries again.
type Retrying struct {
	Attempt int
	Seconds float64
	Why     string
}

// Used is what a request cost and how full the context is.
type Used struct {
	Usage content.Usage
	// ImageReported: the backend accounts for pictures.
	ImageReported bool
	// Context is how many tokens the conversation takes, Window how many
	// there are, 0 when not known.
	Context, Window int64
	// Dollars is what it cost by the catalogue's prices; Priced is false
	// where there is none.
	Dollars float64
	Priced  bool
}

// Ended is the last event of a turn.
type Ended struct {
	Turn  string
	Stop  content.StopReason
	Usage content.Usage
	// Degraded: some block of the prompt was not delivered whole.
	Degraded bool
}

func (Accepted) event()     {}
func (Receipts) event()     {}
func (Text) event()         {}
func (Thought) event()      {}
func (Voided) event()       {}
func (ToolStarted) event()  {}
func (ToolRunning) event()  {}
func (ToolOutput) event()   {}
func (Planned) event()      {}
func (JobChanged) event()   {}
func (ToolFinished) event() {}
func (Noticed) event()      {}
func (Retrying) event()     {}
func (Used) event()         {}
func (Ended) event()        {}

// A Visitor handles every event, so that a front cannot forget one.
type Visitor interface { //nolint:interfacebloat // one method for each event of a closed set
	Accepted(Accepted)
	Receipts(Receipts)
	Text(Text)
	Thought(Thought)
	Voided(Voided)
	ToolStarted(ToolStarted)
	ToolRunning(ToolRunning)
	ToolOutput(ToolOutput)
	Planned(Planned)
	JobChanged(JobChanged)
	ToolFinished(ToolFinished)
	Noticed(Noticed)
	Retrying(Retrying)
	Used(Used)
	Ended(Ended)
}
