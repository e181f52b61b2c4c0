package config

import (
	"slices"
	"strings"
)

// Offer is a well-known backend that can be used without being configured, as
// the provider part of PROVIDER/MODEL.
type Offer struct {
	Name    string // of the provider
	Kind    Kind   // the protocol it speaks
	BaseURL string // empty where the region or the user decides
	Env     string // the variable that holds the key; empty for a local server
	// Needs names the member that has to be configured before it can be used,
	// empty for none.
	Needs string
}

// vendor is a backend that is known by its name. Its kind is the protocol under
// which the catalogue lists most of its models.
type vendor struct {
	name string
	kind Kind
	urls []spoken // its addresses, as the catalogue spells them
	env  []string // the variables that hold its key; the first that is set counts
	// signs are variables which show that credentials are at hand. They are read
	// elsewhere and are never sent as a key.
	signs []string
	// needs is the member that the user has to give.
	needs string
}

// spoken is the address where a protocol is spoken.
type spoken struct {
	kind Kind
	url  string
}

// url is the vendor's address for a protocol, "" where it has none.
func (v vendor) url(k Kind) string {
	i := slices.IndexFunc(v.urls, func(s spoken) bool { return s.kind == k })
	if i < 0 {
		return ""
	}
	return v.urls[i].url
}

