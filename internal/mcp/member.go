package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// settleTime is how long a server has to run to be as good as new.
const settleTime = time.Minute

// member is one server of a scope, over all its starts.
type member struct {
	o      *Options
	server Server
	scope  string
	dir    string
	mask   masker
	keeper *keeper

	mu       sync.Mutex
	state    State
	link     *link
	offers   offers
	err      error
	news     string        // what happened since the last turn
	starting chan struct{} // closed when the start that runs has ended
	stop     context.CancelFunc
	closed   bool
	started  time.Time
	failures int
	retryAt  time.Time
	crowded  bool // the user was told that it offers too many tools
	// silent: turns have waited for it in vain, and wait no more until it is ready.
	silent bool
	// late: the user was told that it is still starting.
	late bool
	// stuck: it did not say what has changed when it was asked.
	stuck bool
}

func newMember(o *Options, sc Scope, s Server) *member {
	s.Args, s.Env, s.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers) // the caller may go on with its own
	s.Allow, s.Deny = slices.Clone(s.Allow), slices.Clone(s.Deny)
	o = s.within(o)
	m := &member{o: o, server: s, scope: sc.ID, dir: sc.Dir, mask: newMasker(s), keeper: &keeper{o: o, server: s}, state: StateIdle}
	if s.Disabled {
		m.state = StateDisabled
	}
	return m
}

// backoff is the time before the n-th start after a failure. The first is at once.
func backoff(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	return min(time.Second<<(2*(n-2)), time.Minute)
}

// ready returns the connection and starts the server where there is none. It
// waits for the start as long as ctx lasts.
func (m *member) ready(ctx context.Context) (*link, error) {
	for {
		m.mu.Lock()
		m.notice()
		switch {
		case m.closed:
			m.mu.Unlock()
			return nil, fmt.Errorf("the MCP server %s is not used any more", m.server.Name)
		case m.state == StateDisabled:
			m.mu.Unlock()
			return nil, fmt.Errorf("the MCP server %s is disabled", m.server.Name)
		case m.state == StateReady:
			l := m.link
			m.mu.Unlock()
			return l, nil
		case m.state != StateStarting:
			if err := m.mayStart(); err != nil {
				m.mu.Unlock()
				return nil, err
			}
			m.launch()
		}
		starting := m.starting
		m.mu.Unlock()
		select {
		case <-starting:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		m.mu.Lock()
		err := m.err
		failed := m.state == StateFailed || m.state == StateLogin
		m.mu.Unlock()
		if failed {
			return nil, fmt.Errorf("the MCP server %s did not start: %w", m.server.Name, err)
		}
	}
}

// notice sees that a server has ended. m.mu is held.
func (m *member) notice() {
	if m.state != StateReady || m.link.alive() {
		return
	}
	words := m.lastWords(m.link)
	m.fail(errors.New("it ended unexpectedly" + words))
	m.news = "was started again, because it ended unexpectedly" + words
}

// fail notes a start that failed, or a server that ended. m.mu is held.
func (m *member) fail(err error) {
	now := m.o.Now()
	if m.state == StateReady && now.Sub(m.started) > settleTime {
		m.failures = 0
	}
	m.failures++
	m.state, m.err, m.link = StateFailed, err, nil
	m.retryAt = now.Add(backoff(m.failures))
	if errors.Is(err, errLogin) {
		m.state = StateLogin
	}
}

// mayStart reports why a server is not started again now. m.mu is held.
func (m *member) mayStart() error {
	wait := m.retryAt.Sub(m.o.Now())
	switch {
	case m.state == StateIdle || m.state == StateLogin:
		return nil
	case m.failures > m.o.MaxRestarts:
		return fmt.Errorf("the MCP server %s failed %d times and is not started again: %w", m.server.Name, m.failures, m.err)
	case wait > 0:
		return fmt.Errorf("the MCP server %s failed and can be started again in %s: %w", m.server.Name, wait.Round(time.Second), m.err)
	}
	return nil
}

// launch begins a start. m.mu is held.
func (m *member) launch() {
	ctx, cancel := context.WithTimeout(context.Background(), m.o.StartTimeout)
	m.state, m.starting, m.stop = StateStarting, make(chan struct{}), cancel
	done := m.starting
	// Ends with the start timeout at the latest.
	go func() {
		defer close(done)
		defer cancel()
		l, offers, err := m.start(ctx)
		m.mu.Lock()
		closed := m.closed
		switch {
		case err != nil:
			m.fail(err)
			m.silent = m.silent || errors.Is(err, context.DeadlineExceeded)
		case !closed:
			m.state, m.link, m.offers, m.err, m.started = StateReady, l, offers, nil, m.o.Now()
			m.silent = false
		}
		m.mu.Unlock()
		if err == nil && closed {
			l.close()
		}
	}()
}

func (m *member) start(ctx context.Context) (*link, offers, error) {
	if err := m.server.check(); err != nil {
		return nil, offers{}, err
	}
	l, err := m.dial(ctx)
	if err != nil {
		return nil, offers{}, err
	}
	got, err := l.fetch(ctx)
	if err != nil {
		err = m.whyNot(l, err)
		l.close()
		return nil, offers{}, err
	}
	return l, got, nil
}

// patience is how long a turn waits for the server to start: as long as its own
// setting says, else a short time. Once that was in vain, turns wait no more: a
// server that says nothing costs the first turn only.
func (m *member) patience() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.silent:
		return 0
	case m.server.StartTimeout > 0:
		return m.server.StartTimeout
	}
	return m.o.TurnWait
}

