package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
)

// Spec is a tool as a model is told about it.
type Spec struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments, an object.
	Schema json.RawMessage
	// Parallel: calls may run beside others. A call of any other tool runs
	// alone, in its place.
	Parallel bool
}

// Env is where a call runs. It is an argument of every call, since background
// work shares the tools.
type Env struct {
	// Cwd is the session's folder, absolute.
	Cwd string
	// Roots are the folders that the model may read, absolute: the project,
	// additional folders, the session's scratch folder.
	Roots []string
	// Forbidden are folders that no tool enters.
	Forbidden []string
	// Permitted: the user allowed this call to leave the roots.
	Permitted bool
	// Judged is the path of the permission request that let this call run; a
	// path that leads elsewhere by now is refused. Where it is "", links never
	// lead out of the roots, and none is followed outside them.
	Judged string
	// Session is the session's id, Scratch its scratch folder, absolute.
	Session, Scratch string
	// Lookup finds a block of the conversation by its handle; nil finds none.
	Lookup func(content.Handle) (content.Block, bool)
	// Pictures lists the pictures of the conversation, oldest first; nil lists
	// none.
	Pictures func() []content.Handle
	// Denied reports whether the rules deny reading a file below a folder that may
	// be read; nil denies none. abs is absolute.
	Denied func(abs string) bool
	// Files remembers what the session has read; nil remembers nothing.
	Files *FileLog
	// Keep stores a file as it is, before a tool changes or removes it; nil
	// stores nothing. A file that is not there yet is noted as missing. abs is
	// absolute.
	Keep func(ctx context.Context, abs string) error
	// Expect is told what a file that was kept will hold, right before it is
	// written, so that a write that was cut off is known for this program's own;
	// nil is told nothing.
	Expect func(ctx context.Context, abs string, after content.Digest) error
	// Live shows what a call prints while it runs; nil shows nothing.
	Live func(text string)
	// Plan shows the model's plan; nil shows nothing.
	Plan func([]Step)
	// Host does what only the agent can do; nil where there is none, as in a
	// session that may not delegate.
	Host Host
}

// Step is one step of a plan.
type Step struct {
	Text   string     `json:"text"`
	Status StepStatus `json:"status"`
}

// StepStatus is how far a step is.
type StepStatus string

// The states of a step.
const (
	StepPending StepStatus = "pending"
	StepActive  StepStatus = "in_progress"
	StepDone    StepStatus = "completed"
)

// Host is what the agent does for the tools that delegate work.
type Host interface {
	// Look asks an agent that sees about a picture of the conversation.
	// agent is "" for any that may be called.
	Look(ctx context.Context, h content.Handle, question, agent string) (Result, error)
	// Task gives work to a sub-agent and waits for its answer.
	Task(ctx context.Context, o Order) (Result, error)
	// Escalate gives the work to an agent that can do more.
	Escalate(ctx context.Context, o Order) (Result, error)
	// StartJob starts work in the background and returns its id at once.
	StartJob(ctx context.Context, o Order) (id string, err error)
	// Jobs are the background jobs of the session, oldest first.
	Jobs(ctx context.Context) ([]JobState, error)
	// WaitJob waits for the end of a job, or for the end of ctx.
	WaitJob(ctx context.Context, id string) (JobState, error)
	// StopJob stops a job and waits until it has ended.
	StopJob(ctx context.Context, id string) error
}

// Order is work for another agent.
type Order struct {
	// Agent is its name in the configuration, "" for the one that the
	// configuration means.
	Agent string
	// Prompt says what to do, Title names it for people in a few words.
	Prompt, Title string
	// Handles are attachments of the conversation that go along as they are.
	Handles []content.Handle
	// Live shows what the other agent does while it works; nil shows nothing.
	Live func(text string)
}

// JobState is what is known of a background job.
type JobState struct {
	ID, Agent, Title string
	// State is "running", "done", "failed", "stopped" or "interrupted" (its
	// process ended before it did).
	State          string
	Started, Ended time.Time
	// Session holds its conversation.
	Session string
	// Report is its answer or its error: compact text, never a payload.
	Report string
}

// Result is what a call gave.
type Result struct {
	Sources []content.Source
	IsError bool
}

// A Tool is one thing that a model can do.
//
// All methods may be called from several goroutines.
type Tool interface {
	Spec() Spec
	// Request says what the call needs permission for, and gives a short
	// title for people. An error means that the arguments are wrong; its
	// text goes to the model.
	Request(args json.RawMessage, env Env) (permission.Request, string, error)
	// Run does it. An error ends the call, not the turn: its text goes to
	// the model.
	Run(ctx context.Context, args json.RawMessage, env Env) (Result, error)
}

// Previewer is a tool that can show what a call would change.
type Previewer interface {
	// Preview is what the user is shown when the call needs permission: a
	// difference, or what will be written. It is "" where there is nothing to
	// show. The call need not be permitted yet; the text goes to the user only.
	Preview(args json.RawMessage, env Env) string
}

// Checker is a tool that can tell that a call would fail, so that nobody is asked for
// nothing.
type Checker interface {
	// Check is called when the call's turn has come and before the user is asked. Its
	// error ends the call as one of Run does. The call need not be permitted yet, so
	// it tells nothing of what the model has not seen. Run checks again.
	Check(ctx context.Context, args json.RawMessage, env Env) error
}

// Registry is a fixed set of tools, sorted by name.
type Registry struct{ tools []Tool }

// NewRegistry makes a registry. Two tools of one name are an error.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools)}
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	for i := 1; i < len(r.tools); i++ {
		if name := r.tools[i].Spec().Name; name == r.tools[i-1].Spec().Name {
			return nil, fmt.Errorf("register tools: two are named %q", name)
		}
	}
	return r, nil
}

// All returns the tools in order. The slice is the registry's own.
func (r *Registry) All() []Tool { return r.tools }

// Lookup finds a tool by its name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	for _, t := range r.tools {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// ErrOutside reports a path outside the roots.
var ErrOutside = errors.New("it lies outside the folders that you may read")

// Prose makes the source of a tool's own words.
func Prose(s string) content.Source {
	return content.Source{Payload: content.Prose{Text: s}, Inlet: content.InletTool, Chooser: content.ChosenByTool, As: content.KindText}
}

// Decode reads a call's arguments strictly.
func Decode(args json.RawMessage, into any) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read the arguments: more follows after the object")
	}
	return nil
}
