package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/hook"
	"tote/internal/permission"
)

// mark makes this program play a hook: "mark PART ARGUMENT".
const mark = "play-a-hook"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == mark {
		play(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// play acts a part and ends the program.
func play(part, arg string) {
	switch part {
	case "say":
		fmt.Print(arg)
	case "deny":
		fmt.Fprint(os.Stderr, arg)
		os.Exit(2)
	case "fail":
		fmt.Fprintf(os.Stderr, "first\n%s\n", arg)
		os.Exit(3)
	case "save":
		data, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = os.WriteFile(arg, data, 0o600)
		}
		if err != nil {
			fmt.Fprint(os.Stderr, err)
			os.Exit(1)
		}
	case "where":
		dir, err := os.Getwd()
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(map[string]string{"context": dir + " " + os.Getenv("HOOK_TEST")})
		}
		if err != nil {
			os.Exit(1)
		}
	case "flood":
		fmt.Print(strings.Repeat("x", 1<<20))
	case "child": // starts what only calls, and both stay
		cmd := exec.Command(os.Args[0], mark, "call", arg) //nolint:noctx // the test ends it
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Start() != nil {
			os.Exit(1)
		}
		_ = cmd.Wait()
	case "leave": // starts what calls, and goes when it has
		cmd := exec.Command(os.Args[0], mark, "call", arg) //nolint:noctx // the test ends it
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			os.Exit(1)
		}
		_, _ = out.Read(make([]byte, 1))
	case "call":
		conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", arg)
		if err == nil {
			fmt.Print(" ")
			_, _ = io.Copy(io.Discard, conn) // until somebody ends this
		}
	}
	os.Exit(0)
}

func acts(event, part, arg string) hook.Hook {
	return hook.Hook{Event: event, Command: []string{os.Args[0], mark, part, arg}, Timeout: time.Minute}
}

func required(h hook.Hook) hook.Hook {
	h.Required = true
	return h
}

func match(t *testing.T, h hook.Hook, rules string) hook.Hook {
	t.Helper()
	var err error
	if h.Match, err = hook.ParseMatch(rules); err != nil {
		t.Fatal(err)
	}
	return h
}

func call() hook.Event {
	return hook.Event{
		Name: hook.PreTool, Session: "s1", Turn: "t1", Tool: "bash", Arguments: json.RawMessage(`{"command": "git push origin"}`),
		Request: permission.Request{Tool: "bash", Action: permission.Execute, Detail: "git push origin", Commands: []string{"git push origin"}},
	}
}

