package profile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/profile"
)

var (
	chatWire      = profile.Wire{MaxField: "max_tokens", SystemRole: "system", Effort: "openai", NoStore: true}
	responsesWire = profile.Wire{Detail: "auto", Effort: "openai", NoSeed: true, NoEncryptedReasoning: true}
	claudeWire    = profile.Wire{
		KeyHeader: "x-api-key", Version: "2023-06-01", Effort: "budget", NoSeed: true, CachePoints: true, MaxOutput: 8192,
	}
	geminiWire  = profile.Wire{KeyHeader: "x-goog-api-key", Effort: "none"}
	bedrockWire = profile.Wire{Effort: "none", NoSeed: true}
	vision      = map[string]string{"Copilot-Vision-Request": "true"}
	levels      = map[string]string{"low": "low", "medium": "medium", "high": "high"}
	noLevels    = map[string]string{"none": "", "low": "", "medium": "", "high": ""}
)

type wireCase struct {
	kind, url, model string
	base             profile.Wire
	change           func(*profile.Wire)
}

// Servers that are not in the catalogue, or models that are not, so that the rows
// stand alone.
var wireRows = []wireCase{
	{"openai-chat", "https://llm.example.com/v1", "m", chatWire, nil},
	{"openai-chat", "http://127.0.0.1:1234/v1", "gpt-4o", chatWire, func(w *profile.Wire) {
		w.Effort, w.NoEncryptedReasoning = "none", true
	}},
	{"openai-chat", "http://127.0.0.1:11434/v1", "llava", chatWire, nil},
	{"openai-chat", "https://api.openai.com/v1", "made-up", chatWire, func(w *profile.Wire) {
		w.MaxField, w.NoStore = "max_completion_tokens", false
	}},
	{"openai-chat", "https://api.openai.com/v1", "gpt-5.4", chatWire, func(w *profile.Wire) {
		w.MaxField, w.NoStore, w.Detail = "max_completion_tokens", false, "high"
	}},
	{"openai-chat", "https://api.openai.com/v1", "gpt-6-sol", chatWire, func(w *profile.Wire) {
		w.MaxField, w.NoStore, w.Detail = "max_completion_tokens", false, "original"
	}},
	{"openai-chat", "https://api.openai.com/v1", "gpt-4o", chatWire, func(w *profile.Wire) {
		w.MaxField, w.NoStore, w.Detail, w.Effort, w.NoEncryptedReasoning = "max_completion_tokens", false, "high", "none", true
	}},
	{"openai-chat", "https://mine.openai.azure.com/openai/v1", "my-deployment", chatWire, func(w *profile.Wire) {
		w.MaxField, w.NoStore, w.KeyHeader = "max_completion_tokens", false, "api-key"
	}},
	{"openai-responses", "https://mine.openai.azure.com/openai/v1", "my-deployment", responsesWire, func(w *profile.Wire) {
		w.KeyHeader, w.NoEncryptedReasoning = "api-key", false
	}},
	{"openai-responses", "https://llm.example.com/v1", "m", responsesWire, nil},
	{"openai-responses", "https://api.openai.com/v1", "gpt-5.4", responsesWire, func(w *profile.Wire) {
		w.Detail, w.ImageCompression, w.NoEncryptedReasoning = "high", "disabled", false
	}},
	{"openai-responses", "https://api.openai.com/v1", "gpt-5.5", responsesWire, func(w *profile.Wire) {
		w.Detail, w.ImageCompression, w.NoEncryptedReasoning = "original", "disabled", false
	}},
	{"openai-responses", "https://api.openai.com/v1", "gpt-4o", responsesWire, func(w *profile.Wire) {
		w.Detail, w.ImageCompression, w.Effort = "high", "disabled", "none"
	}},
	{"openai-responses", "https://api.x.ai/v1", "grok-9", responsesWire, func(w *profile.Wire) { w.NoEncryptedReasoning = false }},
	{"openai-chat", "https://openrouter.ai/api/v1", "made/up", chatWire, func(w *profile.Wire) { w.Effort = "openrouter" }},
	{"openai-chat", "https://openrouter.ai/api/v1", "anthropic/claude-opus-9", chatWire, func(w *profile.Wire) {
		w.Effort, w.CachePoints = "openrouter", true
	}},
	{"openai-chat", "https://api.deepseek.com", "made-up", chatWire, func(w *profile.Wire) { w.Effort = "deepseek" }},
	{"openai-chat", "https://api.mistral.ai/v1", "made-up", chatWire, func(w *profile.Wire) {
		w.NoSeed, w.NoStreamOptions, w.Effort, w.CallIDs = true, true, "none", "nine"
	}},
	{"openai-chat", "http://127.0.0.1:8000/v1", "moonshotai/Kimi-K2.5", chatWire, func(w *profile.Wire) { w.CallIDs = "any" }},
	{"openai-chat", "https://api.scaleway.ai/v1", "made-up", chatWire, nil},
	{"openai-chat", "https://api.x.ai/v1", "grok-4", chatWire, nil},
	{"openai-chat", "https://api.groq.com/openai/v1", "made-up", chatWire, func(w *profile.Wire) { w.MaxField = "max_completion_tokens" }},
	{"openai-chat", "https://api.minimax.io/v1", "MiniMax-M3", chatWire, nil},
	{"openai-responses", "https://api.minimax.io/v1", "MiniMax-M3", responsesWire, func(w *profile.Wire) { w.Detail = "" }},
	{"openai-chat", "https://api.moonshot.ai/v1", "made-up", chatWire, nil},
	{"openai-chat", "https://api.z.ai/api/paas/v4", "made-up", chatWire, func(w *profile.Wire) { w.Effort = "zai" }},
	{"openai-chat", "https://api.githubcopilot.com", "made-up", chatWire, func(w *profile.Wire) { w.PictureHeaders = vision }},
	{"openai-responses", "https://api.business.githubcopilot.com", "made-up", responsesWire, func(w *profile.Wire) {
		w.PictureHeaders, w.NoEncryptedReasoning = vision, false
	}},
	{"anthropic", "https://api.individual.githubcopilot.com", "made-up", claudeWire, func(w *profile.Wire) {
		w.PictureHeaders, w.KeyHeader = vision, ""
	}},
	{"openai-responses", "https://api.meta.ai/v1", "made-up", responsesWire, nil},
	{"openai-chat", "https://integrate.api.nvidia.com/v1", "made-up", chatWire, nil},
	{"openai-chat", "https://api.xiaomimimo.com/v1", "made-up", chatWire, nil},
	{"openai-chat", "https://dashscope.aliyuncs.com/compatible-mode/v1", "made-up", chatWire, func(w *profile.Wire) { w.Effort = "qwen" }},
	{"openai-chat", "https://api.deepinfra.com/v1/openai", "made-up", chatWire, nil},
	{"openai-chat", "https://models.github.ai/inference", "made-up", chatWire, nil},
	{"openai-chat", "https://api.together.xyz/v1", "made-up", chatWire, func(w *profile.Wire) { w.Effort = "together" }},

	{"anthropic", "https://proxy.example.com", "m", claudeWire, nil},
	{"anthropic", "http://127.0.0.1:1234", "qwen3-vl", claudeWire, nil},
	{"anthropic", "https://proxy.example.com", "claude-opus-5-5", claudeWire, func(w *profile.Wire) { w.Effort = "adaptive" }},
	{"anthropic", "https://proxy.example.com", "claude-sonnet-4-6", claudeWire, func(w *profile.Wire) { w.Effort = "adaptive" }},
	{"anthropic", "https://proxy.example.com", "claude-sonnet-4-5", claudeWire, nil},
	{"anthropic", "https://proxy.example.com", "claude-3-5-haiku", claudeWire, func(w *profile.Wire) { w.Effort = "none" }},
	{"anthropic", "https://api.deepseek.com/anthropic", "deepseek-flash", claudeWire, nil},
	{"anthropic", "https://api.minimax.io/anthropic", "MiniMax-M2.1", claudeWire, nil},
	{"anthropic", "https://api.fireworks.ai/inference", "made-up", claudeWire, func(w *profile.Wire) { w.CachePoints = false }},
	{"anthropic", "https://openrouter.ai/api", "made/up", claudeWire, func(w *profile.Wire) { w.KeyHeader = "" }},

	{"bedrock-converse", "https://bedrock-runtime.us-east-1.amazonaws.com", "made-up", bedrockWire, nil},
	{"bedrock-converse", "", "us.anthropic.claude-opus-5-v9:0", bedrockWire, func(w *profile.Wire) {
		w.Effort, w.CachePoints, w.ResultStatus = "adaptive", true, true
	}},
	{"bedrock-converse", "", "anthropic.claude-sonnet-4-v9:0", bedrockWire, func(w *profile.Wire) {
		w.Effort, w.CachePoints, w.ResultStatus = "budget", true, true
	}},
	{"bedrock-converse", "", "anthropic.claude-3-haiku-v9:0", bedrockWire, func(w *profile.Wire) { w.ResultStatus = true }},
	{"bedrock-converse", "", "amazon.nova-pro-v9:0", bedrockWire, func(w *profile.Wire) {
		w.CachePoints, w.NoToolCache, w.ResultStatus = true, true, true
	}},
	{"bedrock-converse", "", "openai.gpt-oss-9", bedrockWire, func(w *profile.Wire) { w.Effort = "field" }},

	{"bedrock-converse", "", "amazon.nova-2-lite-v9:0", bedrockWire, func(w *profile.Wire) {
		w.Effort, w.CachePoints, w.NoToolCache, w.ResultStatus = "nova", true, true, true
	}},

	{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-made-up", geminiWire, func(w *profile.Wire) { w.Effort = "budget" }},
	{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-3-made-up", geminiWire, func(w *profile.Wire) {
		w.Effort, w.CallSignatures = "level", true
	}},
	{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-pro-latest", geminiWire, func(w *profile.Wire) { w.CallSignatures = true }},
	{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemma-9", geminiWire, nil},
	{"gemini", "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", "gemini-3.5-flash", geminiWire, func(w *profile.Wire) {
		w.KeyHeader, w.NoCallIDs, w.Effort, w.CallSignatures = "", true, "level", true
	}},
	{"gemini", "https://aiplatform.googleapis.com/v1/publishers/google", "gemini-2.5-pro", geminiWire, func(w *profile.Wire) {
		w.KeyHeader, w.NoCallIDs, w.Effort = "", true, "budget"
	}},

	{"ollama", "http://127.0.0.1:11434", "llava", profile.Wire{Effort: "think"}, nil},
	{"ollama", "https://ollama.com", "made-up", profile.Wire{Effort: "think"}, nil},
	{"cli-claude", "claude 2.1", "opus", profile.Wire{Effort: "none", NoSeed: true}, nil},
	{"no-such-kind", "https://api.openai.com/v1", "gpt-5", profile.Wire{}, nil},
}

func TestWireByServer(t *testing.T) {
	for _, tt := range wireRows {
		want := tt.base
		if tt.change != nil {
			tt.change(&want)
		}
		if diff := cmp.Diff(want, profile.WireOf(tt.kind, tt.url, tt.model)); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", tt.kind, tt.url, tt.model, diff)
		}
	}
}

// What the exact record says stands over the rows.
func TestWireByRecord(t *testing.T) {
	tests := []wireCase{
		{"anthropic", "https://api.anthropic.com", "claude-opus-4-6", claudeWire, func(w *profile.Wire) {
			w.Effort, w.MaxOutput = "adaptive", 128_000
		}},
		{"anthropic", "https://api.anthropic.com", "claude-haiku-4-5", claudeWire, func(w *profile.Wire) { w.MaxOutput = 64_000 }},
		{"anthropic", "https://api.minimax.io/anthropic", "MiniMax-M3.1-Flash", claudeWire, func(w *profile.Wire) {
			w.Effort, w.MaxOutput = "adaptive", 524_288
		}},
		{"openai-chat", "https://api.deepseek.com", "deepseek-flash", chatWire, func(w *profile.Wire) {
			w.Effort, w.ThoughtAlways = "deepseek", true
		}},
		{"openai-chat", "https://api.moonshot.ai/v1", "kimi-k2.6", chatWire, func(w *profile.Wire) {
			w.CallIDs = "any"
			w.Effort, w.EffortWords = "deepseek", noLevels
		}},
		{"openai-chat", "https://api.z.ai/api/coding/paas/v4", "glm-5.2", chatWire, func(w *profile.Wire) {
			w.Effort, w.EffortWords, w.Extra = "zai", levels, map[string]string{"tool_stream": "true"}
		}},
		{"openai-chat", "https://integrate.api.nvidia.com/v1", "google/gemma-3-12b-it", chatWire, func(w *profile.Wire) {
			w.Effort, w.NoEncryptedReasoning = "none", true
		}},
		{"openai-chat", "https://integrate.api.nvidia.com/v1", "z-ai/glm-5.3-flash", chatWire, func(w *profile.Wire) { w.Effort = "none" }},
		{"openai-chat", "https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5:batch", chatWire, func(w *profile.Wire) {
			w.Effort, w.CachePoints = "openrouter", true
		}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5-chat-latest", responsesWire, func(w *profile.Wire) {
			w.Effort, w.Detail, w.ImageCompression = "none", "high", "disabled"
		}},
		{"openai-chat", "https://api.openai.com/v1", "gpt-5-chat-latest", chatWire, func(w *profile.Wire) {
			w.Effort, w.Detail, w.MaxField, w.NoStore, w.NoEncryptedReasoning = "none", "high", "max_completion_tokens", false, true
		}},
	}
	for _, tt := range tests {
		want := tt.base
		tt.change(&want)
		if diff := cmp.Diff(want, profile.WireOf(tt.kind, tt.url, tt.model)); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", tt.kind, tt.url, tt.model, diff)
		}
	}
	fireworks := profile.WireOf("anthropic", "https://api.fireworks.ai/inference", "accounts/fireworks/models/ember-1")
	if fireworks.CachePoints || !fireworks.EmptySignatures || fireworks.Effort != "adaptive" {
		t.Errorf("%+v", fireworks)
	}
}

