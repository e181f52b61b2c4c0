package profile

import "slices"

// This file is data: how servers want their protocols spelled. Each row names its
// source, all read on the day readOn. Where none is named, the row is the
// protocol's own description, which servers.go and tables.go cite.

// wireRow changes how a protocol is spelled.
type wireRow struct {
	kinds []string
	// hosts as in serverRow, nil for all; models as in families, nil for all.
	hosts, models []string
	set           wireSet
}

var (
	openAIHosts = append([]string{"api.openai.com"}, azureHosts...)

	bothOpenAI = []string{kindChat, kindResponses}
	bothClaude = []string{kindAnthropic, kindConverse}

	// detailModels are shrunk to what "high" keeps, and "auto" may take less.
	detailModels = []string{
		"gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4.5", "o1", "o3", "o4-mini", "gpt-5", "gpt-5-mini",
		"gpt-5-nano", "gpt-5-codex", "gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano",
	}
	// adaptiveClaude are the models that decide themselves how much to think.
	adaptiveClaude = []string{
		"claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-4-6", "claude-sonnet-5",
		"claude-haiku-5", "claude-fable", "claude-mythos", "claude-opus-4.6", "claude-opus-4.7", "claude-opus-4.8", "claude-opus-5.",
		"claude-sonnet-4.6", "claude-sonnet-5.", "claude-haiku-5.",
	}
	// budgetClaude are told how many tokens to think.
	budgetClaude = []string{
		"claude-3-7", "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5", "claude-sonnet-4", "claude-sonnet-4-5", "claude-haiku-4",
		"claude-opus-4.1", "claude-opus-4.5", "claude-sonnet-4.5", "claude-haiku-4.5",
	}
)

