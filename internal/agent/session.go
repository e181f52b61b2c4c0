package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// Errors that callers may test for.
var (
	// ErrStrict: something would be degraded, and Prompt.Strict was set.
	ErrStrict = errors.New("a block would not be delivered whole")
	// ErrEmpty: a prompt without a single source.
	ErrEmpty = errors.New("the prompt is empty")
	// ErrClosed: the session has been closed.
	ErrClosed = errors.New("the session is closed")
	// ErrEnded: the turn has ended, so nobody can be asked in it.
	ErrEnded = errors.New("the turn has ended")
)

// Agent runs sessions. It holds no content.
type Agent struct{ o Options }

// New wires an agent.
func New(o Options) *Agent { return &Agent{o: o} }

// Session is an open session. Its methods may be called from several
// goroutines; one turn runs at a time.
type Session struct {
	a *Agent
	// turn is held by the turn that runs; waiting for it is the queue.
	turn chan struct{}

	// saving is held from reading stored to having written it, so that an
	// older state never overwrites a newer one. It is taken before mu.
	saving sync.Mutex

	mu     sync.Mutex
	stored Stored
	turns  []content.Turn
	// restored are the blocks that came from the disk: what falls back to a
	// file from those is staged under replayed/. Only a turn touches it.
	restored map[content.Handle]bool
	closed   bool
	permits  *permits
	lane     lane
	// aside are the lanes of models that stood in for the chosen one.
	aside map[string]lane
	// parent is the session that this one works for, nil for none; origin is
	// the turn in which it was made.
	parent *Session
	origin origin
	// files remembers what the model has read.
	files *tool.FileLog
	// front shows the turn that runs, nil for none; watcher is told of jobs
	// between turns.
	front   *serial
	watcher func(tool.JobState)
	// notes wait for the next request.
	notes []note
	// owed is what was asked beside the conversation and is not charged yet.
	owed debt
	// planned: the last turn was in plan mode.
	planned bool
	// ruled are the rules of folders that the model has been given.
	ruled map[Rules]bool
	// forgetful: a backend did not take back a model's thinking, so none is
	// sent as long as the session is open. Only a turn touches it.
	forgetful bool
	// seen is what the disk said of the session when it was last read or
	// written here. Only a turn touches it.
	seen Stored
	// unseen are the agents that could not look at a picture in this turn.
	unseen failedLooks
	// mode is what SetMode chose, nil where the policy decides.
	mode *permission.Mode
}

// Create starts a session. cwd and dirs are absolute.
func (a *Agent) Create(ctx context.Context, agent, cwd string, dirs []string) (*Session, error) {
	if _, err := a.o.Models.Model(ctx, agent); err != nil {
		return nil, err
	}
	now := a.o.Now()
	s := a.session(Stored{ID: a.o.NewID(), Cwd: cwd, Agent: agent, Dirs: dirs, Generation: 1, Created: now, Updated: now})
	if err := a.o.Sessions.CreateSession(ctx, s.stored); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	return s, nil
}

// Open continues a stored session. agent, cwd and dirs replace what is stored
// unless they are empty.
func (a *Agent) Open(ctx context.Context, id, agent, cwd string, dirs []string) (*Session, error) {
	stored, err := a.o.Sessions.Session(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	if agent != "" {
		stored.Agent = agent
	}
	if cwd != "" {
		stored.Cwd = cwd
	}
	if dirs != nil {
		stored.Dirs = dirs
	}
	turns, err := a.o.Turns.Load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", id, err)
	}
	s := a.session(stored)
	s.mode, s.planned = modeOf(stored), plannedIn(turns)
	s.seen, s.turns, s.restored = stored, turns, handles(turns)
	return s, nil
}

// modeOf is the mode that was chosen for a stored session, nil for none. One that
// nobody knows any more is none: the configuration decides.
func modeOf(stored Stored) *permission.Mode {
	m, err := permission.ParseMode(stored.Mode)
	if err != nil || stored.Mode == "" {
		return nil
	}
	return &m
}

// session makes an open session of what is stored.
func (a *Agent) session(stored Stored) *Session {
	return &Session{a: a, turn: make(chan struct{}, 1), stored: stored, permits: newPermits(), files: &tool.FileLog{}}
}

func handles(turns []content.Turn) map[content.Handle]bool {
	out := map[content.Handle]bool{}
	for _, t := range turns {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				out[b.BlockHandle()] = true
			}
		}
	}
	return out
}

// own makes the session this process's for one turn. Another process may have
// worked in it meanwhile; then it is read again.
func (s *Session) own(ctx context.Context, f Front) (release func(), err error) {
	unlock := func() {}
	if lock := s.a.o.Lock; lock != nil {
		busy := func() {
			tell(f, delivery.Notice{Severity: delivery.SeverityInfo, Title: "waiting for another tote that works in this session"})
		}
		if unlock, err = lock(ctx, s.ID(), busy); err != nil {
			return nil, err
		}
	}
	if err := s.refresh(ctx); err != nil {
		unlock()
		return nil, err
	}
	return func() {
		defer unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		// Without an answer the next turn reads everything again.
		s.seen, _ = s.a.o.Sessions.Session(ctx, s.ID())
	}, nil
}

