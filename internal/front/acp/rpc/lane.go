package rpc

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
)

// Request is one request or notification that is being served.
type Request struct {
	// ID is the raw JSON of the id, nil for a notification.
	ID     []byte
	Method string
	// SessionID is params.sessionId, empty when there is none.
	SessionID string
	// Params is raw JSON, nil when there is none. It aliases the line, which
	// is the handler's to keep.
	Params []byte

	conn    *Conn
	cancel  context.CancelCauseFunc
	lane    string
	after   []<-chan struct{} // what must have been answered before
	settled chan struct{}     // closed with the end of a session/new, else nil

	// guarded by conn.mu
	released bool
	replied  bool
}

// Release lets the next message of the session start while this request goes on.
// From here on the request's context ends when the client is gone.
func (r *Request) Release() {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.released {
		return
	}
	r.released = true
	if c.ended {
		r.cancel(ErrClosed)
	}
	// Ends when the lane is empty or is released again.
	go c.drain(r.lane)
}

// Reply answers the request before its handler returns, whose result is then
// ignored. After a *TooLongError the request can be answered once more.
func (r *Request) Reply(ctx context.Context, result any) error {
	if !r.claim() {
		return errors.New("reply: the request has been answered")
	}
	body, err := Encode(result)
	if err == nil {
		err = r.conn.send(ctx, Parts{[]byte(`{"jsonrpc":"2.0","id":`), r.ID, []byte(`,"result":`)}, body)
	}
	if err != nil {
		r.conn.mu.Lock()
		r.replied = false
		r.conn.mu.Unlock()
	}
	return err
}

// claim reports whether the caller is the one to answer.
func (r *Request) claim() bool {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if r.ID == nil || r.replied {
		return false
	}
	r.replied = true
	return true
}

// Finish answers with what the handler returned, unless it has replied itself. The
// answer waits for room in the output, also when the request was cancelled.
func (r *Request) Finish(ctx context.Context, result any, err error) {
	ctx = context.WithoutCancel(ctx)
	r.conn.mu.Lock()
	pending := r.ID != nil && !r.replied
	r.conn.mu.Unlock()
	if !pending {
		return
	}
	if err == nil {
		err = r.Reply(ctx, result)
	}
	if err != nil && r.claim() {
		r.conn.respond(ctx, r.ID, replyError(err))
	}
}

// enqueue puts a message into its lane.
func (c *Conn) enqueue(ctx context.Context, m Message, session string, serve Handler) {
	r := &Request{ID: m.ID, Method: m.Method, SessionID: session, Params: m.Params, conn: c, lane: "session " + session}
	if session == "" {
		r.lane = "method " + m.Method
	}
	own, cancel := context.WithCancelCause(ctx)
	r.cancel = cancel
	if !c.queue(r, func() bool { return c.run(own, r, serve) }) {
		r.cancel(nil)
		c.log.Warn("too many messages in flight", "method", Clip(m.Method, 100))
		if m.ID != nil {
			// What cannot be kept is answered here, which waits for room in the
			// output: a client that does not read is not read either.
			c.respond(ctx, m.ID, Errorf(CodeInternal, "too many requests in flight"))
		}
	}
}

func (c *Conn) queue(r *Request, job func() bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.jobs) >= maxJobs {
		return false
	}
	c.jobs[r] = struct{}{}
	c.work.Add(1)
	switch {
	case r.Method == methodNew:
		r.settled = make(chan struct{})
		c.opening = append(c.opening, r.settled)
	case r.SessionID != "" && !c.known[r.SessionID]:
		r.after = slices.Clone(c.opening)
	}
	waiting, running := c.lanes[r.lane]
	c.lanes[r.lane] = append(waiting, job)
	if !running {
		// Ends when the lane is empty or is released.
		go c.drain(r.lane)
	}
	return true
}

// drain runs the jobs of a lane in order, until there are none left or one of them
// has handed the lane on. A lane exists as long as a goroutine drains it.
func (c *Conn) drain(lane string) {
	for {
		c.mu.Lock()
		jobs := c.lanes[lane]
		if len(jobs) == 0 {
			delete(c.lanes, lane)
			c.mu.Unlock()
			return
		}
		job := jobs[0]
		jobs[0] = nil
		c.lanes[lane] = jobs[1:]
		c.mu.Unlock()
		if job() {
			return
		}
	}
}

// run serves one message and reports whether it has handed its lane on.
func (c *Conn) run(ctx context.Context, r *Request, serve Handler) bool {
	for _, settled := range r.after {
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
	var result any
	err := context.Cause(ctx)
	if r.ID == nil || c.handlers.Always[r.Method] || !errors.Is(err, errCancelled) {
		result, err = c.guard(ctx, r, serve)
	}
	r.Finish(ctx, result, err)
	r.cancel(nil)

	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, r)
	if r.settled != nil {
		close(r.settled)
		c.opening = slices.DeleteFunc(c.opening, func(ch <-chan struct{}) bool { return ch == r.settled })
	}
	c.work.Done()
	return r.released
}

// guard calls a handler and turns a panic into an error. The value of the panic
// is not logged unless the runtime made it, since it may hold payload.
func (c *Conn) guard(ctx context.Context, r *Request, serve Handler) (result any, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		reason := "panic"
		if known, ok := v.(runtime.Error); ok {
			reason = known.Error()
		}
		c.log.Error("handler panicked", "method", Clip(r.Method, 100), "reason", reason, "stack", string(debug.Stack()))
		result, err = nil, Errorf(CodeInternal, "internal error")
	}()
	return serve(ctx, r)
}

// cancelRequest ends the context of the request that the client names. One that has
// been answered goes on: what is done for it then is no longer the request.
func (c *Conn) cancelRequest(m Message) {
	id := Member(m.Params, "requestId")
	if id == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.jobs {
		if r.ID != nil && !r.replied && sameID(r.ID, id) {
			r.cancel(errCancelled)
		}
	}
}

// sameID compares raw ids; strings count as the same in any spelling.
func sameID(a, b []byte) bool {
	if IsString(a) && IsString(b) {
		return Unquote(a) == Unquote(b)
	}
	return bytes.Equal(a, b)
}
