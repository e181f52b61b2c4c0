package config_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

// TestCAFileIsFound holds from where a path in a file counts.
func TestCAFileIsFound(t *testing.T) {
	p := newPlace(t)
	far, err := filepath.Abs(filepath.Join(t.TempDir(), "far.pem"))
	if err != nil {
		t.Fatal(err)
	}
	p.user(`{"providers": {
	  "near": {"kind": "gemini", "ca_file": "certs/near.pem"}, "up": {"kind": "gemini", "ca_file": "../up.pem"},
	  "far": {"kind": "gemini", "ca_file": ` + quote(far) + `}, "mine": {"kind": "gemini", "ca_file": "~/mine.pem"},
	  "tilde": {"kind": "gemini", "ca_file": "./~/tilde.pem"}, "over": {"kind": "gemini", "ca_file": "user.pem"}}}`)
	p.project(".tote/config.json", `{"providers": {"over": {"ca_file": "project.pem"}}}`)
	o := p.options()
	o.UserHome = filepath.Join(filepath.Dir(p.home), "me")
	config1 := filepath.Join(p.home, "config")
	want := map[string]string{
		"near": filepath.Join(config1, "certs", "near.pem"), "up": filepath.Join(p.home, "up.pem"), "far": far,
		"mine": filepath.Join(o.UserHome, "mine.pem"), "tilde": filepath.Join(config1, "~", "tilde.pem"),
		"over": filepath.Join(config1, "user.pem"),
	}
	check := func() config.Loaded {
		t.Helper()
		l, err := config.Load(o)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name, provider := range l.Config.Providers {
			if provider.CAFile != "" {
				got[name] = provider.CAFile
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ca_file (-want +got):\n%s", diff)
		}
		return l
	}
	l := check()
	if diff := cmp.Diff([]string{"provider over (ca_file project.pem)"}, l.Withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
	p.trust(l)
	want["over"] = filepath.Join(p.repo, ".tote", "project.pem")
	check()

	o.UserHome = ""
	if _, err := config.Load(o); err == nil || err.Error() != `find the ca_file of provider "mine": no home folder is known` {
		t.Errorf("Load without a home folder: %v", err)
	}
	t.Chdir(p.home)
	write(t, filepath.Join(p.home, "mine.json"), `{"providers": {"near": {"kind": "gemini", "ca_file": "near.pem"}}}`)
	o.ConfigFile, o.CWD = "mine.json", ""
	l, err = config.Load(o)
	if err != nil || l.Config.Providers["near"].CAFile != filepath.Join(p.home, "near.pem") {
		t.Errorf("Load of a file named relatively = %+v, %v", l.Config.Providers["near"], err)
	}
}

func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) config.Provider {
		path := filepath.Join(dir, name)
		write(t, path, content)
		return config.Provider{Name: "p", CAFile: path}
	}
	one := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("one")}))
	two := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("two")}))
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hush")}))
	got, err := file("good.pem", "# ours\n"+one+key+two).Certificates()
	if string(got) != one+two || err != nil {
		t.Errorf("Certificates = %q, %v, want the two certificates alone", got, err)
	}
	if got, err := (config.Provider{}).Certificates(); got != nil || err != nil {
		t.Errorf("Certificates without a file = %q, %v", got, err)
	}
	for _, tt := range []struct {
		p    config.Provider
		want string
	}{
		{file("key.pem", key), "holds no certificate in PEM form"},
		{file("empty.pem", ""), "holds no certificate in PEM form"},
		{file("big.pem", strings.Repeat("x", config.MaxFile+1)), "is larger than"},
		{config.Provider{Name: "p", CAFile: filepath.Join(dir, "not there.pem")}, "not there.pem"},
		{config.Provider{Name: "p", CAFile: dir}, `ca_file of provider "p"`},
	} {
		_, err := tt.p.Certificates()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.p.CAFile) || strings.Contains(err.Error(), "hush") {
			t.Errorf("Certificates of %s: %v, want one that says %q", tt.p.CAFile, err, tt.want)
		}
	}
}

func TestProxyAddress(t *testing.T) {
	env := environ("PROXY", "http://u:hush@proxy.example.com:3128", "BAD", "u:hush@proxy")
	tests := []struct{ in, want, wantErr string }{
		{"", "", ""},
		{"direct", "direct", ""},
		{"socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080", ""},
		{"${PROXY}", "http://u:hush@proxy.example.com:3128", ""},
		{"$UNSET", "", `read the proxy of provider "p": environment variable UNSET is not set`},
		{"$BAD", "", `read the proxy of provider "p": environment variable BAD is not the address of a proxy; want one such as http://proxy.example.com:3128`},
	}
	for _, tt := range tests {
		got, err := config.Provider{Name: "p", Proxy: tt.in}.ProxyAddress(env)
		if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
			t.Errorf("ProxyAddress(%q) = %q, %v, want %q, %s", tt.in, got, err, tt.want, tt.wantErr)
		}
	}
}

