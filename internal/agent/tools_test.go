package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

type ctx = context.Context

func toolsOf(ts ...agenttest.Tool) []tool.Tool {
	out := make([]tool.Tool, 0, len(ts))
	for _, t := range ts {
		out = append(out, t)
	}
	return out
}

func calls(cs ...agenttest.Act) agenttest.Reply { return cs }

func TestReadTextAndPicture(t *testing.T) {
	for name, native := range map[string]bool{"hoisted": false, "native": true} {
		t.Run(name, func(t *testing.T) {
			p := agenttest.Sees(agenttest.Endpoint)
			p.Placement.HoistResults = !native
			b := agenttest.New(t, agenttest.Options{Profile: p, Script: agenttest.Replies(
				calls(agenttest.Call("c1", "read", `{"path":"a.txt"}`), agenttest.Call("c2", "read", `{"path":"b.png"}`)),
			)})
			b.File("a.txt", []byte("one\ntwo\n"))
			b.File("b.png", agenttest.PNG(9, 9, 1))
			b.Must(t.Context(), "read both")
			contains(t, b.Last().Text, "1\tone\n2\ttwo\n", "[image-1.png: b.png")
			sent(t, b, "", "image-1.png")
			body := b.Last().Body
			result, picture := strings.Index(body, "result c2"), strings.Index(body, "\nimage image-1.png")
			between := body[result:picture]
			if hoisted := strings.Contains(between, "# user"); hoisted == native {
				t.Errorf("the picture is hoisted = %v:\n%s", hoisted, between)
			}
			if !native {
				contains(t, between, "shown in the next user message", "from tool call c2")
			}
		})
	}
}

// Pictures of a batch are placed after all of its results, in order with the
// text around them, each tied to its call.
func TestResultsOfABatch(t *testing.T) {
	shot := func(seed uint64) func(ctx, string) ([]content.Source, error) {
		return func(ctx, string) ([]content.Source, error) {
			return append(append(agenttest.Output("A"), agenttest.Screenshot(agenttest.PNG(9, 9, seed))), agenttest.Output("B")...), nil
		}
	}
	b := agenttest.New(t, agenttest.Options{
		Tools:  toolsOf(agenttest.Tool{Name: "red", Do: shot(1)}, agenttest.Tool{Name: "green", Do: shot(2)}),
		Script: agenttest.Replies(calls(agenttest.Call("c1", "red", "{}"), agenttest.Call("c2", "green", "{}"))),
	})
	b.Must(t.Context(), "look")
	sent(t, b, "", "image-1.png image-2.png")
	at := 0
	body := b.Last().Body
	for _, w := range []string{
		"# tool", "result c1", `"A"`, "[image-1.png: shown", `"B"`, "result c2", "# user", "from tool call c1", "image image-1.png",
		"from tool call c2", "image image-2.png",
	} {
		i := strings.Index(body[at:], w)
		if i < 0 {
			t.Fatalf("%q is not in order in\n%s", w, body)
		}
		at += i
	}
}

func TestCallsThatCannotRun(t *testing.T) {
	broken := errors.New("the disk is on fire")
	ts := toolsOf(
		agenttest.Tool{Name: "fails", Do: func(ctx, string) ([]content.Source, error) { return nil, broken }},
		agenttest.Tool{Name: "panics", Do: func(ctx, string) ([]content.Source, error) { panic("boom") }},
		agenttest.Tool{Name: "panics-early", Bad: func(string) error { panic("boom") }},
		agenttest.Tool{Name: "picky", Bad: func(string) error { return errors.New("read the arguments: no") }},
		agenttest.Tool{Name: "silent", Do: func(ctx, string) ([]content.Source, error) { return nil, nil }},
	)
	for name, want := range map[string]string{
		"nobody": `there is no tool "nobody"`, "fails": broken.Error(), "panics": "the tool panics broke down",
		"panics-early": "the tool panics-early broke down", "picky": "read the arguments: no", "silent": "[no output]",
	} {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Tools: ts, Script: agenttest.Replies(calls(agenttest.Call("c1", name, "{}")))})
			b.Must(t.Context(), "go")
			contains(t, b.Last().Text, want)
			contains(t, b.Last().Body, fmt.Sprintf("result c1 error=%v", name != "silent"))
			lacks(t, b.Last().Text, "boom")
			consistent(t, b.Disk.Turns(b.Session.ID()))
			contains(t, strings.Join(b.Front.Lines(), "\n"), "started c1", "finished c1")
		})
	}
}

