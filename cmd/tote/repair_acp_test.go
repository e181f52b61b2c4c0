//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	p "tote/internal/provider/providertest"
)

// TestRepairInAnEditor has the same model work in an editor, whose user allows edits
// one by one and the tests for good. The next process asks for them no more, until
// that is taken back.
func TestRepairInAnEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	shot := r.repository()
	rec := p.NewRecorder(t, repair(r)...)
	r.settings(rec.URL, "")
	answers := func(q question) string {
		switch {
		case strings.Contains(q.ToolCall.Title, "curl"):
			return "reject"
		case q.offers("allow_always") && !strings.HasPrefix(q.ToolCall.Title, "Edit"):
			return "allow_always"
		}
		return "allow"
	}
	e := r.editor(t, "", answers)
	if stop := e.prompt("The bar has a gap, see fault.png. Mend it."); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	e.end()
	repaired(t, rec.Last().Body, shot)
	shownInAnEditor(t, e)
	r.sound()

	again := func(what string, want ...string) {
		t.Helper()
		rec.Then(asks("d1", "bash", args{"command": testLine}), p.Text("done"))
		e := r.editor(t, "", func(question) string { return "reject" })
		e.prompt("test it " + what)
		e.end()
		if !slices.Equal(e.asked(), want) {
			t.Errorf("%s: asked %v, want %v", what, e.asked(), want)
		}
	}
	again("in a new session")
	out := r.tote("permissions", "--json").want(0)
	l := out.lines("permit")
	if len(l) != 1 || l[0].str("rule") != "bash("+testLine+")" || l[0].str("folder") != r.cwd {
		t.Fatalf("permits: %s", out.stdout)
	}
	r.tote("permissions", "--remove", l[0].str("rule")).want(0)
	again("after it was taken back", testLine)
	r.tote("permissions", "--remove", l[0].str("rule")).want(2)
}

// shownInAnEditor holds what the user saw of the turn.
func shownInAnEditor(t *testing.T, e *editor) {
	t.Helper()
	if want := []string{"Edit meter/meter.go", "Run the tests", deniedLine, "Edit meter/meter.go"}; !slices.Equal(e.asked(), want) {
		t.Errorf("asked %q, want %q", e.asked(), want)
	}
	ends, shown := e.settled()
	var failed []int
	for i, s := range ends {
		switch s {
		case "failed":
			failed = append(failed, i+1)
		case "completed":
		default:
			t.Errorf("call %d of %d is %s", i+1, len(ends), s)
		}
	}
	if want := []int{5, 6, 9, 10}; len(ends) != 15 || !slices.Equal(failed, want) {
		t.Errorf("%d calls, of which %v failed, want %v of 15", len(ends), failed, want)
	}
	says(t, "what the calls show", shown, `"type":"diff"`, `"oldText"`, `\t\tn = width\n`, "FAIL", "exit code 0", "1 of 2", `"type":"image"`)
	says(t, "the question about an edit", string(e.questions[0].ToolCall.Content), `"type":"diff"`, `\t\tn = width\n`)
	says(t, "the question about a command", string(e.questions[1].ToolCall.Content), testLine)
	var plans []string
	for _, u := range e.updates {
		if u.Kind == "plan" {
			plans = append(plans, fmt.Sprintf("%s", u.Entries))
		}
	}
	if len(plans) != 2 || strings.Count(plans[1], `"completed"`) != 3 || !strings.Contains(plans[0], `"in_progress"`) {
		t.Errorf("plans: %q", plans)
	}
	if e.text() != "The bar is whole again." {
		t.Errorf("said %q", e.text())
	}
}
