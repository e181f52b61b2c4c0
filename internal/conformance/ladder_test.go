package conformance_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// The tests of this file have a model work with pictures that it does not see.

// words is what the describer says of a picture, asked what it is asked.
const words = "a red door with the number 17 on it"

// eyes is a server at which pictures are described.
func eyes(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, tongueOf("openai-chat"))
	r.on("eyes", func(int, letter) providertest.Reply { return r.said(plenty(), words) })
	return r
}

// TestLadder has a model without sight on every path. Its picture is described
// once, by an agent that was given its bytes; a further question is a further call.
func TestLadder(t *testing.T) {
	t.Parallel()
	for path, a := range adapters {
		if a.own.Offline || !tried(path) {
			continue // what reaches it nobody can look at
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			see := eyes(t)
			var replies []providertest.Reply
			if a.runner == "" { // a program has tools of its own
				g := tongueOf(path)
				look := content.ToolCall{ID: "call-1", Name: "look", Arguments: `{"handle":"image-1.png","question":"which number?"}`}
				replies = []providertest.Reply{a.reply, a.reply, a.reply, g.calls(look), a.reply}
			}
			f := serve(t, a, replies...)
			w := newWorld(t, cast("", f.plays("main", "false", `,"describer":"eyes"`), see.plays("eyes", "true", "")))
			shot, data := w.snap("shot.png", 60, 50, 1)
			p := w.launch()
			s := p.with("main")
			first := p.prompt(s, shot, prose("what is it?"))
			describedTo(t, f, first)
			p.prompt(s, prose("and now?"))
			p.stop()

			p = w.launch()
			defer p.stop()
			s = p.open(s.ID())
			p.prompt(s, prose("still?"))
			if n := len(see.got("eyes")); n != 1 || len(see.last(t, "eyes").media) != 1 || !see.last(t, "eyes").holds(data) {
				t.Errorf("the describer was asked %d times, the last time with %d media", n, len(see.last(t, "eyes").media))
			}
			all := f.taken(t)
			for i, w := range all {
				if len(w.media) > 0 || !strings.Contains(w.flat, words) {
					t.Errorf("request %d has %d media, or no description", i, len(w.media))
				}
				if i > 0 && a.runner == "" {
					beginsAs(t, a, all[i-1].body, w.body)
				}
			}
			if s.Stored().Agent != "main" {
				t.Errorf("the session is on %q now", s.Stored().Agent)
			}
			if a.runner == "" {
				asked(t, see, f, data, p.prompt(s, prose("which number?")))
			}
		})
	}
}

// describedTo checks the words of the describer in the first request, and that the
// user is told.
func describedTo(t *testing.T, f far, told1 *agenttest.Front) {
	t.Helper()
	w := f.taken(t)[0]
	_, l, _ := locate(w.flat, "image-1.png")
	if l.at < 0 || !strings.Contains(l.text+l.rest, "eyes") || !strings.Contains(l.text+l.rest, words) {
		t.Errorf("the description does not stand behind the picture's label: %.600q", w.flat)
	}
	x := newestReceipts(told1)["image-1.png"]
	if x.Disposition != delivery.Described || x.Reason == 0 || x.Reason.Model() == "" {
		t.Errorf("receipt %+v", x)
	}
	if len(told(told1, "described by eyes")) == 0 {
		t.Errorf("nobody is told who described it: %q", told1.Notices())
	}
}

// asked checks what the tool look did.
func asked(t *testing.T, see *rig, f far, data []byte, fr *agenttest.Front) {
	t.Helper()
	if n := len(see.got("eyes")); n != 2 {
		t.Fatalf("the describer was asked %d times", n)
	}
	l := see.last(t, "eyes")
	if len(l.media) != 1 || !bytes.Equal(l.media[0], data) || !bytes.Contains(l.body, []byte("which number?")) {
		t.Errorf("the question went with %d media, or without its words", len(l.media))
	}
	all := f.taken(t)
	if w := all[len(all)-1]; len(w.media) > 0 || !strings.Contains(w.flat, "as seen by eyes") {
		t.Errorf("the answer is not in the result: %.800q", w.flat)
	}
	for _, e := range fr.Events() {
		if end, ok := e.(agent.ToolFinished); ok && end.IsError {
			t.Errorf("look failed: %s", content.Compact(end.Blocks))
		}
	}
}

