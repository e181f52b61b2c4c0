//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	p "tote/internal/provider/providertest"
)

// TestEditorFlags holds that an editor's sessions begin in the mode of the command
// line and may work in its folders, which are named from where it is started.
func TestEditorFlags(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	beside := filepath.Join(filepath.Dir(r.cwd), "beside")
	r.mkdir(beside)
	if err := os.WriteFile(filepath.Join(beside, "a.txt"), []byte("of the other folder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := func(flags ...string) (*editor, []byte) {
		t.Helper()
		rec := p.NewRecorder(t,
			p.Calls(call("c1", "read", args{"path": filepath.Join(beside, "a.txt")}), call("c2", "write", args{"path": "b.txt", "content": "x\n"})), p.Text("done"))
		r.settings(rec.URL, "")
		e := r.editor(t, "", func(question) string { return "reject" }, flags...)
		e.prompt("go")
		e.end()
		return e, rec.Last().Body
	}
	e, body := turn("--mode", "edits", "--add-dir", "../beside")
	if got := e.asked(); len(got) != 0 {
		t.Errorf("asked %v", got)
	}
	tells(t, body, "c1", "of the other folder")
	if r.contents("b.txt") != "x\n" {
		t.Error("it was not written")
	}
	e, body = turn("--mode", "plan")
	if got := e.asked(); len(got) != 1 {
		t.Errorf("without the folder, asked %v", got)
	}
	tells(t, body, "c1", "did not permit")
	tells(t, body, "c2", "plan mode")

	r.tote("acp", "--mode", "loud").want(2)
	r.tote("acp", "--add-dir", "nowhere").want(2)
}
