package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	errClosed = errors.New("its connection was closed")
	errSlow   = errors.New("no answer in time")
	errMax    = errors.New("the greatest time of a call is over")
)

// rejected is what the SDK says, as if a server had said it, of a request that did
// not get through.
const rejected = "rejected by transport"

// showEvery is the least time between two lines of progress.
const showEvery = 200 * time.Millisecond

// call is one request to a server that may take long.
type call struct {
	slot   slot
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	live   func(string)
	now    func() time.Time

	mu    sync.Mutex
	shown time.Time
	over  bool
}

func (c *call) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.timer.Reset(c.idle)
	}
}

func (c *call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// progressed moves the limit of the call and shows what the server says.
func (c *call) progressed(p progress) {
	c.touch()
	if c.live == nil {
		return
	}
	c.mu.Lock()
	now := c.now()
	quiet := c.over || now.Sub(c.shown) < showEvery
	if !quiet {
		c.shown = now
	}
	c.mu.Unlock()
	if quiet {
		return
	}
	line := strconv.FormatFloat(p.Progress, 'g', 6, 64)
	if p.Total > 0 {
		line += "/" + strconv.FormatFloat(p.Total, 'g', 6, 64)
	}
	if p.Message != "" {
		line += " " + oneLine(p.Message)
	}
	c.live(line + "\n")
}

// ask sends one request to the server and returns the result as the server wrote
// it. send gets the context and the token of progress of the request. The server
// is started where it does not run.
func (m *member) ask(ctx context.Context, live func(string), send func(context.Context, *mcp.ClientSession, string) error) ([]byte, error) {
	l, err := m.ready(ctx)
	if err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	longest := time.AfterFunc(m.o.CallMax, func() { cancel(errMax) })
	defer longest.Stop()
	c := &call{cancel: cancel, idle: m.o.CallTimeout, live: live, now: m.o.Now}
	c.timer = time.AfterFunc(c.idle, func() { cancel(errSlow) })
	defer c.end()
	token := l.begin(c)
	defer l.finish(token, c)
	err = send(withSlot(inner, &c.slot), l.session, token)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case inner.Err() != nil:
		return nil, m.lateError(l, context.Cause(inner))
	case err != nil:
		return nil, m.callError(l, err)
	case c.slot.raw == nil:
		return nil, fmt.Errorf("the MCP server %s gave no result", m.server.Name)
	}
	return c.slot.raw, nil
}

func (l *link) begin(c *call) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token++
	token := "tote-" + strconv.Itoa(l.token)
	l.calls[token] = c
	return token
}

func (l *link) finish(token string, c *call) {
	l.mu.Lock()
	delete(l.calls, token)
	l.mu.Unlock()
	l.filter.forget(&c.slot)
}

// lateError is the end of a call that took too long.
func (m *member) lateError(l *link, why error) error {
	name := m.server.Name
	switch {
	case errors.Is(why, errSlow):
		msg := fmt.Sprintf("the MCP server %s gave no answer and showed no progress for %s; the call was cancelled", name, m.o.CallTimeout)
		if n := l.filter.seen().stray; n > 0 {
			msg += fmt.Sprintf(" (%d of its answers were to no request)", n)
		}
		return errors.New(msg)
	case errors.Is(why, errMax):
		return fmt.Errorf("the MCP server %s did not finish within %s; the call was cancelled", name, m.o.CallMax)
	}
	return fmt.Errorf("the MCP server %s: %w", name, why)
}

// callError says what went wrong with a call, for the model.
func (m *member) callError(l *link, err error) error {
	name := m.server.Name
	refused, isRefused := errors.AsType[*jsonrpc.Error](err)
	status := 0
	if l.web != nil {
		status = int(l.web.refused.Swap(0))
	}
	switch {
	case l.web != nil && l.web.login.Load():
		return fmt.Errorf("the MCP server %s wants a login; the user has to run: tote mcp login %s", name, name)
	case isRefused && refused.Code == codeOurs:
		return fmt.Errorf("call the MCP server %s: %s", name, m.mask.words(refused.Message))
	case isRefused && refused.Message != rejected:
		return fmt.Errorf("the MCP server %s refused the call: %s", name, m.mask.words(refused.Message))
	case status != 0:
		return fmt.Errorf("the MCP server %s answered with the HTTP status %d %s", name, status, http.StatusText(status))
	case !l.alive() || ended(err):
		late := time.NewTimer(3 * m.o.Grace)
		defer late.Stop()
		select {
		case <-l.gone: // a process has said how it ended
		case <-late.C:
		}
		return fmt.Errorf("the MCP server %s ended during the call%s", name, m.lastWords(l))
	}
	return fmt.Errorf("call the MCP server %s: %s", name, m.mask.words(strings.ReplaceAll(err.Error(), rejected+": ", "")))
}

// ended tells the errors of a connection that is over. The SDK does not wrap the
// end of the stream everywhere.
func ended(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, mcp.ErrSessionMissing) || errors.Is(err, errFlood) ||
		strings.HasSuffix(err.Error(), "EOF") || strings.Contains(err.Error(), "file already closed")
}
