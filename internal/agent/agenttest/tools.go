package agenttest

import (
	"context"
	"encoding/json"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

// Tool is a tool whose work is a function.
type Tool struct {
	Name string
	// Wants is what it needs permission for, with its own name filled in;
	// the zero value reads inside the project.
	Wants permission.Request
	// Do is its work; nil says "done".
	Do func(ctx context.Context, args string) ([]content.Source, error)
	// In is its work where it needs its surroundings; it comes before Do.
	In func(ctx context.Context, args string, env tool.Env) (tool.Result, error)
	// Alone: its calls run beside no others.
	Alone bool
	// Shows is what a call will do, for people.
	Shows string
	// Bad is called before a request is made, and may panic or refuse the
	// arguments; nil accepts any.
	Bad func(args string) error
}

var _ tool.Tool = Tool{}

// Spec implements tool.Tool.
func (t Tool) Spec() tool.Spec {
	return tool.Spec{Name: t.Name, Description: "A tool for tests.", Schema: json.RawMessage(`{"type":"object"}`), Parallel: !t.Alone}
}

// Request implements tool.Tool.
func (t Tool) Request(args json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	if t.Bad != nil {
		if err := t.Bad(string(args)); err != nil {
			return permission.Request{}, "", err
		}
	}
	r := t.Wants
	r.Tool = t.Name
	if r.Action == 0 {
		r.Action, r.Inside = permission.Read, true
	}
	return r, "Use " + t.Name, nil
}

// Run implements tool.Tool.
func (t Tool) Run(ctx context.Context, args json.RawMessage, env tool.Env) (tool.Result, error) {
	if t.In != nil {
		return t.In(ctx, string(args), env)
	}
	if t.Do == nil {
		return tool.Result{Sources: Output("done")}, nil
	}
	sources, err := t.Do(ctx, string(args))
	return tool.Result{Sources: sources}, err
}

// Preview says what a call will do.
func (t Tool) Preview(json.RawMessage, tool.Env) string { return t.Shows }

// Output is what a tool says.
func Output(text string) []content.Source {
	return []content.Source{{
		Payload: content.Prose{Text: text}, Inlet: content.InletTool, Chooser: content.ChosenByTool, As: content.KindText,
	}}
}

// Screenshot is a picture from a tool.
func Screenshot(png []byte) content.Source {
	return content.Source{Payload: content.Bytes{Data: png}, Inlet: content.InletMCP, Chooser: content.ChosenByTool, As: content.KindImage}
}
