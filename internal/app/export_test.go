package app

import (
	"context"
	"encoding/json"
	"testing"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// RunHooks runs the hooks of a workspace.
func (w *Workspace) RunHooks(ctx context.Context, e agent.HookEvent) (agent.HookResult, []delivery.Notice) {
	return hooks{w}.Run(ctx, e)
}

// Instructions returns what the system prompt holds of rules.
func (w *Workspace) Instructions(ctx context.Context) (string, []delivery.Notice) {
	return w.guide.Instructions(ctx, w.cwd, nil)
}

// KeyNames lists the variables that hold keys.
func KeyNames(c config.Config, env func(string) string) []string { return keyNames(c, env) }

// Tools lists the built-in tools, new ones.
func (w *Workspace) Tools(tb testing.TB) []tool.Tool {
	tb.Helper()
	r, err := w.tools()
	if err != nil {
		tb.Fatal(err)
	}
	return r.All()
}

func (w *Workspace) env() tool.Env {
	return tool.Env{Cwd: w.cwd, Roots: []string{w.cwd}, Session: "s", Scratch: w.app.dirs.Scratch}
}

// Judge is the verdict on a call.
func (w *Workspace) Judge(tb testing.TB, name string, args map[string]string) (permission.Verdict, string) {
	tb.Helper()
	for _, x := range w.Tools(tb) {
		if x.Spec().Name == name {
			q, _, err := x.Request(arguments(tb, args), w.env())
			if err != nil {
				tb.Fatal(err)
			}
			return w.policy().Rules.Decide(q)
		}
	}
	tb.Fatal("no tool " + name)
	return permission.Deny, ""
}

// Call runs a tool, the same of each name for as long as the workspace is there.
func (w *Workspace) Call(tb testing.TB, name string, args map[string]string) (string, error) {
	tb.Helper()
	all := append(w.shell.Tools(), skill{w.guide})
	for _, x := range all {
		if x.Spec().Name != name {
			continue
		}
		r, err := x.Run(tb.Context(), arguments(tb, args), w.env())
		text := ""
		for _, s := range r.Sources {
			if p, ok := s.Payload.(content.Prose); ok {
				text += p.Text
			}
		}
		return text, err
	}
	tb.Fatal("no tool " + name)
	return "", nil
}

func arguments(tb testing.TB, args map[string]string) json.RawMessage {
	tb.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
