package providertest

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"tote/internal/content"
)

// ConverseFrame spells one event of an answer as the service sends it.
func ConverseFrame(event, payload string) []byte {
	return converseFrame(payload, ":message-type", "event", ":event-type", event, ":content-type", "application/json")
}

// ConverseFault spells an exception of an answer.
func ConverseFault(name, payload string) []byte {
	return converseFrame(payload, ":message-type", "exception", ":exception-type", name, ":content-type", "application/json")
}

func converseFrame(payload string, headers ...string) []byte {
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic("providertest: a frame cannot be spelled: " + err.Error())
	}
	return out.Bytes()
}

// ConverseFrames answers with frames, each sent by itself.
func ConverseFrames(frames ...[]byte) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		w.Header().Set("X-Amzn-Requestid", "request-1")
		for _, f := range frames {
			_, _ = w.Write(f) // a client that left sees nothing
			flush(w)
		}
	}
}

// ConverseText answers with words, streamed one piece an event.
func ConverseText(pieces ...string) Reply {
	return ConverseUsage(Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}, pieces...)
}

// ConverseUsage answers with words and the given usage. The service has no
// count of pictures, and counts what was cached apart.
func ConverseUsage(u Usage, pieces ...string) Reply {
	frames := [][]byte{ConverseFrame("messageStart", `{"role":"assistant"}`)}
	for _, p := range pieces {
		frames = append(frames, ConverseFrame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":`+quote(p)+`}}`))
	}
	frames = append(frames, ConverseFrame("contentBlockStop", `{"contentBlockIndex":0}`))
	return ConverseFrames(append(frames, converseEnd("end_turn", u)...)...)
}

func converseEnd(reason string, u Usage) [][]byte {
	cached := ""
	input := u.Prompt
	if u.Cached >= 0 {
		input -= u.Cached
		cached = fmt.Sprintf(`,"cacheReadInputTokens":%d,"cacheWriteInputTokens":0`, u.Cached)
	}
	usage := fmt.Sprintf(`{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d%s}`, input, u.Completion, u.Prompt+u.Completion, cached)
	return [][]byte{
		ConverseFrame("messageStop", `{"stopReason":"`+reason+`"}`),
		ConverseFrame("metadata", `{"metrics":{"latencyMs":1},"usage":`+usage+`}`),
	}
}

// ConverseCalls answers with tool calls.
func ConverseCalls(calls ...content.ToolCall) Reply {
	frames := [][]byte{ConverseFrame("messageStart", `{"role":"assistant"}`)}
	for i, c := range calls {
		half := len(c.Arguments) / 2
		start := fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%s,"name":%s}}}`, i, quote(c.ID), quote(c.Name))
		frames = append(frames, ConverseFrame("contentBlockStart", start))
		for _, piece := range []string{c.Arguments[:half], c.Arguments[half:]} {
			frames = append(frames, ConverseFrame("contentBlockDelta",
				fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%s}}}`, i, quote(piece))))
		}
		frames = append(frames, ConverseFrame("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i)))
	}
	return ConverseFrames(append(frames, converseEnd("tool_use", Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1})...)...)
}

// ConverseException begins an answer and breaks it off with an exception.
func ConverseException(name, message string) Reply {
	return ConverseFrames(ConverseFrame("messageStart", `{"role":"assistant"}`), ConverseFault(name, `{"message":`+quote(message)+`}`))
}
