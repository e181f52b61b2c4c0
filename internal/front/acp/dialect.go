package acp

import (
	"context"
	"encoding/json"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/tool"
)

// A dialect is a version of the protocol: it spells what the server says, and reads
// what differs between the versions in what a client asks. One is chosen for the
// whole connection by initialize. It holds no state of a session and sends nothing.
//
// Where a method returns updates, an empty list means that the version has no word
// for it.
type dialect interface { //nolint:interfacebloat // one method for each thing that is said
	// number is the version.
	number() int
	// hello is the answer to initialize.
	hello(o Options) any

	// opening reads the parameters of a method that opens a session.
	opening(method string, params []byte) (opening, *rpc.Error)
	// opened answers it; id is empty where the client knows it.
	opened(id string, s opened) any
	// choice reads the parameters of session/set_config_option, options answers
	// it, and optionsChanged and modeChanged tell of a change.
	choice(params []byte) (wire.SetConfigParams, *rpc.Error)
	options(list []wire.ConfigOption) any
	optionsChanged(list []wire.ConfigOption) any
	modeChanged(mode string) []any
	commandsChanged(list []wire.Command) any

	// echoes reports whether the client is sent its own blocks.
	echoes(client wire.InitializeParams, setting string) bool
	// unshowable says why a block of the client cannot be sent back as it is, ""
	// where it can.
	unshowable(b wire.Block) string
	// whole is a message with all its blocks, nil where messages only grow by
	// chunks.
	whole(kind, id string, blocks []rpc.Parts) any
	// answerID tells the answers of attempts apart where a withdrawn one stays.
	answerID(id string, attempt int) string
	// withdrawn takes back what of an answer has been shown.
	withdrawn(w withdrawn) []any
	// notice tells the user something; takes says that the client asked for
	// notices, id names a message of our own.
	notice(takes bool, id string, n delivery.Notice) any

	// A call is announced, runs, prints, and ends. all is the end of what it has
	// printed so far, text what is new. replayed is a call with its end.
	announced(c *call) []any
	runs(c *call) []any
	printed(c *call, text, all string) []any
	ended(c *call, e ending) []any
	replayed(c *call, e ending) []any
	// question asks whether something may be done.
	question(session string, q question) any
	plan(steps []tool.Step) any

	// state tells what the session does.
	state(s state) []any
	// inserts: a prompt is shown and answered once its message is in the
	// conversation, with what inserted gives; else it is shown at once and
	// answered with the end of its turn.
	inserts() bool
	inserted(messageID string) any
	// finished answers a prompt with the end of its turn, nil where that is told
	// by the state.
	finished(stop string, receipts []agent.ReceiptRecord) any
	// dropped answers a prompt that was cancelled before it was inserted.
	dropped() (any, error)
	// unserved gives the reason why a method is not there.
	unserved(method string) (why string, ok bool)
}

// opening is what a client wants of a session that it opens.
type opening struct {
	wire.SessionParams
	// replay: the history is to be shown.
	replay bool
}

// opened is what a client is told of a session that it opens.
type opened struct {
	options  []wire.ConfigOption
	mode     string
	commands []wire.Command
}

// withdrawn is what of an answer is taken back.
type withdrawn struct {
	// message and thought are the ids of what has been shown, "" for nothing.
	message, thought string
	// note names a message of our own that says so.
	note, reason string
}

// call is a tool call as it is shown.
type call struct {
	id, name, title, kind string
	input                 json.RawMessage
	locations             []wire.Location
	// content is what an announced call shows.
	content []json.RawMessage
	// command is the line that a shell runs in the folder cwd, "" for none.
	// waits: the call ends with it, and so what it prints is the call's.
	command, cwd string
	waits        bool
	// file is what the call changes, nil for none.
	file *file
	// began: it has begun to run. live: it has printed something.
	began, live bool
	// tail is the end of what it has printed.
	tail string
}

// status is how a call ended.
type status uint8

// The ends of a call; one that still runs has none.
const (
	statusRunning status = iota
	statusCompleted
	statusFailed
	statusCancelled
)

// ending is how a call ended and what it gave.
type ending struct {
	status status
	// content is what it gave, and text what of it is text.
	content []json.RawMessage
	text    string
	// media is what of the content is no text.
	media []json.RawMessage
	// change is what became of a file, nil where it is not known.
	change *change
}

// question is what the user is asked.
type question struct {
	call          *call
	title, reason string
	preview       string
	change        *change
	options       []wire.PermissionOption
}

// phase is what a session does.
type phase uint8

// The phases of a session.
const (
	phaseIdle phase = iota
	phaseRunning
	phaseAsking
)

// state is a phase and, where it is the end of a turn, how that ended: stop is a
// stop reason, or err is set.
type state struct {
	phase    phase
	stop     string
	err      *rpc.Error
	receipts []agent.ReceiptRecord
}

// dialect is the version that initialize has chosen.
func (s *server) dialect() dialect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.speaks
}

// tellAll sends updates in order.
func (ses *session) tellAll(ctx context.Context, updates ...any) {
	ses.show.Lock()
	defer ses.show.Unlock()
	for _, u := range updates {
		_ = ses.put(ctx, u) // it fails as tell does
	}
}
