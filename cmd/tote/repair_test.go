//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	p "tote/internal/provider/providertest"
)

const repairRules = `, "permissions": {"allow": ["edit(meter/**)", "bash(go test *)"]}`

// TestRepair has a model mend a repository where nobody can be asked: what the
// rules allow happens, the rest is denied and told.
func TestRepair(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	shot := r.repository()
	before := r.tree()
	before["meter/meter.go"] += ownChange
	rec := p.NewRecorder(t, repair(r)...)
	r.settings(rec.URL, repairRules)
	out := r.command(t, "tote", "run", "--json", "The bar has a gap, see fault.png. Mend it.").start().wait().want(0)
	if out.text() != "The bar is whole again." {
		t.Errorf("answer %q", out.text())
	}
	repaired(t, rec.Last().Body, shot)
	lastToFirst(t, out)
	r.sound()
	if changed := r.git("status", "--porcelain"); changed != " M meter/meter.go\n" {
		t.Errorf("git sees %q", changed)
	}
	afterwards(t, r, rec, out.session(), shot)
	undone(t, r, rec, out.session(), before)
}

// lastToFirst holds the lines of the turn: calls with their ends, the plan, the one
// denial.
func lastToFirst(t *testing.T, out output) {
	t.Helper()
	var begun, ended, failed []string
	for _, l := range out.lines("tool_call") {
		begun = append(begun, l.str("id"))
	}
	for _, l := range out.lines("tool_result") {
		ended = append(ended, l.str("id"))
		if l["is_error"] == true {
			failed = append(failed, l.str("id"))
		}
	}
	slices.Sort(begun)
	slices.Sort(ended)
	if !slices.Equal(begun, ended) || len(begun) != 15 {
		t.Errorf("calls %v, results %v", begun, ended)
	}
	if want := []string{"c5", "c6", "c9", "c10"}; !slices.Equal(failed, want) {
		t.Errorf("failed: %v, want %v", failed, want)
	}
	var denied []string
	for _, l := range out.lines("permission") {
		denied = append(denied, l.str("detail")+": "+l.str("decision"))
	}
	if want := []string{deniedLine + ": deny"}; !slices.Equal(denied, want) {
		t.Errorf("asked: %v, want %v", denied, want)
	}
	notices := fmt.Sprint(out.lines("notice"))
	says(t, "the notices", notices, "not permitted", deniedLine)
	plans := out.lines("plan")
	if len(plans) != 2 || strings.Count(fmt.Sprint(plans[1]), "completed") != 3 {
		t.Errorf("plans: %v", plans)
	}
	says(t, "what the commands printed", fmt.Sprint(out.lines("tool_output")), "FAIL", "ok")
}

// afterwards goes on in the session: what the next request would hold, without a
// picture and with it again, in a copy.
func afterwards(t *testing.T, r *rig, rec *p.Recorder, id string, shot []byte) {
	t.Helper()
	in := func(more ...string) output {
		return r.tote(append([]string{"run", "--json", "--session", id}, more...)...).want(0)
	}
	says(t, "/context", in("/context").command(), "tokens", "image-1.png", "image-2.png", "fault.png", "system prompt and tools")
	says(t, "/images", in("/images").command(), "image-1.png", "640x200")
	asked := len(rec.Requests())
	fork := in("/fork")
	lines := fork.lines("session")
	if len(lines) != 2 || len(rec.Requests()) != asked {
		t.Fatalf("/fork: %s", fork.stdout)
	}
	copied := lines[1].str("id")
	if got := r.tote("run", "--json", "--continue", "and in the copy?").want(0).session(); got != copied {
		t.Errorf("continued %s, want the copy %s", got, copied)
	}
	if got := pictures(t, rec); len(got) != 2 || string(got[0]) != string(shot) {
		t.Errorf("the copy shows %d pictures", len(got))
	}
	says(t, "/detach", in("/detach image-1").command(), "image-1.png")
	in("how about now?")
	if got := pictures(t, rec); len(got) != 1 {
		t.Errorf("%d pictures after one was taken out", len(got))
	}
	says(t, "the request", everyText(t, rec.Last().Body), "image-1.png", "how about now?")
	if strings.Contains(everyText(t, rec.Last().Body), "in the copy") {
		t.Error("the copy's turn is in the session that it was made of")
	}
	in("/reattach 1")
	in("and again?")
	if got := pictures(t, rec); len(got) != 2 || string(got[0]) != string(shot) {
		t.Errorf("%d pictures after it was put back", len(got))
	}
}

// undone takes the repair back, file by file.
func undone(t *testing.T, r *rig, rec *p.Recorder, id string, before map[string]string) {
	t.Helper()
	text := r.tote("run", "--json", "--session", id, "/undo 3").want(0).command()
	says(t, "/undo", text, "Mend it", "put back", "meter.go")
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("after /undo (-want +got):\n%s", diff)
	}
	r.tote("run", "--session", id, "from the start").want(0)
	if text := everyText(t, rec.Last().Body); strings.Contains(text, "Mend it") || !strings.Contains(text, "from the start") {
		t.Errorf("what was taken back is in the request:\n%s", text)
	}
}
