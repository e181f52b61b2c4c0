package tool

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tote/internal/permission"
)

//go:embed todo.md
var todoText string

// The bounds of a plan.
const (
	maxSteps     = 50
	maxStepRunes = 200
)

// Todo is the tool with which a model keeps its plan.
type Todo struct{}

var _ Tool = Todo{}

type todoArgs struct {
	Steps *[]Step `json:"steps"`
}

// Spec implements Tool.
func (Todo) Spec() Spec {
	return Spec{
		Name: "todo", Description: strings.TrimSpace(todoText),
		Schema: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","maxItems":50,"items":{"type":"object","properties":{"text":{"type":"string","description":"What is to be done, on one line."},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["text","status"],"additionalProperties":false},"description":"The whole plan, in order."}},"required":["steps"],"additionalProperties":false}`),
	}
}

func (Todo) args(raw json.RawMessage) ([]Step, error) {
	var a todoArgs
	if err := Decode(raw, &a); err != nil {
		return nil, err
	}
	if a.Steps == nil {
		return nil, fmt.Errorf("todo: the argument \"steps\" is missing")
	}
	steps := *a.Steps
	if len(steps) > maxSteps {
		return nil, fmt.Errorf("todo: the plan has %d steps, the limit is %d", len(steps), maxSteps)
	}
	active := 0
	for i, s := range steps {
		steps[i].Text = strings.TrimSpace(s.Text)
		switch n := utf8.RuneCountInString(steps[i].Text); {
		case n == 0:
			return nil, fmt.Errorf("todo: step %d has no text", i+1)
		case n > maxStepRunes:
			return nil, fmt.Errorf("todo: step %d has %d characters, the limit is %d", i+1, n, maxStepRunes)
		case strings.ContainsFunc(steps[i].Text, unicode.IsControl):
			return nil, fmt.Errorf("todo: step %d is more than one line", i+1)
		}
		switch s.Status {
		case StepPending, StepDone:
		case StepActive:
			active++
		default:
			return nil, fmt.Errorf("todo: step %d has the status %q, want pending, in_progress or completed", i+1, s.Status)
		}
	}
	if active > 1 {
		return nil, fmt.Errorf("todo: %d steps are in progress, the limit is 1", active)
	}
	return steps, nil
}

// Request implements Tool. A plan touches nothing, so it asks to read nothing.
func (t Todo) Request(raw json.RawMessage, _ Env) (permission.Request, string, error) {
	steps, err := t.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return permission.Request{Tool: "todo", Action: permission.Read}, "Plan: " + progress(steps), nil
}

// Run implements Tool.
func (t Todo) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("todo: %w", err)
	}
	steps, err := t.args(raw)
	if err != nil {
		return Result{}, err
	}
	if env.Plan != nil {
		env.Plan(steps)
	}
	now := ""
	for _, s := range steps {
		if s.Status == StepActive {
			now = "; now: " + s.Text
		}
	}
	return said("[the plan is noted: %s%s]\n", progress(steps), now), nil
}

func progress(steps []Step) string {
	done := 0
	for _, s := range steps {
		if s.Status == StepDone {
			done++
		}
	}
	return fmt.Sprintf("%d of %s done", done, plural(len(steps), "step"))
}
