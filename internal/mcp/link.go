package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// settled is the version of the protocol that is tried first: every server speaks
// it or an older one. A server that knows only later ones is asked again.
const settled = "2025-11-25"

// closeWait bounds how long closing a session may take over HTTP.
const closeWait = 2 * time.Second

// link is one connection to a server.
type link struct {
	session *mcp.ClientSession
	client  *mcp.Client
	filter  *filter
	proc    *process // nil for a server that runs elsewhere
	web     *web     // nil for a stdio server
	shut    func()   // ends the transport at once
	mask    masker
	quit    chan struct{} // closed when the link is to end
	gone    chan struct{} // closed when the session has ended

	mu    sync.Mutex
	calls map[string]*call // by token of progress
	token int
	// stale are the lists of what the server offers that have changed, by the
	// notification that said so.
	stale map[string]bool
	roots []string
}

// dial connects to a server. The link lives until it is closed or the server
// ends; ctx bounds the connecting only.
func (m *member) dial(ctx context.Context) (*link, error) {
	l, err := m.dialAs(ctx, settled)
	if err != nil && wantsNewer(err) && ctx.Err() == nil {
		return m.dialAs(ctx, "")
	}
	return l, err
}

// wantsNewer tells the refusal of a server that has no initialize any more, or
// not in this version.
func wantsNewer(err error) bool {
	var refused *jsonrpc.Error
	return errors.As(err, &refused) && slices.Contains([]int64{jsonrpc.CodeMethodNotFound, mcp.CodeUnsupportedProtocolVersion}, refused.Code)
}

func (m *member) dialAs(ctx context.Context, version string) (*link, error) {
	l := &link{mask: m.mask, calls: map[string]*call{}, stale: map[string]bool{}, quit: make(chan struct{}), gone: make(chan struct{})}
	l.filter = newFilter(l.progressed, l.changed)
	life, end := context.WithCancel(context.Background())
	transport, err := m.transport(life, l)
	if err != nil {
		end()
		return nil, err
	}
	stop := l.shut
	l.shut = sync.OnceFunc(func() { stop(); end() })
	l.client = m.client(l)
	if l.session, err = l.open(ctx, life, transport, version); err != nil {
		err = m.whyNot(l, err) // before it is ended by us
		l.shut()
		return nil, err
	}
	// Ends with the session, which close and the end of the server do.
	go func() {
		_ = l.session.Wait() // how it ended is told by the process or by the next call
		l.shut()
		close(l.gone)
	}()
	return l, nil
}

// open connects. The stream of an SSE server lives as long as the context of its
// connecting, so that is not ctx.
func (l *link) open(ctx, life context.Context, t mcp.Transport, version string) (*mcp.ClientSession, error) {
	inner, cancel := context.WithCancel(life)
	stop := context.AfterFunc(ctx, cancel)
	type connected struct {
		s   *mcp.ClientSession
		err error
	}
	done := make(chan connected, 1)
	// Ends with the connecting, which the end of life ends where ctx does not.
	go func() {
		s, err := l.client.Connect(inner, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
		done <- connected{s, err}
	}()
	select {
	case c := <-done:
		if c.err == nil && stop() {
			return c.s, nil
		}
		cancel()
		if c.err == nil {
			c.err = ctx.Err()
		}
		return nil, cmp.Or(ctx.Err(), c.err)
	case <-ctx.Done():
		// Ends when the connecting does.
		go func() {
			if c := <-done; c.err == nil {
				_ = c.s.Close() // nobody wants it any more
			}
		}()
		return nil, ctx.Err()
	}
}

// transport starts a stdio server, or prepares the way to another.
func (m *member) transport(life context.Context, l *link) (mcp.Transport, error) {
	if m.server.kind() == Stdio {
		p, err := startProcess(m.server, m.dir, m.o)
		if err != nil {
			return nil, err
		}
		l.proc, l.shut = p, sync.OnceFunc(p.stop)
		return &pipe{r: p.out, w: p.in, filter: l.filter, limit: m.o.MaxMessage, stop: l.shut}, nil
	}
	origin, err := url.Parse(m.server.URL)
	if err != nil {
		return nil, errors.New("its url is no address")
	}
	m.keeper.reload()
	l.web = &web{
		base: m.o.Dial, filter: l.filter, limit: m.o.MaxMessage, origin: origin, headers: m.server.Headers,
		token: m.keeper.access, refusedToken: m.keeper.reload, life: life, streams: m.server.kind() == HTTP,
	}
	l.shut = func() {}
	client := &http.Client{Transport: l.web}
	if m.server.kind() == SSE {
		return &mcp.SSEClientTransport{Endpoint: m.server.URL, HTTPClient: client, MaxEventSize: m.o.MaxMessage + readBuffer}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: m.server.URL, HTTPClient: client, MaxEventSize: m.o.MaxMessage + readBuffer}, nil
}

// errLogin reports a server that wants a login.
var errLogin = errors.New("it wants a login")

// startError is an error whose text is safe to show.
type startError struct {
	text string
	err  error
}

func (e *startError) Error() string { return e.text }

func (e *startError) Unwrap() error { return e.err }

// whyNot says why a server did not come up, with its last words.
func (m *member) whyNot(l *link, err error) error {
	switch {
	case l.web != nil && l.web.login.Load():
		return fmt.Errorf("%w; run: tote mcp login %s", errLogin, m.server.Name)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer within %s", m.o.StartTimeout)
	case l.proc != nil && (errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed)):
		l.proc.wait(m.o.Grace) // it says how
		err = errors.New("it ended before it was ready")
	}
	return &startError{m.mask.words(strings.ReplaceAll(err.Error(), rejected+": ", "")) + m.lastWords(l), err}
}

