package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/provider"
	totechat "tote/internal/provider/openai"
)

const (
	base = "https://api.openai.com/v1"
	key  = "sk-test"
)

func options(w *sdk.Wire) provider.Options {
	return provider.Options{BaseURL: base, Transport: w, Key: func() (string, error) { return key, nil }}
}

// settings are the SDK's own options. Its services are made one by one, since its
// client would also look into the environment.
func settings(w *sdk.Wire) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(base), option.WithAPIKey(key), option.WithHTTPClient(w.Client()), option.WithMaxRetries(0)}
}

// heads are the headers that both clients have to send alike.
var heads = []string{"Content-Type", "Authorization"}

func respellChat(body []byte) ([]byte, error) {
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	return json.Marshal(params)
}

// streams is the member that the SDK's client adds by itself.
var streams = sdk.Exception{
	Place: ".stream", How: "does not know",
	Reason: "the SDK's client sets it for a stream, after the parameters; the next comparison has it",
}

// chat holds the next request of a conversation against the SDK, sends it by both
// clients, and returns the answer.
func chat(t *testing.T, s *sdk.Stage, e provider.Effort, model string, answer []byte) sdk.Reply {
	t.Helper()
	config := totechat.Config{
		Model: model, Detail: s.Wire.Detail, System: s.Wire.SystemRole, NoSeed: s.Wire.NoSeed, NoStreamOptions: s.Wire.NoStreamOptions,
		EffortForm: totechat.EffortForm(s.Wire.Effort), EffortWords: s.Wire.EffortWords, ThoughtAlways: s.Wire.ThoughtAlways,
		CachePoints: s.Wire.CachePoints,
	}
	if s.Wire.MaxField == "max_tokens" {
		config.MaxField = totechat.MaxTokens
	}
	w := sdk.NewWire(t, "text/event-stream", answer)
	p := totechat.New(options(w), config)
	body, data := sdk.Body(t, p, s.Request(t, e))
	theirs, err := respellChat(data)
	if err != nil {
		t.Fatal(err)
	}
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, data), sdk.Tree(t, theirs)), streams)

	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(data, &params); err != nil {
		t.Fatal(err)
	}
	c := openai.NewChatCompletionService(settings(w)...)
	stream := c.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	var usage openai.CompletionUsage // the accumulator adds up a part of it only
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatal("the SDK refuses a chunk")
		}
		if stream.Current().JSON.Usage.Valid() {
			usage = stream.Current().Usage
		}
	}
	acc.Usage = usage
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	sent := w.Last(t)
	sdk.Heads(t, ours, sent, heads...)
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, ours.Body), sdk.Tree(t, sent.Body)))
	sdk.Same(t, reply, chatAnswer(t, &acc))
	return reply
}

func chatAnswer(t *testing.T, acc *openai.ChatCompletionAccumulator) sdk.Answer {
	t.Helper()
	if len(acc.Choices) != 1 {
		t.Fatalf("the SDK has %d choices", len(acc.Choices))
	}
	c := acc.Choices[0]
	in, out := acc.Usage.PromptTokensDetails, acc.Usage.CompletionTokensDetails
	a := sdk.Answer{
		Text: c.Message.Content + c.Message.Refusal,
		Usage: content.Usage{
			Input: content.Reported(acc.Usage.PromptTokens), Output: content.Reported(acc.Usage.CompletionTokens),
			Cached: content.Reported(in.CachedTokens), CacheWrite: content.Reported(in.CacheWriteTokens),
			Reasoning: content.Reported(out.ReasoningTokens), Image: content.Reported(in.ImageTokens), Audio: content.Reported(in.AudioTokens),
		},
	}
	for _, call := range c.Message.ToolCalls {
		a.Calls = append(a.Calls, sdk.Call{ID: call.ID, Name: call.Function.Name, Arguments: sdk.Tree(t, []byte(call.Function.Arguments))})
	}
	switch c.FinishReason {
	case "stop", "tool_calls":
		a.Stop = content.StopEndTurn
	case "length":
		a.Stop = content.StopMaxTokens
	case "content_filter":
		a.Stop = content.StopRefusal
	}
	if c.Message.Refusal != "" {
		a.Stop = content.StopRefusal
	}
	return a
}

type (
	chunkDelta = openai.ChatCompletionChunkChoiceDelta
	chunkCall  = openai.ChatCompletionChunkChoiceDeltaToolCall
	chunkFunc  = openai.ChatCompletionChunkChoiceDeltaToolCallFunction
)

