package acp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// openParams reads and checks what all methods that open a session have in common.
func (s *server) openParams(r *rpc.Request) (opening, error) {
	p, fault := s.dialect().opening(r.Method, r.Params)
	if fault != nil {
		return p, fault
	}
	if r.Method != wire.MethodNew && p.SessionID == "" {
		return p, rpc.Errorf(rpc.CodeInvalidParams, "sessionId is missing")
	}
	if !filepath.IsAbs(p.CWD) {
		return p, rpc.Errorf(rpc.CodeInvalidParams, "cwd is not an absolute path")
	}
	p.CWD = filepath.Clean(p.CWD)
	dirs := make([]string, 0, len(p.AdditionalDirectories)) // never nil: the list replaces the former one
	for _, d := range p.AdditionalDirectories {
		if !filepath.IsAbs(d) {
			return p, rpc.Errorf(rpc.CodeInvalidParams, "additionalDirectories holds a path that is not absolute")
		}
		dirs = append(dirs, filepath.Clean(d))
	}
	p.AdditionalDirectories = dirs
	return p, nil
}

func (s *server) newSession(ctx context.Context, r *rpc.Request) (any, error) {
	p, err := s.openParams(r)
	if err != nil {
		return nil, err
	}
	work, err := s.o.Host.Workspace(ctx, p.CWD)
	if err != nil {
		return nil, failure(err)
	}
	a, err := work.Agent.Create(ctx, work.Default, p.CWD, p.AdditionalDirectories)
	if err != nil {
		return nil, failure(err)
	}
	return nil, s.introduce(ctx, r, a, work, p)
}

// introduce answers with a session that the client does not know yet.
func (s *server) introduce(ctx context.Context, r *rpc.Request, a *agent.Session, work Workspace, p opening) error {
	ses := &session{srv: s, id: a.ID(), agent: a, work: work}
	ses.equip(ctx, p.SessionParams)
	state, notices, err := ses.opened(ctx)
	if err != nil {
		if work.Ended != nil {
			work.Ended(ses.id)
		}
		return failure(err)
	}
	s.add(ses)
	if err := r.Reply(ctx, s.dialect().opened(ses.id, state)); err != nil {
		return err
	}
	ses.welcome(ctx, notices)
	ses.measure(ctx)
	return nil
}

// forkSession opens a copy of a session as it is recorded.
func (s *server) forkSession(ctx context.Context, r *rpc.Request) (any, error) {
	p, err := s.openParams(r)
	if err != nil {
		return nil, err
	}
	if err := s.isStored(ctx, p.SessionID); err != nil {
		return nil, err
	}
	work, err := s.o.Host.Workspace(ctx, p.CWD)
	if err != nil {
		return nil, failure(err)
	}
	copied, err := work.Agent.Fork(ctx, p.SessionID, "")
	if err != nil {
		return nil, failure(err)
	}
	if err := copied.Close(ctx); err != nil {
		return nil, failure(err)
	}
	a, err := work.Agent.Open(ctx, copied.ID(), "", p.CWD, p.AdditionalDirectories)
	if err != nil {
		return nil, failure(err)
	}
	return nil, s.introduce(ctx, r, a, work, p)
}

func (s *server) add(ses *session) {
	s.mu.Lock()
	s.sessions[ses.id] = ses
	s.mu.Unlock()
	s.conn.Known(ses.id)
}

// reopen serves session/load and session/resume: the whole history is sent before
// the reply, or nothing of it. It does not wait for a turn that runs, which may
// take long or hang: what there is of it is shown, and the rest follows.
func (s *server) reopen(ctx context.Context, r *rpc.Request) (any, error) {
	p, err := s.openParams(r)
	if err != nil {
		return nil, err
	}
	ses := s.session(p.SessionID)
	if ses == nil {
		if ses, err = s.restore(ctx, p.SessionParams); err != nil {
			return nil, err
		}
	}
	at := ses.line.joinIdle()
	r.Release()
	switch a, _ := ses.now(); {
	case at == nil && !sameFolders(a.Stored(), p.SessionParams):
		return nil, running()
	case at != nil:
		defer at.leave()
		if !at.wait(ctx) {
			return nil, context.Cause(ctx)
		}
		if err := ses.move(ctx, p.SessionParams); err != nil {
			return nil, failure(err)
		}
	}
	ses.equip(ctx, p.SessionParams)
	notices, err := ses.showAll(ctx, r, p.replay)
	if err != nil {
		return nil, err
	}
	if at == nil && s.takesNotices() {
		notices = append(notices, delivery.Notice{
			Severity: delivery.SeverityInfo, Title: "a turn is running in this session", Detail: "what it says from here on follows",
		})
	}
	ses.welcome(ctx, notices)
	if at != nil {
		ses.measure(ctx)
	}
	return nil, nil
}

