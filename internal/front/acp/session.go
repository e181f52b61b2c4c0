package acp

import (
	"context"
	"slices"
	"sync"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/wire"
	"tote/internal/tool"
)

// session is a session that is open on this connection.
type session struct {
	srv  *server
	id   string
	line line

	// show is held while updates are sent, so that nothing of a turn that runs
	// comes into the middle of a replay. It is taken before mu.
	show sync.Mutex
	// live is the front of the turn that runs, does what the session does, and
	// closed is set when nothing is sent any more. show guards them.
	live   *front
	does   phase
	closed bool

	mu sync.Mutex // guards what follows
	// agent and work change only while the line is held.
	agent *agent.Session
	work  Workspace
	// told are the options that the client knows, offered the commands.
	told    []wire.ConfigOption
	offered []wire.Command
	// dollars is what the session has cost on this connection; priced says
	// that there is a price.
	dollars float64
	priced  bool
	// asked: the user has been asked to trust the folder.
	asked bool
}

func (ses *session) now() (*agent.Session, Workspace) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.agent, ses.work
}

// close cancels what runs and what waits, and waits for its end.
func (ses *session) close(ctx context.Context) error {
	ses.line.cancelAll()
	p := ses.line.join(nil)
	defer p.leave()
	if !p.wait(ctx) {
		return context.Cause(ctx)
	}
	a, work := ses.now()
	err := a.Close(ctx)
	if work.Ended != nil {
		work.Ended(ses.id)
	}
	ses.show.Lock()
	defer ses.show.Unlock()
	ses.closed = true
	return err
}

// send sends a session update: rpc.Parts or one of the wire structs.
func (ses *session) send(ctx context.Context, body any) error {
	ses.show.Lock()
	defer ses.show.Unlock()
	return ses.put(ctx, body)
}

// put is send for the holder of show. Of a session that is closed nothing is sent:
// a job may end later.
func (ses *session) put(ctx context.Context, body any) error {
	if ses.closed {
		return nil
	}
	parts, err := wire.Update(ses.id, body)
	if err != nil {
		return err
	}
	return ses.srv.conn.Notify(ctx, wire.MethodUpdate, parts)
}

// tell is send for what nobody waits for. It fails only when the client is gone,
// which ends the connection, or ctx has ended with the output full.
func (ses *session) tell(ctx context.Context, body any) { _ = ses.send(ctx, body) }

// notify shows a line to the user.
func (ses *session) notify(ctx context.Context, n delivery.Notice) {
	ses.tell(ctx, ses.notice("notice-"+ses.srv.o.newID(), n))
}

// notice is the update for a line to the user: a notice where the client takes
// them, else a short message of its own.
func (ses *session) notice(messageID string, n delivery.Notice) any {
	return ses.srv.dialect().notice(ses.srv.takesNotices(), messageID, n)
}

// enter tells what the session does from now on.
func (ses *session) enter(ctx context.Context, st state) {
	ses.show.Lock()
	defer ses.show.Unlock()
	ses.does = st.phase
	for _, u := range ses.srv.dialect().state(st) {
		_ = ses.put(ctx, u) // it fails as tell does
	}
}

// welcome tells what is to be said when a session has been opened, after the
// reply: before it, clients do not know the session.
func (ses *session) welcome(ctx context.Context, notices []delivery.Notice) {
	for _, n := range notices {
		ses.notify(ctx, n)
	}
	ses.offer(ctx)
}

// equip gives a session the servers that its client wants, and somebody to ask and
// to tell while no turn runs.
func (ses *session) equip(ctx context.Context, p wire.SessionParams) {
	a, work := ses.now()
	if work.Give != nil {
		work.Give(ses.id, p.MCPServers)
	}
	if work.World == nil {
		return
	}
	// The connection outlives the request that opened the session; a client that
	// is gone answers nothing.
	ctx = context.WithoutCancel(ctx)
	beside := func() *front { return ses.beside(ctx, a) }
	a.WatchJobs(func(j tool.JobState) { beside().JobChanged(agent.JobChanged{Job: j}) })
	if jobs := work.World(a).Jobs; jobs != nil {
		jobs.Attend(ses.id, func(ctx context.Context, q agent.Question) (agent.Permit, error) { return beside().Ask(ctx, q) })
	}
}

// beside is a front for what happens beside the turns.
func (ses *session) beside(ctx context.Context, a *agent.Session) *front { return ses.front(ctx, a) }

// front is one that tells as long as ctx lives.
func (ses *session) front(ctx context.Context, a *agent.Session) *front {
	f := &front{ses: ses, a: a, turn: ses.srv.o.newID(), speaks: ses.srv.dialect(), step: 1, attempt: 1}
	f.tell = func(body any) { ses.tell(ctx, body) }
	// It fails as tell does, and for the same reasons.
	f.put = func(body any) { _ = ses.put(ctx, body) }
	return f
}

func warning(title, detail string) delivery.Notice {
	return delivery.Notice{Severity: delivery.SeverityWarning, Title: title, Detail: detail}
}

// sameFolders reports whether a session already has the folders that are asked
// for.
func sameFolders(st agent.Stored, p wire.SessionParams) bool {
	return st.Cwd == p.CWD && slices.Equal(st.Dirs, p.AdditionalDirectories)
}
