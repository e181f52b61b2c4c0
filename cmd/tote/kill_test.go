//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// holder is a named pipe that processes hold open for writing: reading it ends when
// the last of them has.
type holder struct {
	t    *testing.T
	path string
	file *os.File
}

func (r *rig) holder(t *testing.T) *holder {
	t.Helper()
	h := &holder{t: t, path: filepath.Join(filepath.Dir(r.cwd), "held")}
	if err := syscall.Mkfifo(h.path, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// up waits for a process that opens the pipe and writes a byte.
func (h *holder) up() {
	h.t.Helper()
	var err error
	if h.file, err = os.Open(h.path); err != nil { // waits for the writer
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.file.Close() }) // read only
	if _, err := io.ReadFull(h.file, make([]byte, 1)); err != nil {
		h.t.Fatal(err)
	}
}

// down waits until nobody holds the pipe.
func (h *holder) down() {
	h.t.Helper()
	if err := h.file.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		h.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, h.file); err != nil {
		h.t.Errorf("a process outlives the program that started it: %v", err)
	}
}

// temporary gives the program a temporary folder of its own.
func (r *rig) temporary() string {
	dir := filepath.Join(filepath.Dir(r.cwd), "tmp")
	r.mkdir(dir)
	r.env["TMPDIR"] = dir
	return dir
}

// swept holds that a next start has cleared away what a killed process left.
func (r *rig) swept(t *testing.T, tmp string) {
	t.Helper()
	for _, pattern := range []string{
		filepath.Join(tmp, "*"), filepath.Join(r.home, "scratch", "runners", "*", "*"), filepath.Join(r.home, "data", "locks", "process-*"),
		filepath.Join(r.home, "data", "attachments", ".tmp-*"), filepath.Join(r.cwd, ".tote-*"),
	} {
		left, err := filepath.Glob(pattern)
		left = slices.DeleteFunc(left, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "tote-shell-") })
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestKilledInACommand kills the program while a command runs that has started
// another one behind it.
func TestKilledInACommand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.holder(t)
	line := fmt.Sprintf("exec 7>%q; sleep 1000 & printf x >&7; sleep 1000", h.path)
	rec := p.NewRecorder(t, asks("c1", "bash", args{"command": line}), p.Text("ok"))
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	tmp := r.temporary()
	run := r.command(t, "tote", "run", "--json", "run it").start()
	h.up()
	run.signal(os.Kill)
	id := run.wait().want(-1).session()
	h.down()
	next := r.command(t, "tote", "run", "--json", "--continue", "go on").start().wait().want(0)
	if got := next.session(); got != id {
		t.Errorf("continued %s, want %s", got, id)
	}
	body := rec.Last().Body
	says(t, "the request", everyText(t, body), "run it", "go on")
	if got := told(t, body, "c1"); got == "" {
		t.Error("the call that was cut off has no result")
	}
	r.swept(t, tmp)
}

// TestKilledInBackground kills the program while a background command runs.
func TestKilledInBackground(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.holder(t)
	g := newGate()
	line := fmt.Sprintf("exec 7>%q; printf x >&7; sleep 1000", h.path)
	rec := p.NewRecorder(t, asks("c1", "bash", args{"command": line, "background": true}), g.reply, p.Text("ok"))
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	tmp := r.temporary()
	run := r.command(t, "tote", "run", "--json", "run it").start()
	h.up()
	<-g.arrived
	run.signal(os.Kill)
	run.wait().want(-1)
	h.down()
	r.command(t, "tote", "run", "--continue", "go on").start().wait().want(0)
	tells(t, rec.Last().Body, "c1", "running in the background")
	r.swept(t, tmp)
}

// TestBackgroundEndsWithTheProgram holds that an end of its own leaves nothing
// either.
func TestBackgroundEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.holder(t)
	line := fmt.Sprintf("exec 7>%q; printf x >&7; sleep 1000", h.path)
	rec := p.NewRecorder(t, asks("c1", "bash", args{"command": line, "background": true}), meanwhile(h.up, p.Text("ok")))
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	tmp := r.temporary()
	r.command(t, "tote", "run", "run it").start().wait().want(0)
	h.down()
	r.swept(t, tmp)
}

