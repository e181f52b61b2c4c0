package acp

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"tote/internal/agent"
	"tote/internal/front/acp/wire"
	"tote/internal/permission"
)

// The answers that a question offers, by id.
const (
	answerOnce    = "allow"
	answerSession = "allow_session"
	answerAlways  = "allow_always"
	answerReject  = "reject"
	answerTrust   = "trust"
)

// Ask implements agent.Front. Anything but an option that was offered and allows
// is a denial.
func (f *front) Ask(ctx context.Context, a agent.Question) (agent.Permit, error) {
	q, done := f.subject(ctx, a)
	chosen, err := f.ask(ctx, q)
	permit := agent.PermitDeny
	switch {
	case err != nil:
	case chosen.OptionID == answerOnce:
		permit = agent.PermitOnce
	case chosen.OptionID == answerSession:
		permit = agent.PermitSession
	case chosen.OptionID == answerAlways && a.Rule.Tool != "":
		permit = agent.PermitAlways
	}
	done(permit != agent.PermitDeny)
	if errors.Is(err, wire.ErrDismissed) {
		err = nil // the user was asked and did not allow it
	}
	return permit, err
}

// ask asks the client. A turn that runs waits for the answer, and nothing else.
func (f *front) ask(ctx context.Context, q question) (wire.PermissionOption, error) {
	if f.running == nil {
		return wire.RequestPermission(ctx, f.ses.srv.conn, f.speaks.question(f.ses.id, q), q.options)
	}
	told := context.WithoutCancel(ctx)
	f.ses.enter(told, state{phase: phaseAsking})
	chosen, err := wire.RequestPermission(ctx, f.ses.srv.conn, f.speaks.question(f.ses.id, q), q.options)
	if ctx.Err() == nil {
		f.ses.enter(told, state{phase: phaseRunning})
	}
	return chosen, err
}

// answers are what a user may choose from.
func answers(q agent.Question) []wire.PermissionOption {
	out := []wire.PermissionOption{{OptionID: answerOnce, Name: "Allow", Kind: wire.AllowOnce}}
	session := "Allow for this session"
	if q.Rule.Tool != "" {
		session = "Allow " + q.Rule.String() + " for this session"
	}
	out = append(out, wire.PermissionOption{OptionID: answerSession, Name: session, Kind: wire.AllowAlways})
	if q.Rule.Tool != "" {
		out = append(out, wire.PermissionOption{OptionID: answerAlways, Name: "Always allow " + q.Rule.String() + " in this project", Kind: wire.AllowAlways})
	}
	return append(out, wire.PermissionOption{OptionID: answerReject, Name: "Reject", Kind: wire.RejectOnce})
}

// subject is what a question is about, as a call that has been announced. For what is
// no call of the model one is announced, and done brings it to its end.
func (f *front) subject(ctx context.Context, a agent.Question) (q question, done func(allowed bool)) {
	q = question{title: a.Title, reason: reasonText(a), preview: a.Preview, options: answers(a)}
	if known := f.open[a.Call.ID]; a.Call.Name != "" && known != nil {
		c := *known
		c.title = a.Title
		if a.Request.Path != "" && len(c.locations) == 0 {
			c.locations = []wire.Location{{Path: filepath.FromSlash(a.Request.Path)}}
		}
		q.call, q.change = &c, c.file.planned(ctx, a.Call, a.Preview)
		return q, func(bool) {} // the agent tells how the call ends
	}
	q.call = &call{id: f.lineID(), title: a.Title, kind: wire.ToolFetch}
	switch a.Request.Action {
	case permission.Read:
		q.call.kind = wire.ToolRead
	case permission.Write:
		q.call.kind = wire.ToolEdit
	case permission.Execute:
		q.call.kind = wire.ToolExecute
	case permission.Call, permission.Delegate:
		q.call.kind = wire.ToolOther
	case permission.Fetch:
	}
	if a.Request.Path != "" {
		q.call.locations = []wire.Location{{Path: filepath.FromSlash(a.Request.Path)}}
	}
	return q, f.ownCall(q.call)
}

func reasonText(q agent.Question) string {
	if q.Request.Detail == "" {
		return q.Reason
	}
	return q.Reason + ": " + q.Request.Detail
}

// ownCall announces a call that no model made.
func (f *front) ownCall(c *call) (done func(allowed bool)) {
	f.tellAll(f.speaks.announced(c))
	return func(allowed bool) {
		end := ending{status: f.broken()}
		if allowed {
			end.status = statusCompleted
		}
		f.tellAll(f.speaks.ended(c, end))
	}
}

// askTrust asks once in a session whether the settings of its project may take
// effect. Whatever is no clear yes leaves them without.
func (f *front) askTrust(ctx context.Context) {
	ses := f.ses
	ses.mu.Lock()
	u := ses.work.Untrusted
	asked := ses.asked
	ses.asked = true
	ses.mu.Unlock()
	if u == nil || asked || ses.srv.hasAccepted(u) {
		return
	}
	c := &call{id: f.lineID(), title: "Trust the settings of " + u.Folder, kind: wire.ToolOther}
	c.content = append(c.content, wire.ToolContent(wire.TextBlock("They have no effect yet: "+strings.Join(u.Withheld, "; "))))
	done := f.ownCall(c)
	chosen, err := f.ask(ctx, question{
		call: c, title: c.title,
		options: []wire.PermissionOption{
			{OptionID: answerTrust, Name: "Trust this folder as it is now", Kind: wire.AllowAlways},
			{OptionID: answerReject, Name: "Not now", Kind: wire.RejectOnce},
		},
	})
	trusted := err == nil && chosen.OptionID == answerTrust
	if trusted {
		if err := u.Accept(ctx); err != nil {
			trusted = false
			f.tell(ses.notice(f.lineID(), warning("the folder could not be trusted", err.Error())))
		} else {
			ses.srv.accept(u)
		}
	}
	done(trusted)
}

func (s *server) hasAccepted(u *Untrusted) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted[u.Folder+"\x00"+u.Fingerprint]
}

func (s *server) accept(u *Untrusted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted[u.Folder+"\x00"+u.Fingerprint] = true
}
