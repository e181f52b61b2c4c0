package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// parallelCalls is how many calls of one answer run at the same time.
const parallelCalls = 4

// outcome is one call on its way.
type outcome struct {
	call    content.ToolCall
	tool    tool.Tool
	env     tool.Env
	sources []content.Source
	isError bool
	// refused says in words why the call was not run.
	refused string
}

// runTools announces every call, asks for what needs permission one after the
// other, and runs what is permitted side by side. Every call gets an outcome,
// also when the turn is cancelled.
func (t *turn) runTools(ctx context.Context, calls []content.ToolCall) []*outcome {
	outs := make([]*outcome, len(calls))
	for i, c := range calls {
		outs[i] = t.announce(ctx, c)
	}
	slots := make(chan struct{}, parallelCalls)
	var wg sync.WaitGroup
	for _, o := range outs {
		if o.refused != "" {
			continue
		}
		t.front.ToolRunning(ToolRunning{Call: o.call})
		slots <- struct{}{}
		// It ends with the call, which ends with ctx at the latest.
		wg.Go(func() {
			defer func() { <-slots }()
			o.run(ctx)
		})
	}
	wg.Wait()
	return outs
}

// announce looks a call up, shows it, and settles whether it may run.
func (t *turn) announce(ctx context.Context, c content.ToolCall) *outcome {
	o := &outcome{call: c}
	started := ToolStarted{Call: c, Title: c.Name}
	tl, ok := t.s.a.o.Tools.Lookup(c.Name)
	if !ok {
		t.front.ToolStarted(started)
		o.refused = fmt.Sprintf("there is no tool %q", c.Name)
		return o
	}
	st := t.s.Stored()
	o.tool, o.env = tl, tool.Env{Cwd: st.Cwd, Roots: t.s.roots(), Forbidden: t.s.a.o.Forbidden}
	req, title, err := tl.Request(json.RawMessage(c.Arguments), o.env)
	if err != nil {
		t.front.ToolStarted(started)
		o.refused = err.Error()
		return o
	}
	started.Title, started.Path = title, req.Path
	t.front.ToolStarted(started)
	if ctx.Err() != nil {
		o.refused = "cancelled by the user"
		return o
	}
	o.refused = t.permission(ctx, c, req, title)
	o.env.Permitted = o.refused == "" && req.Path != "" && !req.Inside
	return o
}

// permission returns "" when a call may run, else why not.
func (t *turn) permission(ctx context.Context, c content.ToolCall, req permission.Request, title string) string {
	verdict, why := t.policy.Rules.Decide(req)
	switch verdict {
	case permission.Allow:
		return ""
	case permission.Deny:
		return "not permitted: " + why
	case permission.Ask:
	}
	key := req.Tool + " " + req.Path + req.Detail
	if t.s.permitted(key) {
		return ""
	}
	answer, err := t.front.Ask(ctx, Question{Call: c, Request: req, Title: title, Reason: why})
	switch {
	case ctx.Err() != nil:
		return "cancelled by the user"
	case err != nil:
		return "not permitted: nobody could be asked"
	case answer == PermitDeny:
		return "the user did not permit it"
	case answer == PermitSession:
		t.s.permit(key)
	}
	return ""
}

// run runs a permitted call. A tool that panics costs that call only.
func (o *outcome) run(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			o.sources, o.isError = nil, true
			o.refused = fmt.Sprintf("the tool %s broke down", o.call.Name)
		}
	}()
	r, err := o.tool.Run(ctx, json.RawMessage(o.call.Arguments), o.env)
	switch {
	case ctx.Err() != nil:
		o.refused = "cancelled by the user"
	case err != nil:
		o.refused = err.Error()
	default:
		o.sources, o.isError = r.Sources, r.IsError
	}
}

// keepResults takes the outcomes in through the one inlet and records them, in
// the order of the calls.
func (t *turn) keepResults(ctx context.Context, outs []*outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	m := content.Message{Role: content.RoleTool}
	for _, o := range outs {
		r := content.ToolResult{CallID: o.call.ID, Name: o.call.Name, IsError: o.isError || o.refused != ""}
		sources := o.sources
		if o.refused != "" {
			sources = []content.Source{{
				Payload: content.Prose{Text: o.refused}, Inlet: content.InletTool, Chooser: content.ChosenByTool, As: content.KindText,
			}}
		}
		blocks, err := t.ingestResult(ctx, sources)
		if err != nil {
			return err
		}
		r.Blocks = blocks
		m.Parts = append(m.Parts, r)
		t.front.ToolFinished(ToolFinished{Call: o.call, Blocks: blocks, IsError: r.IsError})
	}
	return t.keep(ctx, m)
}

// ingestResult is where the output of tools joins the conversation.
func (t *turn) ingestResult(ctx context.Context, sources []content.Source) ([]content.Block, error) {
	var parts []content.Part
	for _, src := range sources {
		blocks, _, err := t.s.a.o.Inlet.Ingest(ctx, src, t.s.scope(nil))
		if err != nil {
			return nil, fmt.Errorf("take in a tool's output: %w", err)
		}
		for _, b := range blocks {
			parts = append(parts, b)
		}
	}
	if err := t.s.label(ctx, parts); err != nil {
		return nil, err
	}
	out := make([]content.Block, 0, len(parts))
	for _, p := range parts {
		if b, ok := p.(content.Block); ok {
			out = append(out, b)
		}
	}
	return out, nil
}

var _ provider.Blobs = Store(nil)
