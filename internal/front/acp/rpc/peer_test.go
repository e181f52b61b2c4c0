package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/front/acp/rpc"
)

// peer is a client at the other end of a connection, for use inside a bubble of
// synctest.
type peer struct {
	t    *testing.T
	conn *rpc.Conn
	to   *io.PipeWriter
	out  *sink
	logs *bytes.Buffer
	done chan error
	stop context.CancelFunc
}

// sink takes what the agent writes; of a piece over 1 MiB it keeps the first byte.
// It blocks while held, and fails once broken.
type sink struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	hold   chan struct{} // writes wait until it is closed; nil lets them pass
	broken error
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return 0, s.broken
	}
	if len(b) > 1<<20 {
		return len(b), s.buf.WriteByte(b[0])
	}
	return s.buf.Write(b)
}

func start(t *testing.T, h rpc.Handlers, o rpc.Options) *peer {
	t.Helper()
	in, to := io.Pipe()
	p := &peer{t: t, to: to, out: &sink{}, logs: &bytes.Buffer{}, done: make(chan error, 1)}
	o.Log = slog.New(slog.NewTextHandler(p.logs, nil))
	p.conn = rpc.NewConn(in, p.out, h, o)
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	// Ends when the test closes the input or calls stop.
	go func() { p.done <- p.conn.Serve(ctx) }()
	return p
}

// send writes lines, waits until nothing moves any more, and returns what came
// back since the last time.
func (p *peer) send(lines ...string) []string {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.to, line+"\n"); err != nil {
			p.t.Fatalf("send: %v", err)
		}
	}
	return p.got()
}

func (p *peer) got() []string {
	p.t.Helper()
	synctest.Wait()
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	text := p.out.buf.String()
	p.out.buf.Reset()
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		p.t.Errorf("output does not end in a line: %q", text)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			p.t.Errorf("output is not JSON: %q", line)
		}
	}
	return lines
}

// close ends the input and returns what Serve did.
func (p *peer) close() error {
	p.t.Helper()
	_ = p.to.Close() // a pipe never fails to close
	return <-p.done
}

func request(id any, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q,"params":%s}`, id, method, params)
}

func notification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`

// sessions is a small agent: a prompt runs until it is cancelled or finish is
// called, as a turn would.
type sessions struct {
	conn *rpc.Conn // set once the connection exists

	mu    sync.Mutex
	turns map[string]chan string // by session; receives the stop reason
	log   []string
}

func newSessions() *sessions { return &sessions{turns: map[string]chan string{}} }

func (s *sessions) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *sessions) finish(session, reason string) {
	s.mu.Lock()
	turn := s.turns[session]
	s.mu.Unlock()
	if turn == nil {
		s.note("nothing to end in %s", session)
		return
	}
	turn <- reason
}

func (s *sessions) handlers() rpc.Handlers {
	return rpc.Handlers{
		Requests: map[string]rpc.Handler{
			"initialize": func(context.Context, *rpc.Request) (any, error) {
				return map[string]int{"protocolVersion": 1}, nil
			},
			"session/new": func(ctx context.Context, _ *rpc.Request) (any, error) {
				// A slow start, as with tools that have to be connected.
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
				return map[string]string{"sessionId": "s1"}, nil
			},
			"session/prompt": s.prompt,
			"session/set_mode": func(_ context.Context, r *rpc.Request) (any, error) {
				s.note("mode of %s", r.SessionID)
				return nil, nil
			},
			"panic": func(context.Context, *rpc.Request) (any, error) { panic("secret payload") },
		},
		Notifications: map[string]func(context.Context, *rpc.Request){
			"session/cancel": func(_ context.Context, r *rpc.Request) { s.finish(r.SessionID, "cancelled") },
			"panic":          func(context.Context, *rpc.Request) { panic("secret payload") },
		},
		Dropped: func(_ context.Context, over rpc.Over) {
			s.note("dropped %s of %s", over.Method, over.SessionID)
		},
	}
}

func (s *sessions) prompt(ctx context.Context, r *rpc.Request) (any, error) {
	turn := make(chan string, 1)
	s.mu.Lock()
	s.turns[r.SessionID] = turn
	s.log = append(s.log, "prompt "+r.SessionID+" "+string(r.ID))
	s.mu.Unlock()
	r.Release()
	reason := "cancelled"
	select {
	case reason = <-turn:
	case <-ctx.Done():
	}
	// What remains to be said is said also when the turn was cancelled.
	if err := s.conn.Notify(ctx, "session/update", map[string]string{"sessionId": r.SessionID}); err != nil {
		return nil, err
	}
	return map[string]string{"stopReason": reason}, nil
}

func serve(t *testing.T, s *sessions, o rpc.Options) *peer {
	t.Helper()
	h := s.handlers()
	p := start(t, h, o)
	s.conn = p.conn
	if got := p.send(initialize); len(got) != 1 || got[0] != `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}` {
		t.Fatalf("initialize: %q", got)
	}
	return p
}
