package config

import (
	"maps"
	"slices"
)

// Offer is a well-known backend that can be used without being configured, as
// the provider part of PROVIDER/MODEL.
type Offer struct {
	Name    string // of the provider
	Kind    Kind   // the protocol it speaks
	BaseURL string // empty where the region decides
	Env     string // the variable that holds the key; empty for a local server
}

// keyed lists the vendors' own addresses and key variables. The protocol's paths
// (/chat/completions, /v1/messages, /models/…) are appended by the adapter. The
// first variable that is set counts. Addresses as in the vendors' reference pages:
// platform.openai.com/docs/api-reference, docs.anthropic.com/en/api,
// ai.google.dev/api, openrouter.ai/docs, console.groq.com/docs/openai,
// docs.mistral.ai/api, api-docs.deepseek.com, docs.x.ai/docs/api-reference,
// docs.together.ai/docs/openai-api-compatibility, inference-docs.cerebras.ai.
func keyed() []struct {
	Offer
	env []string
} {
	return []struct {
		Offer
		env []string
	}{
		{Offer{Name: "openai", Kind: KindOpenAIChat, BaseURL: "https://api.openai.com/v1"}, []string{"OPENAI_API_KEY"}},
		{Offer{Name: "anthropic", Kind: KindAnthropic, BaseURL: "https://api.anthropic.com"}, []string{"ANTHROPIC_API_KEY"}},
		{Offer{Name: "gemini", Kind: KindGemini, BaseURL: "https://generativelanguage.googleapis.com/v1beta"}, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
		{Offer{Name: "openrouter", Kind: KindOpenAIChat, BaseURL: "https://openrouter.ai/api/v1"}, []string{"OPENROUTER_API_KEY"}},
		{Offer{Name: "groq", Kind: KindOpenAIChat, BaseURL: "https://api.groq.com/openai/v1"}, []string{"GROQ_API_KEY"}},
		{Offer{Name: "mistral", Kind: KindOpenAIChat, BaseURL: "https://api.mistral.ai/v1"}, []string{"MISTRAL_API_KEY"}},
		{Offer{Name: "deepseek", Kind: KindOpenAIChat, BaseURL: "https://api.deepseek.com"}, []string{"DEEPSEEK_API_KEY"}},
		{Offer{Name: "xai", Kind: KindOpenAIChat, BaseURL: "https://api.x.ai/v1"}, []string{"XAI_API_KEY"}},
		{Offer{Name: "together", Kind: KindOpenAIChat, BaseURL: "https://api.together.ai/v1"}, []string{"TOGETHER_API_KEY"}},
		{Offer{Name: "cerebras", Kind: KindOpenAIChat, BaseURL: "https://api.cerebras.ai/v1"}, []string{"CEREBRAS_API_KEY"}},
	}
}

// bedrockEnv are the variables that show that AWS credentials are at hand. They
// are read by the AWS credential chain and never as an api_key.
var bedrockEnv = [...]string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"}

// Offers lists the well-known backends whose key is in the environment.
func Offers(env func(string) string) []Offer {
	var out []Offer
	for _, k := range keyed() {
		if i := slices.IndexFunc(k.env, func(name string) bool { return env(name) != "" }); i >= 0 {
			k.Env = k.env[i]
			out = append(out, k.Offer)
		}
	}
	for _, name := range bedrockEnv {
		if env(name) != "" {
			return append(out, Offer{Name: "bedrock", Kind: KindBedrockConverse, Env: name})
		}
	}
	return out
}

// Locals lists the servers that may run on this machine, on their usual ports.
// Whether they do is for the caller to find out.
func Locals() []Offer {
	return []Offer{
		{Name: "ollama", Kind: KindOllama, BaseURL: "http://127.0.0.1:11434"},
		{Name: "lmstudio", Kind: KindOpenAIChat, BaseURL: "http://127.0.0.1:1234/v1"},
		{Name: "llamacpp", Kind: KindOpenAIChat, BaseURL: "http://127.0.0.1:8080/v1"},
		{Name: "vllm", Kind: KindOpenAIChat, BaseURL: "http://127.0.0.1:8000/v1"},
	}
}

// wellKnown lists the providers that exist without being configured.
func wellKnown() map[string]Provider {
	out := map[string]Provider{
		offlineName: {Name: offlineName, Kind: KindOffline},
		"bedrock":   {Name: "bedrock", Kind: KindBedrockConverse},
	}
	for _, k := range keyed() {
		out[k.Name] = Provider{Name: k.Name, Kind: k.Kind, BaseURL: k.BaseURL, APIKey: "$" + k.env[0]}
	}
	for _, l := range Locals() {
		out[l.Name] = Provider{Name: l.Name, Kind: l.Kind, BaseURL: l.BaseURL}
	}
	return out
}

// vendorOf names the well-known provider whose address a kind has by default.
func vendorOf(k Kind) string {
	switch k {
	case KindOpenAIChat, KindOpenAIResponses:
		return "openai"
	case KindAnthropic:
		return "anthropic"
	case KindGemini:
		return "gemini"
	case KindOllama:
		return "ollama"
	case KindBedrockConverse:
		return "bedrock"
	case KindOffline:
		return offlineName
	}
	return ""
}

// The names of the built-in provider and agent, and the model they have.
const (
	offlineName  = "offline"
	offlineModel = "describe"
)

// complete fills in what entries leave to their name and kind, and adds the
// built-in ones.
func complete(cfg *Config) {
	known := wellKnown()
	for name, p := range cfg.Providers {
		cfg.Providers[name] = completeProvider(p, known)
	}
	for name, s := range cfg.MCPServers {
		switch {
		case s.Type != "":
		case s.Command != "":
			s.Type = TransportStdio
		case s.URL != "":
			s.Type = TransportHTTP
		}
		cfg.MCPServers[name] = s
	}
	if _, ok := cfg.Providers[offlineName]; !ok {
		cfg.Providers = with(cfg.Providers, offlineName, known[offlineName])
	}
	// A file may say something of the built-in agent without redefining it.
	a := cfg.Agents[offlineName]
	a.Name = offlineName
	if a.Provider == "" && a.Runner == "" {
		a.Provider = offlineName
	}
	if a.Provider == offlineName && a.Model == "" {
		a.Model = offlineModel
	}
	cfg.Agents = with(cfg.Agents, offlineName, a)
}

// completeProvider takes a vendor's key only together with the vendor's own address.
func completeProvider(p Provider, known map[string]Provider) Provider {
	k, ok := known[p.Name]
	if p.Kind == "" {
		p.Kind = k.Kind
	}
	if !ok || (k.Kind != p.Kind && vendorOf(p.Kind) != p.Name) {
		k = known[vendorOf(p.Kind)]
	}
	if p.BaseURL == "" {
		p.BaseURL = k.BaseURL
		if p.APIKey == "" && len(p.Headers) == 0 {
			p.APIKey = k.APIKey
		}
	}
	if r := &p.Faults.RefuseImages; r.Message != "" && r.Status == 0 {
		r.Status = refusalStatus
	}
	return p
}

// with returns a copy of the map with one entry set.
func with[V any](m map[string]V, name string, v V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[name] = v
	return out
}