// chunks spells an answer of Chat Completions in the SDK's own types.
func chunks(t *testing.T, finish string, deltas ...chunkDelta) []byte {
	t.Helper()
	chunk := openai.ChatCompletionChunk{ID: "chatcmpl-1", Created: 1_790_000_000, Model: "gpt-5.4", Object: "chat.completion.chunk"}
	var events [][2]string
	add := func(usage *openai.CompletionUsage, choices ...openai.ChatCompletionChunkChoice) {
		chunk.Choices = choices
		tree, ok := sdk.Lean(sdk.Tree(t, sdk.JSON(t, chunk))).(map[string]any)
		if !ok {
			t.Fatal("a chunk is no object")
		}
		if delete(tree, "usage"); usage != nil {
			tree["choices"] = []any{}
			tree["usage"] = usage
		}
		events = append(events, [2]string{"", string(sdk.JSON(t, tree))})
	}
	for _, d := range deltas {
		add(nil, openai.ChatCompletionChunkChoice{Delta: d})
	}
	add(nil, openai.ChatCompletionChunkChoice{FinishReason: finish})
	add(&openai.CompletionUsage{
		PromptTokens: 1200, CompletionTokens: 88, TotalTokens: 1288,
		PromptTokensDetails:     openai.CompletionUsagePromptTokensDetails{AudioTokens: 30, CachedTokens: 640, CacheWriteTokens: 12, ImageTokens: 255},
		CompletionTokensDetails: openai.CompletionUsageCompletionTokensDetails{ReasoningTokens: 40},
	})
	return sdk.Events(append(events, [2]string{"", "[DONE]"})...)
}

func richChat(t *testing.T) []byte {
	t.Helper()
	call := func(i int64, id, name, args string) chunkDelta {
		c := chunkCall{Index: i, ID: id, Function: chunkFunc{Name: name, Arguments: args}}
		if id != "" {
			c.Type = "function"
		}
		return chunkDelta{ToolCalls: []chunkCall{c}}
	}
	return chunks(
		t, "tool_calls",
		chunkDelta{Role: "assistant", Content: "I look "}, chunkDelta{Content: "at \"both\" <\u2028\U0001f600>."},
		call(0, "call_a", "read", ""), call(0, "", "", `{"path":"a.`), call(0, "", "", `png","n":[1,{"x":null}]}`),
		call(1, "call_b", "read", `{"path":"b"}`), call(2, "call_c", "list", ""), call(2, "", "", `{}`),
	)
}

// TestChat holds conversations with Chat Completions against the SDK. Tool
// messages have no form for media there, so all of them are hoisted.
func TestChat(t *testing.T) {
	for _, model := range []string{"gpt-5.4", "gpt-4o", "gpt-6"} {
		t.Run(model, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totechat.ChatPath, Base: base, Model: model, Audio: true, Documents: true})
			s.AddReply(t, chat(t, s, provider.EffortLow, model, richChat(t)))
			chat(t, s, provider.EffortHigh, model, richChat(t))
			s.AddStrangers()
			chat(t, s, provider.EffortDefault, model, richChat(t))
			_, data := sdk.Body(t, totechat.New(provider.Options{BaseURL: base}, totechat.Config{Model: model}), s.Request(t, 0))
			results, failed := s.Whole(t, data)
			for _, at := range append(results, failed...) {
				if at != ".messages.content.image_url.url" && at != ".messages.content.input_audio.data" && at != ".messages.content.file.file_data" {
					t.Errorf("a medium of a tool stands at %s", at)
				}
			}
			blind := sdk.Blind(t, data, respellChat, ".tools.function.parameters")
			if len(blind) > 0 {
				t.Errorf("a strange member would not be found at %v", blind)
			}
		})
	}
}

// TestChatEnds has both read the ends that are not the usual one.
func TestChatEnds(t *testing.T) {
	for name, answer := range map[string][]byte{
		"refusal": chunks(t, "stop", chunkDelta{Role: "assistant", Refusal: "I can"}, chunkDelta{Refusal: "not."}),
		"length":  chunks(t, "length", chunkDelta{Role: "assistant", Content: "and so"}),
		"filter":  chunks(t, "content_filter", chunkDelta{Role: "assistant", Content: "and"}),
	} {
		t.Run(name, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totechat.ChatPath, Base: base, Model: "gpt-5.4"})
			chat(t, s, provider.EffortDefault, "gpt-5.4", answer)
		})
	}
}
