package cli_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// graceOfTests is short: what tests wait for does not end by itself.
const graceOfTests = 300 * time.Millisecond

// A cancelled turn leaves no process and no file, whatever the program does.
func TestCancel(t *testing.T) {
	for _, runner := range runners {
		for _, b := range []clitest.Behaviour{clitest.Hangs, clitest.Stubborn} {
			t.Run(runner+" "+string(b), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, runner, b)
				body, err := r.Encode(request(t, runner))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var h heard
				for ev, err := range r.Stream(ctx, body) {
					h.add(t, ev, err)
					if _, ok := ev.(provider.TextDelta); ok {
						if c := r.calls(); len(c) != 1 || !c[0].Alive() {
							t.Error("the program is not there")
						}
						cancel()
					}
				}
				if h.err == nil || h.err.Failure.Kind != delivery.FailCancelled || h.text != "O" {
					t.Errorf("heard %+v", h)
				}
				r.clean(t)
			})
		}
	}
}

// A consumer that wants no more ends the program as well.
func TestConsumerStops(t *testing.T) {
	for _, runner := range runners {
		r := newRig(t, runner, clitest.Hangs)
		body, err := r.Encode(request(t, runner))
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range r.Stream(t.Context(), body) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := ev.(provider.TextDelta); ok {
				break
			}
		}
		r.clean(t)
	}
}

// A consumer that panics leaves nothing behind either.
func TestConsumerPanics(t *testing.T) {
	r := newRig(t, cli.Codex, clitest.Hangs)
	body, err := r.Encode(request(t, cli.Codex))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() != "enough" {
				t.Error("the panic is lost")
			}
		}()
		for ev, err := range r.Stream(t.Context(), body) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := ev.(provider.TextDelta); ok {
				panic("enough")
			}
		}
	}()
	r.clean(t)
}

func TestCancelledBefore(t *testing.T) {
	r := newRig(t, cli.Gemini, clitest.OK)
	body, err := r.Encode(request(t, cli.Gemini))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var h heard
	for ev, err := range r.Stream(ctx, body) {
		h.add(t, ev, err)
	}
	if h.err == nil || h.err.Failure.Kind != delivery.FailCancelled || len(r.calls()) > 0 {
		t.Errorf("heard %+v", h)
	}
	r.clean(t)
}

// parentMark has this test binary run one turn that hangs, and be killed.
const parentMark = "CLI_TEST_PARENT"

// parent is that program: it says so when the turn has begun.
func parent() {
	command, scratch := os.Getenv(parentMark), os.Getenv("CLI_TEST_SCRATCH")
	if command == "" {
		return
	}
	r, err := cli.New(cli.Options{Runner: cli.Codex, Command: strings.Split(command, "\n"), Scratch: scratch, Grace: graceOfTests})
	if err != nil {
		panic(err)
	}
	var blobs providertest.Blobs
	b := blobs.Put([]byte("\x89PNG"), "image/png")
	prompt, _, _ := delivery.Settle(delivery.Decide(delivery.Input{
		Profile: providertest.Profile(cli.Path(cli.Codex)), Current: 1,
		Messages: []content.Message{providertest.User(providertest.Picture("image-1.png", b, 1, 1))},
		Budgets:  delivery.Budgets{Picture: delivery.Unlimited, History: delivery.Unlimited, Request: delivery.Unlimited},
	}), delivery.Results{})
	body, err := r.Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
	if err != nil {
		panic(err)
	}
	for _, err := range r.Stream(context.Background(), body) {
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("begun\n") // the test waits for it
	}
	os.Exit(0)
}

// begun starts this binary as a program in which a turn of codex hangs.
func begun(t *testing.T, b clitest.Behaviour) (cmd *exec.Cmd, scratch string, calls []clitest.Call) {
	t.Helper()
	command, recorded := clitest.Fake(t, cli.Codex, b)
	scratch = t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), parentMark+"="+strings.Join(command, "\n"), "CLI_TEST_SCRATCH="+scratch)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if calls = recorded(); len(calls) != 1 || !calls[0].Alive() {
		t.Fatal("the program is not there")
	}
	return cmd, scratch, calls
}

// kill ends a program as kill -9 does.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// What a killed program leaves is swept once its lock is free, and not before.
func TestSweepAfterACrash(t *testing.T) {
	cmd, scratch, calls := begun(t, clitest.Hangs)
	left := staged(t, scratch)
	if n, err := cli.Sweep(scratch); n != 0 || err != nil || len(left) != 1 || len(staged(t, scratch)) != 1 {
		t.Errorf("a sweep beside the living: %d, %v, %v", n, err, left)
	}
	kill(t, cmd)
	if len(staged(t, scratch)) != 1 {
		t.Error("nothing was left to sweep")
	}
	if n, err := cli.Sweep(scratch); n != 1 || err != nil || len(staged(t, scratch)) != 0 {
		t.Errorf("a sweep after the crash: %d, %v, %v", n, err, staged(t, scratch))
	}
	if !calls[0].Gone(t.Context()) {
		t.Error("the program outlives the one that started it")
	}
}

