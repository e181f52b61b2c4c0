package cli_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// exact: the system tells what lies in a pipe unread.
const exact = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

// long is a prompt that fits into no pipe.
func long(tb testing.TB, runner string) provider.Request {
	tb.Helper()
	var blobs providertest.Blobs
	b := blobs.Put([]byte("\x89PNG"+strings.Repeat("x", 300_000)), "image/png")
	p := providertest.Settle(tb, profile(runner), &blobs, providertest.User(
		content.Text{Handle: "text-1", Body: strings.Repeat("many words ", 30_000)}, providertest.Picture("image-1.png", b, 4, 4)))
	return provider.Request{Prompt: p, Blobs: &blobs}
}

// A program that answers without having read everything is told of.
func TestInputNotRead(t *testing.T) {
	for _, runner := range runners {
		for taken, b := range map[int]clitest.Behaviour{0: clitest.Shuts, clitest.Sip: clitest.Sips} {
			for size, req := range map[string]provider.Request{"short": request(t, runner), "long": long(t, runner)} {
				if size == "short" && !exact {
					continue // it lies in the pipe, and nobody can tell
				}
				t.Run(runner+" "+string(b)+" "+size, func(t *testing.T) {
					t.Parallel()
					h := newRig(t, runner, b).ask(t, req)
					if h.err != nil || h.text != "OK" || h.finish == nil || len(h.remarks) != 1 {
						t.Fatalf("heard %+v", h)
					}
					want := runner + " did not read all of what it was given ("
					if exact {
						want += fmt.Sprintf("%d of ", taken)
					}
					if r := h.remarks[0]; !r.Lost || !strings.HasPrefix(r.Text, want) || !strings.HasSuffix(r.Text, " bytes)") {
						t.Errorf("remark %+v, want %q", r, want)
					}
				})
			}
		}
	}
}

// The size that is told is that of what was to be read.
func TestInputSize(t *testing.T) {
	r := newRig(t, cli.Claude, clitest.Shuts)
	body, err := r.Encode(long(t, cli.Claude))
	if err != nil {
		t.Fatal(err)
	}
	h := r.listen(t, body)
	if want := fmt.Sprintf(" of %d bytes)", body.Len()); len(h.remarks) != 1 || !strings.HasSuffix(h.remarks[0].Text, want) {
		t.Errorf("remarks %+v, want %q", h.remarks, want)
	}
}

// One that reads everything is not, however much that is and however it ends.
func TestInputRead(t *testing.T) {
	for _, runner := range runners {
		for _, b := range []clitest.Behaviour{clitest.OK, clitest.Lingers, clitest.Spawns} {
			t.Run(runner+" "+string(b), func(t *testing.T) {
				t.Parallel()
				if b == clitest.Lingers && runner == cli.Custom {
					b = clitest.OK // its answer has no end but that of the program
				}
				if h := newRig(t, runner, b).ask(t, long(t, runner)); h.err != nil || h.text != "OK" || len(h.remarks) > 0 {
					t.Errorf("heard %+v", h)
				}
			})
		}
	}
}

// A command that takes the prompt from elsewhere has nothing to read.
func TestInputElsewhere(t *testing.T) {
	r := newRig(t, cli.Custom, clitest.Shuts, func(o *cli.Options) { o.Command = append(o.Command, "--prompt-file={prompt_file}") })
	if h := r.ask(t, long(t, cli.Custom)); h.err != nil || h.text != "OK" || len(h.remarks) > 0 {
		t.Errorf("heard %+v", h)
	}
}