func TestRun(t *testing.T) {
	program := filepath.Base(os.Args[0])
	const bad = `wrote something else than a JSON object with "decision", "reason" and "context"`
	allow, deny, ask := acts(hook.PreTool, "say", `{"decision":"allow","reason":"fine"}`), acts(hook.PreTool, "deny", " no \n"), acts(hook.PreTool, "say", `{"decision":"ask","reason":"sure?"}`)
	silent, broken := acts(hook.PreTool, "say", ""), acts(hook.PreTool, "fail", "the cause")
	told := func(s string) hook.Hook { return acts(hook.PreTool, "say", s) }
	status := "ended with exit status 3: the cause"
	for name, tt := range map[string]struct {
		hooks    []hook.Hook
		want     hook.Result
		problems []hook.Problem
	}{
		"none":                {nil, hook.Result{}, nil},
		"silent":              {[]hook.Hook{silent}, hook.Result{}, nil},
		"allow":               {[]hook.Hook{allow, silent}, hook.Result{Decision: hook.Allow, Reason: "fine"}, nil},
		"ask beats allow":     {[]hook.Hook{ask, allow}, hook.Result{Decision: hook.Ask, Reason: "sure?"}, nil},
		"deny beats all":      {[]hook.Hook{allow, ask, deny, broken}, hook.Result{Decision: hook.Deny, Reason: "no"}, nil},
		"deny by JSON":        {[]hook.Hook{told(`{"decision":"deny"}`)}, hook.Result{Decision: hook.Deny, Reason: "a hook denies it and gives no reason"}, nil},
		"deny without words":  {[]hook.Hook{acts(hook.PreTool, "deny", "")}, hook.Result{Decision: hook.Deny, Reason: "a hook denies it and gives no reason"}, nil},
		"contexts are joined": {[]hook.Hook{told(`{"context":"a"}`), told(` {"context":"b"} ` + "\n")}, hook.Result{Context: "a\n\nb"}, nil},
		"another event":       {[]hook.Hook{acts(hook.Stop, "deny", "x")}, hook.Result{}, nil},
		"no command":          {[]hook.Hook{{Event: hook.PreTool}}, hook.Result{}, nil},
		"matched":             {[]hook.Hook{match(t, deny, "write|bash(git push *)")}, hook.Result{Decision: hook.Deny, Reason: "no"}, nil},
		"not matched":         {[]hook.Hook{match(t, deny, "write|bash(git pull *)")}, hook.Result{}, nil},
		"broken":              {[]hook.Hook{broken, allow}, hook.Result{Decision: hook.Allow, Reason: "fine"}, []hook.Problem{{Program: program, What: status}}},
		"broken and required": {
			[]hook.Hook{required(broken), allow},
			hook.Result{Decision: hook.Deny, Reason: "the hook " + program + ", which is required, did not work: " + status},
			[]hook.Problem{{Program: program, What: status, Denied: true}},
		},
		"no JSON":        {[]hook.Hook{told("done")}, hook.Result{}, []hook.Problem{{Program: program, What: bad}}},
		"half":           {[]hook.Hook{told(`{"decision":`)}, hook.Result{}, []hook.Problem{{Program: program, What: bad}}},
		"unknown member": {[]hook.Hook{told(`{"decison":"deny"}`)}, hook.Result{}, []hook.Problem{{Program: program, What: bad}}},
		"twice":          {[]hook.Hook{told(`{"decision":"deny","decision":"allow"}`)}, hook.Result{}, []hook.Problem{{Program: program, What: bad}}},
		"other letters":  {[]hook.Hook{told(`{"decision":"deny","Decision":"allow"}`)}, hook.Result{}, []hook.Problem{{Program: program, What: bad}}},
		"unknown word":   {[]hook.Hook{told(`{"decision":"block"}`)}, hook.Result{}, []hook.Problem{{Program: program, What: `wrote a decision that is none of "allow", "ask" and "deny"`}}},
		"two objects":    {[]hook.Hook{told(`{}{}`)}, hook.Result{}, []hook.Problem{{Program: program, What: "wrote more than one JSON object"}}},
		"flood":          {[]hook.Hook{acts(hook.PreTool, "flood", "")}, hook.Result{}, []hook.Problem{{Program: program, What: "wrote more than 65536 bytes"}}},
		"not there": {
			[]hook.Hook{{Event: hook.PreTool, Command: []string{filepath.Join(t.TempDir(), "gone\x1b[31m")}}},
			hook.Result{},
			[]hook.Problem{{Program: "gone[31m", What: "is not there: neither a file of that name nor a program of that name on the PATH"}},
		},
		"not on the path": {
			[]hook.Hook{{Event: hook.PreTool, Command: []string{"no-such-program-of-tote"}}},
			hook.Result{},
			[]hook.Problem{{Program: "no-such-program-of-tote", What: "is not there: neither a file of that name nor a program of that name on the PATH"}},
		},
	} {
		got, problems := hook.Runner{Hooks: tt.hooks}.Run(t.Context(), call())
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: result (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.problems, problems); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", name, diff)
		}
	}
}

