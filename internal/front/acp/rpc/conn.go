package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodCancelCall = "$/cancel_request"

	// maxJobs bounds the requests and notifications that wait or run.
	maxJobs      = 1024
	defaultGrace = 5 * time.Second
)

// A Handler serves one request. Its result is encoded as JSON, nil as an empty
// object, Parts as they are. ctx ends when the client cancels the request, and,
// once the request has been released, when the client is gone.
type Handler func(ctx context.Context, r *Request) (any, error)

// Handlers is what a connection serves, by method. The handler of initialize runs
// alone and before any other, and must not call the client.
type Handlers struct {
	Requests      map[string]Handler
	Notifications map[string]func(ctx context.Context, r *Request)
	// Always are the methods whose handlers are called for a request that the
	// client has cancelled before it could begin, with a context that has
	// ended. Any other such request is answered with CodeCancelled.
	Always map[string]bool
	// Dropped is told of each message that was too long to keep, in order
	// with the messages of its session. It may be nil.
	Dropped func(ctx context.Context, over Over)
}

// Options are the limits of a connection. The zero value is usable.
type Options struct {
	// MaxLine is the longest message that is kept, in bytes; 0 means
	// DefaultMaxLine.
	MaxLine int64
	// Grace is how long Serve waits for work to end once the client is gone;
	// 0 means 5 s.
	Grace time.Duration
	// Log takes what goes wrong, without payload; nil discards it.
	Log *slog.Logger
}

// Conn is one connection to a client.
//
// Order: messages of one session are handled in the order in which they came, and
// one at a time until a handler releases its request. So a cancel never overtakes
// its prompt, and a prompt that runs blocks nothing. Messages that name no session
// are ordered by method. A request for a session that is not known waits for
// earlier session/new. Nothing overtakes initialize.
type Conn struct {
	handlers Handlers
	grace    time.Duration
	log      *slog.Logger
	in       *Reader
	limit    int64
	dst      io.Writer
	out      *writer
	work     sync.WaitGroup // one for each job

	mu       sync.Mutex // guards what follows
	lanes    map[string][]func() bool
	jobs     map[*Request]struct{}
	opening  []<-chan struct{} // session/new that have not been answered
	known    map[string]bool   // sessions that were opened here
	calls    map[int64]chan Message
	lastCall int64
	strict   bool // ids are strings or whole numbers
	ready    bool // initialize has been answered
	served   bool // another request has been taken since
	ended    bool // the client is gone
}

// NewConn returns a connection that reads r and writes w once it serves.
func NewConn(r io.Reader, w io.Writer, h Handlers, o Options) *Conn {
	c := &Conn{
		handlers: h, grace: o.Grace, log: o.Log, in: NewReader(r, o.MaxLine), dst: w, out: newWriter(),
		lanes: map[string][]func() bool{}, jobs: map[*Request]struct{}{},
		known: map[string]bool{}, calls: map[int64]chan Message{},
	}
	if c.grace <= 0 {
		c.grace = defaultGrace
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.limit = c.in.max
	c.in.passed = func() { c.log.Warn("message exceeds the limit", "limit_bytes", c.limit) }
	return c
}

// Known tells that a session has been opened on this connection, so that its
// requests need not wait for others to open. Handlers call it before they reply.
func (c *Conn) Known(sessionID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[sessionID] = true
}

// Forget takes back what Known has told, for a session that is closed.
func (c *Conn) Forget(sessionID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, sessionID)
}

// StrictIDs has the connection refuse requests whose id is neither a string nor a
// whole number, as version 2 of the protocol demands, or take them again. The
// handler of initialize calls it.
func (c *Conn) StrictIDs(strict bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strict = strict
}

type input struct {
	line Line
	err  error
}

// Serve reads and answers messages until the input ends, which returns nil, the
// output breaks, or ctx ends. Requests that were read are then still served, but
// those that were released are cancelled, and all are when the grace is over.
func (c *Conn) Serve(ctx context.Context) error {
	work, stop := context.WithCancelCause(ctx)
	defer stop(ErrClosed)
	// Ends when shut closes it, or when the output breaks.
	go c.out.run(c.dst)
	lines := make(chan input)
	// Ends with the input, or after its next line once work has ended. A read
	// that never returns keeps it; there is no way to interrupt that.
	go c.read(lines, work.Done())
	err := c.intake(work, lines)
	if err != nil || c.out.broken() {
		stop(ErrClosed)
	}
	return errors.Join(err, c.shut(stop))
}

func (c *Conn) read(to chan<- input, quit <-chan struct{}) {
	for {
		line, err := c.in.Next()
		select {
		case to <- input{line, err}:
		case <-quit:
			return
		}
		if err != nil {
			return
		}
	}
}

func (c *Conn) intake(ctx context.Context, lines <-chan input) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.out.stopped:
			return nil // shut returns the writer's error
		case in := <-lines:
			switch {
			case errors.Is(in.err, io.EOF):
				return nil
			case in.err != nil:
				return in.err
			case in.line.Over != nil:
				c.takeOver(ctx, *in.line.Over)
			default:
				c.takeLine(ctx, in.line.Bytes)
			}
		}
	}
}

