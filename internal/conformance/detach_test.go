package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/slash"
)

// command runs what a user types as a command.
func (p *process) command(s *agent.Session, text string) string {
	p.t.Helper()
	c, ok := slash.Read([]content.Source{prose(text)})
	if !ok {
		p.t.Fatalf("%q is no command", text)
	}
	out, known, err := slash.World{Session: s, Jobs: p.workspace.Crew()}.Run(p.t.Context(), c)
	if err != nil || !known {
		p.t.Fatalf("%s: known %v, %v", text, known, err)
	}
	return out.Text
}

// TestDetach takes pictures out of a session and puts them back, in all the ways
// that a user can name them. What is out is a line in the next request, what is
// back is there to the byte, and a restart changes neither.
func TestDetach(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			w := newWorld(t, cast("", r.within("main", "true", `"context_tokens":200000`, "")))
			p := w.launch()
			s := p.with("main")
			const turns = 5
			var all []given
			for i := range turns {
				shot, data := w.snap(fmt.Sprintf("shot-%d.png", i), 60+i, 50, uint64(i+1))
				all = append(all, given{content.NewHandle(content.KindImage, i+1, ".png"), data})
				p.prompt(s, shot, prose(fmt.Sprintf("turn %d", i)))
			}
			for _, step := range []struct {
				command string
				// out are the pictures that are out after it, by number.
				out []int
			}{
				{"/detach image-2.png", []int{2}},
				{"/detach 4 image-5", []int{2, 4, 5}},
				{"/reattach 2 4 5", nil},
				{"/detach last 2", []int{4, 5}},
				{"/reattach last 1", []int{4}},
				{"/detach older 13", []int{1, 2, 4}}, // of 15 turns, two for each step
				{"/reattach older 1", nil},
			} {
				if out := p.command(s, step.command); !strings.Contains(out, "image-") {
					t.Errorf("%s says %q", step.command, out)
				}
				for _, again := range []bool{false, true} {
					if again {
						p.stop()
						p = w.launch()
						s = p.open(s.ID())
					}
					noRetry(t, p.prompt(s, prose("and now?")))
					list := r.wires(t, "main")
					outOf(t, step.command, list[len(list)-1], all, step.out)
				}
			}
			p.stop()
		})
	}
}

// outOf checks which pictures a request holds, and that there is a line for those
// that it does not.
func outOf(t *testing.T, command string, w wire, all []given, out []int) {
	t.Helper()
	var in []given
	for i, g := range all {
		if !slices.Contains(out, i+1) {
			in = append(in, g)
			continue
		}
		if stub := w.stub(g.handle); !strings.Contains(stub, "not shown") || strings.Contains(stub, "@") {
			t.Errorf("%s: the line for %s is %q", command, g.handle, stub)
		}
	}
	holdsExactly(t, command, w, in...)
}
