package openai

import (
	"strconv"

	"tote/internal/provider"
)

// EffortForm is how a server wants to be told how hard to think. The words are
// those of the catalogue's quirk "thinkingFormat", so that they can be taken
// over as they stand. A form that is not known here sends nothing.
type EffortForm string

// The forms. They are spelled as the catalogue's own client spells them
// (github.com/earendil-works/pi, packages/ai, read 2026-11-30); OpenAI's and
// OpenRouter's also stand at https://platform.openai.com/docs/api-reference/chat/create
// and https://openrouter.ai/docs/use-cases/reasoning-tokens (read 2026-11-30).
const (
	// EffortOff sends nothing, on every wire.
	EffortOff EffortForm = "none"
	// EffortOpenAI is "reasoning_effort" on Chat Completions and "reasoning"
	// with an effort and a summary on Responses.
	EffortOpenAI EffortForm = "openai"
	// EffortOpenRouter is "reasoning" with an effort alone.
	EffortOpenRouter EffortForm = "openrouter"
	// EffortDeepSeek is a "thinking" switch beside "reasoning_effort".
	EffortDeepSeek EffortForm = "deepseek"
	// EffortZAI, EffortQwen, EffortTogether and EffortBaseten are a switch.
	// "reasoning_effort" stands beside it where EffortWords has a word.
	EffortZAI      EffortForm = "zai"
	EffortQwen     EffortForm = "qwen"
	EffortTogether EffortForm = "together"
	EffortBaseten  EffortForm = "baseten"
	// EffortQwenTemplate is the same switch as an argument of the template
	// that vLLM and SGLang fill.
	EffortQwenTemplate EffortForm = "qwen-chat-template"
	// EffortAntLing is "reasoning" with a word of EffortWords; there is no
	// way to switch thinking off.
	EffortAntLing EffortForm = "ant-ling"
	// EffortString is "thinking" with a word.
	EffortString EffortForm = "string-thinking"
)

// chatEffort returns the members of a chat request that ask for an effort, by
// name.
func chatEffort(form EffortForm, e provider.Effort, words map[string]string) map[string]string {
	if e == provider.EffortDefault {
		return nil
	}
	word, own := effortWord(e, words)
	on := strconv.FormatBool(e != provider.EffortNone)
	beside, ownBeside := word, own // there is no word beside a switch that is off
	if e == provider.EffortNone {
		beside, ownBeside = "", ""
	}
	switch form {
	case EffortOpenAI:
		return withWord(nil, word)
	case EffortOpenRouter:
		return effortObject(word)
	case EffortAntLing:
		return effortObject(ownBeside)
	case EffortString:
		if word == "" {
			return nil
		}
		return map[string]string{"thinking": quoted(word)}
	case EffortDeepSeek:
		return withWord(map[string]string{"thinking": thinkingSwitch(e)}, beside)
	case EffortZAI:
		return withWord(map[string]string{"thinking": thinkingSwitch(e)}, ownBeside)
	case EffortQwen:
		return withWord(map[string]string{"enable_thinking": on}, ownBeside)
	case EffortTogether:
		return withWord(map[string]string{"reasoning": `{"enabled":` + on + `}`}, ownBeside)
	case EffortBaseten:
		return withWord(map[string]string{"chat_template_args": `{"enable_thinking":` + on + `}`}, own)
	case EffortQwenTemplate:
		return map[string]string{"chat_template_kwargs": `{"enable_thinking":` + on + `}`}
	case EffortOff:
	}
	return nil
}

// responsesEffort returns the members of a Responses request that ask for an
// effort, by name.
func responsesEffort(form EffortForm, e provider.Effort, words map[string]string) map[string]string {
	word, _ := effortWord(e, words)
	if word == "" {
		return nil
	}
	switch form {
	case "", EffortOpenAI:
		if e == provider.EffortNone { // there will be nothing to sum up
			return effortObject(word)
		}
		return map[string]string{"reasoning": `{"effort":` + quoted(word) + `,"summary":"auto"}`}
	case EffortOpenRouter:
		return effortObject(word)
	case EffortOff, EffortDeepSeek, EffortZAI, EffortQwen, EffortTogether, EffortBaseten, EffortQwenTemplate, EffortAntLing, EffortString:
	}
	return nil
}

// effortWord is the model's word for an effort. own is the same where the
// configuration has one, else "".
func effortWord(e provider.Effort, words map[string]string) (word, own string) {
	if w, ok := words[e.String()]; ok {
		return w, w
	}
	return e.String(), ""
}

func effortObject(word string) map[string]string {
	if word == "" {
		return nil
	}
	return map[string]string{"reasoning": `{"effort":` + quoted(word) + `}`}
}

func withWord(members map[string]string, word string) map[string]string {
	if word == "" {
		return members
	}
	if members == nil {
		members = map[string]string{}
	}
	members["reasoning_effort"] = quoted(word)
	return members
}

func thinkingSwitch(e provider.Effort) string {
	if e == provider.EffortNone {
		return `{"type":"disabled"}`
	}
	return `{"type":"enabled"}`
}

func quoted(s string) string { return string(provider.AppendString(nil, s)) }