// TestLadderWithoutWords has a describer that does not describe, or none at all:
// the model gets the path of the file, and the user is told.
func TestLadderWithoutWords(t *testing.T) {
	t.Parallel()
	refuses := tongueOf("openai-chat")
	for path, a := range adapters {
		if a.own.Offline || !tried(path) {
			continue
		}
		for name, c := range map[string]struct {
			reply providertest.Reply
			// told is what the user is told beside the receipt.
			told string
		}{
			"none":         {},
			"fails":        {refuses.rejects(500, "", "broken"), "could not be described by eyes"},
			"refuses":      {refuses.rejects(400, "", "Could not process image"), "could not be described by eyes"},
			"says nothing": {refuses.said(plenty(), " "), "could not be described by eyes"},
		} {
			t.Run(path+"/"+name, func(t *testing.T) {
				t.Parallel()
				f, see, more := serve(t, a), newRig(t, refuses), ""
				if c.reply != nil {
					more = `,"describer":"eyes"`
					see.on("eyes", func(int, letter) providertest.Reply { return c.reply })
				}
				w := newWorld(t, cast("", f.plays("main", "false", more), see.plays("eyes", "true", "")))
				shot, _ := w.snap("shot.png", 60, 50, 1)
				p := w.launch()
				defer p.stop()
				s := p.with("main")
				fr := p.prompt(s, shot, prose("what is it?"))
				x := newestReceipts(fr)["image-1.png"]
				if x.Disposition != delivery.Path || x.Path != path || len(told(fr, "image-1.png")) == 0 || len(told(fr, c.told)) == 0 {
					t.Errorf("receipt %+v, %q", x, fr.Notices())
				}
				all := f.taken(t)
				stub := all[len(all)-1].stub("image-1.png")
				if len(all) != 1 || len(all[0].media) > 0 || !strings.Contains(stub, "@") {
					t.Errorf("%d requests, the line for the picture is %q", len(all), stub)
				}
				if looks := strings.Contains(stub, "call look with image-1.png") && strings.Contains(stub, "eyes"); a.runner == "" && !looks {
					t.Errorf("the line does not say who could look: %q", stub)
				}
				if s.Stored().Agent != "main" {
					t.Errorf("the session is on %q now", s.Stored().Agent)
				}
			})
		}
	}
}

// TestLadderRunnersAreNotSentToTools: a program has no tool look, so the line for a
// picture may not name it.
func TestLadderRunnersAreNotSentToTools(t *testing.T) {
	t.Parallel()
	for path, a := range adapters {
		if a.runner == "" || !tried(path) {
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f, see := serve(t, a), eyes(t)
			w := newWorld(t, cast("", f.plays("main", "false", ""), see.plays("eyes", "true", "")))
			shot, _ := w.snap("shot.png", 60, 50, 1)
			p := w.launch()
			defer p.stop()
			p.prompt(p.with("main"), shot, prose("what is it?"))
			all := f.taken(t)
			if stub := all[0].stub("image-1.png"); strings.Contains(stub, "call look") {
				t.Errorf("a program that has no such tool is told: %q", stub)
			}
		})
	}
}

// TestLadderHangs has a describer that never answers. Both models are in the
// program itself, so that time can be made to pass.
func TestLadderHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `{"probe":"never","providers":{"p":{"kind":"offline"},"slow":{"kind":"offline","faults":{"slow":"1h"}}},"agents":{
			"main":{"provider":"p","model":"main","vision":false,"describer":"eyes"},
			"eyes":{"provider":"slow","model":"eyes","vision":true}},"default_agent":"main"}`)
		shot, _ := w.snap("shot.png", 60, 50, 1)
		p := w.launch()
		defer p.stop()
		f := p.prompt(p.with("main"), shot, prose("what is it?"))
		if x := newestReceipts(f)["image-1.png"]; x.Disposition != delivery.Path || len(told(f, "gave no answer within 1m0s")) != 1 {
			t.Errorf("receipt %+v, %q", x, f.Notices())
		}
	})
}