func TestBedrockAddress(t *testing.T) {
	tests := []struct {
		p           config.Provider
		env         func(string) string
		url, region string
	}{
		{config.Provider{Region: "us-west-2"}, environ("AWS_REGION", "eu-west-1"), "https://bedrock-runtime.us-west-2.amazonaws.com", "us-west-2"},
		{config.Provider{}, environ("AWS_REGION", "eu-west-1", "AWS_DEFAULT_REGION", "eu-west-2"), "https://bedrock-runtime.eu-west-1.amazonaws.com", "eu-west-1"},
		{config.Provider{}, environ("AWS_DEFAULT_REGION", "eu-west-2"), "https://bedrock-runtime.eu-west-2.amazonaws.com", "eu-west-2"},
		{config.Provider{}, environ("AWS_REGION", "evil.example.com/"), "", ""},
		{config.Provider{}, environ(), "", ""},
		{config.Provider{BaseURL: "https://vpce.example.com"}, environ("AWS_REGION", "eu-west-1"), "https://vpce.example.com", "eu-west-1"},
	}
	for _, tt := range tests {
		tt.p.Kind = config.KindBedrockConverse
		if url, region := tt.p.Address(tt.env), tt.p.AWSRegion(tt.env); url != tt.url || region != tt.region {
			t.Errorf("%+v: address %q, region %q, want %q, %q", tt.p, url, region, tt.url, tt.region)
		}
	}
	other := config.Provider{Kind: config.KindGemini, BaseURL: "https://g"}
	if got := other.Address(environ("AWS_REGION", "eu-west-1")); got != "https://g" {
		t.Errorf("Address of another kind = %q", got)
	}
}

func TestRunners(t *testing.T) {
	got := config.Runners(func(name string) (string, error) {
		switch name {
		case "codex":
			return "codex", &exec.Error{Name: name, Err: exec.ErrDot} // in the working folder
		case "claude":
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
		return "/usr/bin/" + name, nil
	})
	want := []config.RunnerOffer{{Agent: config.Agent{Name: "gemini", Runner: config.RunnerGemini}, Program: "/usr/bin/gemini"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Runners (-want +got):\n%s", diff)
	}
	none := config.Runners(func(name string) (string, error) { return "", errors.New(name) })
	if len(none) != 0 {
		t.Errorf("Runners without any = %v", none)
	}
	// What is offered is a whole agent, with nothing to add.
	for _, o := range config.Runners(func(name string) (string, error) { return name, nil }) {
		cfg := merged(t, `{"agents": {`+quote(o.Agent.Name)+`: {"runner": `+quote(string(o.Agent.Runner))+`}}}`)
		if a, err := cfg.Agent(""); err != nil || a.Runner != o.Agent.Runner {
			t.Errorf("agent %+v, %v", a, err)
		}
	}
}

// TestAddressesAreTheCatalogues holds that what is known by name is found in the
// catalogue of models, which compares addresses byte for byte.
func TestAddressesAreTheCatalogues(t *testing.T) {
	f, err := os.Open("../profile/catalogue.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReaderSize(unpacked, 1<<20).ReadSlice('\n')
	if err != nil {
		t.Fatal(err)
	}
	var head struct{ Endpoints []struct{ Kind, URL string } }
	if err := json.Unmarshal(line, &head); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, e := range head.Endpoints {
		listed[e.Kind+" "+strings.ReplaceAll(e.URL, "{region}", "eu-west-1")] = true
	}
	keys := map[string]string{
		"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
		"groq": "GROQ_API_KEY", "mistral": "MISTRAL_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "xai": "XAI_API_KEY",
		"moonshot": "MOONSHOT_API_KEY", "zai": "ZAI_API_KEY", "minimax": "MINIMAX_API_KEY", "copilot": "COPILOT_GITHUB_TOKEN",
		"together": "TOGETHER_API_KEY", "cerebras": "CEREBRAS_API_KEY",
	}
	offers := config.Offers(func(name string) string { return name })
	for _, o := range offers {
		switch o.Name {
		case "azure":
			continue // every user has another address
		case "bedrock":
			o.BaseURL = config.Provider{Kind: o.Kind, Region: "eu-west-1"}.Address(environ())
		}
		if keys[o.Name] != "" && keys[o.Name] != o.Env {
			t.Errorf("%s takes its key from %s, want %s", o.Name, o.Env, keys[o.Name])
		}
		delete(keys, o.Name)
		if !listed[string(o.Kind)+" "+o.BaseURL] {
			t.Errorf("the catalogue has no models of kind %s at %q, the address of %s", o.Kind, o.BaseURL, o.Name)
		}
	}
	if len(keys) > 0 {
		t.Errorf("not offered: %v", keys)
	}
}
