package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"tote/e2e/sdk"
	toteanthropic "tote/internal/provider/anthropic"
)

// first is the API of 2023-06-01.
var first = generation{
	version: toteanthropic.Version2023, key: "X-Api-Key", keyValue: key, respell: respell1, send: send1, types: types1,
}

func respell1(body []byte) ([]byte, error) {
	var params anthropic.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	return json.Marshal(params)
}

// send1 makes the service by itself, since the SDK's client would also look into
// the environment.
func send1(t *testing.T, w *sdk.Wire, body []byte) sdk.Answer {
	t.Helper()
	var params anthropic.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		t.Fatal(err)
	}
	c := anthropic.NewMessageService(option.WithBaseURL(base), option.WithAPIKey(key), option.WithHTTPClient(w.Client()), option.WithMaxRetries(0))
	stream := c.NewStreaming(t.Context(), params)
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	u := m.Usage
	a := sdk.Answer{
		Stop:  stopOf(string(m.StopReason)),
		Usage: usageOf(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokensDetails.ThinkingTokens),
	}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			a.Text += b.Text
		case anthropic.ThinkingBlock:
			a.Thinking += b.Thinking
		case anthropic.ToolUseBlock:
			a.Calls = append(a.Calls, sdk.Call{ID: b.ID, Name: b.Name, Arguments: sdk.Tree(t, b.Input)})
		}
	}
	return a
}

var types1 = types{
	start: func() any { return anthropic.MessageStartEvent{} },
	begin: func() any { return anthropic.ContentBlockStartEvent{} },
	delta: func() any { return anthropic.ContentBlockDeltaEvent{} },
	stop:  func() any { return anthropic.ContentBlockStopEvent{} },
	end:   func() any { return anthropic.MessageDeltaEvent{} },
	last:  func() any { return anthropic.MessageStopEvent{} },

	thinking: func() any { return anthropic.ThinkingBlock{} },
	redacted: func(data string) any { return anthropic.RedactedThinkingBlock{Data: data} },
	text:     func() any { return anthropic.TextBlock{} },
	call:     func(id, name string) any { return anthropic.ToolUseBlock{ID: id, Name: name} },
	thinks:   func(s string) any { return anthropic.ThinkingDelta{Thinking: s} },
	signs:    func(s string) any { return anthropic.SignatureDelta{Signature: s} },
	says:     func(s string) any { return anthropic.TextDelta{Text: s} },
	writes:   func(s string) any { return anthropic.InputJSONDelta{PartialJSON: s} },
	usage: func(in, out, cached, written, thought int64) any {
		return anthropic.Usage{
			InputTokens: in, OutputTokens: out, CacheReadInputTokens: cached, CacheCreationInputTokens: written,
			OutputTokensDetails: anthropic.OutputTokensDetails{ThinkingTokens: thought},
		}
	},
	deltas: func(in, out, cached, written, thought int64) any {
		return anthropic.MessageDeltaUsage{
			InputTokens: in, OutputTokens: out, CacheReadInputTokens: cached, CacheCreationInputTokens: written,
			OutputTokensDetails: anthropic.OutputTokensDetails{ThinkingTokens: thought},
		}
	},
	stopsWith: func(reason string) any {
		return anthropic.MessageDeltaEventDelta{StopReason: anthropic.StopReason(reason)}
	},
}
