package config_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

func TestAgent(t *testing.T) {
	cfg := merged(t, userFile)
	for name, want := range map[string]string{"": "main", "eye": "eye", "offline": "offline", "openai/gpt": "openai/gpt"} {
		a, err := cfg.Agent(name)
		if err != nil || a.Name != want {
			t.Errorf("Agent(%q) = %q, %v, want %q", name, a.Name, err, want)
		}
	}
	_, err := cfg.Agent("mian\x1b")
	const want = `no agent is called "mian"; did you mean main?; known: eye, main, offline`
	if err == nil || err.Error() != want || !errors.Is(err, config.ErrUsage) {
		t.Errorf("Agent(mian) = %v, want %s", err, want)
	}
}

func TestResolveModel(t *testing.T) {
	cfg := merged(t, userFile)
	tests := []struct {
		in   string
		want config.Agent
	}{
		{"openrouter/meta/llama-4:free", config.Agent{Provider: "openrouter", Model: "meta/llama-4:free"}},
		{"work/m", config.Agent{Provider: "work", Model: "m", Vision: config.VisionYes}},
		{"work/e", config.Agent{Provider: "work", Model: "e"}},
		{"offline/describe", config.Agent{Provider: "offline", Model: "describe"}},
	}
	for _, tt := range tests {
		tt.want.Name = tt.in
		got, err := cfg.ResolveModel(tt.in)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("ResolveModel(%q): %v (-want +got):\n%s", tt.in, err, diff)
		}
	}
	for _, bad := range []string{"", "work", "/m", "work/", "nobody/m"} {
		if a, err := cfg.ResolveModel(bad); !errors.Is(err, config.ErrUsage) {
			t.Errorf("ResolveModel(%q) = %v, %v, want ErrUsage", bad, a, err)
		}
	}
}

func TestApply(t *testing.T) {
	cfg := merged(t, userFile)
	before, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		o       config.Overlay
		agent   config.Agent
		mode    config.Mode
		wantErr string
	}{
		{config.Overlay{}, cfg.Agents["main"], config.ModeEdits, ""},
		{config.Overlay{Agent: "eye", Mode: "plan"}, cfg.Agents["eye"], config.ModePlan, ""},
		{
			config.Overlay{Model: "openai/gpt"},
			config.Agent{Name: "openai/gpt", Provider: "openai", Model: "gpt", Describer: "eye"},
			config.ModeEdits, "",
		},
		{
			config.Overlay{Agent: "eye", Model: "openai/gpt"},
			config.Agent{Name: "openai/gpt", Provider: "openai", Model: "gpt"},
			config.ModeEdits, "",
		},
		{config.Overlay{Mode: "fast"}, config.Agent{}, "", `mode "fast" is not one of plan, ask, edits, full`},
		{config.Overlay{Agent: "x"}, config.Agent{}, "", `no agent is called "x"; known: eye, main, offline`},
		{config.Overlay{Model: "gpt"}, config.Agent{}, "", `model "gpt" is not of the form PROVIDER/MODEL`},
	}
	for _, tt := range tests {
		got, err := cfg.Apply(tt.o)
		if tt.wantErr != "" {
			if err == nil || err.Error() != tt.wantErr || !errors.Is(err, config.ErrUsage) {
				t.Errorf("Apply(%+v): %v, want %s", tt.o, err, tt.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("Apply(%+v): %v", tt.o, err)
			continue
		}
		a, err := got.Agent("")
		if diff := cmp.Diff(tt.agent, a); diff != "" || err != nil || got.Permissions.Mode != tt.mode {
			t.Errorf("Apply(%+v): mode %s, %v, agent (-want +got):\n%s", tt.o, got.Permissions.Mode, err, diff)
		}
	}
	after, err := json.Marshal(cfg)
	if err != nil || string(before) != string(after) {
		t.Errorf("Apply changed its receiver: %v\n%s\n%s", err, before, after)
	}
}

func TestKey(t *testing.T) {
	env := environ("SET", "sk-secret")
	tests := []struct{ key, want, wantErr string }{
		{"", "", ""},
		{"sk-literal", "sk-literal", ""},
		{"$SET", "sk-secret", ""},
		{"${SET}", "sk-secret", ""},
		{"$UNSET", "", `read the key of provider "p": environment variable UNSET is not set`},
	}
	for _, tt := range tests {
		got, err := config.Provider{Name: "p", APIKey: tt.key}.Key(env)
		if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
			t.Errorf("Key(%q) = %q, %v, want %q, %s", tt.key, got, err, tt.want, tt.wantErr)
		}
	}
	cfg := merged(t, "")
	gemini, err := cfg.Provider("gemini")
	if err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string]func(string) string{
		"one": environ("GEMINI_API_KEY", "one", "GOOGLE_API_KEY", "two"),
		"two": environ("GOOGLE_API_KEY", "two"),
	} {
		if got, err := gemini.Key(env); got != want || err != nil {
			t.Errorf("Key of gemini = %q, %v, want %q", got, err, want)
		}
	}
	gemini.BaseURL = "https://elsewhere.example.com"
	if got, err := gemini.Key(environ("GOOGLE_API_KEY", "two")); err == nil {
		t.Errorf("Key of gemini elsewhere = %q, want an error", got)
	}
	if got := (config.Provider{APIKey: "${SET}"}).KeyName(); got != "SET" {
		t.Errorf("KeyName = %q", got)
	}
	h, err := config.Provider{Headers: map[string]string{"A": "b", "C": "$SET"}}.HeaderValues(env)
	if diff := cmp.Diff(map[string]string{"A": "b", "C": "sk-secret"}, h); diff != "" || err != nil {
		t.Errorf("HeaderValues: %v\n%s", err, diff)
	}
	if _, err := (config.Provider{Name: "p", Headers: map[string]string{"C": "$UNSET"}}).HeaderValues(env); err == nil || !strings.Contains(err.Error(), "UNSET") {
		t.Errorf("HeaderValues: %v", err)
	}
}

