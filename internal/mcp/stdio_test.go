package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/mcp"
	"tote/internal/permission"
	"tote/internal/tool"
)

// start makes the servers ready and fails on problems.
func start(t *testing.T, m *mcp.Manager, servers ...mcp.Server) []tool.Tool {
	t.Helper()
	tools, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Dir: t.TempDir(), Servers: servers})
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return tools
}

func names(tools []tool.Tool) (out []string) {
	for _, tl := range tools {
		out = append(out, tl.Spec().Name)
	}
	return out
}

func TestGoodServer(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "g", "good"), mcp.Server{Name: "off", Command: "no-such-program", Disabled: true})
	want := []string{"mcp__g__big", "mcp__g__elicit", "mcp__g__grow", "mcp__g__roots", "mcp__g__sample", "mcp__g__shot", "mcp__g__steps", "mcp_read", "mcp_resources"}
	if diff := cmp.Diff(want, names(tools)); diff != "" {
		t.Fatal(diff)
	}
	spec := tools[5].Spec()
	if spec.Description != "does shot" || string(spec.Schema) != `{"properties":{"n":{"type":"integer"}},"type":"object"}` || spec.Parallel {
		t.Errorf("spec: %+v %s", spec, spec.Schema)
	}
	req, title, err := tools[5].Request(nil, tool.Env{})
	if diff := cmp.Diff(permission.Request{Tool: "mcp__g__shot", Action: permission.Call, Detail: "g shot", ReadOnly: true}, req); diff != "" || title != "g: The shot" || err != nil {
		t.Errorf("request: %s, %q, %v", diff, title, err)
	}
	if _, _, err := tools[5].Request(json.RawMessage(`[]`), tool.Env{}); err == nil {
		t.Error("an array was taken for arguments")
	}
	got, err := call(t, tools, "mcp__g__shot", `{}`, tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	wantSources := []content.Source{
		prose("before"),
		{Payload: content.Bytes{Data: []byte("PNG")}, Inlet: content.InletMCP, Chooser: content.ChosenByTool, As: content.KindImage, Declared: "image/png", Name: "g shot image 1"},
		prose("after"),
	}
	if diff := cmp.Diff(tool.Result{Sources: wantSources}, got); diff != "" {
		t.Error(diff)
	}
	st := m.Servers()
	if len(st) != 2 || st[0].State != mcp.StateReady || st[0].Tools != 7 || st[0].Resources != 1 || st[0].Prompts != 1 || st[0].PID == 0 ||
		st[0].Protocol != "2025-11-25" || st[0].Version != "good 1" || st[1].State != mcp.StateDisabled {
		t.Errorf("status: %+v", st)
	}
}

func TestBigPicture(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "g", "good"))
	got, err := call(t, tools, "mcp__g__big", `{"n":8000000}`, tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := got.Sources[0].Payload.(content.Bytes); !ok || len(b.Data) != 8000000 {
		t.Errorf("the picture came as %T", got.Sources[0].Payload)
	}
}

