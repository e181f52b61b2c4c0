package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

func prose(s string) tool.Result { return tool.Result{Sources: []content.Source{tool.Prose(s)}} }

// The tools of a session join those of every session, sorted, for a whole turn.
func TestToolbox(t *testing.T) {
	asked := 0
	b := agenttest.New(t, agenttest.Options{
		Script: agenttest.Replies(calls(agenttest.Call("c1", "mcp__x__go", "{}"))),
		With: func(o *agent.Options) {
			o.Toolbox = agenttest.Toolbox{
				Notices: []delivery.Notice{{Title: "server y is down"}},
				List: func() []tool.Tool {
					asked++
					return toolsOf(agenttest.Tool{Name: "mcp__x__go"}, agenttest.Tool{Name: "read"}, agenttest.Tool{Name: "aaa"})
				},
			}
		},
	})
	b.Must(t.Context(), "go")
	for _, r := range b.Provider.Requests() {
		contains(t, r.Body, "tool aaa\ntool list\ntool mcp__x__go\ntool read\n")
	}
	contains(t, b.Last().Text, "done")
	if asked != 1 {
		t.Errorf("asked %d times in one turn", asked)
	}
	if !noticed(b.Front, "server y is down") || !noticed(b.Front, "two tools are named read") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
}

// A call that does not run beside others runs in its place.
func TestOrderOfCalls(t *testing.T) {
	var mu sync.Mutex
	var order []string
	running := 0
	do := func(alone bool) func(ctx, string, tool.Env) (tool.Result, error) {
		return func(_ ctx, args string, _ tool.Env) (tool.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			running++
			if alone && running != 1 {
				t.Error("a call that runs alone has company")
			}
			order = append(order, args)
			running--
			return prose(args), nil
		}
	}
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "look", In: do(false)}, agenttest.Tool{Name: "edit", Alone: true, In: do(true)}),
		Script: agenttest.Replies(calls(
			agenttest.Call("1", "look", "1"), agenttest.Call("2", "look", "1"), agenttest.Call("3", "edit", "2"), agenttest.Call("4", "edit", "3"),
			agenttest.Call("5", "look", "4"),
		)),
	})
	b.Must(t.Context(), "go")
	if diff := cmp.Diff([]string{"1", "1", "2", "3", "4"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	consistent(t, b.Disk.Turns(b.Session.ID()))
}

// hostOf is a host that only says for whom it was made.
type hostOf struct {
	tool.Host
	t agent.TurnInfo
}

type hosts struct{}

func (hosts) Host(_ *agent.Session, t agent.TurnInfo) tool.Host { return hostOf{t: t} }

func TestSurroundings(t *testing.T) {
	var env tool.Env
	points := &agenttest.Checkpoints{}
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "edit", Alone: true, In: func(ctx ctx, _ string, e tool.Env) (tool.Result, error) {
			env = e
			path := filepath.Join(e.Cwd, "a.txt")
			if err := e.Keep(ctx, path); err != nil {
				return tool.Result{}, err
			}
			e.Live("half")
			e.Plan([]tool.Step{{Text: "one", Status: tool.StepActive}})
			return prose("ok"), os.WriteFile(path, []byte("new"), 0o600)
		}}),
		Script: agenttest.Replies(calls(agenttest.Call("c1", "edit", "{}"))),
		With:   func(o *agent.Options) { o.Checkpoints, o.Hosts = points, hosts{} },
	})
	path := b.File("a.txt", []byte("old"))
	r := b.Must(t.Context(), "go", agenttest.PNG(9, 9, 1))
	if env.Session != b.Session.ID() || env.Scratch != b.Stager.Dir(b.Session.ID()) || env.Files == nil {
		t.Errorf("env = %+v", env)
	}
	if _, ok := env.Lookup("image-1.png"); !ok {
		t.Error("the tool does not find the picture")
	}
	h := env.Host.(hostOf)
	if h.t.ID != r.Turn || h.t.Agent != "main" || !strings.Contains(h.t.Compact(), "image-1.png") {
		t.Errorf("turn = %+v", h.t)
	}
	env.Live("late") // after the call
	contains(t, strings.Join(b.Front.Lines(), "\n"), "running c1\noutput c1\nplanned 1\nfinished c1")
	if n := strings.Count(strings.Join(b.Front.Lines(), "\n"), "output"); n != 1 {
		t.Errorf("%d outputs", n)
	}
	got, err := points.Restore(t.Context(), b.Session.ID(), []string{r.Turn})
	if err != nil || len(got.Files) != 1 || len(got.Kept) != 0 {
		t.Errorf("restored %+v, %v", got, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("%q, %v", data, err)
	}
}