func TestPermission(t *testing.T) {
	change := permission.Request{Action: permission.Write, Path: "/p/x", Inside: true}
	tests := map[string]struct {
		answers []agent.Permit
		err     error
		mode    permission.Mode
		asked   int
		ran     int
	}{
		"deny":         {answers: []agent.Permit{agent.PermitDeny, agent.PermitDeny}, asked: 2},
		"once":         {answers: []agent.Permit{agent.PermitOnce, agent.PermitOnce}, asked: 2, ran: 2},
		"session":      {answers: []agent.Permit{agent.PermitSession}, asked: 1, ran: 2},
		"nobody there": {err: errors.New("no terminal"), asked: 2},
		"then once":    {answers: []agent.Permit{agent.PermitDeny, agent.PermitOnce}, asked: 2, ran: 1},
		"edits":        {mode: permission.ModeEdits, ran: 2},
		"plan":         {mode: permission.ModePlan},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ran := 0
			b := agenttest.New(t, agenttest.Options{
				Tools: toolsOf(agenttest.Tool{Name: "write", Wants: change, Do: func(ctx, string) ([]content.Source, error) {
					ran++
					return agenttest.Output("written"), nil
				}}),
				Script: func(n int, _ agenttest.Received) agenttest.Reply {
					if n%2 == 0 {
						return calls(agenttest.Call("c", "write", "{}"))
					}
					return calls(agenttest.Say("ok"))
				},
			})
			b.Session.SetMode(tt.mode)
			b.Front.Answer = func(_ ctx, q agent.Question) (agent.Permit, error) {
				if q.Title != "Use write" || q.Call.ID != "c" || q.Reason == "" {
					t.Errorf("question = %+v", q)
				}
				if tt.err != nil {
					return agent.PermitSession, tt.err
				}
				return tt.answers[len(b.Front.Questions())-1], nil
			}
			b.Must(t.Context(), "one")
			b.Must(t.Context(), "two")
			if got := len(b.Front.Questions()); got != tt.asked || ran != tt.ran {
				t.Errorf("asked %d times and ran %d, want %d and %d", got, ran, tt.asked, tt.ran)
			}
			consistent(t, b.Disk.Turns(b.Session.ID()))
		})
	}
}

// Calls run side by side, a few at a time; their results keep the order of the
// calls, and no call begins before it was announced.
func TestParallelCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		n := 10
		b := agenttest.New(t, agenttest.Options{
			Tools: toolsOf(agenttest.Tool{Name: "wait", Do: func(_ ctx, args string) ([]content.Source, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				var i int
				if _, err := fmt.Sscanf(args, `{"n":%d}`, &i); err != nil {
					return nil, err
				}
				time.Sleep(time.Duration(n-i) * time.Second)
				return agenttest.Output(fmt.Sprintf("result %d", i)), nil
			}}),
			Script: func(k int, _ agenttest.Received) agenttest.Reply {
				if k > 0 {
					return calls(agenttest.Say("ok"))
				}
				var r agenttest.Reply
				for i := range n {
					r = append(r, agenttest.Call(fmt.Sprintf("c%d", i), "wait", fmt.Sprintf(`{"n":%d}`, i)))
				}
				return r
			},
		})
		b.Must(t.Context(), "go")
		var got []string
		for _, p := range b.Disk.Turns(b.Session.ID())[0].Messages[2].Parts {
			r := p.(content.ToolResult)
			got = append(got, r.CallID+" "+content.Compact(r.Blocks))
		}
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("c%d result %d", i, i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if m := most.Load(); m < 2 || m > 4 {
			t.Errorf("%d calls ran at once", m)
		}
	})
}