// A program that was killed takes its runner along, and what that has started,
// though the runner does not end when it is asked to.
func TestKilledTakesTheGroupAlong(t *testing.T) {
	t.Parallel()
	cmd, _, calls := begun(t, clitest.Family)
	if len(calls[0].Locks) != 2 {
		t.Fatalf("locks %v", calls[0].Locks)
	}
	kill(t, cmd)
	if !calls[0].Gone(t.Context()) {
		t.Error("a process is left")
	}
}

func TestSweepKeepsWhatIsNotOurs(t *testing.T) {
	scratch := t.TempDir()
	if n, err := cli.Sweep(scratch); n != 0 || err != nil {
		t.Errorf("an empty one: %d, %v", n, err)
	}
	root := filepath.Join(scratch, "runners")
	for _, name := range []string{"0123456789abcdef", "old.of.another", "x"} {
		if err := os.MkdirAll(filepath.Join(root, name, "files"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "aaaaaaaaaaaaaaaa"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := cli.Sweep(scratch); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if got := staged(t, scratch); len(got) != 3 {
		t.Errorf("left %v", got)
	}
}

// A live turn keeps its files while others sweep.
func TestSweepSparesTheLiving(t *testing.T) {
	r := newRig(t, cli.Codex, clitest.Hangs)
	body, err := r.Encode(request(t, cli.Codex))
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range r.Stream(t.Context(), body) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.(provider.TextDelta); !ok {
			continue
		}
		if n, err := cli.Sweep(r.scratch); n != 0 || err != nil || len(r.staged(t)) != 1 {
			t.Errorf("swept %d, %v, %v", n, err, r.staged(t))
		}
		break
	}
	r.clean(t)
}

func TestProgramMissing(t *testing.T) {
	for _, runner := range []string{cli.Claude, cli.Codex, cli.Gemini} {
		r := newRig(t, runner, clitest.OK, func(o *cli.Options) {
			o.Command = nil
			o.LookPath = func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }
		})
		h := r.ask(t, request(t, runner))
		if h.err == nil || !errors.Is(h.err, exec.ErrNotFound) || !strings.Contains(h.err.Hint, "npm install -g") || h.err.Failure.Reached {
			t.Errorf("%s: %+v", runner, h.err)
		}
		if want := "find the program of the runner " + runner + ": "; h.err != nil && !strings.HasPrefix(h.err.Error(), want) {
			t.Errorf("%q does not begin with what is wrong", h.err)
		}
		if m := r.Missing(t.Context()); !strings.HasPrefix(m, "find the program") || !strings.Contains(m, "; install it with: ") {
			t.Errorf("missing: %s", m)
		}
		if _, err := r.Version(t.Context()); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: version: %v", runner, err)
		}
	}
	named := newRig(t, cli.Claude, clitest.OK, func(o *cli.Options) { o.Command = []string{"no-such-program-of-tests"} })
	if h := named.ask(t, request(t, cli.Claude)); h.err == nil || !strings.HasPrefix(h.err.Hint, "check the command of the runner, or install it with: ") {
		t.Errorf("a command of the user's own: %+v", h.err)
	}
	r := newRig(t, cli.Custom, clitest.OK, func(o *cli.Options) { o.LookPath = func(string) (string, error) { return t.TempDir(), nil } })
	if h := r.ask(t, request(t, cli.Custom)); h.err == nil || h.err.Failure.Kind != delivery.FailNetwork {
		t.Errorf("a folder for a program: %+v", h.err)
	}
}

// gone is a store that has lost a blob.
type gone struct{}

func (gone) Open(content.Digest) (io.ReadCloser, error) { return nil, errors.New("no such blob") }

// A prompt that could not be given whole is never answered.
func TestBlobGone(t *testing.T) {
	for _, runner := range runners {
		r := newRig(t, runner, clitest.OK)
		req := request(t, runner)
		req.Blobs = gone{}
		h := r.ask(t, req)
		if h.err == nil || h.err.Failure.Kind != delivery.FailSchema || h.text != "" || h.err.Hint == "" {
			t.Errorf("%s: %+v", runner, h)
		}
	}
}

func TestForeignBody(t *testing.T) {
	a, b := newRig(t, cli.Codex, clitest.OK), newRig(t, cli.Gemini, clitest.OK)
	body, err := a.Encode(request(t, cli.Codex))
	if err != nil {
		t.Fatal(err)
	}
	if h := b.listen(t, body); h.err == nil || h.err.Failure.Kind != delivery.FailSchema {
		t.Errorf("heard %+v", h)
	}
	if h := b.listen(t, provider.NewBody(nil, nil)); h.err == nil {
		t.Errorf("heard %+v", h)
	}
}

func TestNew(t *testing.T) {
	for name, o := range map[string]cli.Options{
		"unknown":       {Runner: "x", Scratch: "/s"},
		"no command":    {Runner: cli.Custom, Scratch: "/s"},
		"empty program": {Runner: cli.Claude, Command: []string{""}, Scratch: "/s"},
		"no scratch":    {Runner: cli.Claude},
	} {
		if _, err := cli.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