// longest is how long a start can take.
func (m *member) longest() time.Duration { return m.o.StartTimeout + 4*m.o.Grace } // it is ended too

// turn makes the server ready for a turn: it starts it, waits for it, asks again for
// what has changed, and returns what it offers.
func (m *member) turn(ctx context.Context, wait time.Duration) (offers, *Problem) {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l, err := m.ready(within)
	if err != nil {
		return offers{}, m.problem(within, err)
	}
	m.tellRoots(l)
	stale := m.renew(ctx, l)
	m.mu.Lock()
	defer m.mu.Unlock()
	news, late := m.news, m.late
	m.news, m.late = "", false
	p := &Problem{Scope: m.scope, Server: m.server.Name, State: StateReady, Text: news}
	switch {
	case stale != nil:
		p.Text = "has changed what it offers, and could not be asked for it: " + m.mask.words(stale.Error())
	case news == "" && late:
		p.Text, p.Good = fmt.Sprintf("has started; its tools (%d) are there from this turn on", len(m.offers.tools)), true
	case news == "":
		p = nil
	}
	return m.offers, p
}

// renew asks the server again for what it offers, where that has changed. One that
// did not answer the last time gets less time.
func (m *member) renew(ctx context.Context, l *link) error {
	if !l.refresh() {
		return nil
	}
	m.mu.Lock()
	wait := m.o.TurnWait
	if m.stuck {
		wait /= 10
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := l.fetch(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stuck = err != nil; m.stuck {
		l.changed(toolsChanged)
		return err
	}
	m.offers = got
	return nil
}

// problem says why a server has no tools in this turn.
func (m *member) problem(ctx context.Context, err error) *Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &Problem{Scope: m.scope, Server: m.server.Name, State: m.state, Text: strings.TrimPrefix(err.Error(), "the MCP server "+m.server.Name+" ")}
	switch {
	case m.state == StateDisabled || m.closed:
		return nil
	case m.state == StateStarting && ctx.Err() != nil:
		told := m.late
		m.silent, m.late = true, true
		if told {
			return nil
		}
		p.Text = "is still starting; its tools come with a later turn (a \"start_timeout\" in its settings, such as \"60s\", has the first turn wait that long)"
	case m.state == StateLogin:
		p.Text = strings.TrimPrefix(m.err.Error(), "it ")
	}
	return p
}

// close ends the server for good.
func (m *member) close() {
	m.mu.Lock()
	m.closed = true
	l, starting, stop := m.link, m.starting, m.stop
	m.link = nil
	if m.state == StateReady || m.state == StateStarting {
		m.state = StateIdle
	}
	m.mu.Unlock()
	if stop != nil {
		stop()
	}
	if starting != nil {
		<-starting
	}
	if l != nil {
		l.close()
	}
}

// status is the server for people.
func (m *member) status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice()
	s := Status{
		Scope: m.scope, Name: m.server.Name, State: m.state,
		Tools: len(m.offers.tools), Resources: m.offers.resources, Prompts: len(m.offers.prompts),
	}
	if m.err != nil {
		s.Problem = m.err.Error()
	}
	if m.link == nil {
		return s
	}
	if m.link.proc != nil {
		s.PID = m.link.proc.cmd.Process.Pid
	}
	n := m.link.filter.seen()
	s.Noise, s.Stray, s.Dropped = n.noise, n.stray, n.dropped
	if init := m.link.session.InitializeResult(); init != nil {
		s.Protocol, s.Instructions = init.ProtocolVersion, m.mask.words(init.Instructions)
		if init.ServerInfo != nil {
			s.Version = oneLine(init.ServerInfo.Name + " " + init.ServerInfo.Version)
		}
	}
	return s
}

// tellRoots tells the server of roots that have changed.
func (m *member) tellRoots(l *link) {
	if m.o.Roots == nil {
		return
	}
	now := m.o.Roots(m.scope)
	l.mu.Lock()
	was := l.roots
	l.roots = slices.Clone(now)
	l.mu.Unlock()
	l.changeRoots(was, now)
}
