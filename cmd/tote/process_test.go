//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// process is the program as a process of its own.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr watched
}

// watched keeps what is written and lets others wait for it.
type watched struct {
	mu   sync.Mutex
	more *sync.Cond
	buf  bytes.Buffer
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(b)
	if w.more != nil {
		w.more.Broadcast()
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// await waits until s was written. The test's own time limit bounds it.
func (w *watched) await(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.more = sync.NewCond(&w.mu)
	for !strings.Contains(w.buf.String(), s) {
		w.more.Wait()
	}
}

// command prepares a process in the rig's home and folder. Its standard input
// is a pipe that stays open.
func (r *rig) command(t *testing.T, name string, args ...string) *process {
	t.Helper()
	c := &process{t: t, cmd: exec.CommandContext(t.Context(), name, args...)}
	c.cmd.Dir = r.cwd
	c.cmd.Env = os.Environ()
	for k, v := range r.env {
		c.cmd.Env = append(c.cmd.Env, k+"="+v)
	}
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *process) start() *process {
	c.t.Helper()
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return c
}

func (c *process) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// wait waits for the end and returns what was printed; a process that a signal
// ended has the code -1.
func (c *process) wait() output {
	c.t.Helper()
	var exit *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return output{c.t, c.cmd.ProcessState.ExitCode(), c.stdout.String(), c.stderr.String()}
}

// gate is a reply that tells when a request is there, and when its client has
// left. In between it streams what it is told to.
type gate struct {
	arrived, left chan struct{}
	stream        chan string
}

func newGate() *gate {
	return &gate{arrived: make(chan struct{}, 8), left: make(chan struct{}, 8), stream: make(chan string)}
}

func (g *gate) reply(w http.ResponseWriter, r *http.Request, body []byte) {
	g.arrived <- struct{}{}
	defer func() { g.left <- struct{}{} }()
	for {
		select {
		case s, open := <-g.stream:
			if !open {
				p.Events(p.End("stop"), p.Done)(w, r, body)
				return
			}
			p.Events(p.Delta(`{"content":"`+s+`"}`))(w, r, body)
		case <-r.Context().Done():
			return
		}
	}
}

func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signal os.Signal
		code   int
	}{"interrupt": {os.Interrupt, 130}, "terminate": {syscall.SIGTERM, 143}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate()
			rec := p.NewRecorder(t, g.reply, p.Text("ok"))
			r := newRig(t)
			r.backend(rec.URL, "true")
			run := r.command(t, "tote", "run", "--json", "first prompt").start()
			<-g.arrived
			g.stream <- "half an "
			g.stream <- "answer"
			run.stdout.await(`"answer"`)
			run.signal(c.signal)
			out := run.wait().want(c.code)
			if d := out.lines("done"); len(d) != 1 || d[0].str("stop_reason") != "cancelled" {
				t.Errorf("done lines: %v", d)
			}
			if !strings.HasSuffix(strings.TrimSpace(out.stdout), `{"type":"done","stop_reason":"cancelled"}`) {
				t.Errorf("done is not the last line:\n%s", out.stdout)
			}
			r.tote("run", "--continue", "second prompt").want(0)
			text := everyText(t, rec.Last().Body)
			for _, want := range []string{"first prompt", "half an ", "second prompt"} {
				if !strings.Contains(text, want) {
					t.Errorf("the next request lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

// TestSecondSignal stops a program that cannot end by itself, because nobody
// reads what it writes.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, g.reply)
	r := newRig(t)
	r.backend(rec.URL, "true")
	run := r.command(t, "tote", "run", "--json", "hi")
	run.cmd.Stdout = nil
	pipe, err := run.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.start()
	<-g.arrived
	g.stream <- strings.Repeat("more than a pipe holds ", 10_000)
	start, one := "", make([]byte, 1)
	for !strings.HasSuffix(start, `"type":"text"`) {
		if _, err := pipe.Read(one); err != nil {
			t.Fatal(err)
		}
		start += string(one)
	}
	run.signal(os.Interrupt)
	<-g.left // the first signal was seen
	run.signal(syscall.SIGTERM)
	if err = run.cmd.Wait(); run.cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("exit code %d (%v), want 143", run.cmd.ProcessState.ExitCode(), err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Hang())
	r := newRig(t)
	r.backend(rec.URL, "true")
	out := r.command(t, "tote", "run", "--json", "--timeout", "300ms", "hi").start().wait().want(1)
	if e := out.lines("error"); len(e) != 1 || e[0].str("kind") != "timeout" || !strings.Contains(e[0].str("message"), "300ms") {
		t.Errorf("error lines: %v", e)
	}
	if d := out.lines("done"); len(d) != 1 || d[0].str("stop_reason") != "failed" {
		t.Errorf("done lines: %v", d)
	}
}

// TestStandardInputIsLeftAlone runs with an input that never ends.
func TestStandardInputIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a.png", imagingtest.PNG(imagingtest.Corners(6, 4)))
	r.command(t, "tote", "run", "-a", "a.png", "hi").start().wait().want(0)
	r.command(t, "tote", "attach", "a.png").start().wait().want(0)
	r.command(t, "tote", "models").start().wait().want(0)
}

// TestReaderLeaves closes the pipe after the first line, as head -1 does.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	g := newGate()
	rec := p.NewRecorder(t, g.reply, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	run := r.command(t, "tote", "run", "--json", "first prompt")
	run.cmd.Stdout = nil
	pipe, err := run.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.start()
	if _, err := bufio.NewReader(pipe).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	<-g.arrived
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	// A program that is being started right now may hold the other end of the pipe
	// for a moment, so that the first words are still taken.
	for given := false; !given; {
		select {
		case g.stream <- "nobody reads this":
		case <-g.left: // the turn was given up
			given = true
		}
	}
	if err := run.cmd.Wait(); run.cmd.ProcessState.ExitCode() != 1 || run.stderr.String() != "" {
		t.Errorf("exit code %d (%v), stderr %q", run.cmd.ProcessState.ExitCode(), err, run.stderr.String())
	}
	r.tote("run", "--continue", "second prompt").want(0)
	text := everyText(t, rec.Last().Body)
	for _, want := range []string{"first prompt", "nobody reads this", "second prompt"} {
		if !strings.Contains(text, want) {
			t.Errorf("the next request lacks %q:\n%s", want, text)
		}
	}
}

// TestAnswerCannotBeWritten sends the answer to a device that is always full.
func TestAnswerCannotBeWritten(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /dev/full")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }() // nothing can be written to it
	for _, args := range [][]string{{"run", "hi"}, {"run", "--json", "hi"}, {"models"}} {
		r := newRig(t)
		run := r.command(t, "tote", args...)
		run.cmd.Stdout = full
		if out := run.start().wait().want(1); !strings.Contains(out.stderr, "no space left") {
			t.Errorf("%v: stderr %q", args, out.stderr)
		}
	}
}

// TestUnreadableFile hands over a file that its owner keeps to himself.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	file := r.write("mine.png", imagingtest.PNG(imagingtest.Corners(6, 4)))
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	run := r.command(t, "tote", "run", "-a", file, "hi")
	if os.Getuid() == 0 { // root reads everything
		for dir := r.home; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(r.cwd, 0o777); err != nil {
			t.Fatal(err)
		}
		run.cmd.Path = copyProgram(t)
		run.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out := run.start().wait().want(2); !strings.Contains(out.stderr, "mine.png: permission denied") {
		t.Errorf("stderr %q", out.stderr)
	}
	if n := len(rec.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// copyProgram puts the program where another user may start it.
func copyProgram(t *testing.T) string {
	t.Helper()
	from, err := exec.LookPath("tote")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to := filepath.Join(dir, "tote")
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
