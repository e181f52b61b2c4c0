package shell

import (
	"context"
	_ "embed" // for the descriptions of the tools
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed bash_output.md
var outputText string

//go:embed bash_kill.md
var killText string

// Output is the tool that reads from a command in the background. Make it with
// Shells.Tools.
type Output struct{ s *Shells }

// Kill is the tool that stops one. Make it with Shells.Tools.
type Kill struct{ s *Shells }

var (
	_ tool.Tool = Output{}
	_ tool.Tool = Kill{}
)

type outputArgs struct {
	ID     string `json:"id"`
	WaitMS int64  `json:"wait_ms"`
}

// Spec implements tool.Tool.
func (Output) Spec() tool.Spec {
	return tool.Spec{
		Name: "bash_output", Description: strings.TrimSpace(outputText),
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"The id that bash gave."},` +
			`"wait_ms":{"type":"integer","minimum":0,"maximum":600000,"description":"How long to wait for the end, in milliseconds."}},"required":["id"],"additionalProperties":false}`),
	}
}

func (Output) args(raw json.RawMessage) (outputArgs, error) {
	var a outputArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, err
	}
	switch {
	case a.ID == "":
		return a, errors.New("bash_output: the argument \"id\" is missing")
	case a.WaitMS < 0 || a.WaitMS > maxTimeout.Milliseconds():
		return a, fmt.Errorf("bash_output: wait_ms is %d, want 0 to %d", a.WaitMS, maxTimeout.Milliseconds())
	}
	return a, nil
}

// Request implements tool.Tool. Reading needs no question: running did.
func (o Output) Request(raw json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	a, err := o.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return permission.Request{Tool: "bash_output", Action: permission.Read, Inside: true}, "Read the output of " + a.ID, nil
}

// Run implements tool.Tool.
func (o Output) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, err := o.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	e, gone, err := o.s.entry(env.Session, a.ID)
	if err != nil {
		return tool.Result{}, fmt.Errorf("bash_output: %w", err)
	}
	if a.WaitMS > 0 {
		t := time.NewTimer(time.Duration(a.WaitMS) * time.Millisecond)
		defer t.Stop()
		select {
		case <-e.over:
		case <-gone:
		case <-ctx.Done():
		case <-t.C:
		}
	}
	return e.report(), nil
}

// entry finds a command in the background, and the end of its session.
func (s *Shells) entry(id, name string) (*entry, <-chan struct{}, error) {
	ses, _, err := s.session(id)
	if err != nil {
		return nil, nil, err
	}
	e, err := ses.find(name)
	return e, ses.gone, err
}

// report is what is new of a command in the background, and how it is.
func (e *entry) report() tool.Result {
	running := e.p.running()
	if !running {
		<-e.over // so that all of it is there
	}
	var sb strings.Builder
	sb.WriteString(e.p.out.news())
	if sb.Len() == 0 {
		sb.WriteString("[no new output]\n")
	}
	bad := false
	select {
	case <-e.p.done:
		sb.WriteString(e.p.exit())
		bad = !e.p.state.Success()
		if running {
			sb.WriteString("\n" + leftover(e.p.group.left(), e.id))
		}
	default:
		fmt.Fprintf(&sb, "[%s has been running for %s]", e.id, seconds(e.p.now().Sub(e.p.start)))
	}
	sb.WriteString("\n")
	return tool.Result{Sources: []content.Source{tool.Prose(sb.String())}, IsError: bad}
}

// Spec implements tool.Tool.
func (Kill) Spec() tool.Spec {
	return tool.Spec{
		Name: "bash_kill", Description: strings.TrimSpace(killText),
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"The id that bash gave."}},"required":["id"],"additionalProperties":false}`),
	}
}

func (Kill) args(raw json.RawMessage) (string, error) {
	var a struct {
		ID string `json:"id"`
	}
	if err := tool.Decode(raw, &a); err != nil {
		return "", err
	}
	if a.ID == "" {
		return "", errors.New("bash_kill: the argument \"id\" is missing")
	}
	return a.ID, nil
}

// Request implements tool.Tool. Stopping what this session has started needs no
// question.
func (k Kill) Request(raw json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	id, err := k.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return permission.Request{Tool: "bash_kill", Action: permission.Read, Inside: true}, "Stop " + id, nil
}

// Run implements tool.Tool.
func (k Kill) Run(_ context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	id, err := k.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	e, _, err := k.s.entry(env.Session, id)
	if err != nil {
		return tool.Result{}, fmt.Errorf("bash_kill: %w", err)
	}
	e.stop()
	r := e.report()
	r.IsError = false // that is what was asked for
	return r, nil
}
