package agent

import (
	"context"
	"encoding/json"
	"slices"

	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// previewer is a tool that can say what a call will write or run.
type previewer interface {
	Preview(args json.RawMessage, env tool.Env) string
}

// permission returns "" when a call may run, else why not. The user's commands
// come first: they may deny what the rules allow and spare a question, but allow
// nothing that is denied.
func (t *turn) permission(ctx context.Context, o *outcome) string {
	hook := t.hook(ctx, HookEvent{Name: hookBefore, Tool: o.call.Name, Arguments: o.arguments(), Request: o.request})
	if hook.Deny {
		return because("not permitted by a command of the user", hook.Reason)
	}
	if hook.Context != "" {
		o.said = append(o.said, fromHook(hook.Context))
	}
	granted := append(t.s.permits.allowed(), t.allowed...)
	rules := t.policy.Rules
	rules.Allow = append(slices.Clone(rules.Allow), granted...)
	verdict, why := rules.Decide(o.request)
	switch verdict {
	case permission.Allow:
		if hook.Ask {
			return t.question(ctx, o, because("a command of the user asks", hook.Reason))
		}
		return ""
	case permission.Deny:
		if rules.Mode == permission.ModePlan && o.request.Action != permission.Read {
			why += ": look, then propose a plan; the user has to leave plan mode before it can be carried out"
		}
		return "not permitted: " + why
	case permission.Ask:
	}
	if hook.Ask {
		return t.question(ctx, o, because("a command of the user asks", hook.Reason))
	}
	// A rule of the user's that asks was answered with what was granted. What may be
	// something that a rule denies is not for a command to allow.
	if hook.Allow && !rules.Unsure(o.request) || covered(granted, o.request) || t.s.permits.has(exactly(o.request)) {
		return ""
	}
	o.looser = rules.Looser(o.request)
	return t.question(ctx, o, why)
}

// exactly names one request.
func exactly(r permission.Request) string { return r.Tool + "\x00" + r.Path + "\x00" + r.Detail }

// covered reports whether rules that the user granted allow all of a request. What
// is allowed without any rule does not count: a rule that asks stood against it.
func covered(granted []permission.Rule, q permission.Request) bool {
	if len(granted) == 0 {
		return false
	}
	if q.Action != permission.Execute && q.Action != permission.Fetch {
		q.Action = permission.Write // for which there is a question without a rule
	}
	v, _ := permission.Rules{Allow: granted}.Decide(q)
	return v == permission.Allow
}

// notPermitted is what the model is told of a call that the user refused.
const notPermitted = "the user did not permit it"

// question asks the user. Only an answer that is known to permit does.
func (t *turn) question(ctx context.Context, o *outcome, why string) string {
	if err := o.check(ctx); err != nil {
		return err.Error() // nobody is asked about what cannot be done
	}
	q := Question{
		Call: o.call, Request: o.request, Title: o.title, Reason: why, Rule: permission.Suggest(o.request), Preview: o.preview(),
		Looser: o.looser,
	}
	answer, err := t.front.Ask(ctx, q)
	switch {
	case ctx.Err() != nil:
		return cancelled
	case err != nil:
		return "not permitted: nobody could be asked"
	}
	switch answer {
	case PermitOnce:
		return ""
	case PermitSession:
		t.grant(q)
		return ""
	case PermitAlways:
		t.grant(q)
		t.grantForGood(ctx, q)
		return ""
	case PermitDeny:
	}
	return notPermitted
}

// grant keeps an answer as long as the session is open.
func (t *turn) grant(q Question) {
	if q.Rule == (permission.Rule{}) {
		t.s.permits.add(exactly(q.Request))
		return
	}
	t.s.permits.allow(q.Rule)
}

func (t *turn) grantForGood(ctx context.Context, q Question) {
	if t.s.a.o.Permits == nil || q.Rule == (permission.Rule{}) {
		return
	}
	if err := t.s.a.o.Permits.Allow(ctx, t.s.Stored().Cwd, q.Rule); err != nil {
		t.notice(delivery.SeverityWarning, "this is allowed for the session only: "+q.Rule.String(), err.Error())
	}
}

// check finds out whether a call could be carried out at all.
func (o *outcome) check(ctx context.Context) (err error) {
	c, ok := o.tool.(tool.Checker)
	if !ok {
		return nil
	}
	defer func() {
		if recover() != nil {
			err = o.errBroken()
		}
	}()
	return c.Check(ctx, o.arguments(), o.env)
}

// preview is what a call will do, for people.
func (o *outcome) preview() (text string) {
	p, ok := o.tool.(previewer)
	if !ok {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = "" // the question is asked all the same
		}
	}()
	return p.Preview(o.arguments(), o.env)
}

// because joins what happened with a reason, where there is one.
func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
