package agent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// toolset are the tools of one turn, sorted by name. They stay the same within it,
// so that a backend's prompt cache holds.
type toolset struct {
	list  []tool.Tool
	specs []provider.ToolSpec
}

// toolset joins the tools of every session with those of this one. Where two have
// one name, the first of them that is known counts.
func (s *Session) toolset(ctx context.Context) (toolset, []delivery.Notice) {
	var set toolset
	set.list = append(set.list, s.a.o.Tools.All()...)
	var notices []delivery.Notice
	if s.a.o.Toolbox != nil {
		var more []tool.Tool
		more, notices = s.a.o.Toolbox.Tools(ctx, s.Stored())
		for _, m := range more {
			if _, taken := set.lookup(m.Spec().Name); taken {
				notices = append(notices, delivery.Notice{
					Severity: delivery.SeverityWarning, Title: "two tools are named " + content.Clean(m.Spec().Name), Detail: "the second is left out",
				})
				continue
			}
			set.list = append(set.list, m)
		}
	}
	slices.SortStableFunc(set.list, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	for _, t := range set.list {
		sp := t.Spec()
		set.specs = append(set.specs, provider.ToolSpec{Name: sp.Name, Description: sp.Description, Schema: sp.Schema})
	}
	return set, notices
}

func (s *toolset) lookup(name string) (tool.Tool, bool) {
	for _, t := range s.list {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

func (s *toolset) has(name string) bool {
	_, ok := s.lookup(name)
	return ok
}

// equip gets everything that a turn has beside its prompt: tools, what delegates
// work, rules, and what the user allowed for good.
func (t *turn) equip(ctx context.Context) {
	var notices []delivery.Notice
	t.tools, notices = t.s.toolset(ctx)
	if n := t.tools.fit(t.window(ctx)); n > 0 && !t.model.Runner {
		notices = append(notices, fewerTools(n))
	}
	st := t.s.Stored()
	guide := ""
	if t.s.a.o.Guide != nil {
		var more []delivery.Notice
		guide, more = t.s.a.o.Guide.Instructions(ctx, st.Cwd, st.Dirs)
		notices = append(notices, more...)
	}
	t.system = systemPrompt(st, guide)
	for _, n := range notices {
		t.front.Noticed(Noticed{Notice: n})
	}
	if t.s.a.o.Permits != nil {
		rules, err := t.s.a.o.Permits.Allowed(ctx, st.Cwd)
		if err != nil {
			t.notice(delivery.SeverityWarning, "what was allowed for good cannot be read", err.Error())
		}
		t.allowed = rules
	}
	if t.s.a.o.Hosts != nil {
		t.host = t.s.a.o.Hosts.Host(t.s, TurnInfo{
			ID: t.id, Agent: t.model.Name, Front: t.front, Compact: func() string { return t.s.Compact(turnCompact) },
		})
	}
}

// window is how many tokens of context the model has, 0 where that is not known.
func (t *turn) window(ctx context.Context) int {
	n := t.model.Profile.Context
	// Without an answer the next request meets the same fault.
	f, err := t.s.a.o.Endpoints.Facts(ctx, t.model.Profile.Endpoint)
	if err == nil && f.Context > 0 && (n == 0 || f.Context < n) {
		n = f.Context
	}
	return n
}

// turnCompact is how much of a conversation goes along with delegated work, in
// bytes of compact text.
const turnCompact = 100_000

// outcome is one call on its way.
type outcome struct {
	call    content.ToolCall
	tool    tool.Tool
	env     tool.Env
	request permission.Request
	title   string
	// looser are the modes that would ask nothing about the call.
	looser  []permission.Mode
	sources []content.Source
	isError bool
	// refused says in words why the call was not run.
	refused string
	// said is what the user's commands and the project's rules say to the
	// model about the call.
	said []string
	// over: the call has ended and shows nothing more.
	over atomic.Bool

	mu sync.Mutex
	// kept are the files that it was about to change.
	kept []string
}

// parallel reports whether the call may run beside others.
func (o *outcome) parallel() bool { return o.tool != nil && o.tool.Spec().Parallel }

// equip gives a call its surroundings.
func (o *outcome) equip(t *turn) {
	st := t.s.Stored()
	o.env = tool.Env{
		Cwd: st.Cwd, Roots: t.s.roots(), Forbidden: t.s.a.o.Forbidden, Session: st.ID, Scratch: t.s.a.o.Stager.Dir(st.ID),
		Lookup: t.s.lookup, Pictures: t.s.pictures, Files: t.s.files, Host: t.host,
		Denied: t.denied,
		Live: func(text string) {
			if !o.over.Load() {
				t.front.ToolOutput(ToolOutput{Call: o.call, Text: text})
			}
		},
		Plan: func(steps []tool.Step) { t.front.Planned(Planned{Steps: slices.Clone(steps)}) },
	}
	points := t.s.a.o.Checkpoints
	if points == nil {
		return
	}
	o.env.Expect = func(ctx context.Context, abs string, after content.Digest) error {
		return t.s.expects(ctx, t.id, abs, after)
	}
	session, of := t.s.keptAs(t.id)
	o.env.Keep = func(ctx context.Context, abs string) error {
		if err := points.Keep(ctx, session, of, abs); err != nil {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if !slices.Contains(o.kept, abs) {
			o.kept = append(o.kept, abs)
		}
		return nil
	}
}

// denied reports whether the user's rules keep a file from being read or searched.
func (t *turn) denied(abs string) bool {
	for _, name := range []string{"read", "grep"} {
		v, _ := t.policy.Rules.Decide(permission.Request{Tool: name, Action: permission.Read, Path: filepath.ToSlash(abs), Inside: true})
		if v == permission.Deny {
			return true
		}
	}
	return false
}

// wrote notes how the call left the files that it was about to change, so that
// nobody else's change is undone with its own.
func (t *turn) wrote(ctx context.Context, o *outcome) {
	o.mu.Lock()
	kept := o.kept
	o.mu.Unlock()
	if len(kept) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	session, of := t.s.keptAs(t.id)
	for _, path := range kept {
		if err := t.s.a.o.Checkpoints.Wrote(ctx, session, of, path); err != nil {
			t.notice(delivery.SeverityWarning, "a change of "+content.Clean(path)+" is not noted: it may not be undone", err.Error())
		}
	}
}

// arguments are the call's arguments as a tool takes them.
func (o *outcome) arguments() json.RawMessage { return json.RawMessage(o.call.Arguments) }