// lastWords are how a server ended, what it last said, and how much of its output
// was no message.
func (m *member) lastWords(l *link) string {
	out := ""
	seen := l.filter.seen()
	if state := l.ended(); seen.flood > 0 {
		out += fmt.Sprintf(": it wrote more than %s without an end of line, and was stopped; a message may have %s, so have it give less at a time; it is started again when it is next used",
			size(int64(floodFactor*seen.flood)), size(int64(seen.flood)))
	} else if state != "" {
		out += " (" + state + ")"
	}
	if n := seen.noise; n > 0 {
		out += fmt.Sprintf("; %d lines of its standard output were no messages", n)
	}
	if l.proc != nil {
		if words := m.mask.words(l.proc.words.last()); words != "" {
			out += "; its last words: " + words
		}
	}
	return out
}

// ended says how the process of the server ended, "" for one that runs or has none.
func (l *link) ended() string {
	if l.proc == nil {
		return ""
	}
	return l.proc.ended()
}

// close ends the session and the server. It returns when nothing is left of them,
// after a few seconds at most. It is called once.
func (l *link) close() {
	close(l.quit)
	if l.web == nil {
		l.shut()
		<-l.gone
		return
	}
	l.abandon()
	// Ends when the server has been told, or with shut.
	go func() { _ = l.session.Close() }() // it is told; nothing follows from its answer
	late := time.NewTimer(closeWait)
	defer late.Stop()
	select {
	case <-l.gone:
	case <-late.C:
		l.shut()
		select {
		case <-l.gone:
		case <-time.After(closeWait): // a handler of the caller's that does not heed its context
		}
	}
}

// abandon ends every call.
func (l *link) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		c.cancel(errClosed)
	}
}

// alive reports whether the session has not ended.
func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// progressed moves the limits of the call that a server reports on.
func (l *link) progressed(p progress) {
	var token string
	if json.Unmarshal(p.Token, &token) != nil {
		return
	}
	l.mu.Lock()
	c := l.calls[token]
	l.mu.Unlock()
	if c != nil {
		c.progressed(p)
	}
}

// touch moves the limits of all calls: the server waits for us.
func (l *link) touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		c.touch()
	}
}

// changed notes that what the server offers has changed, and reports whether that is
// new since it was last asked for.
func (l *link) changed(method string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stale[method] {
		return false
	}
	l.stale[method] = true
	return true
}

// refresh reports whether what the server offers has to be asked for again.
func (l *link) refresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := len(l.stale) > 0
	clear(l.stale)
	return was
}
