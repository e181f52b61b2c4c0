package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// buildProgram builds the program as a release is built.
func buildProgram(b *testing.B) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "tote")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", out, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, text)
	}
	return out
}

// BenchmarkStart measures from the start of the process: to the end of one that
// does nothing, and to the moment when a backend has the whole request. The
// home is warm.
func BenchmarkStart(b *testing.B) {
	program := buildProgram(b)
	r := newRig(b)
	arrived := make(chan time.Time, 1)
	rec := p.NewRecorder(b, func(w http.ResponseWriter, req *http.Request, body []byte) {
		arrived <- time.Now()
		p.Text("ok")(w, req, body)
	})
	r.backend(rec.URL, "true")
	r.write("small.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	r.write("shot.png", imagingtest.Screenshot(3840, 2400, 1))
	start := func(b *testing.B, args ...string) {
		b.Helper()
		cmd := exec.CommandContext(b.Context(), program, args...)
		cmd.Dir, cmd.Env = r.cwd, append(os.Environ(), "TOTE_HOME="+r.home)
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	b.Run("version", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			start(b, "version")
		}
	})
	for name, args := range map[string][]string{
		"text": {"run", "hi"}, "small picture": {"run", "-a", "small.png", "hi"}, "7 MB picture": {"run", "-a", "shot.png", "hi"},
	} {
		b.Run("request out, "+name, func(b *testing.B) {
			b.ReportAllocs()
			var out time.Duration
			for b.Loop() {
				begun := time.Now()
				start(b, args...)
				out += (<-arrived).Sub(begun)
			}
			b.ReportMetric(float64(out.Microseconds())/float64(b.N)/1000, "ms-to-request")
		})
	}
}
