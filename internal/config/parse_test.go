package config_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

// parse parses a layer that must be right.
func parse(tb testing.TB, src string) config.Layer {
	tb.Helper()
	l, err := config.Parse("c.json", []byte(src))
	if err != nil {
		tb.Fatalf("Parse(%s): %v", src, err)
	}
	return l
}

// merged merges a user file alone.
func merged(tb testing.TB, src string) config.Config {
	tb.Helper()
	cfg, _, err := config.Merge(parse(tb, src), config.Layer{}, config.Untrusted)
	if err != nil {
		tb.Fatalf("Merge(%s): %v", src, err)
	}
	return cfg
}

const full = `// every member once
{
  "$schema": "https://example.com/s.json",
  "providers": {
    "work": {
      "kind": "openai-chat", "base_url": "https://llm.example.com/v1", "api_key": "$WORK_KEY",
      "ca_file": "certs/work.pem", "proxy": "http://proxy.example.com:3128", "max_retries": 0,
      "timeouts": {"connect": "5s", "first_byte": "20m", "idle": "90s"},
      "headers": {"X-Team": "blue", "X-Token": "${TEAM_TOKEN}"},
      "limits": {"images": 4, "image_bytes": "5MB", "image_edge": 2000, "request_bytes": "20 MiB",
        "media_types": ["image/png"], "context_tokens": 128000, "output_tokens": 8000,},
    },
    "aws": {"kind": "bedrock-converse", "region": "eu-central-1", "aws_profile": "work", "max_retries": 10},
    "proxy": {"kind": "anthropic", "api_version": "2026-10-21", "proxy": "direct", "ca_file": "~/ca.pem"},
    "broken": {"kind": "offline", "faults": {
      "refuse_images": {"message": "no pictures"}, "image_tokens": "zero", "cut_stream_after": 100,
      "too_large_over": "900KB", "slow": "50ms", "tool_calls": [{"name": "read", "arguments": {"path": "a\u0062" /* c */}}],
      "status": {"code": 503, "body": "busy", "times": 2}}},
  },
  "agents": {
    "main": {"provider": "work", "model": "m/1", "vision": true, "effort": "high", "purpose": "hard work", "callable": ["eye"], "describer": "eye", "escalate_to": "eye", "fallbacks": ["eye", "openai/gpt"]},
    "eye": {"provider": "anthropic", "model": "sees"},
    "cli": {"runner": "custom", "command": ["x", "-y"]},
    "code": {"runner": "claude", "model": "opus", "command": ["/opt/bin/claude"]},
  },
  "default_agent": "main",
  "probe": "ask",
  "mcp_servers": {
    "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b"}, "cwd": "/w", "disabled": true, "timeout": "10s", "start_timeout": "1m"},
    "web": {"allow": ["get_*"], "deny": ["get_all"], "type": "sse", "url": "https://mcp.example.com/x", "headers": {"Authorization": "Bearer ${TOKEN}"}},
  },
  "acp": {"v2": true, "echo": "on", "unknown_blocks": "reject", "max_line": "10MiB"},
  "limits": {"max_sends": 3, "max_steps": 9, "attachment_bytes": 1, "inline_text_bytes": 2, "history_bytes": 3,
    "picture_bytes": 4, "request_bytes": 5, "turn_timeout": "1h30m", "tool_output_bytes": "1KiB", "task_depth": 1, "jobs": 7, "summary_at": 60},
  "tools": {"bash": {"shell": "zsh", "sandbox": "require", "timeout": "1m", "max_timeout": "2m"}, "fetch": {"enabled": false}, "disabled": ["todo"]},
  "hooks": {
    "prompt": [{"command": ["./check", "x"]}], "stop": [{"command": ["~/bin/done"]}],
    "pre_tool": [{"match": "bash(git push *)|write", "command": ["guard"], "timeout": "1s", "required": true}],
    "post_tool": [{"match": "edit", "command": ["gofmt-all"]}],
  },
  "instructions": ["docs/*.md"],
  "additional_directories": ["/srv/data", "../sibling"],
  "permissions": {"mode": "edits", "allow": ["bash(ls)"], "ask": ["bash"], "deny": ["read(.env)"]},
  "privacy": {"strip_metadata": true},
} // end`