func TestProgressAndListChange(t *testing.T) {
	m := manager(t, mcp.Options{})
	g := child(t, "g", "good")
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{g}}
	tools, _ := m.Tools(t.Context(), sc)
	var live strings.Builder
	got, err := call(t, tools, "mcp__g__steps", ``, tool.Env{Live: func(s string) { live.WriteString(s) }})
	if err != nil || says(got.Sources) != "done" || live.String() != "1/2 half\n" {
		t.Errorf("%q, %q, %v", says(got.Sources), live.String(), err)
	}
	if _, err := call(t, tools, "mcp__g__grow", ``, tool.Env{}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		tools, problems := m.Tools(t.Context(), sc)
		if len(problems) == 0 && strings.Contains(strings.Join(names(tools), " "), "mcp__g__grown") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the new tool did not come: %v %v", names(tools), problems)
		}
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	m := manager(t, mcp.Options{})
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{child(t, "g", "good")}}
	tools, problems := m.Tools(t.Context(), sc)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	list, err := call(t, tools, "mcp_resources", `{}`, tool.Env{})
	if want := "g: x://logo.png — logo (image/png), 2 KiB\ng: template x://page/{n} — pages"; err != nil || says(list.Sources) != want {
		t.Errorf("list: %q, %v", says(list.Sources), err)
	}
	if _, err := call(t, tools, "mcp_resources", `{"server":"h"}`, tool.Env{}); err == nil || !strings.Contains(err.Error(), "those that have are: g") {
		t.Errorf("an unknown server: %v", err)
	}
	read, err := call(t, tools, "mcp_read", `{"uri":"x://logo.png"}`, tool.Env{})
	want := []content.Source{
		src(0, content.Bytes{Data: []byte("PNG")}, "image/png", "logo.png", "x://logo.png"),
		src(content.KindResourceText, content.EmbeddedText{URI: "x://logo.png", Text: "words"}, "text/plain", "logo.png", "x://logo.png"),
	}
	if diff := cmp.Diff(want, read.Sources); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := m.Mention(t.Context(), "g", "x://page/7", sc); err != nil || len(got) != 2 {
		t.Errorf("mention: %v, %v", got, err)
	}
	if _, err := m.Mention(t.Context(), "g", "y://none", sc); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a resource that is not there: %v", err)
	}
	prompts, problems := m.Prompts(t.Context(), sc)
	if diff := cmp.Diff([]mcp.Prompt{{Server: "g", Name: "review", Args: []mcp.PromptArg{{Name: "what", Required: true}}}}, prompts); diff != "" || len(problems) > 0 {
		t.Error(diff, problems)
	}
	got, err := m.Prompt(t.Context(), "g", "review", map[string]string{"what": "it"}, sc)
	wantPrompt := []content.Source{prose("review it"), src(content.KindImage, content.Bytes{Data: []byte("PNG")}, "image/png", "g review image 1", "")}
	if diff := cmp.Diff(wantPrompt, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestRootsSamplingElicitation(t *testing.T) {
	var mu sync.Mutex
	roots := []string{"/a", "/b c"}
	var asked mcp.SampleRequest
	m := manager(t, mcp.Options{
		Roots: func(string) []string { mu.Lock(); defer mu.Unlock(); return roots },
		Sample: func(_ context.Context, r mcp.SampleRequest) (mcp.SampleResult, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = r
			return mcp.SampleResult{Text: "red", Model: "m"}, nil
		},
	})
	g := child(t, "g", "good")
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{g}}
	tools, problems := m.Tools(t.Context(), sc)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, err := call(t, tools, "mcp__g__roots", ``, tool.Env{}); err != nil || says(got.Sources) != "file:///a file:///b%20c" {
		t.Errorf("roots: %q, %v", says(got.Sources), err)
	}
	mu.Lock()
	roots = []string{"/b c", "/d"}
	mu.Unlock()
	m.Tools(t.Context(), sc)
	if got, err := call(t, tools, "mcp__g__roots", ``, tool.Env{}); err != nil || says(got.Sources) != "file:///b%20c file:///d" {
		t.Errorf("new roots: %q, %v", says(got.Sources), err)
	}
	if got, err := call(t, tools, "mcp__g__sample", ``, tool.Env{}); err != nil || says(got.Sources) != "red" {
		t.Errorf("sample: %q, %v", says(got.Sources), err)
	}
	want := mcp.SampleRequest{Scope: "w", Server: "g", System: "be brief", MaxTokens: 9, Messages: []mcp.SampleMessage{{
		Role: content.RoleUser, Sources: []content.Source{src(content.KindImage, content.Bytes{Data: []byte("PNG")}, "image/png", "g sampling image 1", "")},
	}}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if got, err := call(t, tools, "mcp__g__elicit", ``, tool.Env{}); err != nil || !got.IsError {
		t.Errorf("elicitation: %q, %v", says(got.Sources), err)
	}
}

func TestNoSampling(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "g", "good"))
	if got, err := call(t, tools, "mcp__g__sample", ``, tool.Env{}); err == nil {
		t.Errorf("sampling that is not offered gave %q", says(got.Sources))
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	m := manager(t, mcp.Options{})
	servers := []mcp.Server{
		child(t, "dead", "dead"), child(t, "ok", "noisy"),
		{Name: "none", Command: "/no/such/program"},
		{Name: "nothing"},
		{Name: "url", URL: "ftp://x"},
	}
	tools, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: servers})
	got := map[string]string{}
	for _, p := range problems {
		got[p.Server] = p.Text
		if strings.Contains(p.Text, "sesame") {
			t.Errorf("%s tells a secret", p)
		}
	}
	for name, want := range map[string]string{
		"dead": "no such database", "none": "/no/such/program", "nothing": "no http or https address", "url": "no http or https address",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if !strings.Contains(got["dead"], "exit status 3") {
		t.Errorf("dead: %q", got["dead"])
	}
	if len(tools) == 0 || got["ok"] != "" {
		t.Errorf("the good one has no tools: %v", problems)
	}
	for _, s := range m.Servers() {
		if s.Name == "ok" && s.Noise != 5 {
			t.Errorf("noise: %+v", s)
		}
	}
}

