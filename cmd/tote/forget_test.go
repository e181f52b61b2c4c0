package main

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// holding are the files below a folder in which the bytes stand, as they are or as
// base64.
func holding(t *testing.T, dir string, payload []byte) []string {
	t.Helper()
	middle := payload[len(payload)/2-16 : len(payload)/2+16]
	wants := [][]byte{middle}
	for shift := range 3 { // base64 depends on where it begins
		spelt := base64.StdEncoding.EncodeToString(payload[len(payload)/2-18+shift : len(payload)/2+18])
		wants = append(wants, []byte(spelt[4:36]))
	}
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, w := range wants {
			if bytes.Contains(data, w) {
				out = append(out, path)
				return nil
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForget removes the bytes of an attachment everywhere: of the session, its copy
// and a job that got it. What was said of it stays.
func TestForget(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	shot := imagingtest.Screenshot(2200, 300, 4) // too wide to go as it is
	file := r.write("a.png", shot)
	r.write("b.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	id := r.tote("run", "--json", "-a", "a.png", "-a", "b.png", "look").want(0).session()
	prepared := pictures(t, rec)[0]
	copied := r.tote("run", "--json", "--session", id, "/fork").want(0).lines("session")[1].str("id")
	r.tote("run", "--session", copied, "in the copy").want(0)
	r.tote("run", "--session", id, "-a", "a.png", "/job look at it").want(0)
	r.tote("run", "--session", id, "--mode", "full", "again").want(0)
	if len(holding(t, r.home, shot)) == 0 || len(holding(t, r.home, prepared)) == 0 {
		t.Fatal("the picture is not stored where it is looked for")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	out := r.tote("forget", "--json", "--session", copied, "image-1.png").want(0)
	if l := out.lines("forgotten"); len(l) != 1 || l[0].str("handle") != "image-1.png" {
		t.Errorf("forget: %s", out.stdout)
	}
	for what, payload := range map[string][]byte{"original": shot, "prepared form": prepared} {
		if left := holding(t, r.home, payload); len(left) > 0 {
			t.Errorf("the %s is left in %v", what, left)
		}
	}
	for _, session := range []string{id, copied} {
		r.tote("run", "--session", session, "and now?").want(0)
		if got := pictures(t, rec); len(got) != 1 {
			t.Errorf("%d pictures in the next request, want the other one", len(got))
		}
		text := everyText(t, rec.Last().Body)
		if !strings.Contains(text, "image-1.png") {
			t.Errorf("nothing says that there was a picture:\n%s", text)
		}
	}
	says(t, "the receipts", r.tote("receipts", "--request", "1", id).want(0).stdout, "image-1.png")
	r.tote("forget", "--session", id, "image-9.png").want(2)
	r.tote("forget").want(2)
}

// TestForgetTellsWhoElse holds that forgetting names the sessions in which the same
// bytes stay, says that something was forgotten before, and what is no attachment.
func TestForgetTellsWhoElse(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	shot := screenshotOf(t)
	r.write("a.png", shot)
	one := r.tote("run", "--json", "-a", "a.png", "the first").want(0).session()
	two := r.tote("run", "--json", "-a", "a.png", "-a", "a.png", "the second").want(0).session()
	three := r.tote("run", "--json", "-a", "a.png", "the third").want(0).session()
	r.tote("run", "--session", three, "/undo").want(0)

	out := r.tote("forget", "--session", one, "image-1.png").want(0)
	says(t, "forget", out.stdout, "image-1.png is forgotten here: 0 stored blobs and 0 copies removed", "its bytes stay in the store",
		"session "+two+" (the second) in "+r.cwd+": tote forget --session "+two+" image-1.png", "tote forget --session "+three+" image-1.png")
	if strings.Contains(out.stdout, one) {
		t.Errorf("the session itself is named: %s", out.stdout)
	}
	out = r.tote("forget", "--session", one, "image-1.png").want(0)
	says(t, "again", out.stdout, "was already forgotten")
	if strings.Contains(out.stdout, "stay") || len(holding(t, r.home, shot)) == 0 {
		t.Errorf("again: %s", out.stdout)
	}
	l := r.tote("forget", "--json", "--session", one, "image-1.png").want(0).lines("forgotten")
	if len(l) != 1 || l[0]["already"] != true {
		t.Errorf("again, as a line: %v", l)
	}
	l = r.tote("forget", "--json", "--session", three, "image-1.png").want(0).lines("forgotten")
	kept, _ := l[0]["kept"].([]any)
	if len(kept) != 1 || line(kept[0].(map[string]any)).str("session") != two || l[0]["already"] != false {
		t.Errorf("of a turn that was taken back: %v", l)
	}
	out = r.tote("forget", "--session", two, "image-1.png").want(0)
	says(t, "the last one", out.stdout, "1 stored blob and 0 copies removed")
	if left := holding(t, r.home, shot); strings.Contains(out.stdout, "stay") || len(left) != 0 {
		t.Errorf("the last one: %s, left in %v", out.stdout, left)
	}
	says(t, "a text", r.tote("forget", "--session", two, "text-1").want(0).stdout, "its words are removed")
	says(t, "a text again", r.tote("forget", "--session", two, "text-1").want(0).stdout, "already forgotten")
	says(t, "none", r.tote("forget", "--session", two, "image-9.png").want(2).stderr, "tote receipts "+two)
}