// running is the answer to who wants other folders for a session while a turn runs
// in it.
func running() *rpc.Error {
	return rpc.Errorf(rpc.CodeInvalidRequest,
		"a turn is running in this session, so its folders cannot change: cancel it with session/cancel, or open the session again when it has ended")
}

// showAll replays, tells what the session does now, and answers, with nothing of a
// turn that runs in between.
func (ses *session) showAll(ctx context.Context, r *rpc.Request, replay bool) ([]delivery.Notice, error) { //nolint:revive // what the client asked for
	out, notices, err := ses.opened(ctx)
	if err != nil {
		return nil, failure(err)
	}
	ses.show.Lock()
	defer ses.show.Unlock()
	if replay {
		if err := ses.replay(ctx); err != nil {
			return nil, failure(err)
		}
	}
	speaks := ses.srv.dialect()
	for _, u := range speaks.state(state{phase: ses.does}) {
		if err := ses.put(ctx, u); err != nil {
			return nil, err
		}
	}
	return notices, r.Reply(ctx, speaks.opened("", out))
}

// restore opens a stored session.
func (s *server) restore(ctx context.Context, p wire.SessionParams) (*session, error) {
	if err := s.isStored(ctx, p.SessionID); err != nil {
		return nil, err
	}
	work, err := s.o.Host.Workspace(ctx, p.CWD)
	if err != nil {
		return nil, failure(err)
	}
	a, err := work.Agent.Open(ctx, p.SessionID, "", p.CWD, p.AdditionalDirectories)
	if err != nil {
		return nil, failure(err)
	}
	ses := &session{srv: s, id: p.SessionID, agent: a, work: work}
	s.add(ses)
	return ses, nil
}

func (s *server) isStored(ctx context.Context, id string) error {
	_, err := s.o.Host.Stored(ctx, id)
	switch {
	case errors.Is(err, ErrNoSession):
		return notFound(id)
	case err != nil:
		return failure(err)
	}
	return nil
}

// move gives a session that is open the folders that a client asks for now. The
// caller holds the line.
func (ses *session) move(ctx context.Context, p wire.SessionParams) error {
	old, _ := ses.now()
	if sameFolders(old.Stored(), p) {
		return nil
	}
	work, err := ses.srv.o.Host.Workspace(ctx, p.CWD)
	if err != nil {
		return err
	}
	if err := old.Close(ctx); err != nil {
		return err
	}
	a, err := work.Agent.Open(ctx, ses.id, "", p.CWD, p.AdditionalDirectories)
	if err != nil {
		ses.srv.take(ses.id)
		return err
	}
	a.SetMode(old.Mode())
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.agent, ses.work, ses.asked = a, work, false
	return nil
}

// take removes a session from those that are open.
func (s *server) take(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses := s.sessions[id]
	delete(s.sessions, id)
	s.conn.Forget(id)
	return ses
}

// closeSession answers once the session's turn has ended and been answered. A
// session that is not open is closed already.
func (s *server) closeSession(ctx context.Context, r *rpc.Request) (any, error) {
	if r.SessionID == "" {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "sessionId is missing")
	}
	if ses := s.take(r.SessionID); ses != nil {
		return nil, ses.close(ctx)
	}
	return nil, nil
}

func (s *server) deleteSession(ctx context.Context, r *rpc.Request) (any, error) {
	if _, err := s.closeSession(ctx, r); err != nil {
		return nil, err
	}
	if err := s.o.Host.Delete(ctx, r.SessionID); err != nil && !errors.Is(err, ErrNoSession) {
		return nil, failure(err)
	}
	return nil, nil
}

func (s *server) listSessions(ctx context.Context, r *rpc.Request) (any, error) {
	var p wire.ListParams
	if r.Params != nil {
		if fault := wire.Decode(r.Params, &p); fault != nil {
			return nil, fault
		}
	}
	if p.CWD != "" {
		if !filepath.IsAbs(p.CWD) {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "cwd is not an absolute path")
		}
		p.CWD = filepath.Clean(p.CWD)
	}
	page, next, err := s.o.Host.List(ctx, p.CWD, p.Cursor)
	switch {
	case errors.Is(err, ErrCursor):
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "cursor is none that was given")
	case err != nil:
		return nil, failure(err)
	}
	out := wire.ListResult{Sessions: []wire.SessionInfo{}, NextCursor: next}
	for _, st := range page {
		out.Sessions = append(out.Sessions, wire.SessionInfo{
			SessionID: st.ID, CWD: st.Cwd, Title: st.Title, UpdatedAt: timestamp(st.Updated), AdditionalDirectories: st.Dirs,
		})
	}
	return out, nil
}

// timestamp is in RFC 3339, "" for no time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