// refresh reads the session again where the disk holds other turns.
func (s *Session) refresh(ctx context.Context) error {
	stored, err := s.a.o.Sessions.Session(ctx, s.ID())
	if err != nil {
		return fmt.Errorf("open session %s: %w", s.ID(), err)
	}
	s.followMode(stored)
	if len(s.Turns()) == stored.Turns && (stored.Turns == 0 || stored.Updated.Equal(s.seen.Updated)) {
		return nil
	}
	turns, err := s.a.o.Turns.Load(ctx, s.ID())
	if err != nil {
		return fmt.Errorf("open session %s: %w", s.ID(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored.Agent, stored.Cwd, stored.Dirs, stored.Mode = s.stored.Agent, s.stored.Cwd, s.stored.Dirs, s.stored.Mode
	s.planned = plannedIn(turns)
	s.stored, s.turns, s.restored, s.lane, s.aside = stored, turns, handles(turns), lane{}, nil
	return nil
}

// followMode takes over the mode that another process has chosen meanwhile, so that
// it is not written over. A mode that holds for this process only stays.
func (s *Session) followMode(disk Stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if disk.Mode == s.stored.Mode {
		return
	}
	if s.mode == nil || s.mode.String() == s.stored.Mode {
		s.mode = modeOf(disk)
	}
	s.stored.Mode = disk.Mode
}

// ID returns the session's id.
func (s *Session) ID() string { return s.Stored().ID }

// Stored returns what is listed of the session.
func (s *Session) Stored() Stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored
}

// SetAgent chooses the agent for the turns to come.
func (s *Session) SetAgent(ctx context.Context, name string) error {
	if _, err := s.a.o.Models.Model(ctx, name); err != nil {
		return err
	}
	if err := s.update(ctx, func(st *Stored) { st.Agent = name }); err != nil {
		return fmt.Errorf("choose agent %q: %w", name, err)
	}
	return nil
}

// update changes what is listed of the session, in memory and on the disk.
func (s *Session) update(ctx context.Context, change func(*Stored)) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	change(&s.stored)
	stored := s.stored
	s.mu.Unlock()
	return s.a.o.Sessions.UpdateSession(ctx, stored)
}

// ChooseMode is SetMode for as long as there is the session: it holds in the next
// process too.
func (s *Session) ChooseMode(ctx context.Context, m permission.Mode) error {
	s.SetMode(m)
	before := ""
	err := s.update(ctx, func(st *Stored) { before, st.Mode = st.Mode, m.String() })
	if err != nil {
		s.mu.Lock()
		s.stored.Mode = before
		s.mu.Unlock()
		return fmt.Errorf("mode %s holds only as long as the session is open: %w", m, err)
	}
	return nil
}

// SetMode chooses how much the turns to come may do without asking, whatever
// the configuration says, as long as the session is open.
func (s *Session) SetMode(m permission.Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = &m
}

// Mode is how much the session may do without asking: what SetMode chose, else
// what the configuration says. A session that works for another has that one's,
// unless it was given a stricter one.
func (s *Session) Mode() permission.Mode {
	s.mu.Lock()
	chosen := s.mode
	s.mu.Unlock()
	switch {
	case s.parent != nil && chosen != nil:
		return stricter(*chosen, s.parent.Mode())
	case s.parent != nil:
		return s.parent.Mode()
	case chosen != nil:
		return *chosen
	}
	return s.a.o.Policy().Rules.Mode
}

// Blob opens the bytes of an attachment, for a surface that shows it.
func (s *Session) Blob(d content.Digest) (io.ReadCloser, error) { return s.a.o.Store.Open(d) }

// policy is what the configuration says, with the session's own mode.
func (s *Session) policy() Policy {
	p := s.a.o.Policy()
	p.Rules.Mode = s.Mode()
	return p
}

// Verdict is what the rules say of a request now.
func (s *Session) Verdict(r permission.Request) (permission.Verdict, string) {
	return s.policy().Rules.Decide(r)
}

// Model returns the path that the next turn would take.
func (s *Session) Model(ctx context.Context) (Model, error) {
	return s.a.o.Models.Model(ctx, s.Stored().Agent)
}

// Turns returns the turns so far, with the messages that the running turn has
// recorded. The messages must not be changed.
func (s *Session) Turns() []content.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns)
}

// Envelopes yields what the client sent for every user block, in order.
func (s *Session) Envelopes(ctx context.Context, fn func(turn string, n int, env content.Envelope) error) error {
	return s.a.o.Turns.Envelopes(ctx, s.ID(), fn)
}

// Restore gives a client's block back byte for byte.
func (s *Session) Restore(env content.Envelope) ([]byte, error) { return s.a.o.Inlet.Restore(env) }

// Close refuses further turns and waits for the one that runs, whose context
// the caller has cancelled.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.leave()
	return nil
}

func (s *Session) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // a prompt that was cancelled before its turn never begins
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Session) leave() { <-s.turn }

// scope is what an ingest of this session may look at.
func (s *Session) scope(f Front) Scope {
	st := s.Stored()
	sc := Scope{Cwd: st.Cwd, Roots: s.roots(), Forbidden: s.a.o.Forbidden, Lookup: s.lookup}
	if f != nil {
		sc.Ask = func(ctx context.Context, path string) (bool, error) { return s.askForFile(ctx, f, path) }
	}
	return sc
}

func (s *Session) roots() []string {
	st := s.Stored()
	roots := append([]string{filepath.Clean(st.Cwd)}, st.Dirs...)
	for _, d := range s.a.o.Policy().Dirs {
		if !slices.Contains(roots, d) {
			roots = append(roots, d)
		}
	}
	return append(roots, s.a.o.Stager.Dir(st.ID))
}

// pictures are the handles of the pictures of the conversation, oldest first.
func (s *Session) pictures() []content.Handle {
	var out []content.Handle
	for _, t := range s.Turns() {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				if b.Kind() == content.KindImage {
					out = append(out, b.BlockHandle())
				}
			}
		}
	}
	return out
}

// lookup finds a block of the conversation by its handle.
func (s *Session) lookup(h content.Handle) (content.Block, bool) {
	for _, t := range s.Turns() {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				if b.BlockHandle() == h {
					return b, true
				}
			}
		}
	}
	return nil, false
}