// Each quirk has its effect, also those that no record has at present.
func TestWireQuirks(t *testing.T) {
	rec := func(model string, flags map[string]bool, words map[string]string) profile.Record {
		return profile.Record{
			Provider: "example", Kind: "openai-chat", BaseURL: madeURL, Model: model, Reasoning: true,
			Quirks: profile.Quirks{Flags: flags, Words: words},
		}
	}
	file, err := profile.WriteCatalogue(profile.Meta{Source: "@example/models", Version: "1", Date: "2026-11-20"}, []profile.Record{
		rec("plain", nil, nil),
		rec("developer", map[string]bool{"supportsDeveloperRole": true, "supportsStore": false}, nil),
		rec("system", map[string]bool{"supportsDeveloperRole": false, "supportsStore": true}, nil),
		rec("usage", map[string]bool{"supportsUsageInStreaming": false}, nil),
		rec("mute", map[string]bool{"supportsReasoningEffort": false}, nil),
		rec("longest", nil, map[string]string{"maxTokensField": "max_completion_tokens", "thinkingFormat": "qwen"}),
		rec("switch", map[string]bool{"supportsReasoningEffort": true}, map[string]string{"thinkingFormat": "together"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for model, change := range map[string]func(*profile.Wire){
		"plain":     func(*profile.Wire) {},
		"developer": func(w *profile.Wire) { w.SystemRole = "developer" },
		"system":    func(*profile.Wire) {},
		"usage":     func(w *profile.Wire) { w.NoStreamOptions = true },
		"mute":      func(w *profile.Wire) { w.Effort = "none" },
		"longest":   func(w *profile.Wire) { w.MaxField, w.Effort = "max_completion_tokens", "qwen" },
		"switch":    func(w *profile.Wire) { w.Effort, w.EffortWords = "together", levels },
	} {
		want := chatWire
		change(&want)
		if diff := cmp.Diff(want, profile.WireFrom(file, "openai-chat", madeURL, model)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
}

// Every row changes something for somebody, so none stands there for nothing.
func TestWireRowsAreReached(t *testing.T) {
	reached := make([]int, profile.WireRows())
	for _, tt := range wireRows {
		for _, i := range profile.WireRowsOf(tt.kind, tt.url, tt.model) {
			reached[i]++
		}
	}
	for i, n := range reached {
		if n == 0 {
			t.Errorf("row %d is for nobody in this file", i)
		}
	}
}

// The maps of a Wire are the caller's own.
func TestWireIsTheCallersOwn(t *testing.T) {
	url, model := "https://api.z.ai/api/coding/paas/v4", "glm-5.2"
	w := profile.WireOf("openai-chat", url, model)
	w.Extra["tool_stream"], w.EffortWords["low"] = "changed", "changed"
	c := profile.WireOf("openai-chat", "https://api.githubcopilot.com", "m")
	c.PictureHeaders["Copilot-Vision-Request"] = "changed"
	if again := profile.WireOf("openai-chat", url, model); again.Extra["tool_stream"] != "true" || again.EffortWords["low"] != "low" {
		t.Errorf("%+v", again)
	}
	if again := profile.WireOf("openai-chat", "https://api.githubcopilot.com", "m"); again.PictureHeaders["Copilot-Vision-Request"] != "true" {
		t.Errorf("%+v", again)
	}
}

func BenchmarkWireOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		profile.WireOf("anthropic", "https://api.anthropic.com", "claude-opus-5")
	}
}
