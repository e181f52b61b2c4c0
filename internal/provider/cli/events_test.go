package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
)

func TestAnswers(t *testing.T) {
	usage := map[string]content.Usage{
		cli.Claude: {Input: content.Reported(108), Output: content.Reported(7), Cached: content.Reported(5), CacheWrite: content.Reported(3), Reasoning: content.Reported(0)},
		cli.Codex:  {Input: content.Reported(100), Output: content.Reported(7), Cached: content.Reported(5), CacheWrite: content.Reported(0), Reasoning: content.Reported(2)},
		cli.Gemini: {Input: content.Reported(100), Output: content.Reported(7), Cached: content.Reported(5)},
		cli.Custom: {Input: content.Reported(100), Output: content.Reported(7)},
	}
	tool := map[string]string{
		cli.Claude: "hm[runs Bash: ls -la]\n", cli.Codex: "hm\n[runs command: ls -la]\n", cli.Gemini: "[runs run_shell_command: ls -la]\n", cli.Custom: "hm",
	}
	for _, runner := range runners {
		for _, b := range []clitest.Behaviour{clitest.OK, clitest.Works, clitest.Notes, clitest.Retries, clitest.Floods, clitest.Spawns, clitest.Lingers} {
			if b == clitest.Lingers && runner == cli.Custom { // the end of its answer is that of its process
				continue
			}
			t.Run(runner+" "+string(b), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, runner, b)
				h := r.ask(t, request(t, runner))
				if h.err != nil || h.text != "OK" || h.finish == nil || h.finish.Stop != content.StopEndTurn {
					t.Fatalf("heard %+v", h)
				}
				if diff := cmp.Diff(usage[runner], h.usage); diff != "" {
					t.Error(diff)
				}
				if b == clitest.Works && h.thought != tool[runner] {
					t.Errorf("thought %q", h.thought)
				}
				if b == clitest.Notes && (len(h.remarks) != 1 || !h.remarks[0].Lost) || b != clitest.Notes && b != clitest.Retries && len(h.remarks) > 0 {
					t.Errorf("remarks %+v", h.remarks)
				}
				if b == clitest.Retries && (runner == cli.Claude || runner == cli.Codex) && !retried(h.events) {
					t.Errorf("no retry in %+v", h.events)
				}
			})
		}
	}
}

func retried(events []provider.Event) bool {
	for _, e := range events {
		if r, ok := e.(provider.Retry); ok && r.Attempt == 1 && r.Why != "" {
			return true
		}
	}
	return false
}

// The old claude answers well and has seen nothing. Only its version tells.
func TestOldClaude(t *testing.T) {
	r := newRig(t, cli.Claude, clitest.Old)
	i, err := r.Describe(t.Context())
	if err != nil || i.Trusted || i.Version != "2.1.59" || !strings.Contains(i.Why, "2.1.240") || i.Path != "cli-claude" {
		t.Errorf("described %+v, %v", i, err)
	}
	if h := r.ask(t, request(t, cli.Claude)); h.err != nil || h.text != "OK" {
		t.Fatalf("heard %+v", h)
	}
	if m := r.sent(t).Media(); len(m) != 0 {
		t.Errorf("the fake has not lost %+v", m)
	}
}

