package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

func TestPermissionForLonger(t *testing.T) {
	bash := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "git status .", Commands: []string{"git status ."}}
	other := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "git status -s", Commands: []string{"git status -s"}}
	run := func(b *agenttest.Bench, answer agent.Permit) int {
		b.Front.Forget()
		b.Front.Answer = func(ctx, agent.Question) (agent.Permit, error) { return answer, nil }
		b.Must(t.Context(), "go")
		return len(b.Front.Questions())
	}
	for name, tt := range map[string]struct {
		answer                       agent.Permit
		ask                          []permission.Rule
		first, second, restarted, in int
	}{
		"once":    {answer: agent.PermitOnce, first: 3, second: 3, restarted: 3},
		"session": {answer: agent.PermitSession, first: 1, second: 0, restarted: 1},
		"always":  {answer: agent.PermitAlways, first: 1, second: 0, restarted: 0},
		"a rule that asks": {
			answer: agent.PermitSession, ask: []permission.Rule{{Tool: "bash"}}, first: 1, second: 0, restarted: 1,
		},
		"unknown": {answer: 77, first: 3, second: 3, restarted: 3},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			work := func(ctx, string, tool.Env) (tool.Result, error) {
				ran++
				return prose("ok"), nil
			}
			b := agenttest.New(t, agenttest.Options{
				Tools: toolsOf(
					agenttest.Tool{Name: "bash", Wants: bash, In: work, Alone: true, Shows: "$ git status"},
				),
				Policy: agent.Policy{Rules: permission.Rules{Ask: tt.ask}},
				Script: func(n int, _ agenttest.Received) agenttest.Reply {
					if n%2 == 0 {
						return calls(agenttest.Call("1", "bash", "{}"), agenttest.Call("2", "bash", "{}"), agenttest.Call("3", "bash", "{}"))
					}
					return calls(agenttest.Say("ok"))
				},
			})
			if got := run(b, tt.answer); got != tt.first {
				t.Errorf("asked %d times at first", got)
			}
			if q := b.Front.Questions()[0]; q.Preview != "$ git status" || !q.Rule.Matches(bash) || !q.Rule.Matches(other) {
				t.Errorf("question = %+v", q)
			}
			if got := run(b, tt.answer); got != tt.second {
				t.Errorf("asked %d times in the second turn", got)
			}
			b.Restart()
			if got := run(b, tt.answer); got != tt.restarted {
				t.Errorf("asked %d times after a restart", got)
			}
			if want := 9; tt.answer == 77 && ran != 0 || tt.answer != 77 && ran != want {
				t.Errorf("ran %d times", ran)
			}
		})
	}
}

// A rule that the user granted for one thing lets nothing else past a rule that asks.
func TestGrantedIsNotMore(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "read", Wants: permission.Request{Action: permission.Read, Path: "/p/secret/x", Inside: true}}),
		Policy: agent.Policy{Rules: permission.Rules{
			Ask: []permission.Rule{{Tool: "read"}}, Allow: []permission.Rule{{Tool: "read"}},
		}},
		Script: agenttest.Replies(calls(agenttest.Call("1", "read", "{}"))),
	})
	if err := b.Disk.Allow(t.Context(), b.Cwd, permission.Rule{Tool: "read", Pattern: "/p/open/**"}); err != nil {
		t.Fatal(err)
	}
	b.Must(t.Context(), "go")
	if n := len(b.Front.Questions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestPlanMode(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools:  toolsOf(agenttest.Tool{Name: "write", Wants: permission.Request{Action: permission.Write, Path: "/p/x", Inside: true}}),
		Script: agenttest.Replies(calls(agenttest.Call("1", "write", "{}"))),
	})
	b.Session.SetMode(permission.ModePlan)
	b.Must(t.Context(), "go")
	contains(t, b.Last().Text, "[plan mode:", "not permitted: plan mode changes nothing: look, then propose a plan")
	system := func() string { s, _, _ := strings.Cut(b.Last().Body, "\n"); return s }
	first := system()
	b.Session.SetMode(permission.ModeAsk)
	b.Must(t.Context(), "now do it")
	contains(t, b.Last().Text, "[plan mode has ended")
	if system() != first {
		t.Error("the system prompt has changed")
	}
}

