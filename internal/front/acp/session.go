package acp

import (
	"context"
	"slices"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
)

// session is a session that is open on this connection.
type session struct {
	srv  *server
	id   string
	line line

	mu sync.Mutex // guards what follows
	// agent and work change only while the line is held.
	agent *agent.Session
	work  Workspace
	// told are the options that the client knows.
	told []ConfigOption
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
	if err := p.wait(ctx); err != nil {
		return err
	}
	a, _ := ses.now()
	return a.Close(ctx)
}

// send sends a session update: rpc.Parts or one of the wire structs.
func (ses *session) send(ctx context.Context, body any) error {
	parts, err := update(ses.id, body)
	if err != nil {
		return err
	}
	return ses.srv.conn.Notify(ctx, methodUpdate, parts)
}

// tell is send for what nobody waits for. It fails only when the client is gone,
// which ends the connection, or ctx has ended with the output full.
func (ses *session) tell(ctx context.Context, body any) { _ = ses.send(ctx, body) }

// notify shows a line to the user: as a notice where the client takes them, else
// as a short message of its own.
func (ses *session) notify(ctx context.Context, n delivery.Notice) {
	ses.notice(ctx, "notice-"+ses.srv.o.newID(), n)
}

func (ses *session) notice(ctx context.Context, messageID string, n delivery.Notice) {
	if ses.srv.takesNotices() {
		ses.tell(ctx, Notice{SessionUpdate: "notice", Severity: n.Severity.String(), Title: n.Title, Description: n.Detail})
		return
	}
	text := "[tote] " + n.Title
	if n.Severity != delivery.SeverityInfo {
		text = "[tote] " + n.Severity.String() + ": " + n.Title
	}
	if n.Detail != "" {
		text += " (" + n.Detail + ")"
	}
	// The empty line sets it off in clients that do not look at message ids.
	ses.tell(ctx, Chunk(UpdateAgentMessage, messageID, TextBlock(text+"\n\n")))
}

// welcome tells what is to be said when a session has been opened, after the
// reply: before it, clients do not know the session.
func (ses *session) welcome(ctx context.Context, p SessionParams, notices []delivery.Notice) {
	for _, n := range notices {
		ses.notify(ctx, n)
	}
	if len(p.MCPServers) == 0 {
		return
	}
	var names []string
	for _, m := range p.MCPServers {
		names = append(names, rpc.Clip(m.Name, 60))
	}
	ses.notify(ctx, warning("MCP servers of the editor are not used by this version: "+strings.Join(names, ", "),
		"the session has the built-in tools only"))
}

func warning(title, detail string) delivery.Notice {
	return delivery.Notice{Severity: delivery.SeverityWarning, Title: title, Detail: detail}
}

// sameFolders reports whether a session already has the folders that are asked
// for.
func sameFolders(st agent.Stored, p SessionParams) bool {
	return st.Cwd == p.CWD && slices.Equal(st.Dirs, p.AdditionalDirectories)
}