func TestExpand(t *testing.T) {
	s := config.MCPServer{
		Name: "s", Command: "${BIN:-npx}", Args: []string{"${A}/x", "$A", "${", "${not a name}", "${A}${A}"},
		Env: map[string]string{"T": "${A}"}, Headers: map[string]string{"H": "Bearer ${A}"}, URL: "https://${A}/m",
	}
	got, err := s.Expand(environ("A", "v"))
	want := config.MCPServer{
		Name: "s", Command: "npx", Args: []string{"v/x", "$A", "${", "${not a name}", "vv"},
		Env: map[string]string{"T": "v"}, Headers: map[string]string{"H": "Bearer v"}, URL: "https://v/m",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Expand: %v (-want +got):\n%s", err, diff)
	}
	if s.Args[0] != "${A}/x" || s.Env["T"] != "${A}" {
		t.Error("Expand changed its receiver")
	}
	_, err = s.Expand(environ())
	if err == nil || err.Error() != `start mcp server "s": environment variable A is not set` {
		t.Errorf("Expand: %v", err)
	}
	if _, err = (config.MCPServer{URL: "${A}"}).Expand(environ("A", "file:///x")); err == nil {
		t.Error("Expand of a file address: no error")
	}
}

func TestOffers(t *testing.T) {
	got := config.Offers(environ("OPENAI_API_KEY", "a", "GOOGLE_API_KEY", "b", "AWS_PROFILE", "c", "UNRELATED", "d", "AZURE_OPENAI_API_KEY", "e"))
	want := []config.Offer{
		{Name: "openai", Kind: config.KindOpenAIResponses, BaseURL: "https://api.openai.com/v1", Env: "OPENAI_API_KEY"},
		{Name: "gemini", Kind: config.KindGemini, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Env: "GOOGLE_API_KEY"},
		{Name: "azure", Kind: config.KindOpenAIChat, Env: "AZURE_OPENAI_API_KEY", Needs: "base_url"},
		{Name: "bedrock", Kind: config.KindBedrockConverse, Env: "AWS_PROFILE"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Offers (-want +got):\n%s", diff)
	}
	if got := config.Offers(environ()); len(got) != 0 {
		t.Errorf("Offers without keys = %v", got)
	}
	// What is offered can be resolved as PROVIDER/MODEL, without configuration.
	cfg := merged(t, "")
	for _, o := range append(want, config.Locals()...) {
		p, err := cfg.Provider(o.Name)
		if o.Needs != "" {
			if !errors.Is(err, config.ErrUsage) {
				t.Errorf("Provider(%q) = %+v, %v, want ErrUsage", o.Name, p, err)
			}
			continue
		}
		if err != nil || p.Kind != o.Kind || p.BaseURL != o.BaseURL {
			t.Errorf("Provider(%q) = %+v, %v", o.Name, p, err)
		}
	}
}

func TestVendorDefaults(t *testing.T) {
	tests := []struct{ src, url, key string }{
		{`"openai": {}`, "https://api.openai.com/v1", "$OPENAI_API_KEY"},
		{`"openai": {"kind": "openai-responses"}`, "https://api.openai.com/v1", "$OPENAI_API_KEY"},
		{`"openai": {"api_key": "$MINE"}`, "https://api.openai.com/v1", "$MINE"},
		{`"openai": {"base_url": "https://proxy"}`, "https://proxy", ""},
		{`"groq": {"limits": {"images": 5}}`, "https://api.groq.com/openai/v1", "$GROQ_API_KEY"},
		{`"openai": {"kind": "openai-chat"}`, "https://api.openai.com/v1", "$OPENAI_API_KEY"},
		{`"xai": {"kind": "openai-chat"}`, "https://api.x.ai/v1", "$XAI_API_KEY"},
		{`"openrouter": {"kind": "anthropic"}`, "https://openrouter.ai/api", "$OPENROUTER_API_KEY"},
		{`"gemini": {"kind": "openai-chat"}`, "https://generativelanguage.googleapis.com/v1beta/openai", "$GEMINI_API_KEY"},
		{`"ollama": {"kind": "openai-chat"}`, "http://127.0.0.1:11434/v1", ""},
		{`"lmstudio": {"kind": "anthropic"}`, "http://127.0.0.1:1234", ""},
		{`"bedrock": {"region": "us-west-2"}`, "https://bedrock-runtime.us-west-2.amazonaws.com", ""},
		{`"mine": {"kind": "bedrock-converse", "region": "us-gov-west-1"}`, "https://bedrock-runtime.us-gov-west-1.amazonaws.com", ""},
		{`"mine": {"kind": "bedrock-converse", "region": "cn-north-1"}`, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", ""},
		{`"mine": {"kind": "bedrock-converse", "region": "eusc-de-east-1"}`, "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu", ""},
		{`"mine": {"kind": "bedrock-converse", "region": "us-iso-east-1"}`, "", ""},
		{`"mine": {"kind": "bedrock-converse", "region": "us-east-1", "base_url": "https://vpce.example.com"}`, "https://vpce.example.com", ""},
		{`"azure": {"base_url": "https://r.openai.azure.com/openai/v1"}`, "https://r.openai.azure.com/openai/v1", ""},
		{`"mine": {"kind": "anthropic"}`, "https://api.anthropic.com", "$ANTHROPIC_API_KEY"},
		{`"mine": {"kind": "gemini", "headers": {"X": "y"}}`, "https://generativelanguage.googleapis.com/v1beta", ""},
		{`"mine": {"kind": "ollama"}`, "http://127.0.0.1:11434", ""},
		{`"mine": {"kind": "bedrock-converse"}`, "", ""},
		{`"mine": {"kind": "offline"}`, "", ""},
		{`"offline": {"faults": {"slow": "1s"}}`, "", ""},
	}
	for _, tt := range tests {
		cfg := merged(t, `{"providers": {`+tt.src+`}}`)
		for name, p := range cfg.Providers {
			if strings.HasPrefix(tt.src, `"`+name+`"`) && (p.BaseURL != tt.url || p.APIKey != tt.key || p.Kind == "") {
				t.Errorf("%s = %+v, want %s and %q", tt.src, p, tt.url, tt.key)
			}
		}
	}
}

func TestRedacted(t *testing.T) {
	cfg := merged(t, `{
	  "providers": {
	    "a": {"kind": "openai-chat", "base_url": "https://h.example.com/v1?api-version=hush", "api_key": "hush", "headers": {"X": "hush", "Y": "$NAME", "Z": ""}},
	    "b": {"kind": "anthropic", "api_key": "${NAME}", "proxy": "http://hush:hush@proxy.example.com:3128"},
	    "d": {"kind": "gemini", "proxy": "$PROXY"}, "e": {"kind": "gemini", "proxy": "direct"}},
	  "agents": {"c": {"runner": "custom", "command": ["run", "--token", "hush", "--api-key=hush", "TOKEN=hush", "--verbose", "loud"]}},
	  "mcp_servers": {
	    "s": {"command": "x", "args": ["--password=hush"], "env": {"A": "hush"}},
	    "t": {"url": "https://h/?k=hush", "headers": {"Authorization": "Bearer hush"}}}
	}`)
	got, err := cfg.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "hush") {
		t.Errorf("Redacted shows a secret:\n%s", got)
	}
	for _, want := range []string{`"api_key": "set"`, `"api_key": "${NAME}"`, `"Y": "$NAME"`, `"loud"`, `"proxy": "http://proxy.example.com:3128"`, `"proxy": "$PROXY"`, `"proxy": "direct"`, `"https://h.example.com/v1?api-version=set"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("Redacted lacks %s:\n%s", want, got)
		}
	}
	if cfg.Providers["a"].APIKey != "hush" || cfg.Agents["c"].Command[2] != "hush" || cfg.MCPServers["s"].Env["A"] != "hush" {
		t.Error("Redacted changed its receiver")
	}
}
