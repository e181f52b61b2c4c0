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
