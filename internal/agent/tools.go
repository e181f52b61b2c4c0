package agent

import (
	"context"
	"fmt"
	"sync"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// parallelCalls is how many calls of one answer run at the same time.
const parallelCalls = 4

// cancelled is what a model is told of a call that the user stopped.
const cancelled = "cancelled by the user"

// runTools announces every call, then takes them in order: calls that may run
// beside others do so with their neighbours, any other runs alone and in its
// place. What needs permission is asked for where its call stands, one question
// after the other. Every call gets an outcome, also when the turn is cancelled.
func (t *turn) runTools(ctx context.Context, calls []content.ToolCall) []*outcome {
	outs := make([]*outcome, len(calls))
	for i, c := range calls {
		outs[i] = t.announce(c)
	}
	for i := 0; i < len(outs); {
		end := i + 1
		for outs[i].parallel() && end < len(outs) && outs[end].parallel() {
			end++
		}
		t.runBeside(ctx, outs[i:end])
		i = end
	}
	return outs
}

// runBeside asks for the permission of some calls, then runs what is permitted
// side by side.
func (t *turn) runBeside(ctx context.Context, outs []*outcome) {
	for _, o := range outs {
		if o.refused == "" {
			t.permit(ctx, o)
		}
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
			o.over.Store(true)
			t.wrote(ctx, o)
			t.rules(ctx, o)
		})
	}
	wg.Wait()
}

// announce looks a call up and shows it.
func (t *turn) announce(c content.ToolCall) *outcome {
	o := &outcome{call: c}
	started := ToolStarted{Call: c, Title: c.Name}
	tl, ok := t.tools.lookup(c.Name)
	if !ok {
		t.front.ToolStarted(started)
		o.refused = fmt.Sprintf("there is no tool %q", c.Name)
		return o
	}
	o.tool = tl
	o.equip(t)
	var err error
	if o.request, o.title, err = o.ask(); err != nil {
		t.front.ToolStarted(started)
		o.refused = err.Error()
		return o
	}
	started.Title, started.Path = o.title, o.request.Path
	t.front.ToolStarted(started)
	return o
}

// permit settles whether a call may run.
func (t *turn) permit(ctx context.Context, o *outcome) {
	if ctx.Err() != nil {
		o.refused = cancelled
		return
	}
	o.refused = t.permission(ctx, o)
	o.env.Permitted = o.refused == "" && o.request.Path != "" && !o.request.Inside
}

// errBroken is the end of a tool that panicked. It costs that call only.
func (o *outcome) errBroken() error { return fmt.Errorf("the tool %s broke down", o.call.Name) }

// ask asks the tool what the call needs permission for.
func (o *outcome) ask() (req permission.Request, title string, err error) {
	defer func() {
		if recover() != nil {
			err = o.errBroken()
		}
	}()
	return o.tool.Request(o.arguments(), o.env)
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
	return o.tool.Run(ctx, o.arguments(), o.env)
}

var _ provider.Blobs = Store(nil)
