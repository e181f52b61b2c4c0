package delegate

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed job.md
var jobText string

// Job is the tool for work in the background.
type Job struct{}

var _ tool.Tool = Job{}

type jobArgs struct {
	work
	Action  string `json:"action"`
	ID      string `json:"id"`
	Seconds int    `json:"seconds"`
}

const (
	jobStart = "start"
	jobList  = "list"
	jobWait  = "wait"
	jobStop  = "stop"

	defaultWait = 60
	maxWait     = 600
)

// Spec implements tool.Tool.
func (Job) Spec() tool.Spec {
	return tool.Spec{
		Name: "job", Description: strings.TrimSpace(jobText),
		Schema: schema(`{"type":"object","properties":{"action":{"type":"string","enum":["start","list","wait","stop"]},"prompt":{"type":"string","description":"For start: what to do, for someone who knows nothing of this conversation."},"title":{"type":"string","description":"For start: three to six words for the user."},"agent":{"type":"string","description":"For start: the agent's name; leave out for the one that works now."},"attachments":{"type":"array","items":{"type":"string"},"description":"For start: labels of attachments that go along."},"id":{"type":"string","description":"For wait and stop: the job."},"seconds":{"type":"integer","minimum":1,"maximum":600,"description":"For wait: how long at most."}},"required":["action"],"additionalProperties":false}`),
	}
}

func (Job) args(raw json.RawMessage, env tool.Env) (jobArgs, tool.Order, error) {
	var a jobArgs
	var o tool.Order
	if err := tool.Decode(raw, &a); err != nil {
		return a, o, err
	}
	switch a.Action {
	case jobStart:
		o, err := a.order("job", env)
		return a, o, err
	case jobList:
	case jobWait, jobStop:
		if a.ID == "" {
			return a, o, fmt.Errorf("job: %s needs the argument \"id\"; \"list\" names the jobs", a.Action)
		}
	default:
		return a, o, fmt.Errorf("job: the action is %q, want start, list, wait or stop", content.Clean(a.Action))
	}
	if a.Seconds == 0 {
		a.Seconds = defaultWait
	}
	if a.Seconds < 0 || a.Seconds > maxWait {
		return a, o, fmt.Errorf("job: seconds is %d, want 1 to %d", a.Seconds, maxWait)
	}
	return a, o, nil
}

// Request implements tool.Tool.
func (j Job) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	a, o, err := j.args(raw, env)
	switch {
	case err != nil:
		return permission.Request{}, "", err
	case a.Action == jobStart:
		return request("job", o.Agent, o.Title), "Start a job: " + o.Title, nil
	}
	title := "Jobs: " + a.Action
	if a.ID != "" {
		title += " " + content.Clean(a.ID)
	}
	return permission.Request{Tool: "job", Action: permission.Read, Inside: true, Detail: a.Action}, title, nil
}

// Run implements tool.Tool.
func (j Job) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, o, err := j.args(raw, env)
	if err != nil {
		return tool.Result{}, err
	}
	host, err := hostOf(env)
	if err != nil {
		return tool.Result{}, err
	}
	switch a.Action {
	case jobStart:
		o.Live = nil // nobody watches a job
		id, err := host.StartJob(ctx, o)
		if err != nil {
			return tool.Result{}, err
		}
		return said("job " + id + " has begun. Its report comes into this conversation when it ends."), nil
	case jobWait:
		return wait(ctx, host, a)
	case jobStop:
		if err := host.StopJob(ctx, a.ID); err != nil {
			return tool.Result{}, err
		}
		return said("job " + a.ID + " is stopped"), nil
	}
	jobs, err := host.Jobs(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if len(jobs) == 0 {
		return said("there are no jobs in this session"), nil
	}
	var sb strings.Builder
	for _, s := range jobs {
		fmt.Fprintf(&sb, "%s  %s  %s  %s\n", s.ID, s.State, s.Agent, s.Title)
	}
	return said(sb.String()), nil
}

func wait(ctx context.Context, host tool.Host, a jobArgs) (tool.Result, error) {
	short, cancel := context.WithTimeout(ctx, time.Duration(a.Seconds)*time.Second)
	defer cancel()
	s, err := host.WaitJob(short, a.ID)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return said(fmt.Sprintf("job %s is still running after %d s", a.ID, a.Seconds)), nil
	case err != nil:
		return tool.Result{}, err
	}
	return said("job " + s.ID + " (" + s.Title + ") " + s.State + ":\n" + s.Report), nil
}

func said(s string) tool.Result { return tool.Result{Sources: []content.Source{tool.Prose(s)}} }