// wires are applied in order; what comes later wins.
var wires = [...]wireRow{
	// What OpenAI described first is what most servers know: "max_tokens" and
	// "system", no "store".
	{kinds: []string{kindChat, kindOffline}, set: wireSet{maxField: "max_tokens", systemRole: "system", effort: EffortOpenAI, noStore: TriYes}},
	// The part of a picture has a detail in servers' types, and there is no seed.
	// Encrypted reasoning is OpenAI's own.
	{kinds: []string{kindResponses}, set: wireSet{detail: "auto", effort: EffortOpenAI, noSeed: TriYes, noEncrypted: TriYes}},
	// https://docs.anthropic.com/en/api/versioning and …/build-with-claude/prompt-caching.
	// The longest answer is a number that every model since Claude 3.5 takes.
	{kinds: []string{kindAnthropic}, set: wireSet{
		keyHeader: "x-api-key", version: "2023-06-01", effort: EffortBudget, noSeed: TriYes, cachePoints: TriYes, maxOutput: 8192,
	}},
	{kinds: []string{kindConverse}, set: wireSet{effort: EffortNone, noSeed: TriYes}},
	// https://ai.google.dev/api/generate-content
	{kinds: []string{kindGemini}, set: wireSet{keyHeader: "x-goog-api-key", effort: EffortNone}},
	// https://github.com/ollama/ollama/blob/main/docs/api.md
	{kinds: []string{kindOllama}, set: wireSet{effort: EffortThink}},
	// A runner has its own ways.
	{kinds: []string{kindCLIClaude, kindCLICodex, kindCLIGemini, kindCLICustom}, set: wireSet{effort: EffortNone, noSeed: TriYes}},

	// "max_tokens" is deprecated, and refused by models that think:
	// https://platform.openai.com/docs/api-reference/chat/create
	{kinds: []string{kindChat}, hosts: openAIHosts, set: wireSet{maxField: "max_completion_tokens", noStore: TriNo}},
	// https://learn.microsoft.com/azure/ai-services/openai/reference
	{kinds: bothOpenAI, hosts: azureHosts, set: wireSet{keyHeader: "api-key"}},
	// A picture must not lose detail because a server finds that it may:
	// https://platform.openai.com/docs/guides/images-vision
	{kinds: bothOpenAI, hosts: []string{"api.openai.com"}, models: detailModels, set: wireSet{detail: "high"}},
	{
		kinds: bothOpenAI, hosts: []string{"api.openai.com"}, models: []string{"gpt-5.5", "gpt-5.6", "gpt-6", "gpt-6."},
		set: wireSet{detail: "original"},
	},
	// https://platform.openai.com/docs/api-reference/responses/create
	{kinds: []string{kindResponses}, hosts: []string{"api.openai.com"}, set: wireSet{compression: "disabled"}},
	// https://platform.openai.com/docs/guides/reasoning,
	// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses,
	// https://docs.x.ai/docs/guides/reasoning; the others pass OpenAI's on.
	{
		kinds: []string{kindResponses},
		hosts: append([]string{"api.x.ai", "gateway.ai.cloudflare.com", "opencode.ai", "openrouter.ai"}, append(copilotHosts, openAIHosts...)...),
		set:   wireSet{noEncrypted: TriNo},
	},
	// "Encrypted content is not supported with this model", and neither is an
	// effort.
	{
		kinds: bothOpenAI, models: []string{"gpt-3.5", "gpt-3.5-", "gpt-4", "gpt-4-", "gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4.5"},
		set: wireSet{effort: EffortNone, noEncrypted: TriYes},
	},

	// What it does not know it refuses (mistralai/platform-docs-public#7): the
	// seed is "random_seed", usage comes by itself (posit-dev/chatlas#145).
	{kinds: []string{kindChat}, hosts: []string{"api.mistral.ai"}, set: wireSet{noSeed: TriYes, noStreamOptions: TriYes, effort: EffortNone, callIDs: "nine"}},
	// It reads the name of the function from "functions.name:0", and falls silent
	// where the id is another
	// (https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md).
	{kinds: []string{kindChat}, models: []string{"kimi-", "Kimi-"}, set: wireSet{callIDs: "any"}},
	// https://console.groq.com/docs/api-reference and
	// https://inference-docs.cerebras.ai/api-reference/chat-completions
	{kinds: []string{kindChat}, hosts: []string{"api.groq.com", "api.cerebras.ai"}, set: wireSet{maxField: "max_completion_tokens"}},
	// Any detail but "low", "default" and "high" is refused with 2013
	// (lobehub/lobe-chat#17252).
	{kinds: bothOpenAI, hosts: minimaxHosts, set: wireSet{detail: clearWord}},
	// "missing required Copilot-Vision-Request header" (microsoft/vscode#292901).
	// It also wants the headers of an editor that it knows; those are for the
	// user to set, since tote is none.
	{
		kinds: []string{kindChat, kindResponses, kindAnthropic}, hosts: copilotHosts,
		set: wireSet{keyHeader: clearWord, pictureHeaders: map[string]string{"Copilot-Vision-Request": "true"}},
	},
	// https://openrouter.ai/docs/community/anthropic-agent-sdk
	{kinds: []string{kindAnthropic}, hosts: []string{"openrouter.ai"}, set: wireSet{keyHeader: clearWord}},
	// https://openrouter.ai/docs/use-cases/reasoning-tokens
	{kinds: []string{kindChat}, hosts: []string{"openrouter.ai"}, set: wireSet{effort: "openrouter"}},
	// https://openrouter.ai/docs/features/prompt-caching
	{kinds: []string{kindChat}, hosts: []string{"openrouter.ai"}, models: []string{"claude-"}, set: wireSet{cachePoints: TriYes}},
	// https://docs.fireworks.ai/tools-sdks/anthropic-compatibility
	{kinds: []string{kindAnthropic}, hosts: []string{"api.fireworks.ai"}, set: wireSet{cachePoints: TriNo}},
	// How these switch thinking on where no record says it:
	// https://api-docs.deepseek.com/guides/thinking_mode, https://docs.z.ai/guides/capabilities/thinking-mode,
	// https://www.alibabacloud.com/help/en/model-studio/deep-thinking, https://docs.together.ai/docs/reasoning-overview
	{kinds: []string{kindChat}, hosts: []string{"api.deepseek.com"}, set: wireSet{effort: "deepseek"}},
	{kinds: []string{kindChat}, hosts: []string{"api.z.ai", "open.bigmodel.cn"}, set: wireSet{effort: "zai"}},
	{
		kinds: []string{kindChat},
		hosts: []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com", ".maas.qianwenaiapi.com", ".maas.qwencloudapi.com"},
		set:   wireSet{effort: "qwen"},
	},
	{kinds: []string{kindChat}, hosts: []string{"api.together.ai", "api.together.xyz"}, set: wireSet{effort: "together"}},

	// Vertex takes a token of the account, and refuses ids of calls.
	{kinds: []string{kindGemini}, hosts: vertexHosts, set: wireSet{keyHeader: clearWord, noCallIDs: TriYes}},
	// https://ai.google.dev/gemini-api/docs/thinking and …/thought-signatures
	{kinds: []string{kindGemini}, models: []string{"gemini-2.5-"}, set: wireSet{effort: EffortBudget}},
	{kinds: []string{kindGemini}, models: gemini3, set: wireSet{effort: EffortLevel, callSignatures: TriYes}},
	// Names that stand for the newest model of a line.
	{
		kinds: []string{kindGemini}, models: []string{"gemini-pro-latest", "gemini-flash-latest", "gemini-flash-lite-latest"},
		set: wireSet{callSignatures: TriYes},
	},

	// https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking and
	// …/extended-thinking
	{kinds: bothClaude, models: budgetClaude, set: wireSet{effort: EffortBudget}},
	{kinds: bothClaude, models: []string{"claude-3-haiku", "claude-3-opus", "claude-3-sonnet", "claude-3-5"}, set: wireSet{effort: EffortNone}},
	{kinds: bothClaude, models: adaptiveClaude, set: wireSet{effort: EffortAdaptive}},
	// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
	{kinds: []string{kindConverse}, models: append(slices.Clone(adaptiveClaude), budgetClaude...), set: wireSet{cachePoints: TriYes}},
	{kinds: []string{kindConverse}, models: []string{"nova-"}, set: wireSet{cachePoints: TriYes, noToolCache: TriYes}},
	// https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html and
	// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
	{kinds: []string{kindConverse}, models: []string{"nova-2-"}, set: wireSet{effort: EffortNova}},
	{kinds: []string{kindConverse}, models: []string{"gpt-oss-"}, set: wireSet{effort: EffortField}},
	// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html
	{kinds: []string{kindConverse}, models: []string{"claude-", "nova-"}, set: wireSet{resultStatus: TriYes}},
}

