package agent

import (
	"context"
	"encoding/json"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// This file declares what an agent may be given beyond what it cannot do without.
// Every field of Options of one of these types may be nil.

// Toolbox gives the tools that are not the same for every session, such as those
// of MCP servers.
type Toolbox interface {
	// Tools returns them for the turn that begins, and what went wrong with
	// those that are missing. It returns when ctx ends at the latest.
	Tools(ctx context.Context, s Stored) ([]tool.Tool, []delivery.Notice)
}

// Permits keep what users allowed for good, by project folder.
type Permits interface {
	Allowed(ctx context.Context, cwd string) ([]permission.Rule, error)
	Allow(ctx context.Context, cwd string, r permission.Rule) error
}

// Checkpoints keep files as they were before a turn changed them.
type Checkpoints interface {
	// Keep stores the file at the absolute path as it is now, once for each
	// turn and path. A file that is not there is noted as missing.
	Keep(ctx context.Context, session, turn, path string) error
	// Wrote notes how a turn has left a file that it kept, so that a restore
	// can tell its changes from those of others.
	Wrote(ctx context.Context, session, turn, path string) error
	// Changed lists what the turns changed, the newest turn first.
	Changed(ctx context.Context, session string, turns []string) ([]FileChange, error)
	// Restore puts files back as they were before the oldest of the turns.
	// A file that somebody else has changed since stays as it is and is
	// named in Kept.
	Restore(ctx context.Context, session string, turns []string) (Restored, error)
}

// FileChange is a file that a turn changed.
type FileChange struct {
	Turn, Path string
	// Created: there was no such file before.
	Created bool
}

// Restored is what a restore did, by absolute path.
type Restored struct {
	Files, Removed, Kept []string
}

// Descriptions keep what agents said about pictures.
type Descriptions interface {
	Description(ctx context.Context, picture content.Digest, question string) (d delivery.Description, found bool, err error)
	SaveDescription(ctx context.Context, picture content.Digest, question string, d delivery.Description) error
}

// Summary stands for the oldest turns of a session.
type Summary struct {
	// Turns is how many leading turns it stands for.
	Turns int
	Text  string
	// Model wrote it.
	Model   string
	Created time.Time
}

// Reductions keep what was taken out of a conversation on purpose.
type Reductions interface {
	// Summary returns the newest one of a session; Turns is 0 for none.
	Summary(ctx context.Context, session string) (Summary, error)
	SaveSummary(ctx context.Context, session string, s Summary) error
	// Detached are the blocks that the user switched off.
	Detached(ctx context.Context, session string) (map[content.Handle]bool, error)
	SetDetached(ctx context.Context, session string, handles []content.Handle, off bool) error
	// UndoTurns takes turn and all after it out of the session. Their handles
	// are not used again.
	UndoTurns(ctx context.Context, session, turn string) error
}

// Guide is what a project says to agents.
type Guide interface {
	// Instructions is the text that the system prompt carries: rules of the
	// project and the list of its skills. It is the same as long as the files
	// are.
	Instructions(ctx context.Context, cwd string, dirs []string) (text string, notices []delivery.Notice)
	// Beside returns the rules that lie nearer to the file at path than those
	// in Instructions, one for each folder; a tool is about to use the file.
	Beside(ctx context.Context, cwd, path string) []Rules
}

// Rules are a project's rules for one folder.
type Rules struct{ File, Text string }

// HookEvent is a moment at which the user's own commands may step in. Nothing of
// it is a payload.
type HookEvent struct {
	// Name is "prompt", "pre_tool", "post_tool" or "stop".
	Name               string
	Session, Turn, Cwd string
	// Tool, Arguments and Request are of a tool call.
	Tool      string
	Arguments json.RawMessage
	Request   permission.Request
	// Text is the compact content: of the prompt, of a call's result, of the
	// answer.
	Text    string
	IsError bool
}

// HookResult is what the user's commands said.
type HookResult struct {
	// Deny stops the call or the prompt; Reason tells why.
	Deny   bool
	Reason string
	// Allow permits a call without a question; Ask asks about one that needs
	// none.
	Allow, Ask bool
	// Context is text for the model.
	Context string
}

// Hooks run the user's commands.
type Hooks interface {
	Run(ctx context.Context, e HookEvent) (HookResult, []delivery.Notice)
}

// Directory names the agents that a model may call.
type Directory interface {
	// Callable lists the agents that the agent called name may call, sorted
	// by name.
	Callable(name string) []Callable
}

// Callable is an agent that another may call.
type Callable struct {
	Name, Model string
	// Purpose says in a few words what it is for, "" where nothing is said.
	Purpose string
	// Sees is whether it takes pictures, as far as that is known.
	Sees delivery.Answer
	// Runner: it is a program of its own.
	Runner bool
}

// Hosts make the tools that delegate work possible: it is asked at the start of a
// turn. A nil result is none.
type Hosts interface {
	Host(s *Session, t TurnInfo) tool.Host
}

// TurnInfo is what a delegated piece of work may know of the turn that gave it.
type TurnInfo struct {
	ID string
	// Agent is the name of the agent that works.
	Agent string
	Front Front
	// Compact is the conversation in compact form, never a payload.
	Compact func() string
}

// Prices says what a request cost.
type Prices interface {
	// Cost is in US dollars; known is false where there is no price.
	Cost(m Model, u content.Usage) (dollars float64, known bool)
}

// CostRecorder is a [TurnRecorder] that also keeps what turns cost, in US dollars.
type CostRecorder interface {
	SaveCost(ctx context.Context, session, turn string, dollars float64) error
}