func TestFailures(t *testing.T) {
	type row struct {
		runner string
		b      clitest.Behaviour
		kind   delivery.FailureKind
		class  delivery.Class
		text   string // what is in the message, the cause or the hint
	}
	rows := []row{
		{cli.Claude, clitest.Refuses, delivery.FailRefused, delivery.ClassDecode, "Could not process image"},
		{cli.Codex, clitest.Refuses, delivery.FailRefused, delivery.ClassDecode, "Unable to process input image"},
		{cli.Gemini, clitest.Refuses, delivery.FailRefused, delivery.ClassDecode, "Unable to process input image"},
		{cli.Custom, clitest.Refuses, delivery.FailRefused, delivery.ClassDecode, "could not process image"},
		{cli.Claude, clitest.Login, delivery.FailAuth, 0, "/login"},
		{cli.Codex, clitest.Login, delivery.FailAuth, 0, "codex login"},
		{cli.Gemini, clitest.Login, delivery.FailAuth, 0, "GEMINI_API_KEY"},
		{cli.Custom, clitest.Login, delivery.FailAuth, 0, "sign in"},
		{cli.Gemini, clitest.Exit(42, "Error: bad input"), delivery.FailRefused, 0, "bad input"},
		{cli.Gemini, clitest.Exit(52, "Error: bad settings"), delivery.FailPermission, 0, "settings of gemini"},
		{cli.Gemini, clitest.Exit(55, "Gemini CLI is not running in a trusted directory."), delivery.FailPermission, 0, "--skip-trust"},
		{cli.Codex, clitest.Exit(1, "Error: turn/start failed: gpt-3.5 does not support image inputs. Remove images or switch models"), delivery.FailRefused, delivery.ClassBlind, "does not support image inputs"},
		{cli.Codex, clitest.Exit(1, "Codex could not read the local image at `/x`: gone"), delivery.FailRefused, delivery.ClassDecode, "could not read the local image"},
		{cli.Claude, clitest.Exit(1, "error: unknown option '--x'"), delivery.FailServer, 0, "unknown option"},
		{cli.Claude, clitest.Exit(1, `API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`), delivery.FailRateLimit, 0, "slow down"},
		{cli.Claude, clitest.Exit(1, "Prompt is too long"), delivery.FailOverflow, 0, "too long"},
	}
	for _, runner := range runners {
		rows = append(rows,
			row{runner, clitest.Crashes, delivery.FailServer, 0, "exit code 2"},
			row{runner, clitest.Deaf, delivery.FailServer, 0, "exit code 3"})
		if runner != cli.Custom {
			rows = append(rows,
				row{runner, clitest.Cuts, delivery.FailStream, 0, "without a result"},
				row{runner, clitest.Garbage, 0, 0, ""})
		}
	}
	for i, tt := range rows {
		t.Run(fmt.Sprintf("%d %s %s", i, tt.runner, tt.b), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tt.runner, tt.b)
			h := r.ask(t, request(t, tt.runner))
			if h.err == nil {
				t.Fatalf("heard %+v", h)
			}
			f := h.err.Failure
			if tt.b == clitest.Garbage {
				if f.Kind != delivery.FailProtocol && f.Kind != delivery.FailStream {
					t.Errorf("%v", h.err)
				}
				return
			}
			if f.Kind != tt.kind || f.Class != tt.class || !strings.Contains(h.err.Error()+h.err.Hint, tt.text) {
				t.Errorf("%v (%v, class %v), hint %q", h.err, f.Kind, f.Class, h.err.Hint)
			}
		})
	}
}

// Words that stand where events are expected are told, and tell what is wrong.
func TestPlainWords(t *testing.T) {
	payload := strings.Repeat("QUJD", 100)
	for _, tt := range []struct {
		runner string
		b      clitest.Behaviour
		kind   delivery.FailureKind
		want   string // the whole text
		hint   string
	}{
		{cli.Claude, clitest.Prints(1, "", "Invalid API key · Please run /login"), delivery.FailAuth, "auth: Invalid API key · Please run /login: the program ended with exit code 1", "/login"},
		{cli.Claude, clitest.Prints(0, "", "Invalid API key · Please run /login"), delivery.FailAuth, "auth: Invalid API key · Please run /login", "/login"},
		{cli.Claude, clitest.Prints(1, "(node:1) noise", "Not logged in · Please run /login\n"), delivery.FailAuth, "auth: Not logged in · Please run /login: the program ended with exit code 1", "/login"},
		{cli.Claude, clitest.Prints(1, "Not logged in · Please run /login", "Execution error"), delivery.FailAuth, "auth: Not logged in · Please run /login: the program ended with exit code 1", "/login"},
		{cli.Claude, clitest.Prints(1, "", "Credit balance is too low"), delivery.FailBilling, "billing: Credit balance is too low: the program ended with exit code 1", ""},
		{cli.Claude, clitest.Prints(1, "", `API Error: 401 {"error":{"message":"bad key"}}`), delivery.FailAuth, "auth (HTTP 401): bad key: the program ended with exit code 1", "/login"},
		{cli.Codex, clitest.Prints(1, "noise", "first\nsecond\nthird\nfourth"), delivery.FailServer, "second third fourth; noise: the program ended with exit code 1", "by hand"},
		{cli.Gemini, clitest.Prints(1, "", `{"type":"message","content":"a cut ev`+"\nbroken \x1b[31mred\x1b[0m "+payload+" end"), delivery.FailServer, "broken red … end: the program ended with exit code 1", "by hand"},
		{cli.Codex, clitest.Prints(1, "", ""), delivery.FailServer, "the program ended with exit code 1", "by hand"},
		{cli.Codex, clitest.Prints(0, "", "Hello there"), delivery.FailStream, "stream: the program ended without a result: Hello there", ""},
	} {
		r := newRig(t, tt.runner, tt.b)
		h := r.ask(t, request(t, tt.runner))
		if h.err == nil || h.err.Failure.Kind != tt.kind || h.err.Error() != tt.want || !strings.Contains(h.err.Hint, tt.hint) {
			t.Errorf("%s: %v (%s)\nwant %s", tt.b, h.err, h.err.Hint, tt.want)
		}
	}
}

