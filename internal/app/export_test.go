package app

import (
	"context"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
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
