package agent

import (
	"context"
	"io"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// Scope is what an ingest may look at.
type Scope struct {
	Cwd       string
	Roots     []string
	Forbidden []string
	// Ask asks the user for one path outside the roots; nil is no.
	Ask func(ctx context.Context, path string) (bool, error)
	// Lookup finds a block of the session by its handle.
	Lookup func(content.Handle) (content.Block, bool)
}

// Inlet turns a source into blocks.
type Inlet interface {
	// Ingest fails only when ctx ends or the store cannot be written; all
	// else is a block with a fault. The envelopes parallel the blocks.
	Ingest(ctx context.Context, s content.Source, sc Scope) ([]content.Block, []content.Envelope, error)
	// Mentions returns the explicit @path tokens of a text, in order, without
	// the "@". A token need not name a file.
	Mentions(text string) []string
	// Extension is the file extension that fits a block, with its dot.
	Extension(content.Block) string
	// Restore gives a client's block back byte for byte.
	Restore(content.Envelope) ([]byte, error)
}

// Store holds the bytes.
type Store interface {
	Open(content.Digest) (io.ReadCloser, error)
	// Check verifies a blob, once per process and file.
	Check(content.Digest) error
}

// Cutter cuts variants of pictures.
type Cutter interface {
	// Cut makes the variant of original that keeps within the bounds. The
	// same arguments give the same blob.
	Cut(ctx context.Context, original content.Blob, b delivery.Bounds) (content.Blob, error)
}

// Stager keeps files for the model's tools.
type Stager interface {
	// Dir is the session's scratch folder.
	Dir(session string) string
	// Stage writes a blob to a file of that name below the session's
	// folder and returns its path. It does nothing when it is there.
	Stage(ctx context.Context, session, name string, b content.Blob) (string, error)
}

// Stored is a session as it is listed.
type Stored struct {
	ID, Title, Cwd, Agent string
	Dirs                  []string
	Generation            int
	Created, Updated      time.Time
	Turns, Pictures       int
	// Parent is the session that this one was made from, "" for none; Kind is
	// "" for a user's session and a fork, else "task", "job" or "escalation".
	Parent, Kind string
	// Mode is the permission mode that the user chose for it, "" for none.
	Mode string
}

// Lane is one session on one path and model, as long as nothing that decides
// what is sent has changed.
type Lane struct {
	Endpoint   string
	Generation int
}

// SessionRecorder keeps what is listed of sessions, and their numbers.
type SessionRecorder interface {
	CreateSession(ctx context.Context, s Stored) error
	UpdateSession(ctx context.Context, s Stored) error
	Session(ctx context.Context, id string) (Stored, error)
	// TakeHandles reserves numbers and returns the first of each kind.
	TakeHandles(ctx context.Context, session string, counts map[content.Kind]int) (map[content.Kind]int, error)
}

// TurnRecorder keeps what was said in sessions. What BeginTurn and
// AppendMessage have taken is on the disk when they return.
type TurnRecorder interface {
	BeginTurn(ctx context.Context, session string, t content.Turn) error
	AppendMessage(ctx context.Context, session, turn string, m content.Message) error
	SaveDraft(ctx context.Context, session, turn, text string) error
	EndTurn(ctx context.Context, session, turn string, stop content.StopReason, u content.Usage) error
	Load(ctx context.Context, session string) ([]content.Turn, error)
	// Envelopes yields every user block of a session with its envelope.
	Envelopes(ctx context.Context, session string, fn func(turn string, n int, env content.Envelope) error) error
}

// LaneMemory keeps what was sent.
type LaneMemory interface {
	Ledger(ctx context.Context, session string, lane Lane) (map[content.Handle]delivery.LedgerEntry, error)
	SaveLedger(ctx context.Context, session string, lane Lane, rows map[content.Handle]delivery.LedgerEntry) error
	SaveReceipts(ctx context.Context, session, turn string, request, attempt int, rs []delivery.Receipt) error
	NextRequest(ctx context.Context, session string) (int, error)
}

// Verdict is what an endpoint answered about a picture or a media type.
type Verdict struct {
	Endpoint string
	// Digest or MIME is set.
	Digest   content.Digest
	MIME     string
	Accepted bool
	Reason   string
	// Suspects is how many attachments the verdict was shared between.
	Suspects int
	// Doubtful: the backend did not refuse, it broke down, which may have
	// another cause.
	Doubtful bool
}

// EndpointMemory keeps what was learned about endpoints.
type EndpointMemory interface {
	// Facts returns what is known and has not expired.
	Facts(ctx context.Context, endpoint string) (delivery.Facts, error)
	SaveVerdicts(ctx context.Context, vs []Verdict) error
	// SaveEvidence notes whether an endpoint takes a kind.
	SaveEvidence(ctx context.Context, endpoint string, k content.Kind, c delivery.Capability) error
	// SaveLimit notes a learned limit under one of delivery's names for
	// limits, or under LimitHoist.
	SaveLimit(ctx context.Context, endpoint, name string, value int64) error
}

// Model is a path to a model, ready to use.
type Model struct {
	// Name is the agent's name in the configuration.
	Name     string
	Provider provider.Provider
	// Profile is what is known now.
	Profile delivery.Profile
	// ProbeDue: it is not known whether the model sees, and it was not
	// probed lately.
	ProbeDue bool
	// Effort is how hard the model should think.
	Effort    provider.Effort
	Fallbacks []string
	// Runner: it is a program with tools of its own, which gets none of ours.
	Runner bool
	// Describer names the agent that describes pictures to it, EscalateTo the
	// one that takes over what it cannot do; "" for none.
	Describer, EscalateTo string
	// Unusable says why it cannot be asked as things stand: a key or a program
	// is missing. Nil where nothing is known to be missing. No prompt is taken
	// in for it.
	Unusable error
}

// called is what people call it: the model's name, or that of its agent where
// something else chooses the model.
func (m Model) called() string {
	if m.Profile.Model == "" {
		return m.Name
	}
	return m.Profile.Model
}

// Models gives paths to models by their agents' names.
type Models interface {
	// Model looks evidence up anew on each call. Where LimitHoist was saved
	// for the endpoint, the profile's Placement.HoistResults is set.
	Model(ctx context.Context, name string) (Model, error)
	// Reload looks at the configuration again and returns what changed, in
	// words for the user.
	Reload(ctx context.Context) ([]delivery.Notice, error)
}

// ProbeMode is when a model is probed for sight.
type ProbeMode uint8

// The probe modes.
const (
	ProbeAuto  ProbeMode = iota // when a picture meets a model that is not known
	ProbeAsk                    // the same, after asking
	ProbeNever                  // never
)

// Describer asks servers what they say of themselves.
type Describer interface {
	// Describe asks the server behind an agent whether it takes pictures,
	// sound and documents, at most once a day for each endpoint, and
	// remembers the answer. changed says that what is known about the
	// endpoint has changed. Its word may withhold media or lead to a probe;
	// it enables nothing. It returns when ctx ends. An error settles nothing
	// and is shown to nobody.
	Describe(ctx context.Context, name string) (changed bool, err error)
}

// Prober makes and judges the probe.
type Prober interface {
	// Picture is a small picture that shows a code, and the question about
	// it.
	Picture(seed uint64) (png []byte, code, question string, err error)
	Judge(code, answer string, u content.Usage, f delivery.Failure) delivery.Answer
}

// Policy is what the configuration says about turns.
type Policy struct {
	Rules   permission.Rules
	Probe   ProbeMode
	Budgets delivery.Budgets
	// MaxSteps bounds the requests of one turn: 0 takes DefaultMaxSteps.
	MaxSteps int
	// MaxSends bounds the sendings of one request below delivery.MaxSends: 0
	// takes that.
	MaxSends int
	// Dirs are further folders of the user's that tools may work in.
	Dirs []string
	// ToolOutput bounds the text of one tool's result in bytes: 0 takes
	// DefaultToolOutput.
	ToolOutput int
	// Summariser names the agent that summarises conversations, "" for the one
	// that works.
	Summariser string
}

// DefaultMaxSteps is how many requests one turn may take.
const DefaultMaxSteps = 100

// Options wires an agent. Everything but Now is required; Now defaults to
// no clock at all (a zero time), which only tests want.
type Options struct {
	Inlet     Inlet
	Store     Store
	Cutter    Cutter
	Stager    Stager
	Sessions  SessionRecorder
	Turns     TurnRecorder
	Lanes     LaneMemory
	Endpoints EndpointMemory
	Models    Models
	Prober    Prober
	// Describer is nil where servers are not asked about themselves.
	Describer Describer
	Tools     *tool.Registry

	// The following may be nil; see the types.
	Toolbox      Toolbox
	Permits      Permits
	Checkpoints  Checkpoints
	Descriptions Descriptions
	Reductions   Reductions
	Guide        Guide
	Hooks        Hooks
	Directory    Directory
	Hosts        Hosts
	Prices       Prices

	// Forbidden are folders that tools never enter.
	Forbidden []string
	// Lock keeps other processes out of a session for the time of a turn; nil
	// where there are none. It waits, and calls busy once before it does.
	Lock func(ctx context.Context, session string, busy func()) (release func(), err error)
	// Policy is asked at the start of every turn.
	Policy func() Policy
	Now    func() time.Time
	// NewID makes a new random id that sorts by time.
	NewID func() string
	// Rand makes a random number.
	Rand func() uint64
}
