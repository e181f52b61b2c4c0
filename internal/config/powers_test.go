package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

func TestPowerErrors(t *testing.T) {
	long := strings.Repeat("é", 201)
	tests := []struct{ src, want string }{
		{`{"agents": {"a": {"purpose": ""}}}`, `c.json:1:30: agents.a.purpose: is empty`},
		{`{"agents": {"a": {"purpose": "` + long + `"}}}`, `c.json:1:30: agents.a.purpose: is 201 characters long; the most is 200`},
		{`{"agents": {"a": {"purpose": "a\nb"}}}`, `c.json:1:30: agents.a.purpose: holds a line end or a character that cannot be shown; want one line of text`},
		{`{"tools": {"bash": {"sandbox": "on"}}}`, `c.json:1:32: tools.bash.sandbox: "on" is not one of off, auto, require`},
		{`{"tools": {"bash": {"shell": ""}}}`, `c.json:1:30: tools.bash.shell: is empty`},
		{`{"tools": {"bash": {"timeout": "2m", "max_timeout": "1m"}}}`, `c.json:1:32: tools.bash.timeout: is "2m", which is more than max_timeout`},
		{`{"tools": {"bash": {"timeout": "0s"}}}`, `c.json:1:32: tools.bash.timeout: is "0s"; must be greater than zero`},
		{`{"tools": {"disabled": ["bash(x)"]}}`, `c.json:1:25: tools.disabled[0]: holds "bash(x)", which is not the name of a built-in tool; known: ` + strings.Join(config.ToolNames(), ", ")},
		{`{"hooks": {"pre_tool": [{}]}}`, `c.json:1:25: hooks.pre_tool[0].command: names no program; want the program and its arguments, such as ["./check.sh", "--fast"]`},
		{"{\"hooks\": {\"pre_tool\": [{\"command\": [\"a\"]},\n{\"command\": [\"b\"], \"match\": \"bash(x\"}]}}", `c.json:2:29: hooks.pre_tool[1].match: holds a rule that is not closed with a parenthesis`},
		{`{"hooks": {"stop": [{"command": ["a"], "match": "bash"}]}}`, `c.json:1:49: hooks.stop[0].match: has an effect only in pre_tool and post_tool`},
		{`{"hooks": {"post_tool": [{"command": ["a"], "match": "bash||write"}]}}`, `c.json:1:54: hooks.post_tool[0].match: holds a rule without the name of a tool; want rules such as bash(git push *)|write`},
		{`{"hooks": {"stop": [{"command": ["a"], "timeout": "11m"}]}}`, `c.json:1:51: hooks.stop[0].timeout: is 11m0s; must be greater than zero and at most 10m`},
		{`{"hooks": {"stop": [{"command": ["~eve/a"]}]}}`, `c.json:1:33: hooks.stop[0].command: begins with ~; only ~/ is understood, for your own home folder`},
		{`{"hooks": {"stop": [{"cmd": ["a"]}]}}`, `c.json:1:22: hooks.stop[0].cmd: is not a known member; known here: match, command, timeout, required`},
		{`{"hooks": {"start": []}}`, `c.json:1:12: hooks.start: is not a known member; known here: prompt, pre_tool, post_tool, stop`},
		{`{"instructions": [""]}`, `c.json:1:18: instructions: holds an empty path`},
		{`{"instructions": ["~eve/x"]}`, `c.json:1:18: instructions: holds "~eve/x"; only ~/ is understood, for your own home folder`},
		{`{"additional_directories": ["a\u0000"]}`, `c.json:1:28: additional_directories: holds "a", which is not a path`},
		{`{"limits": {"summary_at": 5}}`, `c.json:1:27: limits.summary_at: is 5; want a percentage from 10 to 100`},
		{`{"limits": {"task_depth": 0}}`, `c.json:1:27: limits.task_depth: is 0; must be greater than zero`},
		{`{"mcp_servers": {"s": {"timeout": "-1s"}}}`, `c.json:1:35: mcp_servers.s.timeout: is "-1s"; must be greater than zero`},
		{`{"mcp_servers": {"s": {"deny": ["[x"]}}}`, `c.json:1:32: mcp_servers.s.deny: holds "[x", which is not a name or a pattern such as get_*`},
		{`{"providers": {"p": {"api_key": "keyring:"}}}`, `c.json:1:33: providers.p.api_key: starts with keyring: but is not keyring:NAME, with a name of 1 to 128 letters, digits and the characters . _ @ / -`},
	}
	for _, tt := range tests {
		if _, err := config.Parse("c.json", []byte(tt.src)); err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%s):\n got %v\nwant %s", tt.src, err, tt.want)
		}
	}
	for src, want := range map[string]string{
		`{"agents": {"a": {"provider": "openai", "model": "m", "callable": ["b"]}}}`: `c.json:1:68: agents.a.callable: no agent is called "b"; known: a, offline`,
		`{"agents": {"a": {"provider": "openai", "model": "m", "callable": ["a"]}}}`: `c.json:1:68: agents.a.callable: holds the agent itself`,
	} {
		_, _, err := config.Merge(parse(t, src), config.Layer{}, config.TrustedProject)
		if err == nil || !strings.Contains(err.Error(), want[strings.Index(want, "agents"):]) {
			t.Errorf("Merge(%s):\n got %v\nwant %s", src, err, want)
		}
	}
}