func TestOtherEvents(t *testing.T) {
	program := filepath.Base(os.Args[0])
	for _, tt := range []struct {
		event, part, arg string
		want             hook.Result
		problems         int
	}{
		{hook.Prompt, "deny", "no", hook.Result{Decision: hook.Deny, Reason: "no"}, 0},
		{hook.Prompt, "say", `{"decision":"allow","reason":"r","context":"c"}`, hook.Result{Context: "c"}, 0},
		{hook.Prompt, "say", `{"decision":"ask"}`, hook.Result{}, 1},
		{hook.PostTool, "deny", "badly formatted", hook.Result{Context: "badly formatted"}, 0},
		{hook.PostTool, "say", `{"decision":"deny","reason":"r","context":"c"}`, hook.Result{Context: "r\n\nc"}, 0},
		{hook.PostTool, "say", `{"decision":"allow","reason":"r"}`, hook.Result{}, 0},
		{hook.Stop, "say", `{"context":"c"}`, hook.Result{Context: "c"}, 0},
		{hook.Stop, "fail", "x", hook.Result{}, 1},
	} {
		h := required(match(t, acts(tt.event, tt.part, tt.arg), "*"))
		if tt.event == hook.Prompt {
			h.Required = false
		}
		e := hook.Event{Name: tt.event, Text: "x"}
		if tt.event == hook.PostTool {
			e.Tool = "bash"
		}
		got, problems := hook.Runner{Hooks: []hook.Hook{h}}.Run(t.Context(), e)
		if diff := cmp.Diff(tt.want, got); diff != "" || len(problems) != tt.problems {
			t.Errorf("%s %s %s (-want +got):\n%s\nproblems %v", tt.event, tt.part, tt.arg, diff, problems)
		}
		for _, p := range problems {
			if p.Program != program || p.Denied || !strings.HasPrefix(p.String(), "hook "+program+": ") {
				t.Errorf("problem %+v", p)
			}
		}
	}
}

func TestWants(t *testing.T) {
	r := hook.Runner{Hooks: []hook.Hook{acts(hook.Stop, "say", "")}}
	if !r.Wants(hook.Stop) || r.Wants(hook.Prompt) {
		t.Error("Wants does not tell which events have hooks")
	}
}

func TestWhereItRuns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := call()
	e.Cwd = dir
	got, problems := hook.Runner{Hooks: []hook.Hook{acts(hook.PreTool, "where", "")}, Env: append(os.Environ(), "HOOK_TEST=set")}.Run(t.Context(), e)
	if got.Context != dir+" set" || problems != nil {
		t.Errorf("Run = %+v, %v, want %s", got, problems, dir)
	}
}

// saved returns what a hook reads of an event.
func saved(t *testing.T, e hook.Event) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "event")
	if _, problems := (hook.Runner{Hooks: []hook.Hook{acts(e.Name, "save", file)}}).Run(t.Context(), e); problems != nil {
		t.Fatal(problems)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEventGolden holds the wire that docs/hooks.md describes.
func TestEventGolden(t *testing.T) {
	before := call()
	before.Cwd = "" // the folder of the test
	after := hook.Event{
		Name: hook.PostTool, Session: "s1", Turn: "t1", Tool: "write", Arguments: json.RawMessage(`{"path": "a<b>"}`), Text: "done", IsError: true,
		Request: permission.Request{Tool: "write", Action: permission.Write, Path: "/p/a", Inside: true},
	}
	for name, e := range map[string]hook.Event{
		"pre_tool.json": before, "post_tool.json": after,
		"prompt.json": {Name: hook.Prompt, Session: "s1", Turn: "t1", Text: "look at [attached image: image-1.png (image/png)]"},
	} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), string(saved(t, e))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEventIsBounded(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	args, err := json.Marshal(map[string]any{"path": "a", "content": long, "list": []any{long, 12345678901234567}})
	if err != nil {
		t.Fatal(err)
	}
	e := call()
	e.Text, e.Arguments, e.Request.Detail, e.Request.Commands = long, args, long, []string{"a", long}
	type event struct {
		Arguments map[string]any `json:"arguments"`
		Cut       bool           `json:"arguments_cut"`
		Text      string         `json:"text"`
		TextCut   bool           `json:"text_cut"`
		Request   struct {
			Commands []string `json:"commands"`
			Cut      bool     `json:"cut"`
		} `json:"request"`
	}
	read := func(e hook.Event) (got event) {
		t.Helper()
		data := saved(t, e)
		if err := json.Unmarshal(data, &got); err != nil || len(data) > 120<<10 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		return got
	}
	got := read(e)
	if !got.Cut || !got.TextCut || !got.Request.Cut || got.Request.Commands != nil || got.Arguments["path"] != "a" || len(got.Text) != 16<<10 || strings.Contains(got.Text, "\ufffd") {
		t.Errorf("event = %+v", got)
	}
	many := make([]int, 100_000)
	if e.Arguments, err = json.Marshal(many); err != nil {
		t.Fatal(err)
	}
	if got := read(e); !got.Cut || got.Arguments != nil {
		t.Errorf("arguments that cannot be cut: %v", got.Arguments)
	}
	e.Arguments = json.RawMessage(`{"half`)
	if got := read(e); !got.Cut || got.Arguments != nil {
		t.Errorf("arguments that are no JSON: %v", got.Arguments)
	}
}

// TestTimeoutEndsTheGroup has a hook start a program that holds its output and a
// connection; both have to be gone afterwards.
func TestTimeoutEndsTheGroup(t *testing.T) {
	for _, how := range []string{"timeout", "cancel"} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h := required(acts(hook.PreTool, "child", l.Addr().String()))
		ctx, cancel := context.WithCancel(t.Context())
		if how == "timeout" {
			h.Timeout = 3 * time.Second // the child calls sooner than that
		}
		ended := make(chan error, 1)
		// Ends when the child does, or when the listener is closed.
		go func() {
			conn, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			if how == "cancel" {
				cancel()
			}
			_, err = conn.Read(make([]byte, 1))
			ended <- err
		}()
		got, problems := hook.Runner{Hooks: []hook.Hook{h}}.Run(ctx, call())
		cancel()
		want := map[string]string{"timeout": "took longer than 3s and was ended", "cancel": "was ended with the turn"}[how]
		if len(problems) != 1 || problems[0].What != want || got.Decision != hook.Deny {
			t.Errorf("%s: %+v, %v", how, got, problems)
		}
		_ = l.Close() // nobody calls any more
		if err := <-ended; err == nil {
			t.Errorf("%s: the child said something", how)
		}
	}
}

