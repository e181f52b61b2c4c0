package shell

import (
	"io"
	"time"

	"tote/internal/tool"
)

// SetGrace sets how long a command has to end when it is asked to.
func (s *Shells) SetGrace(d time.Duration) { s.grace = d }

// Clean is what the cleaner makes of pieces.
func Clean(pieces ...string) string {
	var out []byte
	c := &cleaner{emit: func(p []byte) { out = append(out, p...) }}
	for _, p := range pieces {
		_, _ = c.Write([]byte(p)) // it never fails
	}
	c.flush()
	return string(out)
}

// IsBinary is isBinary.
func IsBinary(s string) bool { return isBinary([]byte(s)) }

// Split is split.
func Split(line, cwd, home string, env tool.Env) (commands, paths []string, opaque, ok bool) {
	p, ok := split(line, cwd, home, env)
	return p.commands, p.paths, p.opaque, ok
}

// Recorder is an output on its own.
type Recorder struct{ o *output }

// NewRecorder makes one.
func NewRecorder(dir string, now func() time.Time, show func(string)) Recorder {
	return Recorder{newOutput(dir, "out", now, show)}
}

func (r Recorder) Write(p []byte) (int, error) { return r.o.Write(p) }

// Whole, News, Finish and Close are those of an output.
func (r Recorder) Whole() string { return r.o.whole() }

// News is news.
func (r Recorder) News() string { return r.o.news() }

// Finish is finish.
func (r Recorder) Finish() { r.o.finish() }

// Close is close.
func (r Recorder) Close() error { return r.o.close() }

// SandboxMainTo is SandboxMain with another place for its complaints.
func SandboxMainTo(args []string, w io.Writer) int { return sandboxMain(args, w) }

// LandlockABI is landlockABI.
func LandlockABI() (int, error) { return landlockABI() }

// PwshScript is pwshScript.
func PwshScript(file, cwd, dir string) string { return pwshScript(file, cwd, dir) }

// Environment is environment.
func Environment(base, drop []string) []string { return environment(base, drop) }

// Writable are the folders beyond the roots that commands may write in.
func (s *Shells) Writable() []string { return s.o.Writable }

// Private is the private folder, "" for none yet.
func (s *Shells) Private() string { return s.own.dir }

// Exports is exports.
func Exports(text []byte) (map[string]string, bool) { return exports(text) }
