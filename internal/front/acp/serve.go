package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/front/acp/wire2"
)

// closeTimeout bounds how long the end of the connection waits for a turn.
const closeTimeout = 10 * time.Second

// server is one connection to a client.
type server struct {
	o    Options
	log  *slog.Logger
	conn *rpc.Conn

	mu       sync.Mutex // guards what follows
	client   wire.InitializeParams
	speaks   dialect // chosen by initialize
	sessions map[string]*session
	// accepted are the fingerprints of the folders that were trusted here.
	accepted map[string]bool
}

// Serve speaks the protocol with one client until the input ends, which is no
// error, ctx ends, or the output breaks. Turns that run then are cancelled and
// recorded before it returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{o: o, log: o.Log, speaks: first{}, sessions: map[string]*session{}, accepted: map[string]bool{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.conn = rpc.NewConn(in, out, s.handlers(), rpc.Options{MaxLine: o.MaxLine, Log: s.log})
	err := s.conn.Serve(ctx)
	return errors.Join(err, s.shut(ctx))
}

// shut closes the sessions that are open.
func (s *server) shut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	s.mu.Lock()
	open := s.sessions
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	var errs []error
	for id, ses := range open {
		if err := ses.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close session %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (s *server) handlers() rpc.Handlers {
	h := rpc.Handlers{
		Requests: map[string]rpc.Handler{
			wire.MethodInitialize:      s.initialize,
			wire.MethodAuthenticate:    s.authenticate,
			wire.MethodNew:             s.newSession,
			wire.MethodLoad:            s.reopen,
			wire.MethodResume:          s.reopen,
			wire.MethodFork:            s.forkSession,
			wire.MethodList:            s.listSessions,
			wire.MethodDelete:          s.deleteSession,
			wire.MethodClose:           s.closeSession,
			wire.MethodPrompt:          s.prompt,
			wire.MethodSetMode:         s.setMode,
			wire.MethodSetConfigOption: s.setConfigOption,
			wire2.MethodCancelToolCall: uncancellable,
			wire2.MethodCancelTerminal: uncancellable,
		},
		Notifications: map[string]func(context.Context, *rpc.Request){wire.MethodCancel: s.cancel},
		Always:        map[string]bool{wire.MethodPrompt: true},
		Dropped:       s.dropped,
	}
	for _, list := range []map[string]string{unservedFirst, unservedSecond} {
		for method := range list {
			h.Requests[method] = s.gate(method, h.Requests[method])
		}
	}
	return h
}

// gate keeps a method from clients whose version does not have it. serve is nil for
// one that no version has.
func (s *server) gate(method string, serve rpc.Handler) rpc.Handler {
	return func(ctx context.Context, r *rpc.Request) (any, error) {
		why, without := s.dialect().unserved(method)
		if method == wire.MethodFork && s.o.Fork && s.dialect().number() == 1 {
			without = false
		}
		if serve != nil && !without {
			return serve(ctx, r)
		}
		fault := rpc.Errorf(rpc.CodeMethodNotFound, "method %q is not supported", method)
		if why != "" {
			fault = fault.WithData(map[string]string{"reason": why})
		}
		return nil, fault
	}
}

// uncancellable: no call says that it can be cancelled by itself.
func uncancellable(context.Context, *rpc.Request) (any, error) {
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "it cannot be cancelled by itself; session/cancel ends the turn")
}

// initialize chooses the version. Where only the stable one is spoken, whatever a
// client asks for is answered with it, and the client decides whether to go on.
func (s *server) initialize(_ context.Context, r *rpc.Request) (any, error) {
	p, fault := wire.ParseInitialize(r.Params)
	if fault != nil {
		return nil, fault
	}
	var speaks dialect = first{}
	switch {
	case s.o.V2 && p.ProtocolVersion < 1:
		return nil, rpc.Errorf(rpc.CodeUnknownProtocol, "there is no version of the protocol in common").
			WithData(wire2.Unsupported{Requested: p.ProtocolVersion, Supported: wire2.Supported()})
	case s.o.V2 && p.ProtocolVersion > 1:
		speaks = second{}
	}
	s.mu.Lock()
	s.client, s.speaks = p, speaks
	s.mu.Unlock()
	s.conn.StrictIDs(speaks.number() > 1)
	return speaks.hello(s.o), nil
}

func (s *server) authenticate(context.Context, *rpc.Request) (any, error) {
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "there is no way to log in: keys are read from the configuration")
}

// dropped tells the user of a message that was too long to keep. Without a
// session there is nowhere to say it; the request's own reply does.
func (s *server) dropped(ctx context.Context, over rpc.Over) {
	ses := s.session(over.SessionID)
	if ses == nil {
		return
	}
	limit := s.o.MaxLine
	if limit <= 0 {
		limit = rpc.DefaultMaxLine
	}
	ses.notify(ctx, warning("a message was too long and was not taken",
		fmt.Sprintf("%s had %d bytes, the limit is %d; send fewer or smaller attachments, or raise acp.max_line", methodWord(over.Method), over.Received, limit)))
}

func methodWord(method string) string {
	if method == "" {
		return "it"
	}
	return rpc.Clip(method, 100)
}

// session returns an open session, nil when there is none of that id.
func (s *server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// find is session for requests.
func (s *server) find(id string) (*session, error) {
	if ses := s.session(id); ses != nil {
		return ses, nil
	}
	if id == "" {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "sessionId is missing")
	}
	return nil, notFound(id)
}

// notFound is the error for a session that does not exist.
func notFound(id string) *rpc.Error {
	return rpc.Errorf(rpc.CodeNotFound, "session not found").WithData(map[string]string{"sessionId": rpc.Clip(id, 200)})
}

// takesNotices reports whether the client shows notices.
func (s *server) takesNotices() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.speaks.number() > 1 || bool(s.client.ClientCapabilities.Session.Notices)
}

// echoes reports whether the client is sent its own blocks.
func (s *server) echoes(setting string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.speaks.echoes(s.client, setting)
}
