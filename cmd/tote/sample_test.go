//go:build unix

package main

import (
	"image"
	"image/color"
	"image/draw"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// The sample repository: a module that draws bars, with two faults of which the
// second shows only when the first is mended.

const meterSource = `// Package meter draws how full something is.
package meter

import "strings"

const width = 10

// Filled is how many marks of the bar are drawn.
func Filled(part, whole int) int {
	n := part * width / whole
	if n > width {
		n = width - 1
	}
	return n
}

// Empty is how many are left.
func Empty(part, whole int) int {
	n := part * width / whole
	if n > width {
		n = width - 1
	}
	return max(width-1-n, 0)
}

// Bar is both.
func Bar(part, whole int) string {
	return strings.Repeat("#", Filled(part, whole)) + strings.Repeat(".", Empty(part, whole))
}
`

const meterTest = `package meter

import "testing"

func TestFilled(t *testing.T) {
	if n := Filled(3, 2); n != 10 {
		t.Errorf("overfull: %d marks", n)
	}
}

func TestBar(t *testing.T) {
	for part, want := range map[int]string{0: "..........", 1: "#####.....", 2: "##########", 3: "##########"} {
		if got := Bar(part, 2); got != want {
			t.Errorf("%d of 2: %q", part, got)
		}
	}
}
`

const (
	// fault is what is changed first, twofold in the file without its context.
	fault      = "\t\tn = width - 1\n"
	firstOld   = "func Filled(part, whole int) int {\n\tn := part * width / whole\n\tif n > width {\n\t\tn = width - 1\n"
	firstNew   = "func Filled(part, whole int) int {\n\tn := part * width / whole\n\tif n > width {\n\t\tn = width\n"
	secondOld  = "\t\tn = width - 1\n\t}\n\treturn max(width-1-n, 0)\n"
	secondNew  = "\t\tn = width\n\t}\n\treturn width - n\n"
	ownChange  = "\n// Somebody else was here.\n"
	rulesText  = "Every change keeps the tests green."
	nearText   = "Marks are counted and never measured."
	testLine   = "go test ./..."
	deniedLine = "curl -s http://127.0.0.1:9/"
)

// screenshot shows the bar as it is drawn: nine marks, and a gap at the end.
func screenshot() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 640, 200))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	for i := range 9 {
		draw.Draw(img, image.Rect(20+i*60, 60, 70+i*60, 140), image.NewUniform(color.RGBA{uint8(20 * i), 120, 60, 255}), image.Point{}, draw.Src)
	}
	draw.Draw(img, image.Rect(560, 60, 610, 140), image.NewUniform(color.RGBA{220, 30, 30, 255}), image.Point{}, draw.Src)
	return imagingtest.PNG(img)
}

// repository makes the sample in the working folder and returns the picture.
func (r *rig) repository() []byte {
	r.t.Helper()
	shot := screenshot()
	r.write("go.mod", []byte("module sample\n\ngo 1.21\n"))
	r.write("meter/meter.go", []byte(meterSource))
	r.write("meter/meter_test.go", []byte(meterTest))
	r.write("AGENTS.md", []byte(rulesText+"\n"))
	r.write("meter/AGENTS.md", []byte(nearText+"\n"))
	r.write("fault.png", shot)
	r.write("README.md", []byte("# Bars\n"))
	for _, line := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "begin"},
	} {
		r.git(line...)
	}
	maps.Copy(r.env, map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""})
	return shot
}

func (r *rig) git(line ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", line...)
	cmd.Dir, cmd.Env = r.cwd, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", line, err, out)
	}
	return string(out)
}

// sound runs the repository's own tests.
func (r *rig) sound() {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "go", "test", "./...")
	cmd.Dir, cmd.Env = r.cwd, os.Environ()
	for k, v := range r.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("the repository's tests: %v\n%s", err, out)
	}
}

// tree reads the working folder, without what git keeps.
func (r *rig) tree() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.cwd, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(r.cwd, path)
		if d.IsDir() {
			out[rel] = "folder"
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// touch changes the source behind the model's back.
func (r *rig) touch() {
	file := filepath.Join(r.cwd, "meter", "meter.go")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(data, ownChange...), 0o600)
	}
	if err != nil {
		r.t.Error(err)
	}
}

func step(text, status string) map[string]string {
	return map[string]string{"text": text, "status": status}
}

// repair is the script of a model that mends the sample.
func repair(r *rig) []p.Reply {
	const file = "meter/meter.go"
	edit := func(id, old, new string) p.Reply {
		return asks(id, "edit", args{"path": file, "edits": []args{{"old": old, "new": new}}})
	}
	return []p.Reply{
		asks("c1", "todo", args{"steps": []any{step("find the fault", "in_progress"), step("mend it", "pending"), step("run the tests", "pending")}}),
		p.Calls(call("c2", "read", args{"path": file}), call("c3", "grep", args{"pattern": `width - 1`}), call("c4", "glob", args{"pattern": "**/*_test.go"})),
		edit("c5", fault, strings.Replace(fault, " - 1", "", 1)),
		meanwhile(r.touch, edit("c6", firstOld, firstNew)),
		asks("c7", "read", args{"path": file}),
		edit("c8", firstOld, firstNew),
		asks("c9", "bash", args{"command": testLine, "description": "Run the tests"}),
		asks("c10", "bash", args{"command": deniedLine}),
		asks("c11", "read", args{"path": "fault.png"}),
		asks("c12", "view_image", args{"handle": "image-1.png", "region": args{"x": 540, "y": 40, "w": 90, "h": 120}, "zoom": 4}),
		edit("c13", secondOld, secondNew),
		asks("c14", "bash", args{"command": testLine}),
		asks("c15", "todo", args{"steps": []any{step("find the fault", "completed"), step("mend it", "completed"), step("run the tests", "completed")}}),
		p.Text("The bar is whole again."),
	}
}

// repaired holds what the model was told and shown, by the last request of the turn.
func repaired(t *testing.T, body, shot []byte) {
	t.Helper()
	says(t, "the system prompt", system(t, body), rulesText)
	tells(t, body, "c2", "func Filled", nearText)
	tells(t, body, "c3", "meter.go", "12:", "21:")
	tells(t, body, "c4", "meter/meter_test.go")
	tells(t, body, "c5", "meter/meter.go", "12", "21")
	tells(t, body, "c6", "changed")
	tells(t, body, "c7", "Somebody else")
	tells(t, body, "c8", "edited", "+\t\tn = width\n")
	tells(t, body, "c9", "FAIL", "1 of 2", "exit code 1")
	tells(t, body, "c10", "not permit")
	tells(t, body, "c11", "image-1.png")
	tells(t, body, "c12", "image-2.png")
	tells(t, body, "c13", "edited")
	tells(t, body, "c14", "ok", "sample/meter", "exit code 0")
	got, err := p.Pictures(body)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d pictures at the backend, want 2: %v", len(got), err)
	}
	if string(got[0]) != string(shot) {
		t.Errorf("the screenshot arrived as %d bytes of %d", len(got[0]), len(shot))
	}
	if w, h := size(t, got[1]); w != 360 || h != 480 {
		t.Errorf("the enlarged part is %dx%d, want 360x480", w, h)
	}
	noPayload(t, body, shot)
	noPayload(t, body, got[1])
}