func TestServersThatHang(t *testing.T) {
	m := manager(t, mcp.Options{StartTimeout: 2 * time.Second})
	_, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{child(t, "deaf", "deaf"), child(t, "hung", "hung")}})
	for _, p := range problems {
		if want := "did not start: it did not answer within 2s; its last words: starting with key ***"; p.Text != want {
			t.Errorf("%q, want %q", p.Text, want)
		}
	}
	if len(problems) != 2 {
		t.Errorf("problems: %v", problems)
	}
}

func TestServerThatKnowsOnlyTheNewest(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "n", "modern"))
	if got, err := call(t, tools, "mcp__n__mixed", `{}`, tool.Env{}); err != nil || says(got.Sources) != "content.Broken|content.Unknown|on" {
		t.Errorf("mixed: %q, %v", says(got.Sources), err)
	}
	if st := m.Servers(); st[0].Protocol != "2026-07-28" {
		t.Errorf("status: %+v", st)
	}
}

// A server that says nothing costs the first turn a short time and the others none,
// and the tools of the others are there; it joins when it has started, and that is told.
func TestSlowStart(t *testing.T) {
	m := manager(t, mcp.Options{TurnWait: time.Second, StartTimeout: time.Minute})
	late := child(t, "late", "late")
	late.Env[goVar] = filepath.Join(t.TempDir(), "go")
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{late, child(t, "r", "raw")}}
	tools, problems := m.Tools(t.Context(), sc)
	if len(problems) != 1 || problems[0].State != mcp.StateStarting || !strings.Contains(problems[0].Text, "still starting") || len(tools) != 15 {
		t.Errorf("%v, problems: %v", names(tools), problems)
	}
	for range 3 {
		before := time.Now()
		_, problems := m.Tools(t.Context(), sc)
		if took := time.Since(before); took > 900*time.Millisecond || len(problems) != 0 {
			t.Errorf("a later turn waited %s: %v", took, problems)
		}
	}
	put(t, late.Env[goVar])
	deadline := time.Now().Add(20 * time.Second)
	for {
		tools, problems := m.Tools(t.Context(), sc)
		if len(tools) == 30 {
			if len(problems) != 1 || !problems[0].Good || problems[0].String() != "MCP server late has started; its tools (15) are there from this turn on" {
				t.Errorf("problems: %v", problems)
			}
			break
		}
		if len(problems) > 0 || time.Now().After(deadline) {
			t.Fatalf("it did not join: %v", problems)
		}
		runtime.Gosched()
	}
	if _, problems := m.Tools(t.Context(), sc); len(problems) > 0 {
		t.Errorf("told again: %v", problems)
	}
}

