package delegate

import (
	"context"
	_ "embed" // for the tools' descriptions
	"encoding/json"
	"strings"

	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed task.md
var taskText string

//go:embed escalate.md
var escalateText string

// Task is the tool that gives work to a sub-agent.
type Task struct{}

// Escalate is the tool that gives work to an agent that can do more.
type Escalate struct{}

var (
	_ tool.Tool = Task{}
	_ tool.Tool = Escalate{}
)

// orderOf reads the arguments of a tool that is called name.
func orderOf(name string, raw json.RawMessage, env tool.Env) (tool.Order, error) {
	var w work
	if err := tool.Decode(raw, &w); err != nil {
		return tool.Order{}, err
	}
	return w.order(name, env)
}

// Spec implements tool.Tool.
func (Task) Spec() tool.Spec {
	return tool.Spec{Name: "task", Description: strings.TrimSpace(taskText), Schema: schema(workSchema), Parallel: true}
}

// Request implements tool.Tool.
func (Task) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	o, err := orderOf("task", raw, env)
	return request("task", o.Agent, o.Title), "Task: " + o.Title, err
}

// Run implements tool.Tool.
func (Task) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	o, err := orderOf("task", raw, env)
	if err != nil {
		return tool.Result{}, err
	}
	host, err := hostOf(env)
	if err != nil {
		return tool.Result{}, err
	}
	return host.Task(ctx, o)
}

// Spec implements tool.Tool.
func (Escalate) Spec() tool.Spec {
	return tool.Spec{Name: "escalate", Description: strings.TrimSpace(escalateText), Schema: schema(workSchema)}
}

// Request implements tool.Tool.
func (Escalate) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	o, err := orderOf("escalate", raw, env)
	return request("escalate", o.Agent, o.Title), "Escalate: " + o.Title, err
}

// Run implements tool.Tool.
func (Escalate) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	o, err := orderOf("escalate", raw, env)
	if err != nil {
		return tool.Result{}, err
	}
	host, err := hostOf(env)
	if err != nil {
		return tool.Result{}, err
	}
	return host.Escalate(ctx, o)
}
