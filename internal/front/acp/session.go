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
	// live is the front of the turn that runs, guarded by show.
	live *front

	mu sync.Mutex // guards what follows
	// agent and work change only while the line is held.
	agent *agent.Session
	work  Workspace
	// told are the options that the client knows.
	told []wire.ConfigOption
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
	return err
}

// send sends a session update: rpc.Parts or one of the wire structs.
func (ses *session) send(ctx context.Context, body any) error {
	ses.show.Lock()
	defer ses.show.Unlock()
	return ses.put(ctx, body)
}

// put is send for the holder of show.
func (ses *session) put(ctx context.Context, body any) error {
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
	if ses.srv.takesNotices() {
		return wire.Notice{SessionUpdate: "notice", Severity: n.Severity.String(), Title: n.Title, Description: n.Detail}
	}
	text := "[tote] " + n.Title
	if n.Severity != delivery.SeverityInfo {
		text = "[tote] " + n.Severity.String() + ": " + n.Title
	}
	if n.Detail != "" {
		text += " (" + n.Detail + ")"
	}
	// The empty line sets it off in clients that do not look at message ids.
	return wire.Chunk(wire.UpdateAgentMessage, messageID, wire.TextBlock(text+"\n\n"))
}

// welcome tells what is to be said when a session has been opened, after the
// reply: before it, clients do not know the session.
func (ses *session) welcome(ctx context.Context, notices []delivery.Notice) {
	for _, n := range notices {
		ses.notify(ctx, n)
	}
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
func (ses *session) beside(ctx context.Context, a *agent.Session) *front {
	f := &front{ses: ses, a: a, turn: ses.srv.o.newID(), step: 1, attempt: 1}
	f.tell = func(body any) { ses.tell(ctx, body) }
	f.put = func(body any) { _ = ses.put(ctx, body) } // as tell
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
