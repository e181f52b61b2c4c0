package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	p "tote/internal/provider/providertest"
)

// TestContinueAfterUndo holds that a session which was emptied is the one that is
// gone on with, and not another one of the folder, whose files would be taken back.
func TestContinueAfterUndo(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t,
		asks("c1", "write", args{"path": "other.txt", "content": "of the other session\n"}), p.Text("done"),
		asks("c2", "write", args{"path": "this.txt", "content": "of this session\n"}), p.Text("done"))
	r := newRig(t)
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	r.tote("run", "write other.txt").want(0)
	r.tote("run", "write this.txt").want(0)
	says(t, "the first /undo", r.tote("run", "--continue", "/undo").want(0).stdout, "removed: ", "this.txt")
	says(t, "the second /undo", r.tote("run", "--continue", "/undo").want(1).stderr, "no turn to undo")
	if got := r.contents("other.txt"); got != "of the other session\n" {
		t.Errorf("the other session's file: %q", got)
	}
	says(t, "too many", r.tote("run", "--session", r.sessions()[1], "/undo 7").want(1).stderr, "there is only 1 turn to undo, not 7")
}

// TestModeLasts holds that a mode which was chosen holds in the next process too, is
// told there, and gives way to the flag.
func TestModeLasts(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, slices.Repeat([]p.Reply{
		asks("c", "write", args{"path": "a.txt", "content": "x\n"}), p.Text("done"),
	}, 3)...)
	r := newRig(t)
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	r.tote("run", "/mode plan").want(0)
	out := r.tote("run", "--continue", "write it").want(0)
	says(t, "stderr", out.stderr, "this session is in mode plan")
	if r.contents("a.txt") != "" {
		t.Fatal("it was written in plan mode")
	}
	r.tote("run", "--continue", "--mode", "full", "write it").want(0)
	if r.contents("a.txt") == "" {
		t.Error("the flag does not beat the mode of the session")
	}
	says(t, "/mode", r.tote("run", "--continue", "/mode").want(0).stdout, "mode plan")
}

// TestCommandsLeaveNoSession holds that who only asks for help has no session of it.
func TestCommandsLeaveNoSession(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("all is well"))
	r := newRig(t)
	r.settings(rec.URL, "")
	for _, c := range []string{"/help", "/context", "/agents", "/images", "/jobs"} {
		r.tote("run", c).want(0)
	}
	if got := r.sessions(); len(got) != 0 {
		t.Errorf("sessions: %v", got)
	}
	says(t, "/job", r.tote("run", "/job say hello").want(0).stdout, "runs in the background", "all is well")
	out := r.tote("run", "--continue", "/jobs").want(0)
	says(t, "/jobs", out.stdout, "done", "say hello")
	says(t, "/jobs 1", r.tote("run", "--continue", "/jobs 1").want(0).stdout, "all is well")
	if got := r.sessions(); len(got) != 1 {
		t.Errorf("sessions: %v", got)
	}
}

// contents is what a file of the working folder holds, "" for none.
func (r *rig) contents(name string) string {
	data, err := os.ReadFile(filepath.Join(r.cwd, name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(data)
}

// sessions are the ids of the sessions of the working folder, the newest first.
func (r *rig) sessions() []string {
	r.t.Helper()
	out := r.tote("sessions", "--json").want(0)
	if out.stdout == "" {
		return nil
	}
	var ids []string
	for _, l := range out.lines("session") {
		ids = append(ids, l.str("id"))
	}
	return ids
}