func TestHooks(t *testing.T) {
	var seen []string
	ran := 0
	var say func(agent.HookEvent) agent.HookResult
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{
			Name: "write", Wants: permission.Request{Action: permission.Write, Path: "/p/x", Inside: true},
			In: func(ctx, string, tool.Env) (tool.Result, error) { ran++; return prose("written"), nil },
		}),
		Script: func(n int, r agenttest.Received) agenttest.Reply {
			if strings.HasSuffix(r.Prefix(), "go\"\n") || strings.Contains(r.Prefix()[strings.LastIndex(r.Prefix(), "# "):], "# user") {
				return calls(agenttest.Call(fmt.Sprint(n), "write", `{"a":1}`))
			}
			return calls(agenttest.Say("fin"))
		},
		With: func(o *agent.Options) {
			o.Hooks = agenttest.Hooks(func(e agent.HookEvent) agent.HookResult {
				seen = append(seen, e.Name+" "+e.Tool+" "+string(e.Arguments)+" "+e.Text)
				if e.Session == "" || e.Turn == "" || e.Cwd == "" {
					t.Errorf("event = %+v", e)
				}
				return say(e)
			})
		},
	})
	say = func(e agent.HookEvent) agent.HookResult {
		return agent.HookResult{Allow: e.Name == "pre_tool", Context: map[string]string{"prompt": "it rains", "pre_tool": "mind it", "post_tool": "lint: 3"}[e.Name]}
	}
	b.Must(t.Context(), "go", agenttest.PNG(9, 9, 1))
	if diff := cmp.Diff([]string{
		"prompt   go\n[attached image: image-1.png (image/png)]", `pre_tool write {"a":1} `, `post_tool write {"a":1} written`, "stop   fin",
	}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	contains(t, b.Last().Text, "it rains", "mind it", "lint: 3")
	if n := len(b.Front.Questions()); n != 0 || ran != 1 {
		t.Errorf("asked %d times, ran %d", n, ran)
	}
	say = func(e agent.HookEvent) agent.HookResult {
		return agent.HookResult{Deny: e.Name == "pre_tool", Reason: "frozen"}
	}
	b.Must(t.Context(), "go")
	contains(t, b.Last().Text, "not permitted by a command of the user: frozen")
	say = func(agent.HookEvent) agent.HookResult { return agent.HookResult{Deny: true, Reason: "holiday"} }
	turns := len(b.Session.Turns())
	r, err := b.Prompt(t.Context(), "go")
	var denied *agent.DeniedError
	if !errors.As(err, &denied) || denied.Reason != "holiday" || r.Stop != content.StopFailed || len(b.Session.Turns()) != turns || ran != 1 {
		t.Errorf("%v, %v, ran %d", r.Stop, err, ran)
	}
	if kind, _, _ := agent.Explain(err); kind != "denied" {
		t.Errorf("kind = %s", kind)
	}
	say = func(agent.HookEvent) agent.HookResult { return agent.HookResult{Allow: true} }
	b.Session.SetMode(permission.ModePlan)
	b.Must(t.Context(), "go")
	if ran != 1 {
		t.Error("a hook allowed what is denied")
	}
}

// What cannot be kept costs no turn and no call.
func TestKeepersThatFail(t *testing.T) {
	full := errors.New("no space left on device")
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{
			Name: "bash", Wants: permission.Request{Action: permission.Execute, Detail: "git status .", Commands: []string{"git status ."}},
		}),
		Script: agenttest.Replies(calls(agenttest.Call("1", "bash", "{}"))),
	})
	b.Front.Answer = func(ctx, agent.Question) (agent.Permit, error) { return agent.PermitAlways, nil }
	b.Disk.FailWhen(func(op string) error {
		if op == "Allow" {
			return full
		}
		return nil
	})
	b.Must(t.Context(), "go")
	contains(t, b.Last().Text, "done")
	if !noticed(b.Front, "this is allowed for the session only: bash(git status *)") {
		t.Errorf("notices %v", b.Front.Notices())
	}
}

// A note that could not be recorded is told later.
func TestNoteIsNotLost(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Session.AddNote("[job 1 ended]")
	for _, bad := range []string{"BeginTurn", "TakeHandles"} {
		n := 0
		b.Disk.FailWhen(func(op string) error {
			if op == bad {
				if n++; n > 1 || bad == "BeginTurn" {
					return errors.New("no space left on device")
				}
			}
			return nil
		})
		if _, err := b.Prompt(t.Context(), "go"); err == nil {
			t.Fatalf("%s did not fail", bad)
		}
	}
	b.Disk.FailWhen(nil)
	b.Must(t.Context(), "again")
	contains(t, b.Last().Text, "[job 1 ended]")
}

// A hook may ask about what the rules allow.
func TestHookAsks(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Script: agenttest.Replies(calls(agenttest.Call("1", "list", "{}"))),
		With: func(o *agent.Options) {
			o.Hooks = agenttest.Hooks(func(e agent.HookEvent) agent.HookResult {
				return agent.HookResult{Ask: e.Name == "pre_tool", Allow: true, Reason: "sure?"}
			})
		},
	})
	b.Must(t.Context(), "go")
	if q := b.Front.Questions(); len(q) != 1 || q[0].Reason != "a command of the user asks: sure?" {
		t.Errorf("questions %+v", q)
	}
	contains(t, b.Last().Text, "did not permit")
}

// What the user allowed in a session holds for those that work for it.
func TestChildIsPermitted(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "write", Wants: permission.Request{Action: permission.Write, Path: "/p/q/r/x", Inside: true}}),
		Script: func(n int, _ agenttest.Received) agenttest.Reply {
			if n%2 == 0 {
				return calls(agenttest.Call("1", "write", "{}"))
			}
			return calls(agenttest.Say("ok"))
		},
	})
	b.Front.Answer = func(ctx, agent.Question) (agent.Permit, error) { return agent.PermitSession, nil }
	b.Must(t.Context(), "go")
	front := &agenttest.Front{}
	if _, err := child(t, b, "task").Prompt(t.Context(), agent.Prompt{Sources: b.Sources("go"), Front: front}); err != nil {
		t.Fatal(err)
	}
	if len(front.Questions()) != 0 {
		t.Error("the child asked again")
	}
	contains(t, b.Last().Text, "done")
}

// Nobody is asked about a change that cannot be made.
func TestCheckedBeforeAsked(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools: []tool.Tool{tool.Read{}, tool.Edit{}},
		Script: agenttest.Replies(
			calls(agenttest.Call("c1", "edit", `{"path":"a.txt","edits":[{"old":"no such words","new":"x"}]}`)),
			calls(agenttest.Call("c2", "read", `{"path":"a.txt"}`)),
			calls(agenttest.Call("c3", "edit", `{"path":"a.txt","edits":[{"old":"no such words","new":"x"}]}`)), calls(agenttest.Say("ok"))),
	})
	b.File("a.txt", []byte("words\n"))
	b.Must(t.Context(), "change it")
	if n := len(b.Front.Questions()); n != 0 {
		t.Errorf("%d questions: %v", n, b.Front.Questions())
	}
	contains(t, b.Last().Text, "read it first")
}
