//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/history"
	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// files returns the files below a folder that a name matches.
func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ok, _ := filepath.Match(pattern, d.Name()); ok && !d.IsDir() {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKilledWaiting kills the program when the backend has the request.
func TestKilledWaiting(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, g.reply, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	r.write("a.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	run := r.command(t, "tote", "run", "--json", "-a", "a.png", "the first prompt").start()
	<-g.arrived
	run.signal(os.Kill)
	id := run.wait().want(-1).session()

	if tmp := files(t, r.home, ".tmp-*"); len(tmp) > 0 {
		t.Errorf("left behind: %v", tmp)
	}
	if out := r.tote("sessions").want(0); !strings.Contains(out.stdout, id) || !strings.Contains(out.stdout, "the first prompt") {
		t.Errorf("the session is not listed:\n%s", out.stdout)
	}
	r.tote("receipts", "--request", "1").want(0)
	before := len(rec.Requests())
	if got := r.tote("run", "--json", "--continue", "the second prompt").want(0).session(); got != id {
		t.Errorf("continued %s, want %s", got, id)
	}
	if n := len(rec.Requests()) - before; n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	if n := len(pictures(t, rec)); n != 1 {
		t.Errorf("%d pictures, want 1", n)
	}
	text := everyText(t, rec.Last().Body)
	if !strings.Contains(text, "the first prompt") || !strings.Contains(text, "the second prompt") {
		t.Errorf("the conversation is not whole:\n%s", text)
	}
}

// TestKilledStreaming streams marks until one of them is on the disk, and kills
// the program then: what was saved is part of the conversation that goes on.
func TestKilledStreaming(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, g.reply, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	run := r.command(t, "tote", "run", "--json", "count").start()
	<-g.arrived
	g.stream <- "mark-0 "
	run.stdout.await("mark-0")
	db, err := history.Open(t.Context(), filepath.Join(r.home, "data", "history.db"), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved := ""
	for n := 1; saved == ""; n++ {
		select {
		case g.stream <- fmt.Sprintf("mark-%d ", n):
		case <-t.Context().Done():
			t.Fatal("nothing was saved")
		}
		saved = draft(t, db)
	}
	run.signal(os.Kill)
	run.wait().want(-1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(saved, "mark-0 ") {
		t.Errorf("saved %q", saved)
	}
	r.tote("run", "--continue", "go on").want(0)
	if text := everyText(t, rec.Last().Body); !strings.Contains(text, strings.TrimSpace(saved)) || !strings.Contains(text, "count") {
		t.Errorf("the conversation lacks what was saved, %q:\n%s", saved, text)
	}
}

// draft is what is on the disk of the newest answer.
func draft(t *testing.T, db *history.DB) string {
	t.Helper()
	list, _, err := db.Sessions(t.Context(), history.Filter{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions: %v", len(list), err)
	}
	turns, err := db.Load(t.Context(), list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, turn := range turns {
		for _, m := range turn.Messages[1:] {
			for _, b := range m.Blocks() {
				text += fmt.Sprint(b)
			}
		}
	}
	_, text, _ = strings.Cut(text, "mark-0")
	if text == "" {
		return ""
	}
	return "mark-0" + strings.TrimRight(text, "}")
}

// TestTwoProcesses runs several processes on one home, each with a session of
// its own.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	r.write("a.png", imagingtest.Screenshot(900, 700, 1))
	var all []*process
	for i := range 4 {
		all = append(all, r.command(t, "tote", "run", "--json", "-a", "a.png", fmt.Sprintf("process %d", i)).start())
	}
	ids := map[string]bool{}
	for _, c := range all {
		ids[c.wait().want(0).session()] = true
	}
	if len(ids) != 4 || len(rec.Requests()) != 4 {
		t.Errorf("%d sessions, %d requests, want 4", len(ids), len(rec.Requests()))
	}
	for id := range ids {
		r.tote("run", "--session", id, "more").want(0)
	}
}

// TestSameSession asks for a session that another process works in: the second
// waits, and sees the whole turn of the first.
func TestSameSession(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, p.Text("ok"), g.reply, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	id := r.tote("run", "--json", "begin").want(0).session()
	first := r.command(t, "tote", "run", "--session", id, "the first").start()
	<-g.arrived
	second := r.command(t, "tote", "run", "--continue", "the second").start()
	second.stderr.await("waiting for another tote")
	g.stream <- "answer to the first"
	close(g.stream)
	first.wait().want(0)
	second.wait().want(0)
	text := everyText(t, rec.Last().Body)
	at := -1
	for _, want := range []string{"begin", "the first", "answer to the first", "the second"} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("%q is missing or out of order in\n%s", want, text)
		}
		at = i
	}
}

// TestWaitingCanBeInterrupted gives up waiting for a session.
func TestWaitingCanBeInterrupted(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, g.reply)
	r := newRig(t)
	r.backend(rec.URL, "true")
	first := r.command(t, "tote", "run", "the first").start()
	<-g.arrived
	second := r.command(t, "tote", "run", "--continue", "the second").start()
	second.stderr.await("waiting for another tote")
	second.signal(os.Interrupt)
	second.wait().want(130)
	close(g.stream)
	first.wait().want(0)
	if n := len(rec.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestDiskFull lets no file grow beyond a bound, which a write meets as it
// meets a full disk.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	r.write("big.txt", []byte(strings.Repeat("0123456789abcdef\n", 100_000)))
	r.write("a.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	id := r.tote("run", "--json", "-a", "a.png", "begin").want(0).session()
	before := len(rec.Requests())

	// 1,024 blocks of 512 bytes: the database has room, the attachment has not.
	out := r.command(t, "sh", "-c", `ulimit -f 1024; exec tote run --json --continue -a big.txt look`).start().wait().want(1)
	e := out.lines("error")
	if len(e) != 1 || e[0].str("kind") != "storage" || e[0].str("hint") == "" {
		t.Errorf("error lines %v, stderr %q", e, out.stderr)
	}
	if tmp := files(t, r.home, ".tmp-*"); len(tmp) > 0 {
		t.Errorf("left behind: %v", tmp)
	}

	// Not even the database has room.
	out = r.command(t, "sh", "-c", `ulimit -f 1; exec tote run --json --continue hi`).start().wait().want(1)
	if e := out.lines("error"); len(e) != 1 || e[0].str("kind") != "storage" {
		t.Errorf("error lines %v, stderr %q", e, out.stderr)
	}
	if n := len(rec.Requests()) - before; n != 0 {
		t.Errorf("%d requests although the prompt could not be kept", n)
	}

	// With room again everything is there and goes on.
	r.tote("run", "--session", id, "-a", "big.txt", "look again").want(0)
	if n := len(pictures(t, rec)); n != 1 {
		t.Errorf("%d pictures, want 1", n)
	}
	if text := everyText(t, rec.Last().Body); !strings.Contains(text, "begin") || !strings.Contains(text, "look again") {
		t.Errorf("the conversation is not whole:\n%s", text)
	}
}
