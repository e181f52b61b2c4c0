package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/hook"
)

// ownHooks counts, by event, the hooks that the user's files alone give. In the
// joined lists they come first.
func (w *Workspace) ownHooks(l config.Loaded) (map[string]int, error) {
	own := l.Config.Hooks
	if l.Trusted {
		o := w.options()
		o.CWD = "" // without the project
		alone, err := config.Load(o)
		if err != nil {
			return nil, err
		}
		own = alone.Config.Hooks
		if !alone.Stamp.User.Equal(l.Stamp.User) || !alone.Stamp.Servers.Equal(l.Stamp.Servers) {
			own = config.Hooks{} // written meanwhile: none is known to be the user's
		}
	}
	return map[string]int{
		hook.Prompt: len(own.Prompt), hook.PreTool: len(own.PreTool), hook.PostTool: len(own.PostTool), hook.Stop: len(own.Stop),
	}, nil
}

// guarded tells of each hook whether it hangs on the trust in the project: because
// the project gives it, or because its program or an argument is a file that the
// trust is about.
func guarded(l config.Loaded, list []hook.Hook, own map[string]int) []bool {
	out := make([]bool, len(list))
	seen := map[string]int{}
	for i, h := range list {
		seen[h.Event]++
		out[i] = seen[h.Event] > own[h.Event] || slices.ContainsFunc(h.Command, func(word string) bool { return steered(l, word) })
	}
	return out
}

// steered reports whether a word is the path of a file in the folders of the project
// that trust is about. The user's own folder may lie in the project.
func steered(l config.Loaded, word string) bool {
	if l.Project.Folder == "" || !filepath.IsAbs(word) {
		return false
	}
	names := []string{word}
	if target, err := filepath.EvalSymlinks(word); err == nil {
		names = append(names, target)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		rel, err := filepath.Rel(l.Project.Folder, name)
		if err != nil || !filepath.IsLocal(rel) || below(l.Dirs.Config, name) {
			return false
		}
		first, _, deeper := strings.Cut(filepath.ToSlash(rel), "/")
		return deeper && slices.Contains([]string{".tote", ".claude", ".agents"}, strings.ToLower(first))
	})
}

func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// trustHolds reports whether the project is still what the user trusts. It reads the
// files, since their times can be set by whoever changes them.
func (w *Workspace) trustHolds(l config.Loaded) bool {
	if !l.Trusted {
		return false
	}
	stamp, err := config.Snapshot(w.options())
	if err != nil || stamp.Fingerprint != l.Fingerprint {
		return false
	}
	if stamp.Trust.Equal(l.Stamp.Trust) {
		return true
	}
	now, err := config.Load(w.options())
	return err == nil && now.Trusted && now.Fingerprint == l.Fingerprint
}

// hooks run the user's commands, and those of a project as long as it is what the
// user trusts.
type hooks struct{ w *Workspace }

// Run implements agent.Hooks.
func (h hooks) Run(ctx context.Context, e agent.HookEvent) (agent.HookResult, []delivery.Notice) {
	h.w.mu.Lock()
	runner, guarded, l := h.w.hooks, h.w.guarded, h.w.loaded
	h.w.mu.Unlock()
	if !runner.Wants(e.Name) {
		return agent.HookResult{}, nil
	}
	runner.Hooks, guarded = slices.Clone(runner.Hooks), slices.Clone(guarded)
	refused := ""
	var notices []delivery.Notice
	for i := range guarded {
		if guarded[i] && runner.Hooks[i].Event == e.Name {
			if !h.w.trustHolds(l) {
				refused, notices = h.refuse(&runner, guarded, hook.Event(e), l)
			}
			break
		}
	}
	r, problems := runner.Run(ctx, hook.Event(e))
	for _, p := range problems {
		notices = append(notices, delivery.Notice{Severity: delivery.SeverityWarning, Title: p.String()})
	}
	if refused != "" && r.Decision != hook.Deny {
		r.Decision, r.Reason = hook.Deny, refused
	}
	return agent.HookResult{
		Deny: r.Decision == hook.Deny, Ask: r.Decision == hook.Ask, Allow: r.Decision == hook.Allow, Reason: r.Reason, Context: r.Context,
	}, notices
}

// refuse takes the guarded hooks out of the runner. Where one of them is required for
// the event, the reason to deny it is returned. The user is told once.
func (h hooks) refuse(r *hook.Runner, guarded []bool, e hook.Event, l config.Loaded) (reason string, notices []delivery.Notice) {
	why := "the project's hooks have changed since you trusted it; they do not run until you trust it again: tote trust " + l.Project.Folder
	if !l.Trusted && len(l.Held.Prompt)+len(l.Held.PreTool) == 0 {
		why = "hooks whose programs lie in this project do not run until you trust it: tote trust " + l.Project.Folder
	}
	var kept []hook.Hook
	for i, x := range r.Hooks {
		switch {
		case !guarded[i]:
			kept = append(kept, x)
		case x.Required && x.For(e) && (e.Name == hook.Prompt || e.Name == hook.PreTool):
			reason = why
		}
	}
	r.Hooks = kept
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if !h.w.refusalTold {
		h.w.refusalTold = true
		notices = append(notices, delivery.Notice{Severity: delivery.SeverityWarning, Title: why})
	}
	return reason, notices
}