// TestKilledWithAJob kills the program while a job runs: the session knows that it
// was interrupted, and goes on.
func TestKilledWithAJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	g := newGate()
	rec := p.NewRecorder(t, p.Text("begun"), g.reply, p.Text("ok"))
	r.backend(rec.URL, "true")
	tmp := r.temporary()
	id := r.tote("run", "--json", "begin").want(0).session()
	run := r.command(t, "tote", "run", "--json", "--session", id, "/job a long piece of work").start()
	<-g.arrived
	run.signal(os.Kill)
	run.wait().want(-1)
	out := r.tote("run", "--json", "--session", id, "/jobs").want(0)
	says(t, "/jobs", out.command(), "job-1", "interrupted", "a long piece of work")
	r.tote("run", "--session", id, "what became of it?").want(0)
	text := everyText(t, rec.Last().Body)
	says(t, "the next request", text, "begin", "job-1", "interrupted", "what became of it?")
	if n := strings.Count(text, "[job job-1"); n != 1 {
		t.Errorf("the job's end is told %d times:\n%s", n, text)
	}
	r.swept(t, tmp)
}

// TestKilledInAnEscalation kills the program while a command-line agent works for it.
func TestKilledInAnEscalation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.holder(t)
	rec := p.NewRecorder(t, asks("c1", "escalate", args{"agent": "strong", "prompt": "solve it", "attachments": []string{"image-1.png"}}), p.Text("ok"))
	script := fmt.Sprintf("exec 7>%q; sleep 1000 & printf x >&7; cat >/dev/null; sleep 1000", h.path)
	r.configure(fmt.Sprintf(`{"providers": {"p": {"kind": "openai-chat", "base_url": %q}}, "default_agent": "main", "agents": {
		"main": {"provider": "p", "model": "m", "vision": true, "escalate_to": "strong"},
		"strong": {"runner": "custom", "command": ["/bin/sh", "-c", %q], "vision": true}}, "permissions": {"mode": "full"}}`, rec.URL, script))
	r.write("a.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	tmp := r.temporary()
	run := r.command(t, "tote", "run", "--json", "-a", "a.png", "hard work").start()
	h.up()
	run.signal(os.Kill)
	id := run.wait().want(-1).session()
	h.down()
	if got := r.command(t, "tote", "run", "--json", "--continue", "go on").start().wait().want(0).session(); got != id {
		t.Errorf("continued %s, want %s", got, id)
	}
	if n := len(pictures(t, rec)); n != 1 {
		t.Errorf("%d pictures, want 1", n)
	}
	says(t, "the request", everyText(t, rec.Last().Body), "hard work", "go on")
	r.swept(t, tmp)
}

// TestKilledInAWrite kills the program around the writing of a large file, which is
// either as it was or whole.
func TestKilledInAWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before, after := strings.Repeat("before\n", 100_000), strings.Repeat("after\n", 500_000)
	rec := p.NewRecorder(t, asks("c1", "read", args{"path": "big.txt"}), asks("c2", "write", args{"path": "big.txt", "content": after}), p.Text("ok"))
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	file := r.write("big.txt", []byte(before))
	run := r.command(t, "tote", "run", "--json", "write it").start()
	run.stdout.await(`"type":"tool_call","id":"c2"`)
	run.signal(os.Kill)
	run.wait().want(-1)
	got, err := os.ReadFile(file)
	if err != nil || string(got) != before && string(got) != after {
		t.Fatalf("the file has %d bytes: %v", len(got), err)
	}
	r.tote("run", "--continue", "go on").want(0)
	says(t, "the request", everyText(t, rec.Last().Body), "write it", "go on")
	r.tote("run", "--continue", "/undo 2").want(0)
	if got := r.contents("big.txt"); got != before {
		t.Errorf("after /undo the file has %d bytes: its own write was taken for that of somebody else", len(got))
	}
}

// TestNoRoomToWrite has a write meet a bound that it cannot grow beyond: the file
// stays as it was, and nothing is left beside it.
func TestNoRoomToWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rec := p.NewRecorder(t, p.Text("begun"), asks("c1", "read", args{"path": "a.txt"}),
		asks("c2", "edit", args{"path": "a.txt", "edits": []args{{"old": "0\n", "new": "00\n", "all": true}}}), p.Text("ok"))
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	r.write("a.txt", []byte(strings.Repeat("0\n", 500_000)))
	r.tote("run", "begin").want(0) // the database is made without a bound
	before := r.tree()
	// 2,400 blocks of 512 bytes: there is room for the old file, and not for the new one.
	r.command(t, "sh", "-c", `ulimit -f 2400; exec tote run --json --continue write`).start().wait().want(0)
	says(t, "what the model is told", told(t, rec.Last().Body, "c2"), "a.txt")
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("(-want +got):\n%.500s", diff)
	}
}