// A server whose user says that it is slow is waited for, as is any by who asks how
// they are.
func TestSlowStartIsWaitedFor(t *testing.T) {
	for _, own := range []time.Duration{0, time.Minute} {
		t.Run(own.String(), func(t *testing.T) {
			m := manager(t, mcp.Options{TurnWait: time.Millisecond})
			late := child(t, "late", "late")
			late.StartTimeout, late.Env[goVar] = own, filepath.Join(t.TempDir(), "go")
			ask := m.Await
			if own > 0 {
				ask = m.Tools
			}
			time.AfterFunc(300*time.Millisecond, func() { put(t, late.Env[goVar]) })
			if tools, problems := ask(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{late}}); len(tools) != 15 || len(problems) > 0 {
				t.Errorf("%v, %v", names(tools), problems)
			}
		})
	}
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// Floods of standard error, of notifications and of blocks cost nothing but
// themselves.
func TestFloods(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "r", "stderr"))
	var before, after runtime.MemStats
	for _, c := range []struct {
		tool, want, fails string
		alloc             uint64
	}{
		{"ok", "ok", "", 8 << 20},
		{"storm", "ok", "", 200 << 20},
		{"huge", "", "call the MCP server r: its answer is over 64 MiB, which is the most that one message may have; ask it for less at a time", 160 << 20},
		{"ok", "ok", "", 8 << 20},
	} {
		runtime.GC()
		runtime.ReadMemStats(&before)
		got, err := call(t, tools, "mcp__r__"+c.tool, `{}`, tool.Env{})
		runtime.ReadMemStats(&after)
		if c.fails == "" && (err != nil || says(got.Sources) != c.want) || c.fails != "" && (err == nil || err.Error() != c.fails) {
			t.Errorf("%s: %q, %v", c.tool, says(got.Sources), err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > c.alloc {
			t.Errorf("%s: %d bytes were allocated", c.tool, n)
		}
	}
	got, err := call(t, tools, "mcp__r__items", `{}`, tool.Env{})
	if err != nil || len(got.Sources) != 5001 || !strings.Contains(says(got.Sources[5000:]), "95000 more blocks were left out") {
		t.Errorf("items: %d, %v", len(got.Sources), err)
	}
}

func TestBadBehaviour(t *testing.T) {
	m := manager(t, mcp.Options{MaxMessage: 4 << 20, CallTimeout: time.Second})
	tools := start(t, m, child(t, "r", "raw"))
	for _, c := range []struct{ tool, want, fails string }{
		{"flood", "", "call the MCP server r: its answer is over 4 MiB"},
		{"floodid", "", "its answer is over 4 MiB"},
		{"notify", "ok", ""},
		{"ask", "ok", ""},
		{"mixed", "content.Broken|content.Unknown|on", ""},
		{"bad", "", "cannot be read: its content is no JSON array"},
		{"wrong", "", "(2 of its answers were to no request)"},
		{"wait", "", "no progress for 1s; the call was cancelled"},
		{"slow", "ok", ""},
		{"ok", "ok", ""},
		{"crash", "", "ended during the call (exit status 7)"},
		{"ok", "ok", ""}, // started again at once
	} {
		got, err := call(t, tools, "mcp__r__"+c.tool, `{}`, tool.Env{})
		switch {
		case c.fails == "" && (err != nil || says(got.Sources) != c.want):
			t.Errorf("%s: %q, %v", c.tool, says(got.Sources), err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "sesame")):
			t.Errorf("%s: %q, %v", c.tool, says(got.Sources), err)
		}
	}
}