func (c *Conn) takeLine(ctx context.Context, line []byte) {
	m, fault := Parse(line)
	switch {
	case fault != nil && fault.Either && c.settle(Message{ID: fault.Call, Err: Errorf(CodeInternal, "the client's reply holds neither a result nor an error")}):
		c.log.Warn("reply without a result")
	case fault != nil && fault.Call != nil && !fault.Either:
		c.log.Warn("unreadable reply", "code", fault.Err.Code)
		c.settle(Message{ID: fault.Call, Err: Errorf(CodeInternal, "the client's reply cannot be read")})
	case fault != nil:
		c.log.Warn("unreadable message", "code", fault.Err.Code, "reason", fault.Err.Message)
		c.respond(ctx, fault.ID, fault.Err)
	case m.Method == "":
		c.settle(m)
	case c.refusesID(m.ID):
		c.respond(ctx, nullID, Errorf(CodeInvalidRequest, "id is not a string or a whole number"))
	default:
		c.take(ctx, m)
	}
}

func (c *Conn) refusesID(id []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.strict && id != nil && !IsString(id) && !isWhole(id)
}

// takeOver answers a message that was too long, as far as it can be told what it
// was, and passes the news on.
func (c *Conn) takeOver(ctx context.Context, over Over) {
	fault := overError(c.limit, over.Received)
	switch {
	case over.Method == "" && over.Reply:
		c.settle(Message{ID: over.ID, Err: fault})
	case over.Method != "" && over.ID == nil: // a notification
	case over.Method == "":
		c.respond(ctx, nullID, fault)
	default:
		c.respond(ctx, over.ID, fault)
	}
	if c.handlers.Dropped != nil && c.isReady() {
		m := Message{Method: over.Method}
		c.enqueue(ctx, m, over.SessionID, func(ctx context.Context, _ *Request) (any, error) {
			c.handlers.Dropped(ctx, over)
			return nil, nil
		})
	}
}

// take decides what becomes of a request or a notification.
func (c *Conn) take(ctx context.Context, m Message) {
	if m.Method == methodCancelCall {
		c.cancelRequest(m)
		return
	}
	serve := c.handlers.Requests[m.Method]
	if m.ID == nil {
		serve = nil
		if notify := c.handlers.Notifications[m.Method]; notify != nil {
			serve = func(ctx context.Context, r *Request) (any, error) {
				notify(ctx, r)
				return nil, nil
			}
		}
	}
	switch fault := c.admit(m); {
	case fault != nil && m.ID != nil:
		c.respond(ctx, fault.ID, fault.Err)
	case fault != nil: // a notification that came too early
	case m.Method == methodInitialize && m.ID != nil && serve != nil:
		c.initialize(ctx, m, serve)
	case serve != nil:
		c.enqueue(ctx, m, Unquote(Member(m.Params, "sessionId")), serve)
	case m.ID != nil:
		c.respond(ctx, m.ID, Errorf(CodeMethodNotFound, "method %q is not supported", Clip(m.Method, 100)))
	}
}

// admit checks a message against the state of the connection.
func (c *Conn) admit(m Message) *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case m.Method == methodInitialize && c.served:
		return &Fault{ID: m.ID, Err: Errorf(CodeInvalidRequest, "already initialized")}
	case m.Method == methodInitialize:
		return nil
	case !c.ready:
		return &Fault{ID: m.ID, Err: Errorf(CodeInvalidRequest, "not initialized")}
	}
	c.served = c.served || m.ID != nil
	return nil
}

// initialize serves the handshake in the intake itself, so nothing overtakes it.
func (c *Conn) initialize(ctx context.Context, m Message, serve Handler) {
	r := &Request{ID: m.ID, Method: m.Method, Params: m.Params, conn: c, released: true}
	result, err := c.guard(ctx, r, serve)
	r.Finish(ctx, result, err)
	if err == nil {
		c.mu.Lock()
		c.ready = true
		c.mu.Unlock()
	}
}

func (c *Conn) isReady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// shut ends the work that is left within the grace, and then the writer.
func (c *Conn) shut(stop context.CancelCauseFunc) error {
	c.end()
	idle := make(chan struct{})
	// Ends with the last handler.
	go func() {
		c.work.Wait()
		close(idle)
	}()
	var err error
	if !await(idle, c.grace) {
		stop(ErrClosed)
		if !await(idle, c.grace) {
			err = fmt.Errorf("requests did not end within %v", c.grace)
		}
	}
	c.out.close()
	if !await(c.out.stopped, drain) {
		return errors.Join(err, fmt.Errorf("output was not taken within %v", drain))
	}
	return errors.Join(err, c.out.err)
}

// drain is how long a client that is gone has to take what is left of the output.
const drain = time.Second

func await(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// end marks the client as gone: running turns are cancelled, and nothing that it
// would have answered is waited for.
func (c *Conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for r := range c.jobs {
		if r.released {
			r.cancel(ErrClosed)
		}
	}
	for id, answer := range c.calls {
		delete(c.calls, id)
		close(answer)
	}
}
