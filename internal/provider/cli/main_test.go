package cli_test

import (
	"os"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

func TestMain(m *testing.M) {
	clitest.Main()
	parent()
	os.Exit(m.Run())
}

var runners = []string{cli.Claude, cli.Codex, cli.Gemini, cli.Custom}

// rig is a runner with a fake program.
type rig struct {
	*cli.Runner
	calls   func() []clitest.Call
	scratch string
	dir     string
}

func newRig(tb testing.TB, runner string, b clitest.Behaviour, change ...func(*cli.Options)) *rig {
	tb.Helper()
	command, calls := clitest.Fake(tb, runner, b)
	r := &rig{calls: calls, scratch: tb.TempDir(), dir: tb.TempDir()}
	o := cli.Options{Runner: runner, Command: command, Scratch: r.scratch, Dir: r.dir, Grace: graceOfTests}
	for _, c := range change {
		c(&o)
	}
	var err error
	if r.Runner, err = cli.New(o); err != nil {
		tb.Fatal(err)
	}
	return r
}

func profile(runner string) delivery.Profile {
	p := providertest.Profile(cli.Path(runner))
	p.Placement = delivery.Placement{NoReasoning: true} // a transcript has room for all but thinking
	if runner == cli.Claude || runner == cli.Codex {
		p.Audio = delivery.Capability{Answer: delivery.No}
	}
	if runner == cli.Codex {
		p.Documents = delivery.Capability{Answer: delivery.No}
	}
	if runner == cli.Gemini {
		p.ImageLimits.MIMEs = []string{"image/png", "image/jpeg", "image/webp"}
	}
	return p
}

// request is a prompt of one picture and one sentence.
func request(tb testing.TB, runner string) provider.Request {
	tb.Helper()
	var blobs providertest.Blobs
	b := blobs.Put([]byte("\x89PNG picture one"), "image/png")
	p := providertest.Settle(tb, profile(runner), &blobs,
		providertest.User(content.Text{Handle: "text-1", Body: "what is this?"}, providertest.Picture("image-1.png", b, 4, 4)))
	return provider.Request{Prompt: p, Blobs: &blobs}
}

// heard is an answer.
type heard struct {
	text, thought string
	events        []provider.Event
	usage         content.Usage
	remarks       []provider.Remark
	finish        *provider.Finish
	err           *provider.Error
}

func (r *rig) ask(tb testing.TB, req provider.Request) heard {
	tb.Helper()
	body, err := r.Encode(req)
	if err != nil {
		tb.Fatal(err)
	}
	return r.listen(tb, body)
}

func (r *rig) listen(tb testing.TB, body provider.Body) heard {
	tb.Helper()
	var h heard
	for ev, err := range r.Stream(tb.Context(), body) {
		h.add(tb, ev, err)
	}
	r.clean(tb)
	return h
}

func (h *heard) add(tb testing.TB, ev provider.Event, err error) {
	tb.Helper()
	if h.err != nil || h.finish != nil {
		tb.Errorf("an event after the end: %v, %v", ev, err)
	}
	if err != nil {
		var ok bool
		if h.err, ok = err.(*provider.Error); !ok { //nolint:errorlint // the contract is the type itself
			tb.Fatalf("not an *Error: %v", err)
		}
		return
	}
	h.events = append(h.events, ev)
	switch ev := ev.(type) {
	case provider.TextDelta:
		h.text += ev.Text
	case provider.ThoughtDelta:
		h.thought += ev.Text
	case provider.UsageReport:
		h.usage = ev.Usage
		if len(ev.Raw) == 0 {
			tb.Error("an account without the program's own words")
		}
	case provider.Remark:
		h.remarks = append(h.remarks, ev)
	case provider.Finish:
		h.finish = &ev
	case provider.Thought, provider.Call, provider.Retry:
	}
}

// clean checks that neither a process nor a file is left.
func (r *rig) clean(tb testing.TB) {
	tb.Helper()
	for _, c := range r.calls() {
		if !c.Gone(tb.Context()) {
			tb.Error("a process is left")
		}
	}
	if left := r.staged(tb); len(left) > 0 {
		tb.Errorf("left behind: %v", left)
	}
}

// staged lists the folders below the scratch folder.
func (r *rig) staged(tb testing.TB) []string {
	tb.Helper()
	return staged(tb, r.scratch)
}

func staged(tb testing.TB, scratch string) []string {
	tb.Helper()
	entries, err := os.ReadDir(scratch + "/runners")
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out
}

func (r *rig) sent(tb testing.TB) providertest.Sent {
	tb.Helper()
	calls := r.calls()
	if len(calls) != 1 {
		tb.Fatalf("%d calls", len(calls))
	}
	s, err := calls[0].Sent()
	if err != nil {
		tb.Fatalf("%v\n%s", err, calls[0].Prompt)
	}
	return s
}
