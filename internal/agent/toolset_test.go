package agent_test

import (
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