// A path that a tool names is confined; what the user permitted is read.
func TestReadOutsideTheProject(t *testing.T) {
	for _, permit := range []agent.Permit{agent.PermitDeny, agent.PermitOnce} {
		b := agenttest.New(t, agenttest.Options{})
		other := t.TempDir() + "/x.png"
		write(t, other, agenttest.PNG(9, 9, 1))
		b.Provider.Script = agenttest.Replies(calls(agenttest.Call("c1", "read", fmt.Sprintf(`{"path":%q}`, other))))
		b.Front.Answer = func(ctx, agent.Question) (agent.Permit, error) { return permit, nil }
		b.Must(t.Context(), "read it")
		if permit == agent.PermitDeny {
			sent(t, b, "", "")
			contains(t, b.Last().Text, "did not permit")
			continue
		}
		sent(t, b, "", "image-1.png")
	}
}

// A model that takes no pictures is not given the path of what it just read.
func TestReadPictureBlind(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Profile: agenttest.Blind(agenttest.Endpoint), Script: agenttest.Replies(
		calls(agenttest.Call("c1", "read", `{"path":"b.png"}`)),
	)})
	b.File("b.png", agenttest.PNG(9, 9, 1))
	r := b.Must(t.Context(), "read it")
	contains(t, b.Last().Text, "[image-1.png: b.png", "not shown: you cannot see pictures")
	lacks(t, b.Last().Text, "Its file")
	if r.Degraded {
		t.Error("a tool's picture degraded the prompt")
	}
	if !noticed(b.Front, "image-1.png (b.png)") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
}

// The store is full when a tool's output comes in: the turn fails, and every
// call still has its result and its end.
func TestOutputThatCannotBeKept(t *testing.T) {
	full := errors.New("no space left on device")
	var b *agenttest.Bench
	b = agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "list"}, agenttest.Tool{Name: "shot", Do: func(ctx, string) ([]content.Source, error) {
			b.Store.Fill(full)
			return []content.Source{agenttest.Screenshot(agenttest.PNG(9, 9, 1))}, nil
		}}),
		Script: agenttest.Replies(calls(agenttest.Call("c1", "shot", "{}"), agenttest.Call("c2", "list", "{}"))),
	})
	r, err := b.Prompt(t.Context(), "go")
	if !errors.Is(err, full) || r.Stop != content.StopFailed {
		t.Fatalf("%v, %v", r.Stop, err)
	}
	consistent(t, b.Disk.Turns(b.Session.ID()))
	contains(t, strings.Join(b.Front.Lines(), "\n"), "finished c1 error=true", "finished c2 error=false")
	b.Store.Fill(nil)
	b.Must(t.Context(), "again")
}

// Two sessions share the agent and its tools.
func TestTwoSessionsAtOnce(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(n int, r agenttest.Received) agenttest.Reply {
		if strings.HasSuffix(r.Prefix(), "# user\n"+`text "list"`+"\n") {
			return calls(agenttest.Call("c", "list", "{}"), agenttest.Call("d", "read", `{"path":"a.png"}`))
		}
		return calls(agenttest.Say("ok"))
	}})
	b.File("a.png", agenttest.PNG(9, 9, 1))
	other, err := b.Agent.Create(t.Context(), "main", b.Cwd, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, s := range []*agent.Session{b.Session, other} {
		// It ends after its prompts.
		wg.Go(func() {
			for i := range 10 {
				r, err := s.Prompt(t.Context(), agent.Prompt{
					Sources: b.Sources(agenttest.PNG(5, 5, uint64(i)), "list"), Front: &agenttest.Front{},
				})
				if err != nil || r.Stop != content.StopEndTurn {
					t.Errorf("%v, %v", r.Stop, err)
				}
				s.SetMode(permission.ModeEdits)
				_, _, _ = s.Turns(), s.Stored(), s.Mode()
			}
		})
		// It ends after its look-ups.
		wg.Go(func() {
			for range 100 {
				for _, turn := range s.Turns() {
					_ = len(turn.Messages)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []*agent.Session{b.Session, other} {
		if n := len(s.Turns()); n != 10 {
			t.Errorf("%d turns", n)
		}
		consistent(t, b.Disk.Turns(s.ID()))
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