// The output of any tool is bounded; nothing of it is lost.
func TestOutputCap(t *testing.T) {
	long := strings.Repeat("äöü line\n", 1000)
	for name, tt := range map[string]struct {
		sources []string
		limit   int
		kept    []string
		cut     int
	}{
		"one":       {sources: []string{long}, limit: 1000, cut: 1},
		"short":     {sources: []string{"a", "b"}, limit: 1000, kept: []string{"a", "b"}},
		"mixed":     {sources: []string{"head", long, "tail", long}, limit: 2000, kept: []string{"head", "tail"}, cut: 2},
		"very many": {sources: slicesOf(5000, "word"), limit: 50_000, kept: []string{"word", "[4900 more parts of this result are left out]"}},
	} {
		t.Run(name, func(t *testing.T) {
			var r tool.Result
			for _, s := range tt.sources {
				r.Sources = append(r.Sources, tool.Prose(s))
			}
			b := agenttest.New(t, agenttest.Options{
				Tools:  toolsOf(agenttest.Tool{Name: "say", In: func(ctx, string, tool.Env) (tool.Result, error) { return r, nil }}),
				Script: agenttest.Replies(calls(agenttest.Call("c1", "say", "{}"))), Policy: agent.Policy{ToolOutput: tt.limit},
			})
			b.Must(t.Context(), "go")
			res := b.Session.Turns()[0].Messages[2].Parts[0].(content.ToolResult)
			text, cut := "", 0
			for _, bl := range res.Blocks {
				body := bl.(content.Text).Body
				text += body + "\n"
				if strings.Contains(body, "bytes left out; the whole output is in "+b.Stager.Dir(b.Session.ID())) {
					cut++
				}
			}
			contains(t, text, tt.kept...)
			if !utf8.ValidString(text) || len(text) > tt.limit+500*(1+tt.cut) || cut != tt.cut {
				t.Errorf("%d bytes, %d cut, valid %v", len(text), cut, utf8.ValidString(text))
			}
			files, _ := filepath.Glob(b.Stager.Dir(b.Session.ID()) + "/output-*")
			if (len(files) == 1) != (tt.cut > 0) {
				t.Fatalf("files = %v", files)
			}
			if tt.cut > 0 {
				if data, err := os.ReadFile(files[0]); err != nil || string(data) != strings.Join(tt.sources, "\n") {
					t.Errorf("%d bytes kept, %v", len(data), err)
				}
			}
		})
	}
}

