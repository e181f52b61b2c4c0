package conformance_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// The tests of this file give work to others, on every path, and look at what they
// were sent.

// handOver is one way to give work.
type handOver struct {
	name string
	call content.ToolCall
	// waits: it runs in the background, and its report comes later.
	waits bool
	// whole: the conversation goes along in short form.
	whole bool
}

func handOvers() []handOver {
	call := func(name, args string) content.ToolCall {
		return content.ToolCall{ID: "call-9", Name: name, Arguments: args}
	}
	return []handOver{
		{name: "task", call: call("task", `{"agent":"other","prompt":"mark-work: compare them","attachments":["image-3.png","image-1.png"]}`)},
		{name: "job", call: call("job", `{"action":"start","agent":"other","title":"mark-title","prompt":"mark-work: compare them","attachments":["image-3.png","image-1.png"]}`), waits: true},
		{name: "escalation", call: call("escalate", `{"agent":"other","prompt":"mark-work: compare them","attachments":["image-3.png","image-1.png"]}`), whole: true},
	}
}

// TestDelegationGetsTheBytes has a sub-agent, a job and an escalation on every path
// work with pictures of the conversation: they arrive as they are, in the order
// asked for, under the labels that they have, and nothing of them stands anywhere
// else.
func TestDelegationGetsTheBytes(t *testing.T) {
	t.Parallel()
	for path, a := range adapters {
		if a.own.Offline || !tried(path) {
			continue
		}
		for _, h := range handOvers() {
			t.Run(path+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				main := newRig(t, tongueOf("anthropic"))
				f := serve(t, a)
				w := newWorld(t, cast("", main.plays("main", "true", ""), f.plays("other", "true", "")))
				p := w.start()
				s := p.with("main")
				var datas [][]byte
				for i := range 3 {
					shot, data := w.snap(fmt.Sprintf("shot-%d.png", i), 120+i, 90, uint64(i+1))
					datas = append(datas, data)
					p.prompt(s, shot, prose(fmt.Sprintf("mark-turn-%d", i)))
				}
				main.on("main", func(n int, _ letter) providertest.Reply {
					if n == 3 {
						return main.calls(h.call)
					}
					return nil
				})
				fr := p.prompt(s, prose("have them compared"))
				delegated(t, fr)
				if err := p.workspace.Crew().Wait(t.Context(), s.ID()); err != nil {
					t.Fatal(err)
				}
				all := f.taken(t)
				if len(all) != 1 {
					t.Fatalf("%d requests", len(all))
				}
				holdsExactly(t, path, all[0], given{"image-3.png", datas[2]}, given{"image-1.png", datas[0]})
				compactOnly(t, h, all[0])
				reported(t, h, main, p, s)
				p.stop()
				noRuns(t, w, datas...)
			})
		}
	}
}

// delegated checks that the tool did it.
func delegated(t *testing.T, f *agenttest.Front) {
	t.Helper()
	n := 0
	for _, e := range f.Events() {
		if end, ok := e.(agent.ToolFinished); ok {
			n++
			if end.IsError {
				t.Errorf("%s failed: %s", end.Call.Name, content.Compact(end.Blocks))
			}
		}
	}
	if n != 1 {
		t.Errorf("%d calls ended", n)
	}
}

// compactOnly checks what of the conversation goes along.
func compactOnly(t *testing.T, h handOver, w wire) {
	t.Helper()
	if !strings.Contains(w.flat, "mark-work") {
		t.Errorf("the work is not said: %.600q", w.flat)
	}
	if told := strings.Contains(w.flat, "mark-turn-1"); told != h.whole {
		t.Errorf("the conversation went along: %v, want %v", told, h.whole)
	}
	if named := strings.Contains(w.flat, "[attached image: image-2.png"); named != h.whole {
		t.Errorf("the picture that did not go along is named: %v, want %v: %.900q", named, h.whole, w.flat)
	}
	if n := longestRun(w.flat); n > maxRun {
		t.Errorf("%d characters of base64 in text", n)
	}
}

// reported checks that the answer comes back into the conversation, as text.
func reported(t *testing.T, h handOver, main *rig, p *process, s *agent.Session) {
	t.Helper()
	before := len(main.got("main"))
	p.prompt(s, prose("and?"))
	all := main.wires(t, "main")
	if h.waits && !strings.Contains(all[len(all)-1].flat, "[job job-1 (mark-title) ended: done]") {
		t.Errorf("the report of the job is missing: %.1500q", all[len(all)-1].flat)
	}
	if len(all) != before+1 || len(all[len(all)-1].media) != 3 {
		t.Errorf("%d requests, %d media in the last", len(all)-before, len(all[len(all)-1].media))
	}
}

// noRuns looks for pieces of pictures, raw and as base64 at every alignment, in the
// record of sessions.
func noRuns(t *testing.T, w *world, pictures ...[]byte) {
	t.Helper()
	files, err := filepath.Glob(w.database() + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s*: %v", w.database(), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := longestRun(string(data)); n > maxRun {
			t.Errorf("%s holds %d characters of base64", filepath.Base(name), n)
		}
		for i, p := range pictures {
			const piece = 24
			for at := len(p) / 4; at < len(p)/4+3; at++ {
				part := p[at : at+piece]
				if bytes.Contains(data, part) || bytes.Contains(data, []byte(base64.RawStdEncoding.EncodeToString(part))) {
					t.Errorf("%s holds a piece of picture %d", filepath.Base(name), i)
				}
			}
		}
	}
}