func TestParseEveryMember(t *testing.T) {
	got := merged(t, full)
	want := config.Config{
		Schema: "https://example.com/s.json",
		Providers: map[string]config.Provider{
			"work": {
				Name: "work", Kind: config.KindOpenAIChat, BaseURL: "https://llm.example.com/v1", APIKey: "$WORK_KEY",
				Headers: map[string]string{"X-Team": "blue", "X-Token": "${TEAM_TOKEN}"},
				CAFile:  filepath.Join("certs", "work.pem"), Proxy: "http://proxy.example.com:3128", MaxRetries: config.NoRetries,
				Timeouts: config.Timeouts{
					Connect: config.Duration(5 * time.Second), FirstByte: config.Duration(20 * time.Minute), Idle: config.Duration(90 * time.Second),
				},
				Limits: config.ProviderLimits{
					Images: 4, ImageBytes: 5_000_000, ImageEdge: 2000, RequestBytes: 20 << 20,
					MediaTypes: []string{"image/png"}, ContextTokens: 128000, OutputTokens: 8000,
				},
			},
			"aws": {
				Name: "aws", Kind: config.KindBedrockConverse, BaseURL: "https://bedrock-runtime.eu-central-1.amazonaws.com",
				Region: "eu-central-1", AWSProfile: "work", MaxRetries: 10,
			},
			"proxy": {
				Name: "proxy", Kind: config.KindAnthropic, BaseURL: "https://api.anthropic.com", APIKey: "$ANTHROPIC_API_KEY",
				APIVersion: config.APIVersion2026, Proxy: "direct", CAFile: "~/ca.pem",
			},
			"broken": {Name: "broken", Kind: config.KindOffline, Faults: config.Faults{
				RefuseImages: config.Refusal{Status: 400, Message: "no pictures"}, ImageTokens: config.ImageTokensZero,
				CutStreamAfter: 100, TooLargeOver: 900_000, Slow: config.Duration(50 * time.Millisecond),
				ToolCalls: []config.FaultCall{{Name: "read", Arguments: json.RawMessage(`{"path":"a\u0062"}`)}},
				Status:    config.FaultStatus{Code: 503, Body: "busy", Times: 2},
			}},
			"offline": {Name: "offline", Kind: config.KindOffline},
		},
		Agents: map[string]config.Agent{
			"main": {
				Name: "main", Provider: "work", Model: "m/1", Vision: config.VisionYes, Effort: config.EffortHigh, Purpose: "hard work", Callable: []string{"eye"}, Describer: "eye", EscalateTo: "eye",
				Fallbacks: []string{"eye", "openai/gpt"},
			},
			"eye":     {Name: "eye", Provider: "anthropic", Model: "sees"},
			"cli":     {Name: "cli", Runner: config.RunnerCustom, Command: []string{"x", "-y"}},
			"code":    {Name: "code", Runner: config.RunnerClaude, Model: "opus", Command: []string{"/opt/bin/claude"}},
			"offline": {Name: "offline", Provider: "offline", Model: "describe"},
		},
		DefaultAgent: "main",
		Probe:        config.ProbeAsk,
		MCPServers: map[string]config.MCPServer{
			"files": {
				Name: "files", Type: config.TransportStdio, Command: "npx", Args: []string{"-y", "files"},
				Env: map[string]string{"A": "b"}, CWD: "/w", Disabled: true,
				Timeout: config.Duration(10 * time.Second), StartTimeout: config.Duration(time.Minute),
			},
			"web": {
				Name: "web", Type: config.TransportSSE, URL: "https://mcp.example.com/x",
				Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"},
				Timeout: config.Duration(2 * time.Minute), StartTimeout: config.Duration(30 * time.Second),
				Allow: []string{"get_*"}, Deny: []string{"get_all"},
			},
		},
		ACP: config.ACP{V2: true, Echo: config.EchoOn, UnknownBlocks: config.UnknownReject, MaxLine: 10 << 20},
		Limits: config.Limits{
			MaxSends: 3, MaxSteps: 9, AttachmentBytes: 1, InlineTextBytes: 2, HistoryBytes: 3, PictureBytes: 4,
			RequestBytes: 5, TurnTimeout: config.Duration(90 * time.Minute),
			ToolOutputBytes: 1024, TaskDepth: 1, Jobs: 7, SummaryAt: 60,
		},
		Tools: config.Tools{
			Bash: config.BashTool{
				Shell: "zsh", Sandbox: config.SandboxRequire, Timeout: config.Duration(time.Minute), MaxTimeout: config.Duration(2 * time.Minute),
			},
			Disabled: []string{"todo"},
		},
		Hooks: config.Hooks{
			Prompt: []config.Hook{{Command: []string{"." + string(filepath.Separator) + "check", "x"}, Timeout: config.Duration(10 * time.Second)}},
			PreTool: []config.Hook{{
				Match: "bash(git push *)|write", Command: []string{"guard"}, Timeout: config.Duration(time.Second), Required: true,
			}},
			PostTool: []config.Hook{{Match: "edit", Command: []string{"gofmt-all"}, Timeout: config.Duration(10 * time.Second)}},
			Stop:     []config.Hook{{Command: []string{"~/bin/done"}, Timeout: config.Duration(10 * time.Second)}},
		},
		Instructions:          []string{"docs/*.md"},
		AdditionalDirectories: []string{"/srv/data", filepath.Join("..", "sibling")},
		Permissions: config.Permissions{
			Mode: config.ModeEdits, Allow: []string{"bash(ls)"}, Ask: []string{"bash"}, Deny: []string{"read(.env)"},
		},
		Privacy: config.Privacy{StripMetadata: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Merge (-want +got):\n%s", diff)
	}
}

func TestParseNothing(t *testing.T) {
	for _, src := range []string{"", " \n\t", "// only a comment", "/* c */", "\xef\xbb\xbf", "{}", "\xef\xbb\xbf{}"} {
		got := merged(t, src)
		if got.DefaultAgent != "offline" || got.Limits != config.Default().Limits || len(got.Agents) != 1 {
			t.Errorf("Merge(%q) = %+v, want the defaults", src, got)
		}
	}
}

func TestShortSpellings(t *testing.T) {
	refusal := func(v string) string {
		return `{"providers":{"p":{"kind":"offline","faults":{"refuse_images":` + v + `}}}}`
	}
	for v, want := range map[string]config.Refusal{
		"true":           {Status: 400},
		"false":          {},
		`"nope"`:         {Status: 400, Message: "nope"},
		`{"status":422}`: {Status: 422},
	} {
		if got := merged(t, refusal(v)).Providers["p"].Faults.RefuseImages; got != want {
			t.Errorf("refuse_images %s = %+v, want %+v", v, got, want)
		}
	}
	for v, want := range map[string]config.Bytes{
		"7": 7, `"7"`: 7, `"7B"`: 7, `"2 kb"`: 2000, `"2KiB"`: 2048, `"3MB"`: 3e6, `"3 MiB"`: 3 << 20, `"1gb"`: 1e9, `"1GiB"`: 1 << 30,
	} {
		if got := merged(t, `{"limits":{"picture_bytes":`+v+`}}`).Limits.PictureBytes; got != want {
			t.Errorf("picture_bytes %s = %d, want %d", v, got, want)
		}
	}
	for v, want := range map[string]config.Vision{`"auto"`: config.VisionAuto, "true": config.VisionYes, "false": config.VisionNo} {
		if got := merged(t, `{"agents":{"a":{"provider":"openai","model":"m","vision":`+v+`}}}`).Agents["a"].Vision; got != want {
			t.Errorf("vision %s = %v, want %v", v, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ src, want string }{
		// Syntax.
		{"{\n  \"probe\": \"auto\"\n  \"acp\": {}\n}", `c.json:3:3: invalid character '"' after object value (expecting ',' or '}')`},
		{"{\"probe\": \"auto\"", `c.json:2:1: ends in the middle of a value, string or comment`},
		{"{\n\"probe\": sk-secret}", `c.json:2:10: is not a value: want a string in double quotes with valid escapes, a number, true, false, an object or an array`},
		{"{\"providers\": {\"a\": {\"api_key\": \"sk-\\q\"}}}", `c.json:1:33: is not a value: want a string in double quotes with valid escapes, a number, true, false, an object or an array`},
		{"[]", `c.json:1:1: want an object at the top`},
		{"null", `c.json:1:1: want an object at the top`},
		{"{} {}", `c.json:1:4: invalid character '{' after top-level value`},
		{strings.Repeat("[", 100), `c.json:1:65: is nested deeper than 64`},
		// Members.
		{"{\n  \"prob\": \"auto\"}", `c.json:2:3: prob: is not a known member; did you mean probe?`},
		{`{"agents": {"a": {"modle": "x"}}}`, `c.json:1:19: agents.a.modle: is not a known member; did you mean model?`},
		{`{"privacy": {"zzzzzzzz": 1}}`, `c.json:1:14: privacy.zzzzzzzz: is not a known member; known here: strip_metadata`},
		{`{"Probe": "auto"}`, `c.json:1:2: Probe: is not a known member; did you mean probe?`},
		{`{"agents": {"a": {"Name": "x"}}}`, `c.json:1:19: agents.a.Name: is not a known member; known here: provider, model, purpose, callable, vision, effort, describer, escalate_to, fallbacks, runner, command`},
		{"{\"probe\": \"auto\",\n \"probe\": \"ask\"}", `c.json:2:2: probe: is given twice`},
		{`{"agents": {"a": {}, "\u0061": {}}}`, `c.json:1:22: agents.a: is given twice`},
		// Types.
		{`{"probe": 3}`, `c.json:1:11: probe: is a number; want a string`},
		{`{"probe": "atuo"}`, `c.json:1:11: probe: "atuo" is not one of auto, ask, never; did you mean auto?`},
		{`{"agents": []}`, `c.json:1:12: agents: is an array; want an object`},
		{`{"agents": null}`, `c.json:1:12: agents: is null; want an object`},
		{`{"agents": {"a": {"fallbacks": "b"}}}`, `c.json:1:32: agents.a.fallbacks: is a string; want an array`},
		{`{"agents": {"a": {"fallbacks": ["b", 1]}}}`, `c.json:1:38: agents.a.fallbacks[1]: is a number; want a string`},
		{`{"agents": {"a": {"vision": "yes"}}}`, `c.json:1:29: agents.a.vision: is a string; want "auto", true or false`},
		{`{"acp": {"v2": "true"}}`, `c.json:1:16: acp.v2: is a string; want true or false`},
		{`{"limits": {"max_steps": 1.5}}`, `c.json:1:26: limits.max_steps: 1.5 is not a whole number below 2^31`},
		{`{"limits": {"max_steps": 99999999999}}`, `c.json:1:26: limits.max_steps: 99999999999 is not a whole number below 2^31`},
		{`{"limits": {"max_steps": true}}`, `c.json:1:26: limits.max_steps: is true or false; want a whole number`},
		{`{"limits": {"picture_bytes": "10 pounds"}}`, `c.json:1:30: limits.picture_bytes: "10 pounds" is not a size; want a number of bytes or a string such as "30MB" or "64KiB"`},
		{`{"limits": {"picture_bytes": "9999999999 GB"}}`, `c.json:1:30: limits.picture_bytes: "9999999999 GB" is not a size; want a number of bytes or a string such as "30MB" or "64KiB"`},
		{`{"limits": {"picture_bytes": [1]}}`, `c.json:1:30: limits.picture_bytes: is an array; want a number of bytes or a string such as "30MB" or "64KiB"`},
		{`{"limits": {"turn_timeout": 30}}`, `c.json:1:29: limits.turn_timeout: is a number; want a string such as "90s" or "1h30m"`},
		{`{"limits": {"turn_timeout": "soon"}}`, `c.json:1:29: limits.turn_timeout: "soon" is not a duration; want a string such as "90s" or "1h30m"`},
		{`{"providers": {"p": {"faults": {"refuse_images": 4}}}}`, `c.json:1:50: providers.p.faults.refuse_images: is a number; want true, false, a string or an object`},
		{`{"providers": {"p": {"faults": {"tool_calls": [{"name": "x", "arguments": 1}]}}}}`, `c.json:1:75: providers.p.faults.tool_calls[0].arguments: is a number; want an object`},
		// Values.
		{`{"limits": {"max_steps": 0}}`, `c.json:1:26: limits.max_steps: is 0; must be greater than zero`},
		{`{"limits": {"history_bytes": -1}}`, `c.json:1:30: limits.history_bytes: is -1; must be greater than zero`},
		{`{"limits": {"turn_timeout": "0s"}}`, `c.json:1:29: limits.turn_timeout: is "0s"; must be greater than zero`},
		{`{"limits": {"max_sends": 7}}`, `c.json:1:26: limits.max_sends: is 7; must be from 1 to 6`},
		{`{"acp": {"max_line": 0}}`, `c.json:1:22: acp.max_line: is 0; must be greater than zero`},
		{`{"providers": {"a/b": {}}}`, `c.json:1:23: providers.a/b: is not a name: want 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first`},
		{`{"agents": {"": {}}}`, `c.json:1:17: agents.: is not a name: want 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first`},
		{`{"providers": {"p": {"base_url": "llm.example.com"}}}`, `c.json:1:34: providers.p.base_url: is not an absolute http or https address`},
		{`{"providers": {"p": {"base_url": ""}}}`, `c.json:1:34: providers.p.base_url: is not an absolute http or https address`},
		{`{"providers": {"p": {"base_url": "file:///etc"}}}`, `c.json:1:34: providers.p.base_url: is not an absolute http or https address`},
		{`{"providers": {"p": {"base_url": "https://u:secret@h"}}}`, `c.json:1:34: providers.p.base_url: must not hold a user name or password; use api_key or headers`},
		{`{"providers": {"p": {"base_url": "https://[secret"}}}`, `c.json:1:34: providers.p.base_url: is not a URL`},
		{`{"providers": {"p": {"api_key": "$not-a-name"}}}`, `c.json:1:33: providers.p.api_key: starts with $ but is not $NAME or ${NAME}`},
		{`{"providers": {"p": {"api_key": ""}}}`, `c.json:1:33: providers.p.api_key: is empty`},
		{`{"providers": {"p": {"headers": {"a b": "x"}}}}`, `c.json:1:33: providers.p.headers: holds a name that no HTTP header can have`},
		{`{"providers": {"p": {"headers": {"a": "x\r\nb: c"}}}}`, `c.json:1:33: providers.p.headers: holds a value with a line end`},
		{`{"providers": {"p": {"region": "us-east-1.evil.example.com/"}}}`, `c.json:1:32: providers.p.region: is "us-east-1.evil.example.com/"; want the name of an AWS region, such as us-east-1`},
		{`{"providers": {"p": {"region": ""}}}`, `c.json:1:32: providers.p.region: is ""; want the name of an AWS region, such as us-east-1`},
		{`{"providers": {"p": {"aws_profile": ""}}}`, `c.json:1:37: providers.p.aws_profile: is empty`},
		{`{"providers": {"p": {"api_version": "2024-01-01"}}}`, `c.json:1:37: providers.p.api_version: "2024-01-01" is not one of 2023-06-01, 2026-10-21; did you mean 2023-06-01?`},
		{`{"providers": {"p": {"ca_file": ""}}}`, `c.json:1:33: providers.p.ca_file: is empty`},
		{`{"providers": {"p": {"ca_file": "~eve/ca.pem"}}}`, `c.json:1:33: providers.p.ca_file: is "~eve/ca.pem"; only ~/ is understood, for your own home folder`},
		{`{"providers": {"p": {"ca_file": "a\u0000b"}}}`, `c.json:1:33: providers.p.ca_file: is not the path of a file`},
		{`{"providers": {"p": {"proxy": "proxy.example.com:3128"}}}`, `c.json:1:31: providers.p.proxy: is "proxy.example.com:3128"; want an http, https, socks5 or socks5h address such as http://proxy.example.com:3128, a $NAME reference, or "direct"`},
		{`{"providers": {"p": {"proxy": "ftp://u:secret@h"}}}`, `c.json:1:31: providers.p.proxy: is not the address of a proxy; want an http, https, socks5 or socks5h address such as http://proxy.example.com:3128, a $NAME reference, or "direct"`},
		{`{"providers": {"p": {"proxy": ""}}}`, `c.json:1:31: providers.p.proxy: is not the address of a proxy; want an http, https, socks5 or socks5h address such as http://proxy.example.com:3128, a $NAME reference, or "direct"`},
		{`{"providers": {"p": {"proxy": "http://h/path"}}}`, `c.json:1:31: providers.p.proxy: is "http://h/path"; want an http, https, socks5 or socks5h address such as http://proxy.example.com:3128, a $NAME reference, or "direct"`},
		{`{"providers": {"p": {"timeouts": {"connect": "0s"}}}}`, `c.json:1:46: providers.p.timeouts.connect: is "0s"; must be greater than zero`},
		{`{"providers": {"p": {"timeouts": {"first_byte": 5}}}}`, `c.json:1:49: providers.p.timeouts.first_byte: is a number; want a string such as "90s" or "1h30m"`},
		{`{"providers": {"p": {"timeouts": {"idle": "-3m"}}}}`, `c.json:1:43: providers.p.timeouts.idle: is "-3m"; must be greater than zero`},
		{`{"providers": {"p": {"timeouts": {"read": "3m"}}}}`, `c.json:1:35: providers.p.timeouts.read: is not a known member; known here: connect, first_byte, idle`},
		{`{"providers": {"p": {"max_retries": 11}}}`, `c.json:1:37: providers.p.max_retries: is 11; want a whole number from 0 to 10`},
		{`{"providers": {"p": {"max_retries": -1}}}`, `c.json:1:37: providers.p.max_retries: is -1; want a whole number from 0 to 10`},
		{`{"providers": {"p": {"max_retries": "3"}}}`, `c.json:1:37: providers.p.max_retries: is a string; want a whole number from 0 to 10`},
		{`{"agents": {"a": {"effort": "max"}}}`, `c.json:1:29: agents.a.effort: "max" is not one of none, low, medium, high`},
		{`{"agents": {"a": {"runner": "cluade"}}}`, `c.json:1:29: agents.a.runner: "cluade" is not one of claude, codex, gemini, custom; did you mean claude?`},
		{`{"agents": {"a": {"command": ["x", "a\u0000"]}}}`, `c.json:1:30: agents.a.command: holds a NUL, which no argument of a program can`},
		{`{"agents": {"a": {"command": "claude"}}}`, `c.json:1:30: agents.a.command: is a string; want an array`},
		{`{"providers": {"p": {"limits": {"images": 0}}}}`, `c.json:1:43: providers.p.limits.images: is 0; must be greater than zero`},
		{`{"providers": {"p": {"limits": {"media_types": ["PNG"]}}}}`, `c.json:1:48: providers.p.limits.media_types: holds "PNG", which is not a media type in lower case, such as image/png`},
		{`{"providers": {"p": {"faults": {"status": {"code": 200}}}}}`, `c.json:1:52: providers.p.faults.status.code: is 200; must be from 400 to 599`},
		{`{"providers": {"p": {"faults": {"status": {"body": "x"}}}}}`, `c.json:1:43: providers.p.faults.status: lacks code`},
		{`{"providers": {"p": {"faults": {"tool_calls": [{}]}}}}`, `c.json:1:47: providers.p.faults.tool_calls: call 1 lacks name`},
		{`{"agents": {"a": {"command": []}}}`, `c.json:1:30: agents.a.command: names no program; want the program and its arguments, such as ["claude"]`},
		{`{"agents": {"a": {"fallbacks": [""]}}}`, `c.json:1:32: agents.a.fallbacks: holds an empty name`},
		{`{"permissions": {"deny": [" "]}}`, `c.json:1:26: permissions.deny: rule 1 is empty or holds a line end`},
		{`{"mcp_servers": {"s": {"env": {"A=B": "c"}}}}`, `c.json:1:31: mcp_servers.s.env: holds a name or value that no environment variable can have`},
		{"{\"mcp_servers\": {\"s\\u001b[31m\": {}}}", `c.json:1:33: mcp_servers.s[31m: is not a name: want 1 to 80 printable characters`},
	}
	for _, tt := range tests {
		_, err := config.Parse("c.json", []byte(tt.src))
		if err == nil {
			t.Errorf("Parse(%s): no error, want %s", tt.src, tt.want)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("Parse(%s):\n got %s\nwant %s", tt.src, err, tt.want)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%s): error shows a secret: %v", tt.src, err)
		}
	}
}

func TestReferences(t *testing.T) {
	const p = `"providers": {"p": {"kind": "openai-chat"}}, `
	tests := []struct{ src, want string }{
		{`{"agents": {"a": {"provider": "opneai", "model": "m"}}}`, `c.json:1:31: agents.a.provider: no provider is called "opneai"; did you mean openai?; known: anthropic, azure, bedrock, cerebras, copilot, deepseek, gemini, groq, llamacpp, lmstudio, minimax, mistral, moonshot, offline, ollama, openai, openrouter, together, vllm, xai, zai`},
		{`{"default_agent": "b"}`, `c.json:1:19: default_agent: no agent is called "b"; known: offline`},
		{`{` + p + `"agents": {"a": {"provider": "p", "model": "m", "describer": "b"}}}`, `c.json:1:108: agents.a.describer: no agent is called "b"; known: a, offline`},
		{`{` + p + `"agents": {"a": {"provider": "p", "model": "m", "fallbacks": ["x/y"]}}}`, `c.json:1:108: agents.a.fallbacks: model "x/y": no provider is called "x"; known: anthropic, azure, bedrock, cerebras, copilot, deepseek, gemini, groq, llamacpp, lmstudio, minimax, mistral, moonshot, offline, ollama, openai, openrouter, p, together, vllm, xai, zai`},
		{`{"agents": {"a": {"provider": "openai", "model": "m", "escalate_to": "a"}}}`, `c.json:1:70: agents.a.escalate_to: leads back to the agent itself`},
		{`{"agents": {"a": {"provider": "openai"}}}`, `c.json:1:18: agents.a: lacks model`},
		{`{"agents": {"a": {"model": "m"}}}`, `c.json:1:18: agents.a: lacks provider, or runner: claude, codex, gemini, custom`},
		{`{"agents": {"a": {"runner": "claude", "provider": "openai", "model": "m"}}}`, `c.json:1:18: agents.a: has both runner "claude" and provider "openai"; want one of them`},
		{`{"agents": {"a": {"runner": "custom"}}}`, `c.json:1:18: agents.a: lacks command, which the runner custom needs: the program and its arguments, such as ["my-agent", "--print"]`},
		{`{"agents": {"a": {"provider": "openai", "model": "m", "command": ["x"]}}}`, `c.json:1:66: agents.a.command: has an effect only with runner, and this agent has provider "openai"`},
		{`{"providers": {"p": {"api_key": "k"}}}`, `c.json:1:21: providers.p: lacks kind; want one of openai-chat, openai-responses, anthropic, bedrock-converse, gemini, ollama, offline`},
		{`{"providers": {"p": {"kind": "offline", "base_url": "http://h"}}}`, `c.json:1:53: providers.p.base_url: has no effect with kind offline`},
		{`{"providers": {"p": {"kind": "gemini", "faults": {"slow": "1s"}}}}`, `c.json:1:50: providers.p.faults: has an effect only with kind offline, and this is gemini`},
		{`{"providers": {"p": {"kind": "openai-chat", "region": "us-east-1"}}}`, `c.json:1:55: providers.p.region: has an effect only with kind bedrock-converse, and this is openai-chat`},
		{`{"providers": {"gemini": {"aws_profile": "work"}}}`, `c.json:1:42: providers.gemini.aws_profile: has an effect only with kind bedrock-converse, and this is gemini`},
		{`{"providers": {"openai": {"api_version": "2023-06-01"}}}`, `c.json:1:42: providers.openai.api_version: has an effect only with kind anthropic, and this is openai-responses`},
		{`{"providers": {"offline": {"proxy": "direct"}}}`, `c.json:1:37: providers.offline.proxy: has no effect with kind offline`},
		{`{"providers": {"offline": {"max_retries": 0}}}`, `c.json:1:43: providers.offline.max_retries: has no effect with kind offline`},
		{`{"providers": {"azure": {"api_key": "$AZURE_OPENAI_API_KEY"}}}`, `c.json:1:25: providers.azure: lacks base_url, such as https://RESOURCE.openai.azure.com/openai/v1`},
		{`{"providers": {"groq": {"kind": "anthropic"}}}`, `c.json:1:24: providers.groq: lacks base_url: no address of groq is known for kind anthropic, only for openai-chat, openai-responses`},
		{`{"agents": {"a": {"provider": "azure", "model": "m"}}}`, `c.json:1:31: agents.a.provider: provider "azure" has to be configured: set providers.azure.base_url, such as https://RESOURCE.openai.azure.com/openai/v1`},
		{`{"mcp_servers": {"s": {}}}`, `c.json:1:23: mcp_servers.s: lacks command or url`},
		{`{"mcp_servers": {"s": {"command": "x", "url": "http://h"}}}`, `c.json:1:23: mcp_servers.s: has both command and url`},
		{`{"mcp_servers": {"s": {"command": "x", "type": "http"}}}`, `c.json:1:48: mcp_servers.s.type: does not fit the rest of the entry`},
	}
	for _, tt := range tests {
		_, _, err := config.Merge(parse(t, tt.src), config.Layer{}, config.TrustedProject)
		if err == nil || err.Error() != tt.want {
			t.Errorf("Merge(%s):\n got %v\nwant %s", tt.src, err, tt.want)
		}
	}
}

func TestCycles(t *testing.T) {
	agents := func(a, b, c string) string {
		e := `{"provider":"openai","model":"m",`
		return `{"agents":{"a":` + e + a + `},"b":` + e + b + `},"c":` + e + c + `}},"default_agent":"a"}`
	}
	_, _, err := config.Merge(parse(t, agents(`"fallbacks":["b"]`, `"fallbacks":["c"]`, `"fallbacks":["a"]`)), config.Layer{}, config.TrustedProject)
	if got := strings.Count(err.Error(), "leads back"); got != 3 {
		t.Errorf("a cycle of three fallbacks: %v", err)
	}
	// Two kinds of reference may point at each other: each is followed on its own.
	merged(t, agents(`"escalate_to":"b"`, `"fallbacks":["a"]`, `"describer":"a","fallbacks":["a","b"]`))
}

func TestAllFaultsAreReported(t *testing.T) {
	_, err := config.Parse("c.json", []byte("{\"probe\": 1,\n\"acp\": 2,\n\"x\": 3}"))
	many, ok := err.(interface{ Unwrap() []error })
	if !ok || len(many.Unwrap()) != 3 {
		t.Fatalf("Parse = %v, want three errors", err)
	}
	var e *config.Error
	if !errors.As(err, &e) || e.Line != 1 || e.Col != 11 || e.Path != "probe" || e.File != "c.json" {
		t.Errorf("first error = %+v", e)
	}
}

func TestTooLargeFile(t *testing.T) {
	_, err := config.Parse("c.json", []byte(strings.Repeat(" ", config.MaxFile+1)))
	if err == nil || err.Error() != "c.json: is larger than 1048576 bytes" {
		t.Errorf("Parse = %v", err)
	}
}

func TestParseMCP(t *testing.T) {
	src := `{"inputs": [1], "mcpServers": {"My Server": {"command": "x", "autoApprove": true, "oauth": {}}}}`
	l, err := config.ParseMCP(".mcp.json", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Merge(config.Layer{}, l, config.TrustedProject)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]config.MCPServer{"My Server": {
		Name: "My Server", Type: config.TransportStdio, Command: "x",
		Timeout: config.Duration(2 * time.Minute), StartTimeout: config.Duration(30 * time.Second),
	}}
	if diff := cmp.Diff(want, cfg.MCPServers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for _, bad := range []string{`{"mcpServers": 1}`, `{"mcpServers": {"a": 1}}`, `{"mcpServers": {"a": {"command": []}}}`, `{`} {
		if _, err := config.ParseMCP(".mcp.json", []byte(bad)); err == nil {
			t.Errorf("ParseMCP(%s): no error", bad)
		}
	}
	for _, none := range []string{"", "{}"} {
		if _, err := config.ParseMCP(".mcp.json", []byte(none)); err != nil {
			t.Errorf("ParseMCP(%q): %v", none, err)
		}
	}
}
