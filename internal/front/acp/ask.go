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
func (f *front) Ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	call, done := f.subject(q)
	chosen, err := wire.RequestPermission(ctx, f.ses.srv.conn, wire.PermissionParams{
		SessionID: f.ses.id, ToolCall: call, Options: answers(q),
	})
	permit := agent.PermitDeny
	switch {
	case err != nil:
	case chosen.OptionID == answerOnce:
		permit = agent.PermitOnce
	case chosen.OptionID == answerSession:
		permit = agent.PermitSession
	case chosen.OptionID == answerAlways && q.Rule.Tool != "":
		permit = agent.PermitAlways
	}
	done(permit != agent.PermitDeny)
	if errors.Is(err, wire.ErrDismissed) {
		err = nil // the user was asked and did not allow it
	}
	return permit, err
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

// subject is the tool call that a question is about, as a change of a call that
// has been announced. For what is no call of the model one is announced, and done
// brings it to its end.
func (f *front) subject(q agent.Question) (call wire.ToolCall, done func(allowed bool)) {
	id, announced := f.open[q.Call.ID]
	if q.Call.Name != "" && announced {
		call = announce(id, q.Call)
		call.SessionUpdate, call.Title, call.Status = "", q.Title, wire.ToolPending
		done = func(bool) {} // the agent tells how the call ends
	} else {
		call = wire.ToolCall{ToolCallID: f.lineID(), Title: q.Title, Kind: wire.ToolFetch, Status: wire.ToolPending}
		if q.Request.Action == permission.Read {
			call.Kind = wire.ToolRead
		}
		done = f.ownCall(call, q.Request.Path)
	}
	if q.Request.Path != "" {
		call.Locations = []wire.Location{{Path: filepath.FromSlash(q.Request.Path)}}
	}
	call.Content = append(call.Content, wire.ToolContent(wire.TextBlock(reasonText(q))))
	if q.Preview != "" {
		call.Content = append(call.Content, wire.ToolContent(wire.TextBlock("```\n"+q.Preview+"\n```")))
	}
	return call, done
}

func reasonText(q agent.Question) string {
	if q.Request.Detail == "" {
		return q.Reason
	}
	return q.Reason + ": " + q.Request.Detail
}

// ownCall announces a call that no model made.
func (f *front) ownCall(call wire.ToolCall, path string) func(allowed bool) {
	call.SessionUpdate = wire.UpdateToolCall
	if path != "" {
		call.Locations = []wire.Location{{Path: filepath.FromSlash(path)}}
	}
	f.tell(call)
	return func(allowed bool) {
		end := wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: call.ToolCallID, Status: wire.ToolFailed}
		if allowed {
			end.Status = wire.ToolCompleted
		}
		f.tell(end)
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
	call := wire.ToolCall{ToolCallID: f.lineID(), Title: "Trust the settings of " + u.Folder, Kind: wire.ToolOther, Status: wire.ToolPending}
	call.Content = append(call.Content, wire.ToolContent(wire.TextBlock("They have no effect yet: "+strings.Join(u.Withheld, "; "))))
	done := f.ownCall(call, "")
	chosen, err := wire.RequestPermission(ctx, ses.srv.conn, wire.PermissionParams{
		SessionID: ses.id, ToolCall: call,
		Options: []wire.PermissionOption{
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
