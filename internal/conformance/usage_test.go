package conformance_test

import (
	"fmt"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// A server that counts its own way: 3.6 bytes of a body's JSON are a token, base64
// left out, and every picture is so many more.
const (
	tenthsOfBytes = 36
	eachPicture   = 700
)

// tokensOf is what such a server counts for a request.
func tokensOf(l letter) int {
	n := len(l.body)
	for _, m := range l.media {
		n -= (len(m) + 2) / 3 * 4
	}
	return n*10/tenthsOfBytes + eachPicture*len(l.media)
}

// counted is the usage of a request of so many tokens.
func counted(tokens int) providertest.Usage {
	return providertest.Usage{Prompt: tokens, Completion: 5, Image: -1, Cached: -1}
}

// asks answers with a call, and with a usage that is true.
func (g *tongue) asks(u providertest.Usage, c content.ToolCall) providertest.Reply {
	switch g.kind {
	case "openai-chat":
		call := fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, c.ID, c.Name, spell(c.Arguments))
		return providertest.Events(providertest.Delta(call), providertest.End("tool_calls"), providertest.Report(u), providertest.Done)
	case "openai-responses":
		return providertest.ResponsesItems(u, providertest.ResponsesCall("fc_"+c.ID, c.ID, c.Name, c.Arguments))
	case "anthropic":
		of := providertest.AnthropicUsage{Input: u.Prompt, Output: u.Completion, CacheRead: 0, CacheWrite: 0}
		data := append([]string{providertest.AnthropicStart(of)}, providertest.AnthropicCallBlock(0, c)...)
		return providertest.AnthropicEvents(append(data, providertest.AnthropicEnd("tool_use", of)...)...)
	case "gemini":
		part := fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.ID, c.Name, c.Arguments)
		return providertest.Events(providertest.GeminiChunk(part), providertest.GeminiEnd("STOP", providertest.GeminiUsageJSON(u)))
	case "ollama":
		call := fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":%q,"function":{"index":0,"name":%q,"arguments":%s}}]}`, c.ID, c.Name, c.Arguments)
		return providertest.Lines(providertest.OllamaLine(call), providertest.OllamaEnd("stop", u))
	}
	return converseAsks(u, c)
}

func converseAsks(u providertest.Usage, c content.ToolCall) providertest.Reply {
	event := providertest.ConverseFrame
	return providertest.ConverseFrames(
		event("messageStart", `{"role":"assistant"}`),
		event("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":%q,"name":%q}}}`, c.ID, c.Name)),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":`+spell(c.Arguments)+`}}}`),
		event("contentBlockStop", `{"contentBlockIndex":0}`), event("messageStop", `{"stopReason":"tool_use"}`),
		event("metadata", fmt.Sprintf(`{"metrics":{"latencyMs":1},"usage":{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d}}`, u.Prompt, u.Completion, u.Prompt+u.Completion)))
}