func TestEndlessLineEndsTheServer(t *testing.T) {
	m := manager(t, mcp.Options{MaxMessage: 1 << 20})
	tools := start(t, m, child(t, "r", "raw"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := call(t, tools, "mcp__r__endless", `{}`, tool.Env{})
	runtime.ReadMemStats(&after)
	const want = "the MCP server r ended during the call: it wrote more than 4 MiB without an end of line, and was stopped; " +
		"a message may have 1 MiB, so have it give less at a time; it is started again when it is next used"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("an endless line: %v", err)
	}
	if got, err := call(t, tools, "mcp__r__ok", `{}`, tool.Env{}); err != nil || says(got.Sources) != "ok" {
		t.Errorf("after an endless line: %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

func TestCancelReturnsAtOnce(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "r", "raw"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, tl := range tools {
		if tl.Spec().Name == "mcp__r__wait" {
			if _, err := tl.Run(ctx, nil, tool.Env{}); err != context.Canceled { //nolint:errorlint // it is this very error
				t.Errorf("a cancelled call: %v", err)
			}
		}
	}
	if got, err := call(t, tools, "mcp__r__ok", `{}`, tool.Env{}); err != nil || says(got.Sources) != "ok" {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func TestRestartsEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	var mu sync.Mutex
	m := manager(t, mcp.Options{MaxRestarts: 2, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	r := child(t, "r", "raw")
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{r}}
	tools, _ := m.Tools(t.Context(), sc)
	crash := func() {
		t.Helper()
		if _, err := call(t, tools, "mcp__r__crash", `{}`, tool.Env{}); err == nil || !strings.Contains(err.Error(), "exit status 7") {
			t.Fatalf("crash: %v", err)
		}
	}
	crash()
	_, problems := m.Tools(t.Context(), sc)
	if len(problems) != 1 || problems[0].State != mcp.StateReady || !strings.Contains(problems[0].Text, "was started again") {
		t.Errorf("problems after a crash: %v", problems)
	}
	crash()
	if _, problems = m.Tools(t.Context(), sc); len(problems) != 1 || !strings.Contains(problems[0].Text, "can be started again in 1s") {
		t.Errorf("problems after two crashes: %v", problems)
	}
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	crash()
	if _, problems = m.Tools(t.Context(), sc); len(problems) != 1 || !strings.Contains(problems[0].Text, "failed 3 times and is not started again") {
		t.Errorf("problems after three crashes: %v", problems)
	}
	// A changed configuration is a new server.
	r.Env["X"] = "1"
	if tools, problems := m.Tools(t.Context(), sc); len(problems) != 0 || len(tools) == 0 {
		t.Errorf("after a change: %v", problems)
	}
}

func TestStubbornServerIsEnded(t *testing.T) {
	m := mcp.New(mcp.Options{Grace: 300 * time.Millisecond})
	start(t, m, child(t, "s", "stubborn"))
	pid := m.Servers()[0].PID
	m.Close()
	noneLeft(t)
	if p, err := os.FindProcess(pid); err == nil && runtime.GOOS != "windows" && p.Signal(nullSignal) == nil {
		t.Errorf("process %d is left", pid)
	}
	if _, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{child(t, "s", "stubborn")}}); len(problems) != 0 {
		t.Errorf("a closed manager: %v", problems)
	}
}

func TestScopes(t *testing.T) {
	m := manager(t, mcp.Options{})
	a := mcp.Scope{ID: "a", Servers: []mcp.Server{child(t, "x", "raw")}}
	b := mcp.Scope{ID: "b", Servers: []mcp.Server{child(t, "x", "good"), child(t, "y", "raw")}}
	tools, problems := m.Tools(t.Context(), a, b)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	all := strings.Join(names(tools), " ")
	if !strings.Contains(all, "mcp__x__shot") || strings.Contains(all, "mcp__x__wait") || !strings.Contains(all, "mcp__y__wait") {
		t.Errorf("the later scope wins: %s", all)
	}
	m.CloseScope("b")
	if st := m.Servers(); len(st) != 1 || st[0].Scope != "a" || st[0].State != mcp.StateIdle {
		t.Errorf("status: %+v", st)
	}
	if _, err := call(t, tools, "mcp__y__ok", ``, tool.Env{}); err == nil || !strings.Contains(err.Error(), "not used any more") {
		t.Errorf("a tool of a closed scope: %v", err)
	}
}