// switches are the forms that switch thinking on and off and know no word for how
// much of it by themselves.
var switches = []string{"zai", "qwen", "together", "baseten"}

// quirkSets are what the quirks of an exact record change. They have the names
// that the source gives them.
var quirkSets = [...]quirkRow{
	{flag: "supportsStore=false", set: wireSet{noStore: TriYes}},
	{flag: "supportsDeveloperRole=true", set: wireSet{systemRole: "developer"}},
	{flag: "supportsUsageInStreaming=false", set: wireSet{noStreamOptions: TriYes}},
	{flag: "supportsCacheControlOnTools=false", set: wireSet{noToolCache: TriYes}},
	{word: "cacheControlFormat=anthropic", set: wireSet{cachePoints: TriYes}},
	{flag: "forceAdaptiveThinking=true", set: wireSet{effort: EffortAdaptive}},
	{flag: "allowEmptySignature=true", set: wireSet{emptySignatures: TriYes}},
	{flag: "requiresReasoningContentOnAssistantMessages=true", set: wireSet{thoughtAlways: TriYes}},
	// Without it the arguments of a call come in one piece, after a silence that
	// looks like a broken connection: https://docs.z.ai/guides/capabilities/stream-tool
	{flag: "zaiToolStream=true", set: wireSet{extra: map[string]string{"tool_stream": "true"}}},
	{flag: "supportsReasoningEffort=false", efforts: []string{EffortOpenAI}, set: wireSet{effort: EffortNone}},
	{
		flag: "supportsReasoningEffort=false", efforts: []string{"deepseek"},
		set: wireSet{effortWords: map[string]string{"none": "", "low": "", "medium": "", "high": ""}},
	},
	{
		flag: "supportsReasoningEffort=true", efforts: switches,
		set: wireSet{effortWords: map[string]string{"low": "low", "medium": "medium", "high": "high"}},
	},
}

// thoughtless is for a model that cannot be asked to think.
var thoughtless = wireSet{effort: EffortNone, noEncrypted: TriYes}
