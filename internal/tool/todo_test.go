package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/permission"
	"tote/internal/tool"
)

func TestTodo(t *testing.T) {
	var plan []tool.Step
	env := tool.Env{Plan: func(s []tool.Step) { plan = s }}
	const raw = `{"steps":[{"text":"look","status":"completed"},{"text":" change ","status":"in_progress"},{"text":"test","status":"pending"}]}`
	r, err := (tool.Todo{}).Run(t.Context(), json.RawMessage(raw), env)
	if err != nil || len(r.Sources) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := []tool.Step{{Text: "look", Status: tool.StepDone}, {Text: "change", Status: tool.StepActive}, {Text: "test", Status: tool.StepPending}}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	if got, err := run(t, tool.Todo{}, env, v); err != nil || got != "[the plan is noted: 1 of 3 steps done; now: change]\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := run(t, tool.Todo{}, tool.Env{}, map[string]any{"steps": []any{}}); err != nil || got != "[the plan is noted: 0 of 0 steps done]\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, mode := range permission.Modes() {
		q, title, err := (tool.Todo{}).Request(json.RawMessage(raw), env)
		if d, why := (permission.Rules{Mode: mode}).Decide(q); err != nil || title != "Plan: 1 of 3 steps done" || d != permission.Allow {
			t.Errorf("%v: %v (%s), %q, %v", mode, d, why, title, err)
		}
	}
}

func TestTodoErrors(t *testing.T) {
	step := func(text, status string) string {
		return `{"text":` + quoteJSON(t, text) + `,"status":"` + status + `"}`
	}
	many := strings.TrimSuffix(strings.Repeat(step("x", "pending")+",", 51), ",")
	for steps, want := range map[string]string{
		many:                   "the plan has 51 steps",
		step("", "pending"):    "step 1 has no text",
		step(" \t", "pending"): "step 1 has no text",
		step(strings.Repeat("é", 201), "pending"):                 "step 1 has 201 characters",
		step("a\nb", "pending"):                                   "more than one line",
		step("a", "") + "," + step("b", "done"):                   "step 1 has the status \"\"",
		step("a", "pending") + "," + step("b", "done"):            "step 2 has the status \"done\"",
		step("a", "in_progress") + "," + step("b", "in_progress"): "2 steps are in progress",
		`{"text":"a","status":"pending","id":1}`:                  "unknown field",
	} {
		if _, err := (tool.Todo{}).Run(t.Context(), json.RawMessage(`{"steps":[`+steps+`]}`), tool.Env{
			Plan: func([]tool.Step) { t.Error("a bad plan is shown") },
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", steps, err)
		}
	}
	for _, raw := range []string{``, `{}`, `{"steps":null}`, `{"steps":"x"}`} {
		if _, _, err := (tool.Todo{}).Request(json.RawMessage(raw), tool.Env{}); err == nil {
			t.Errorf("%q was accepted", raw)
		}
	}
	if got := step(strings.Repeat("é", 200), "pending"); got != "" {
		if _, err := (tool.Todo{}).Run(t.Context(), json.RawMessage(`{"steps":[`+got+`]}`), tool.Env{}); err != nil {
			t.Errorf("200 characters: %v", err)
		}
	}
}

func quoteJSON(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
