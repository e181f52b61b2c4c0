package agent

import (
	"context"

	"tote/internal/content"
)

// The names of the moments at which the user's commands may step in.
const (
	hookPrompt = "prompt"
	hookBefore = "pre_tool"
	hookAfter  = "post_tool"
	hookStop   = "stop"
)

// hookText bounds what one command says to the model, in bytes.
const hookText = 20_000

// DeniedError is a prompt that a command of the user's did not let through.
type DeniedError struct{ Reason string }

// Error implements error.
func (e *DeniedError) Error() string {
	return because("a command of the user did not let the prompt through", e.Reason)
}

// hook runs the user's commands for a moment of the turn and shows what they say
// to people.
func (t *turn) hook(ctx context.Context, e HookEvent) HookResult {
	e.Turn = t.id
	return t.s.hook(ctx, t.front, e)
}

func (s *Session) hook(ctx context.Context, f Front, e HookEvent) HookResult {
	if s.a.o.Hooks == nil || ctx.Err() != nil {
		return HookResult{}
	}
	st := s.Stored()
	e.Session, e.Cwd = st.ID, st.Cwd
	r, notices := s.a.o.Hooks.Run(ctx, e)
	for _, n := range notices {
		tell(f, n)
	}
	return r
}

// fromHook marks what a command says to the model.
func fromHook(text string) string {
	return "[from a command of the user]\n" + clipped(text, hookText) + "\n[end of it]"
}

// afterTool lets the user's commands look at a result.
func (t *turn) afterTool(ctx context.Context, o *outcome, r content.ToolResult) {
	if o.tool == nil {
		return
	}
	h := t.hook(ctx, HookEvent{
		Name: hookAfter, Tool: o.call.Name, Arguments: o.arguments(), Request: o.request, Text: content.Compact(r.Blocks), IsError: r.IsError,
	})
	if h.Deny {
		o.said = append(o.said, fromHook(because("this result is not accepted", h.Reason)))
	}
	if h.Context != "" {
		o.said = append(o.said, fromHook(h.Context))
	}
}