func TestCallable(t *testing.T) {
	agent := func(more string) string { return `{"provider": "openai", "model": "m"` + more + `}` }
	cfg := merged(t, `{"agents": {"a": `+agent("")+`, "b": `+agent(`, "callable": []`)+`, "c": `+agent(`, "callable": ["b", "a", "b"]`)+`}}`)
	for name, want := range map[string][]string{"a": {"b", "c"}, "b": {}, "c": {"a", "b"}, "openai/x": {"a", "b", "c"}, "offline": {"a", "b", "c"}} {
		if diff := cmp.Diff(want, cfg.CallableFrom(name)); diff != "" {
			t.Errorf("CallableFrom(%s) (-want +got):\n%s", name, diff)
		}
	}
	over, err := cfg.Apply(config.Overlay{Agent: "b", Model: "openai/x"})
	if err != nil || len(over.CallableFrom("openai/x")) != 0 {
		t.Errorf("a model in the place of b may call %v, %v", over.CallableFrom("openai/x"), err)
	}
	if got := over.CallableFrom("a"); !cmp.Equal(got, []string{"b", "c"}) {
		t.Errorf("unnamed agents are callable: %v", got)
	}
}

func TestBashTimes(t *testing.T) {
	for src, want := range map[string][2]time.Duration{
		`{}`: {2 * time.Minute, 10 * time.Minute},
		`{"tools": {"bash": {"timeout": "30m"}}}`:                      {30 * time.Minute, 30 * time.Minute},
		`{"tools": {"bash": {"max_timeout": "1m"}}}`:                   {time.Minute, time.Minute},
		`{"tools": {"bash": {"timeout": "5s", "max_timeout": "20m"}}}`: {5 * time.Second, 20 * time.Minute},
	} {
		b := merged(t, src).Tools.Bash
		if got := [2]time.Duration{time.Duration(b.Timeout), time.Duration(b.MaxTimeout)}; got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

func TestUntrustedPowers(t *testing.T) {
	user := `{"tools": {"bash": {"sandbox": "auto", "timeout": "1m"}, "disabled": ["todo"]}, "hooks": {"pre_tool": [{"command": ["mine"]}]},
	  "instructions": ["x.md"], "additional_directories": ["/d"]}`
	project := `{"tools": {"bash": {"shell": "./evil", "sandbox": "off", "timeout": "2m", "max_timeout": "1h"}, "fetch": {"enabled": true}, "disabled": ["look", "todo"]},
	  "hooks": {"pre_tool": [{"match": "bash(x|y)", "command": ["sh", "-c", "evil"]}], "stop": [{"command": ["./evil", "--token", "secret"]}]},
	  "instructions": ["../../secret"], "additional_directories": ["/"], "limits": {"summary_at": 10}}`
	cfg, withheld, err := config.Merge(parse(t, user), parse(t, project), config.Untrusted)
	if err != nil {
		t.Fatal(err)
	}
	want := merged(t, user)
	want.Tools.Disabled = []string{"todo", "look"}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("an untrusted project changed the configuration (-want +got):\n%s", diff)
	}
	wantWords := []string{
		`tools.bash.shell "./evil"`, `tools.bash.sandbox "off"`, `tools.bash.timeout "2m"`, `tools.bash.max_timeout "1h"`,
		"hook pre_tool bash(x|y): command sh -c evil", "hook stop: command ./evil --token set",
		"instructions from ../../secret", "additional directory /", "limits.summary_at 10",
	}
	if diff := cmp.Diff(wantWords, withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}

	narrow := `{"tools": {"bash": {"sandbox": "require", "timeout": "15s", "max_timeout": "39s"}, "fetch": {"enabled": false}}, "limits": {"jobs": 1}}`
	cfg, withheld, err = config.Merge(parse(t, user), parse(t, narrow), config.Untrusted)
	if err != nil || withheld != nil {
		t.Fatalf("Merge: %v, withheld %q", err, withheld)
	}
	want = merged(t, user)
	want.Tools.Bash = config.BashTool{Sandbox: config.SandboxRequire, Timeout: config.Duration(15 * time.Second), MaxTimeout: config.Duration(39 * time.Second)}
	want.Tools.Fetch.Enabled = false
	want.Limits.Jobs = 1
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("narrowed (-want +got):\n%s", diff)
	}
}

