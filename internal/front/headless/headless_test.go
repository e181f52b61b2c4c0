package headless_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent/agenttest"
	"tote/internal/delivery"
	"tote/internal/front/headless"
	"tote/internal/permission"
	"tote/internal/tool"
)

// shown is what a turn wrote.
type shown struct {
	code     int
	out, err string
}

// run runs one turn of a scripted model.
func run(t *testing.T, s headless.Streams, script func(int, agenttest.Received) agenttest.Reply, parts ...any) shown {
	t.Helper()
	b := agenttest.New(t, agenttest.Options{Script: script})
	var out, err bytes.Buffer
	if s.Out == nil {
		s.Out = &out
	}
	s.Err = &err
	code := headless.Run(t.Context(), headless.Turn{Session: b.Session, Sources: b.Sources(parts...)}, s)
	return shown{code, out.String(), err.String()}
}

func replies(list ...agenttest.Reply) func(int, agenttest.Received) agenttest.Reply {
	return agenttest.Replies(list...)
}

func TestPlain(t *testing.T) {
	t.Parallel()
	got := run(t, headless.Streams{}, replies(agenttest.Reply{agenttest.Say("an "), agenttest.Say("answer")}),
		"look", agenttest.Paste("a.png", agenttest.PNG(20, 10, 1)))
	if got.code != headless.ExitAnswered || got.out != "an answer\n" {
		t.Errorf("code %d, answer %q", got.code, got.out)
	}
	if !strings.HasPrefix(got.err, "image-1.png (a.png): goes to the model as it is") || strings.Count(got.err, "\n") != 1 {
		t.Errorf("told %q", got.err)
	}
}

// What a model withdrew is never in a pipe; at a terminal it is marked.
func TestWithdrawnText(t *testing.T) {
	t.Parallel()
	script := replies(agenttest.Reply{agenttest.Say("wrong"), agenttest.Refusing()}, agenttest.Reply{agenttest.Say("right")})
	picture := agenttest.Paste("a.png", agenttest.PNG(20, 10, 2))
	if got := run(t, headless.Streams{}, script, "look", picture); got.out != "right\n" || !strings.Contains(got.err, "a.png") {
		t.Errorf("in a pipe: %+v", got)
	}
	got := run(t, headless.Streams{Live: true}, script, "look", picture)
	if got.out != "wrong\nright\n" || !strings.Contains(got.err, "[the text above is withdrawn: refused]") {
		t.Errorf("at a terminal: %+v", got)
	}
	got = run(t, headless.Streams{Format: headless.JSON}, script, "look", picture)
	if a, b := strings.Index(got.out, `"wrong"`), strings.Index(got.out, `"type":"attempt"`); a < 0 || b < a || strings.Index(got.out, `"right"`) < b {
		t.Errorf("as lines: %s", got.out)
	}
}

func TestNothingDrivesTheTerminal(t *testing.T) {
	t.Parallel()
	hostile := "a\x1b[31mred\u009b5m\x07\r\nnext\tline\x7f"
	got := run(t, headless.Streams{Live: true}, replies(agenttest.Reply{agenttest.Say(hostile)}),
		"look", agenttest.Paste("x\x1b]0;title\x07.png", agenttest.PNG(20, 10, 3)))
	if strings.ContainsAny(got.out+got.err, "\x1b\x07\r\x7f\u009b") {
		t.Errorf("control characters reached the terminal: %q %q", got.out, got.err)
	}
	if !strings.Contains(got.out, "red") || !strings.Contains(got.out, "\nnext\tline") {
		t.Errorf("the text is not whole: %q", got.out)
	}
	// In a pipe the answer is the model's, byte for byte.
	if got := run(t, headless.Streams{}, replies(agenttest.Reply{agenttest.Say(hostile)}), "look"); got.out != hostile+"\n" {
		t.Errorf("in a pipe: %q", got.out)
	}
	failed := replies(agenttest.Reply{agenttest.Failing(delivery.FailAuth, 401, "no\x1b[2J\nsecond\u202eline")})
	got = run(t, headless.Streams{Live: true}, failed, "look")
	if strings.ContainsAny(got.err, "\x1b\u202e") || !strings.Contains(got.err, "\n  second") {
		t.Errorf("an error: %q", got.err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	got := run(t, headless.Streams{Format: headless.JSON},
		replies(agenttest.Reply{agenttest.Failing(delivery.FailAuth, 401, "who are you")}), "hi")
	if got.code != headless.ExitFailed {
		t.Errorf("code %d", got.code)
	}
	var last, before map[string]any
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if err := errors.Join(json.Unmarshal([]byte(lines[len(lines)-1]), &last), json.Unmarshal([]byte(lines[len(lines)-2]), &before)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"type": "done", "stop_reason": "failed"}, last); diff != "" {
		t.Error(diff)
	}
	if before["type"] != "error" || before["kind"] != "auth" || !strings.Contains(before["message"].(string), "who are you") {
		t.Errorf("the line before: %v", before)
	}
}

type fullDisk struct{ after int }

var errFull = errors.New("no space left on device")

func (w *fullDisk) Write(b []byte) (int, error) {
	if w.after -= len(b); w.after < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// An answer that could not be written is no answer.
func TestOutputFails(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]headless.Streams{
		"plain": {Out: &fullDisk{}}, "live": {Out: &fullDisk{}, Live: true}, "lines": {Out: &fullDisk{after: 60}, Format: headless.JSON},
	} {
		got := run(t, s, replies(agenttest.Reply{agenttest.Say("an answer")}), "hi")
		if got.code != headless.ExitFailed || !strings.Contains(got.err, "write the answer: no space left") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAsking(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"y\n": "done", "YES\n": "done", "s\n": "done", "n\n": "did not permit", "\n": "did not permit", "": "did not permit", "yesterday\n": "did not permit",
		"yesterday\ny\n": "done", "a\nb\nc\ny\n": "did not permit", "yes": "done",
	} {
		asks := agenttest.Tool{Name: "danger", Wants: permission.Request{Action: permission.Execute, Detail: "rm\x1b[A"}}
		b := agenttest.New(t, agenttest.Options{Tools: []tool.Tool{asks}, Script: replies(
			agenttest.Reply{agenttest.Call("c", "danger", "{}")}, agenttest.Reply{agenttest.Say("done")})})
		var out, errs bytes.Buffer
		code := headless.Run(t.Context(), headless.Turn{Session: b.Session, Sources: b.Sources("go")},
			headless.Streams{Out: &out, Err: &errs, Terminal: strings.NewReader(typed)})
		if strings.Contains(errs.String(), "\x1b") {
			t.Errorf("the question drives the terminal: %q", errs.String())
		}
		if code != 0 || !strings.Contains(errs.String(), "allow? [y]es, [s]ession, [N]o:") {
			t.Errorf("%q: code %d, asked %q", typed, code, errs.String())
		}
		if strings.Contains(errs.String(), "is none of the answers") != (strings.Count(typed, "\n") > 1 || typed == "yesterday\n") {
			t.Errorf("%q: asked %q", typed, errs.String())
		}
		if got := b.Last().Text; !strings.Contains(got, want) {
			t.Errorf("%q: the model was told %q, want %q", typed, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 11577: "12 KB", 33554432: "33.6 MB"} {
		if got := headless.Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	if got, want := headless.Clean("a\tb\nc\u202ed\x00]"), "a b\nc d ]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