func slicesOf(n int, s string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestPermissionForLonger(t *testing.T) {
	bash := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "go test ./...", Commands: []string{"go test ./..."}}
	other := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "go test ./x", Commands: []string{"go test ./x"}}
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
					agenttest.Tool{Name: "bash", Wants: bash, In: work, Alone: true, Shows: "$ go test"},
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
			if q := b.Front.Questions()[0]; q.Preview != "$ go test" || !q.Rule.Matches(bash) || !q.Rule.Matches(other) {
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

func TestGuide(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Script: func(n int, _ agenttest.Received) agenttest.Reply {
			if n < 3 {
				return calls(agenttest.Call(fmt.Sprint(n), "read", `{"path":"sub/a.txt"}`))
			}
			return calls(agenttest.Say("ok"))
		},
		With: func(o *agent.Options) {
			o.Guide = agenttest.Guide{Text: "Use tabs.", Near: []agent.Rules{{File: "sub/AGENTS.md", Text: "No panics here."}}}
		},
	})
	b.File("sub/a.txt", []byte("x\n"))
	b.Must(t.Context(), "go")
	b.Must(t.Context(), "go")
	contains(t, b.Last().Body, `system "You are tote`, "Use tabs.")
	if n := strings.Count(b.Last().Text, "[rules of the project for this folder, from sub/AGENTS.md]\nNo panics here.\n"); n != 1 {
		t.Errorf("the rules were given %d times", n)
	}
	if breaks := prefixes(b.Provider.Requests()); breaks != nil {
		t.Errorf("the prefix changed at %v", breaks)
	}
}

func TestSameCallAgain(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "list"}),
		Script: func(k int, _ agenttest.Received) agenttest.Reply {
			if k < 6 {
				return calls(agenttest.Call(fmt.Sprint(k), "list", "{}"))
			}
			return calls(agenttest.Say("ok"))
		},
	})
	b.Must(t.Context(), "go")
	contains(t, b.Last().Text, "the same result 5 times", "the same result 6 times")
	lacks(t, b.Last().Text, "the same result 4 times")
}

// What cannot be kept costs no turn and no call.
func TestKeepersThatFail(t *testing.T) {
	full := errors.New("no space left on device")
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{
			Name: "bash", Wants: permission.Request{Action: permission.Execute, Detail: "go test ./...", Commands: []string{"go test ./..."}},
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
	if !noticed(b.Front, "this is allowed for the session only: bash(go test *)") {
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

func FuzzOutputCap(f *testing.F) {
	f.Add("héllo wörld", 7, 3)
	f.Add(strings.Repeat("x", 300), 100, 1)
	f.Add("\xff\xfe", 1, 2)
	f.Fuzz(func(t *testing.T, text string, limit, parts int) {
		limit, parts = 1+abs(limit)%1000, 1+abs(parts)%5
		b := agenttest.New(t, agenttest.Options{
			Policy: agent.Policy{ToolOutput: limit}, Script: agenttest.Replies(calls(agenttest.Call("1", "say", "{}"))),
			Tools: toolsOf(agenttest.Tool{Name: "say", In: func(ctx, string, tool.Env) (tool.Result, error) {
				var r tool.Result
				for range parts {
					r.Sources = append(r.Sources, tool.Prose(text))
				}
				return r, nil
			}}),
		})
		b.Must(t.Context(), "go")
		shown := 0
		for _, block := range b.Session.Turns()[0].Messages[2].Blocks() {
			body := block.(content.Text).Body
			if utf8.ValidString(text) && !utf8.ValidString(body) {
				t.Errorf("%q was cut inside a rune: %q", text, body)
			}
			if head, rest, cut := strings.Cut(body, "\n["); cut && body != text {
				_, tail, _ := strings.Cut(rest, "]\n")
				if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
					t.Errorf("%q became %q", text, body)
				}
				body = head + tail
			}
			shown += len(body)
		}
		if whole := len(text) * parts; shown > min(whole, limit) || whole <= limit && shown != whole {
			t.Errorf("%d bytes of %d shown, limit %d", shown, whole, limit)
		}
	})
}

func abs(n int) int { return max(n, -n, 0) }

func FuzzDetachName(f *testing.F) {
	for _, s := range []string{"1", "image-1", "[image-1.png]", "text-2", "-1", "image-", "image-1.png.png", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b := agenttest.New(t, agenttest.Options{With: agenttest.Reduces})
		b.Must(t.Context(), "go", agenttest.PNG(3, 3, 1))
		changed, err := b.Session.Detach(t.Context(), agent.Selector{Names: []string{name}})
		if err == nil && (len(changed) != 1 || changed[0] != "image-1.png") {
			t.Errorf("%q is %v", name, changed)
		}
	})
}