func TestTurnLimits(t *testing.T) {
	r := newRig(t, cli.Gemini, clitest.Exit(53, "Reached max session turns"))
	if h := r.ask(t, request(t, cli.Gemini)); h.err != nil || h.finish == nil || h.finish.Stop != content.StopMaxSteps {
		t.Errorf("heard %+v", h)
	}
}

// gemini says only to the model that it skips a file, so that it may is told.
func TestMayBeIgnored(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rules   string
		scratch string
		want    int
	}{{"beside", ".gitignore", "", 0}, {"inside without rules", "", "a/b", 0}, {"inside", ".gitignore", "a/b", 1}, {"deep inside", "a/.geminiignore", "a/b", 1}} {
		r := newRig(t, cli.Gemini, clitest.OK, func(o *cli.Options) {
			if tt.scratch != "" {
				o.Scratch = filepath.Join(o.Dir, tt.scratch)
			}
			if err := os.MkdirAll(filepath.Join(o.Dir, "a"), 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.rules == "" {
				return
			}
			if err := os.WriteFile(filepath.Join(o.Dir, tt.rules), []byte("*\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		if h := r.ask(t, request(t, cli.Gemini)); h.err != nil || len(h.remarks) != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, h.remarks, h.err)
		}
	}
}

// What cannot be staged starts nothing.
func TestNoFolder(t *testing.T) {
	for name, change := range map[string]func(*cli.Options){
		"a bad name":   func(o *cli.Options) { o.NewID = func() string { return "../x" } },
		"a file there": func(o *cli.Options) { o.Scratch = os.Args[0] },
		"no folder":    func(o *cli.Options) { o.Scratch = filepath.Join(os.DevNull, "x") },
	} {
		r := newRig(t, cli.Codex, clitest.OK, change)
		if h := r.ask(t, request(t, cli.Codex)); h.err == nil || h.err.Hint == "" || len(r.calls()) > 0 {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// lines of a program that tests need no process for.
func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, runner, in, want string }{
		{"claude without pieces", cli.Claude, `{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"x"}]}}
{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"y"}]}}
{"type":"result","subtype":"success","result":"y"}`, "x|\n\ny|"},
		{"claude, result only", cli.Claude, `{"type":"result","subtype":"success","result":"y","stop_reason":"max_tokens"}`, "y|"},
		{
			"claude, a tool's pictures", cli.Claude, `{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"[Image left out: it did not fit in the tool output limit]"}]}]}}`,
			"!lost [Image left out: it did not fit in the tool output limit]|",
		},
		{"claude, a file that speaks of it", cli.Claude, `{"type":"user","message":{"content":[{"type":"tool_result","content":"the image left out"}]}}`, ""},
		{"claude, odd members", cli.Claude, `{"type":"assistant","message":7}
{"type":"stream_event","event":[]}
{"type":"result","subtype":3,"usage":"x"}`, ""},
		{"codex, two messages", cli.Codex, `{"type":"item.completed","item":{"type":"agent_message","text":"x"}}
{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[{"path":"a.go","kind":"update"},{"path":"b.go"}]}}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"s","tool":"t"}}
{"type":"item.completed","item":{"id":"3","type":"web_search","query":"q"}}
{"type":"item.completed","item":{"type":"agent_message","text":"y"}}`, "x|[runs file change: a.go, b.go]\n|[runs s.t]\n|[runs web search: q]\n|\n\ny|"},
		{"codex retries late", cli.Codex, `{"type":"item.completed","item":{"type":"agent_message","text":"x"}}
{"type":"error","message":"Reconnecting... 1/5."}`, "x|!Reconnecting... 1/5|"},
		{"gemini says one thing twice", cli.Gemini, `{"type":"error","severity":"warning","message":"Ignored 1 files: x"}
{"type":"error","severity":"warning","message":"Ignored 1 files: x"}`, "!Ignored 1 files: x|"},
		{"custom keeps lines", cli.Custom, "\n\na\n\n  b\n{\"a\":1}\n\n\n", "a|\n\n  b|\n{\"a\":1}|"},
		{"custom speaks of tote", cli.Custom, `say "tote"
{"x":"tote"}`, "say \"tote\"|\n{\"x\":\"tote\"}|"},
	} {
		var sb strings.Builder
		_, err := cli.ReadLines(tt.runner, provider.NewLines(strings.NewReader(tt.in)), func(e provider.Event) bool {
			switch e := e.(type) {
			case provider.TextDelta:
				sb.WriteString(e.Text + "|")
			case provider.ThoughtDelta:
				sb.WriteString(e.Text + "|")
			case provider.Remark:
				sb.WriteString("!")
				if e.Lost {
					sb.WriteString("lost ")
				}
				sb.WriteString(e.Text + "|")
			case provider.Thought, provider.Call, provider.UsageReport, provider.Retry, provider.Finish:
			}
			return true
		})
		if err != nil || sb.String() != tt.want {
			t.Errorf("%s: %q, %v", tt.name, sb.String(), err)
		}
	}
}

// An answer without an end is given up.
func TestEndless(t *testing.T) {
	long := `{"type":"item.completed","item":{"type":"agent_message","text":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n"
	_, err := cli.ReadLines(cli.Codex, provider.NewLines(strings.NewReader(strings.Repeat(long, 20))), func(provider.Event) bool { return true })
	if err == nil {
		t.Error("no error")
	}
}

func FuzzRead(f *testing.F) {
	for i, seed := range []string{
		`{"type":"result","subtype":"success","result":"x","usage":{"input_tokens":1e99}}`, `{"type":"turn.failed","error":null}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}`,
		`{"type":"assistant","message":{"content":[null,1,{"type":"tool_use","input":{"command":"\u0000]"}}]}}`,
		`{"type":"item.completed","item":{"type":"error","message":"could not read the local image"}}`,
		`{"type":"result","status":"error","error":{"message":"[API Error: {}]"}}`, `{"tote":"error","status":1e9}`, "{\"tote\":\"remark\"}\r\rx\n",
	} {
		f.Add(uint8(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		runner := runners[int(which)%len(runners)]
		size := 0
		_, err := cli.ReadLines(runner, provider.NewLines(bytes.NewReader(data)), func(e provider.Event) bool {
			switch e := e.(type) {
			case provider.TextDelta:
				size += len(e.Text)
				if e.Text == "" {
					t.Error("an empty piece")
				}
			case provider.Remark:
				if e.Text == "" || strings.ContainsAny(e.Text, "\n\r") {
					t.Errorf("a remark %q", e.Text)
				}
			case provider.UsageReport:
				if e.Usage.Input.N < 0 || e.Usage.Output.N < 0 {
					t.Errorf("usage %+v", e.Usage)
				}
			case provider.Finish:
				t.Error("a reader ends nothing by itself")
			case provider.ThoughtDelta, provider.Thought, provider.Call, provider.Retry:
			}
			return true
		})
		if err != nil {
			t.Errorf("%v", err)
		}
	})
}
