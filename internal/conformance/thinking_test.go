package conformance_test

import (
	"slices"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// What a thinking model says in these tests.
const (
	thoughtText = "mark-thought"
	thoughtSign = "bWFyay1zaWduYXR1cmU="
	callSign    = "bWFyay1jYWxs"
	saidText    = "mark-said"
)

// thinkingCall is the call at the end of such an answer.
var thinkingCall = content.ToolCall{ID: "mark-think-call", Name: "read", Arguments: `{"path":"a"}`}

// chatThinking comes in the field that most servers use, with a signed call as
// Google's endpoint makes it.
func chatThinking() thinking {
	call := `{"index":0,"id":"` + thinkingCall.ID + `","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"},` +
		`"extra_content":{"google":{"thought_signature":"` + callSign + `"}}}`
	return thinking{
		reply: providertest.Events(
			providertest.Delta(`{"role":"assistant","reasoning_content":"mark-"}`), providertest.Delta(`{"reasoning_content":"thought"}`),
			providertest.Delta(`{"content":"`+saidText+`"}`), providertest.Delta(`{"tool_calls":[`+call+`]}`),
			providertest.End("tool_calls"), providertest.Done),
		text: thoughtText, call: callSign,
	}
}

func responsesThinking() thinking {
	const (
		think = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"` + thoughtText + `"}],"encrypted_content":"` + thoughtSign + `"}`
		said  = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + saidText + `","annotations":[]}]}`
		call  = `{"type":"function_call","id":"fc_1","status":"completed","call_id":"mark-think-call","name":"read","arguments":"{\"path\":\"a\"}"}`
	)
	return thinking{
		reply: providertest.Events(
			`{"type":"response.output_item.done","output_index":0,"item":`+think+`}`,
			`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"`+saidText+`"}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+said+`}`,
			`{"type":"response.output_item.done","output_index":2,"item":`+call+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[`+think+`,`+said+`,`+call+`]}}`),
		text: thoughtText, signature: thoughtSign,
	}
}

func anthropicThinking() thinking {
	u := providertest.AnthropicUsage{Input: 10, Output: 5, CacheRead: -1, CacheWrite: -1}
	return thinking{
		reply: providertest.AnthropicEvents(slices.Concat(
			[]string{providertest.AnthropicStart(u)}, providertest.AnthropicThinkingBlock(0, thoughtText, thoughtSign),
			providertest.AnthropicTextBlock(1, saidText), providertest.AnthropicCallBlock(2, thinkingCall), providertest.AnthropicEnd("tool_use", u))...),
		text: thoughtText, signature: thoughtSign,
	}
}

func geminiThinking() thinking {
	return thinking{
		reply: providertest.Events(
			providertest.GeminiChunk(`{"text":"`+thoughtText+`","thought":true,"thoughtSignature":"`+thoughtSign+`"}`),
			providertest.GeminiChunk(`{"text":"`+saidText+`"}`),
			providertest.GeminiChunk(`{"functionCall":{"id":"mark-think-call","name":"read","args":{"path":"a"}},"thoughtSignature":"`+callSign+`"}`),
			providertest.GeminiEnd("STOP", providertest.GeminiUsageJSON(providertest.Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}))),
		text: thoughtText, signature: thoughtSign, call: callSign,
	}
}

func ollamaThinking() thinking {
	return thinking{
		reply: providertest.Lines(
			providertest.OllamaLine(`{"role":"assistant","content":"","thinking":"`+thoughtText+`"}`),
			providertest.OllamaLine(`{"role":"assistant","content":"`+saidText+`"}`),
			providertest.OllamaLine(`{"role":"assistant","content":"","tool_calls":[{"id":"mark-think-call","function":{"index":0,"name":"read","arguments":{"path":"a"}}}]}`),
			providertest.OllamaEnd("stop", providertest.Usage{Prompt: 10, Completion: 5})),
		text: thoughtText,
	}
}

func converseThinking() thinking {
	block := func(i, delta string) [][]byte {
		return [][]byte{
			providertest.ConverseFrame("contentBlockDelta", `{"contentBlockIndex":`+i+`,"delta":`+delta+`}`),
		}
	}
	stop := func(i string) [][]byte {
		return [][]byte{providertest.ConverseFrame("contentBlockStop", `{"contentBlockIndex":`+i+`}`)}
	}
	frames := slices.Concat(
		[][]byte{providertest.ConverseFrame("messageStart", `{"role":"assistant"}`)},
		block("0", `{"reasoningContent":{"text":"`+thoughtText+`"}}`), block("0", `{"reasoningContent":{"signature":"`+thoughtSign+`"}}`), stop("0"),
		block("1", `{"text":"`+saidText+`"}`), stop("1"),
		[][]byte{providertest.ConverseFrame("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"mark-think-call","name":"read"}}}`)},
		block("2", `{"toolUse":{"input":"{\"path\":\"a\"}"}}`), stop("2"),
		[][]byte{
			providertest.ConverseFrame("messageStop", `{"stopReason":"tool_use"}`),
			providertest.ConverseFrame("metadata", `{"metrics":{"latencyMs":1},"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15}}`),
		})
	return thinking{
		reply: providertest.SignedBy(awsKey, providertest.ConverseFrames(frames...)),
		text:  thoughtText, signature: thoughtSign,
	}
}
