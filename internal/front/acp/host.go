package acp

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/wire"
	"tote/internal/front/slash"
)

// Errors that a Host wraps.
var (
	// ErrNoSession: no session of that id is stored.
	ErrNoSession = errors.New("no such session")
	// ErrFolder: a working folder that is none.
	ErrFolder = errors.New("the working folder is not there")
	// ErrCursor: a cursor that List never gave.
	ErrCursor = errors.New("not a cursor of the session list")
)

// A Host is what the sessions of a connection live in. Its methods may be called
// from several goroutines.
type Host interface {
	// Workspace builds, or reuses, the agents for a session's working folder,
	// which is absolute.
	Workspace(ctx context.Context, cwd string) (Workspace, error)
	// List returns a page of the stored sessions, of one folder or of all
	// where cwd is empty, and the cursor of the next page, "" for none.
	List(ctx context.Context, cwd, cursor string) (page []agent.Stored, next string, err error)
	// Delete removes a session with the files that were staged for it. It is
	// no error when there is none.
	Delete(ctx context.Context, id string) error
	// Stored returns a stored session; the error wraps ErrNoSession when there
	// is none.
	Stored(ctx context.Context, id string) (agent.Stored, error)
}

// Workspace is a working folder with what runs in it.
type Workspace struct {
	Agent *agent.Agent
	// Default names the agent of a new session.
	Default string
	// Choices are the agents to offer. It is asked again after each turn.
	Choices  func(ctx context.Context) ([]Choice, error)
	Settings Settings
	// Notices are shown once, when the session has been opened.
	Notices []delivery.Notice
	// Untrusted is set where settings of the project wait for trust.
	Untrusted *Untrusted
	// Give has a session use the MCP servers that its client wants; nil where
	// none are used.
	Give func(session string, servers []GivenServer)
	// Ended is told of a session that is closed; nil is told nothing.
	Ended func(session string)
	// World is what the /commands of a session act on, nil for none.
	World func(*agent.Session) *slash.World
}

// GivenServer is an MCP server that a client wants connected.
type GivenServer = wire.MCPServer

// Choice is an agent that the user can choose.
type Choice struct {
	// Name is the agent's name in the configuration, Title what people read,
	// Name where it is empty.
	Name, Title string
	Model       string
	Vision      delivery.Capability
}

// Settings are those of the configuration that are about editors.
type Settings struct {
	// Echo is whether the client is sent its own blocks: "on", "off", or
	// "auto", which is also what the empty string means.
	Echo string
	// UnknownBlocks is what becomes of a block of a kind nobody here knows:
	// "reject" refuses the prompt, all else degrades the block visibly.
	UnknownBlocks string
}

// The values of Settings.
const (
	EchoOn        = "on"
	EchoOff       = "off"
	UnknownReject = "reject"
)

// Untrusted is a project whose settings have not been trusted.
type Untrusted struct {
	Folder, Fingerprint string
	// Withheld names the settings that have no effect yet.
	Withheld []string
	// Accept trusts the folder as it is now.
	Accept func(ctx context.Context) error
}

// Options configure Serve. Host is required.
type Options struct {
	// Version is that of the program.
	Version string
	Host    Host
	// V2 allows version 2 of the protocol, a draft, to clients that ask for it.
	V2 bool
	// Fork serves session/fork of version 1, which is unstable.
	Fork bool
	// MaxLine is the longest message that is taken, in bytes; 0 means
	// rpc.DefaultMaxLine.
	MaxLine int64
	// Log takes what goes wrong, without payload; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil leaves times out.
	Now func() time.Time
	// NewID names a turn; nil makes random names. Ids should sort by time
	// where the history wants it so.
	NewID func() string
}

func (o Options) newID() string {
	if o.NewID == nil {
		return rand.Text()
	}
	return o.NewID()
}
