package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// parallelCalls is how many calls of one answer run at the same time.
const parallelCalls = 4

// cancelled is what a model is told of a call that the user stopped.
const cancelled = "cancelled by the user"

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
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			o.refused = cancelled
			continue
		}
		t.front.ToolRunning(ToolRunning{Call: o.call})
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
	req, title, err := o.request()
	if err != nil {
		t.front.ToolStarted(started)
		o.refused = err.Error()
		return o
	}
	started.Title, started.Path = title, req.Path
	t.front.ToolStarted(started)
	if ctx.Err() != nil {
		o.refused = cancelled
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
	key := req.Tool + "\x00" + req.Path + "\x00" + req.Detail
	if t.s.permits.has(key) {
		return ""
	}
	answer, err := t.front.Ask(ctx, Question{Call: c, Request: req, Title: title, Reason: why})
	switch {
	case ctx.Err() != nil:
		return cancelled
	case err != nil:
		return "not permitted: nobody could be asked"
	case answer == PermitDeny:
		return "the user did not permit it"
	case answer == PermitSession:
		t.s.permits.add(key)
	}
	return ""
}

// errBroken is the end of a tool that panicked. It costs that call only.
func (o *outcome) errBroken() error { return fmt.Errorf("the tool %s broke down", o.call.Name) }

// request asks the tool what the call needs permission for.
func (o *outcome) request() (req permission.Request, title string, err error) {
	defer func() {
		if recover() != nil {
			err = o.errBroken()
		}
	}()
	return o.tool.Request(json.RawMessage(o.call.Arguments), o.env)
}

// run runs a permitted call. What a tool has done counts, also when the user
// stopped the turn meanwhile.
func (o *outcome) run(ctx context.Context) {
	r, err := o.result(ctx)
	switch {
	case err == nil:
		o.sources, o.isError = r.Sources, r.IsError
	case ctx.Err() != nil:
		o.refused = cancelled
	default:
		o.refused = err.Error()
	}
}

func (o *outcome) result(ctx context.Context) (r tool.Result, err error) {
	defer func() {
		if recover() != nil {
			r, err = tool.Result{}, o.errBroken()
		}
	}()
	return o.tool.Run(ctx, json.RawMessage(o.call.Arguments), o.env)
}

// resultTimeout bounds taking in and recording the results of one batch, which
// also a cancelled turn does: a call without a result is no conversation.
const resultTimeout = time.Minute

// keepResults takes the outcomes in through the one inlet and records them, in
// the order of the calls. Every call gets its result and its end, also when the
// store cannot be written.
func (t *turn) keepResults(ctx context.Context, outs []*outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resultTimeout)
	defer cancel()
	var first error
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
			r.IsError, blocks = true, []content.Block{content.Text{Body: "[its output could not be kept]"}}
			if first == nil {
				first = err
			}
		}
		r.Blocks = blocks
		m.Parts = append(m.Parts, r)
		t.front.ToolFinished(ToolFinished{Call: o.call, Blocks: blocks, IsError: r.IsError})
	}
	if err := t.noteIn(ctx, m.Parts); err != nil && first == nil {
		first = err
	}
	if err := t.keep(ctx, m); err != nil && first == nil {
		first = err
	}
	return first
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