func TestTrustedPowersAreJoined(t *testing.T) {
	p := newPlace(t)
	p.user(`{"hooks": {"pre_tool": [{"command": ["guard"]}]}, "additional_directories": ["more"], "instructions": ["a.md"], "tools": {"disabled": ["todo"]}}`)
	p.project(".tote/config.json", `{"hooks": {"pre_tool": [{"command": ["./check.sh", "./arg"]}]}, "additional_directories": ["../lib"],
	  "instructions": ["b.md", "a.md"], "tools": {"disabled": ["fetch"]}}`)
	p.trust(p.load())
	cfg := p.load().Config
	wait := config.Duration(10 * time.Second)
	want := []config.Hook{{Command: []string{"guard"}, Timeout: wait}, {Command: []string{filepath.Join(p.repo, "check.sh"), "./arg"}, Timeout: wait}}
	if diff := cmp.Diff(want, cfg.Hooks.PreTool); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{filepath.Join(p.home, "config", "more"), filepath.Join(filepath.Dir(p.repo), "lib")}, cfg.AdditionalDirectories); diff != "" {
		t.Errorf("directories (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.md", "b.md"}, cfg.Instructions); diff != "" {
		t.Errorf("instructions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"todo", "fetch"}, cfg.Tools.Disabled); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
}

func TestHomePaths(t *testing.T) {
	p := newPlace(t)
	p.user(`{"hooks": {"stop": [{"command": ["~/bin/done"]}]}, "additional_directories": ["~/notes"], "instructions": ["~/rules.md"]}`)
	o := p.options()
	if _, err := config.Load(o); err == nil || !strings.Contains(err.Error(), "no home folder is known") {
		t.Errorf("Load without a home folder: %v", err)
	}
	o.UserHome = p.home
	l, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{l.Config.Hooks.Stop[0].Command[0], l.Config.AdditionalDirectories[0], l.Config.Instructions[0]}
	want := []string{filepath.Join(p.home, "bin", "done"), filepath.Join(p.home, "notes"), filepath.Join(p.home, "rules.md")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestWithheldSkillsAndCommands(t *testing.T) {
	p := newPlace(t)
	p.project(".claude/skills/pdf/SKILL.md", "x")
	p.project(".tote/skills/a/SKILL.md", "x")
	p.project(".tote/skills/a/helper.py", "x")
	p.project(".claude/commands/team/review.md", "x")
	l := p.load()
	if diff := cmp.Diff([]string{"skills a, pdf", "commands /team:review"}, l.Withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
	if len(l.Project.Files) != 4 || l.Fingerprint == "" {
		t.Errorf("files = %q", l.Project.Files)
	}
	p.trust(l)
	if l := p.load(); !l.Trusted || l.Withheld != nil {
		t.Errorf("trusted %v, withheld %q", l.Trusted, l.Withheld)
	}
}

func TestUserServers(t *testing.T) {
	p := newPlace(t)
	p.user(`{"mcp_servers": {"b": {"disabled": true}}}`)
	file := filepath.Join(p.home, "config", "mcp.json")
	write(t, file, `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`)
	l := p.load()
	if a, b := l.Config.MCPServers["a"], l.Config.MCPServers["b"]; a.Command != "x" || b.Command != "y" || !b.Disabled {
		t.Errorf("servers = %+v", l.Config.MCPServers)
	}
	now, err := config.Snapshot(p.options())
	if err != nil || !now.Equal(l.Stamp) {
		t.Errorf("Snapshot differs from Load: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if now, err := config.Snapshot(p.options()); err != nil || now.Equal(l.Stamp) {
		t.Errorf("a vanished mcp.json goes unseen: %v", err)
	}
	write(t, file, "{\n oops")
	if _, err := config.Load(p.options()); err == nil || !strings.Contains(err.Error(), "mcp.json:2:2: is not a value") {
		t.Errorf("Load with a broken mcp.json: %v", err)
	}
}

func TestUsualServers(t *testing.T) {
	src := `{"mcpServers": {
	  "gemini": {"httpUrl": "https://a.example.com/mcp", "timeout": 600000, "trust": true, "includeTools": ["x"], "excludeTools": ["y"]},
	  "cline": {"type": "streamableHttp", "url": "https://b.example.com", "timeout": 60, "disabled": false, "autoApprove": []},
	  "claude": {"type": "stdio", "command": "npx", "args": ["-y", "z"], "env": {"PORT": 80, "DEBUG": true, "NONE": null}, "cwd": null},
	  "windsurf": {"serverUrl": "https://c.example.com/sse", "transport": "sse"},
	  "codex": {"command": "c", "startup_timeout_sec": 20, "tool_timeout_sec": 1.5, "enabled_tools": ["a"], "disabled_tools": ["b"]},
	  "off": {"command": "d", "enabled": false, "timeout": -4},
	  "long": {"type": "streamable-http", "url": "https://d.example.com"}
	}}`
	l, err := config.ParseMCP(".mcp.json", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Merge(config.Layer{}, l, config.TrustedProject)
	if err != nil {
		t.Fatal(err)
	}
	call, start := config.Duration(2*time.Minute), config.Duration(30*time.Second)
	want := map[string]config.MCPServer{
		"gemini":   {Type: "http", URL: "https://a.example.com/mcp", Timeout: config.Duration(10 * time.Minute), StartTimeout: start, Allow: []string{"x"}, Deny: []string{"y"}},
		"cline":    {Type: "http", URL: "https://b.example.com", Timeout: config.Duration(time.Minute), StartTimeout: start},
		"claude":   {Type: "stdio", Command: "npx", Args: []string{"-y", "z"}, Env: map[string]string{"PORT": "80", "DEBUG": "true"}, Timeout: call, StartTimeout: start},
		"windsurf": {Type: "sse", URL: "https://c.example.com/sse", Timeout: call, StartTimeout: start},
		"codex": {
			Type: "stdio", Command: "c", Timeout: config.Duration(1500 * time.Millisecond), StartTimeout: config.Duration(20 * time.Second),
			Allow: []string{"a"}, Deny: []string{"b"},
		},
		"off":  {Type: "stdio", Command: "d", Disabled: true, Timeout: call, StartTimeout: start},
		"long": {Type: "http", URL: "https://d.example.com", Timeout: call, StartTimeout: start},
	}
	for name, s := range want {
		s.Name = name
		want[name] = s
	}
	if diff := cmp.Diff(want, cfg.MCPServers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}

func TestKeyring(t *testing.T) {
	provider := func(key string) config.Provider {
		return merged(t, `{"providers": {"openai": {"api_key": "`+key+`"}}}`).Providers["openai"]
	}
	ring := func(name string) (string, error) {
		if name == "none" {
			return "", errors.New("not found")
		}
		return "from " + name, nil
	}
	env := environ("MY_KEY", "from env")
	for _, tt := range []struct {
		key   string
		place config.KeyPlace
		name  string
		want  string
		err   string
	}{
		{"keyring", config.KeyKeyring, "openai", "from openai", ""},
		{"keyring:work/key", config.KeyKeyring, "work/key", "from work/key", ""},
		{"keyring:none", config.KeyKeyring, "none", "", `read the key of provider "openai": keyring entry "none": not found`},
		{"$MY_KEY", config.KeyEnv, "MY_KEY", "from env", ""},
		{"sk-1", config.KeyLiteral, "", "sk-1", ""},
	} {
		p := provider(tt.key)
		if place, name := p.KeySource(); place != tt.place || name != tt.name {
			t.Errorf("%s: KeySource = %v, %q", tt.key, place, name)
		}
		got, err := p.KeyFrom(env, ring)
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%s: KeyFrom = %q, %v", tt.key, got, err)
		}
	}
	if _, err := provider("keyring").Key(env); !errors.Is(err, config.ErrNoKeyring) {
		t.Errorf("Key without a keyring: %v", err)
	}
	cfg := merged(t, `{"providers": {"openai": {"api_key": "keyring:mine"}}, "hooks": {"stop": [{"command": ["x", "--token", "secret"]}]}}`)
	out, err := cfg.Redacted()
	if err != nil || !strings.Contains(string(out), `"keyring:mine"`) || strings.Contains(string(out), "secret") {
		t.Errorf("Redacted = %s, %v", out, err)
	}
}