// vendors lists the well-known backends. The protocol's paths (/chat/completions,
// /responses, /v1/messages, /models/…, /api/chat) are appended by the adapter.
// Addresses and variables as in the vendors' reference pages, read 2026-11-30:
// platform.openai.com/docs/api-reference, docs.anthropic.com/en/api,
// ai.google.dev/api, ai.google.dev/gemini-api/docs/openai, openrouter.ai/docs,
// console.groq.com/docs/openai, docs.mistral.ai/api, api-docs.deepseek.com,
// docs.x.ai/docs/api-reference, docs.together.ai/docs/openai-api-compatibility,
// inference-docs.cerebras.ai, platform.moonshot.ai/docs, docs.z.ai/devpack,
// platform.minimax.io/docs, learn.microsoft.com/azure/ai-foundry/openai,
// docs.github.com/copilot/how-tos/copilot-cli.
func vendors() []vendor {
	const chat, responses = KindOpenAIChat, KindOpenAIResponses
	both := func(url string) []spoken { return []spoken{{chat, url}, {responses, url}} }
	return []vendor{
		{name: "openai", kind: responses, urls: both("https://api.openai.com/v1"), env: []string{"OPENAI_API_KEY"}},
		{name: "anthropic", kind: KindAnthropic, urls: []spoken{{KindAnthropic, "https://api.anthropic.com"}}, env: []string{"ANTHROPIC_API_KEY"}},
		{name: "gemini", kind: KindGemini, urls: []spoken{
			{KindGemini, "https://generativelanguage.googleapis.com/v1beta"},
			{chat, "https://generativelanguage.googleapis.com/v1beta/openai"},
		}, env: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
		{name: "openrouter", kind: chat, urls: []spoken{
			{chat, "https://openrouter.ai/api/v1"}, {responses, "https://openrouter.ai/api/v1"}, {KindAnthropic, "https://openrouter.ai/api"},
		}, env: []string{"OPENROUTER_API_KEY"}},
		{name: "groq", kind: chat, urls: both("https://api.groq.com/openai/v1"), env: []string{"GROQ_API_KEY"}},
		{name: "mistral", kind: chat, urls: []spoken{{chat, "https://api.mistral.ai/v1"}}, env: []string{"MISTRAL_API_KEY"}},
		{name: "deepseek", kind: chat, urls: []spoken{
			{chat, "https://api.deepseek.com"}, {KindAnthropic, "https://api.deepseek.com/anthropic"},
		}, env: []string{"DEEPSEEK_API_KEY"}},
		{name: "xai", kind: responses, urls: both("https://api.x.ai/v1"), env: []string{"XAI_API_KEY"}},
		{name: "moonshot", kind: chat, urls: []spoken{
			{chat, "https://api.moonshot.ai/v1"}, {KindAnthropic, "https://api.moonshot.ai/anthropic"},
		}, env: []string{"MOONSHOT_API_KEY"}},
		{name: "zai", kind: chat, urls: []spoken{
			{chat, "https://api.z.ai/api/coding/paas/v4"}, {KindAnthropic, "https://api.z.ai/api/anthropic"},
		}, env: []string{"ZAI_API_KEY"}},
		{name: "minimax", kind: KindAnthropic, urls: []spoken{
			{KindAnthropic, "https://api.minimax.io/anthropic"}, {chat, "https://api.minimax.io/v1"},
		}, env: []string{"MINIMAX_API_KEY"}},
		// The token is sent as it is: nothing here logs in or renews it.
		{name: "copilot", kind: responses, urls: []spoken{
			{chat, "https://api.individual.githubcopilot.com"},
			{responses, "https://api.individual.githubcopilot.com"},
			{KindAnthropic, "https://api.individual.githubcopilot.com"},
		}, env: []string{"COPILOT_GITHUB_TOKEN"}},
		{name: "together", kind: chat, urls: []spoken{{chat, "https://api.together.ai/v1"}}, env: []string{"TOGETHER_API_KEY"}},
		{name: "cerebras", kind: chat, urls: []spoken{{chat, "https://api.cerebras.ai/v1"}}, env: []string{"CEREBRAS_API_KEY"}},
		// Every user has an address of his own, and anybody can have one, so the
		// key does not go there unless the user says so.
		{name: "azure", kind: chat, signs: []string{"AZURE_OPENAI_API_KEY"}, needs: "base_url"},
		{
			name: "bedrock", kind: KindBedrockConverse, urls: []spoken{{KindBedrockConverse, ""}},
			signs: []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"},
		},
		{name: offlineName, kind: KindOffline, urls: []spoken{{KindOffline, ""}}},
	}
}

// locals lists the servers that may run on this machine, on their usual ports.
func locals() []vendor {
	server := func(name, root string) vendor {
		return vendor{name: name, kind: KindOpenAIChat, urls: []spoken{
			{KindOpenAIChat, root + "/v1"}, {KindOpenAIResponses, root + "/v1"}, {KindAnthropic, root},
		}}
	}
	ollama := server("ollama", "http://127.0.0.1:11434")
	ollama.kind, ollama.urls = KindOllama, append(ollama.urls, spoken{KindOllama, "http://127.0.0.1:11434"})
	return []vendor{
		ollama, server("lmstudio", "http://127.0.0.1:1234"), server("llamacpp", "http://127.0.0.1:8080"), server("vllm", "http://127.0.0.1:8000"),
	}
}

// azureHint is an address as Azure gives one.
const azureHint = "https://RESOURCE.openai.azure.com/openai/v1"

func (v vendor) offer(env string) Offer {
	return Offer{Name: v.name, Kind: v.kind, BaseURL: v.url(v.kind), Env: env, Needs: v.needs}
}

// Offers lists the well-known backends whose key is in the environment.
func Offers(env func(string) string) []Offer {
	var out []Offer
	for _, v := range vendors() {
		names := slices.Concat(v.env, v.signs)
		if i := slices.IndexFunc(names, func(name string) bool { return env(name) != "" }); i >= 0 {
			out = append(out, v.offer(names[i]))
		}
	}
	return out
}

// Locals lists the servers that may run on this machine, on their usual ports.
// Whether they do is for the caller to find out.
func Locals() []Offer {
	var out []Offer
	for _, v := range locals() {
		out = append(out, v.offer(""))
	}
	return out
}

// RunnerOffer is a command-line agent that is installed.
type RunnerOffer struct {
	// Agent runs it. Its name is that of the runner.
	Agent Agent
	// Program is where it was found.
	Program string
}

// Runners lists the command-line agents that are installed. lookPath is
// exec.LookPath or a fake: a program in the working folder, for which that one
// returns an error, is not offered.
func Runners(lookPath func(string) (string, error)) []RunnerOffer {
	var out []RunnerOffer
	for _, r := range []Runner{RunnerClaude, RunnerCodex, RunnerGemini} {
		if program, err := lookPath(string(r)); err == nil {
			out = append(out, RunnerOffer{Agent: Agent{Name: string(r), Runner: r}, Program: program})
		}
	}
	return out
}

// vendorNamed finds a well-known backend.
func vendorNamed(name string) (vendor, bool) {
	all := slices.Concat(vendors(), locals())
	i := slices.IndexFunc(all, func(v vendor) bool { return v.name == name })
	if i < 0 {
		return vendor{}, false
	}
	return all[i], true
}

// vendorOf is the backend whose address a kind has by default.
func vendorOf(k Kind) (vendor, bool) {
	switch k {
	case KindOpenAIChat, KindOpenAIResponses:
		return vendorNamed("openai")
	case KindAnthropic:
		return vendorNamed("anthropic")
	case KindGemini:
		return vendorNamed("gemini")
	case KindOllama:
		return vendorNamed("ollama")
	case KindBedrockConverse:
		return vendorNamed("bedrock")
	case KindOffline:
		return vendorNamed(offlineName)
	}
	return vendor{}, false
}

// provider is the well-known backend as if it had been configured by its name.
func (v vendor) provider() Provider {
	return completeProvider(Provider{Name: v.name})
}

// bedrockURL is the address of Bedrock in a region, "" where the AWS rules have
// to be asked: docs.aws.amazon.com/general/latest/gr/bedrock.html, read 2026-11-30.
func bedrockURL(region string) string {
	suffix := ".amazonaws.com"
	switch {
	case region == "", strings.HasPrefix(region, "us-iso"):
		return ""
	case strings.HasPrefix(region, "cn-"):
		suffix = ".amazonaws.com.cn"
	case strings.HasPrefix(region, "eusc-"):
		suffix = ".amazonaws.eu"
	}
	return "https://bedrock-runtime." + region + suffix
}