// TestNothingIsLeft has a hook end before what it has started, which must not go on.
func TestNothingIsLeft(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	// Ends when the child does, or when the listener is closed.
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
		}
		ended <- err
	}()
	got, problems := hook.Runner{Hooks: []hook.Hook{acts(hook.PreTool, "leave", l.Addr().String())}}.Run(t.Context(), call())
	if got.Decision != hook.None || problems != nil {
		t.Errorf("Run = %+v, %v", got, problems)
	}
	if err := <-ended; err == nil {
		t.Error("the child said something")
	}
	_ = l.Close() // nobody calls any more
}

func TestNotExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // what can be run is told by the name there
	}
	file := filepath.Join(t.TempDir(), "check.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := hook.Runner{Hooks: []hook.Hook{{Event: hook.PreTool, Command: []string{file}}}}.Run(t.Context(), call())
	if len(problems) != 1 || problems[0].What != "may not be run: is it executable?" {
		t.Errorf("problems %v", problems)
	}
}

func TestParseMatch(t *testing.T) {
	for s, want := range map[string][]permission.Rule{
		"": nil, " ": nil, "*": {{Tool: "*"}}, "bash(a|b) | write": {{Tool: "bash", Pattern: "a|b"}, {Tool: "write"}},
	} {
		got, err := hook.ParseMatch(s)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ParseMatch(%q): %v (-want +got):\n%s", s, err, diff)
		}
	}
	for _, bad := range []string{"|", "bash(", "bash||write", "(x)"} {
		if got, err := hook.ParseMatch(bad); err == nil {
			t.Errorf("ParseMatch(%q) = %v", bad, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{}", `{"decision":"deny","reason":"x"}`, "[1]", `{"context":1}`, "{}x", "\xef\xbb\xbf{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		d, what := hook.Parse(out)
		if what != "" && d != hook.None {
			t.Fatalf("a broken answer decides %v", d)
		}
		if d > hook.Deny {
			t.Fatalf("decision %v", d)
		}
	})
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"a": ["b", 1.50, null]}`))
	f.Add([]byte(`"` + strings.Repeat("x", 70<<10) + `"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e struct {
			Arguments json.RawMessage `json:"arguments"`
			Cut       bool            `json:"arguments_cut"`
		}
		if err := json.Unmarshal(hook.Encode(hook.Event{Tool: "x", Arguments: raw}), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Arguments) > 64<<10 {
			t.Fatalf("%d bytes of arguments", len(e.Arguments))
		}
	})
}
