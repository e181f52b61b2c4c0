package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"tote/internal/content"
)

// AnthropicUsage is what an answer of the Messages API reports. A negative
// number leaves the field out.
type AnthropicUsage struct{ Input, Output, CacheRead, CacheWrite int }

// JSON spells the usage.
func (u AnthropicUsage) JSON() string {
	var fields []string
	for _, f := range []struct {
		name string
		n    int
	}{
		{"cache_creation_input_tokens", u.CacheWrite},
		{"cache_read_input_tokens", u.CacheRead},
		{"input_tokens", u.Input},
		{"output_tokens", u.Output},
	} {
		if f.n >= 0 {
			fields = append(fields, quote(f.name)+":"+strconv.Itoa(f.n))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// anthropicUsual is what answers report where a test does not care.
var anthropicUsual = AnthropicUsage{Input: 10, Output: 5, CacheRead: 0, CacheWrite: 0}

// AnthropicEvents answers with server-sent events of the Messages API: each
// argument is the data of one, named by its type.
func AnthropicEvents(data ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			_, _ = io.WriteString(w, AnthropicWire(d)) // a client that left sees nothing
			flush(w)
		}
	}
}

// AnthropicWire spells events as they stand in a stream.
func AnthropicWire(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(d), &head); err == nil && head.Type != "" {
			b.WriteString("event: " + head.Type + "\n")
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// AnthropicStart spells the event that begins an answer. One token of output
// stands in its usage, as the API reports it.
func AnthropicStart(u AnthropicUsage) string {
	u.Output = min(u.Output, 1)
	return `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"test-model","content":[],` +
		`"stop_reason":null,"stop_sequence":null,"usage":` + u.JSON() + `}}`
}

// AnthropicBlock spells the events of one content block: its start, the deltas
// given as JSON, and its stop.
func AnthropicBlock(index int, block string, deltas ...string) []string {
	i := strconv.Itoa(index)
	out := []string{`{"type":"content_block_start","index":` + i + `,"content_block":` + block + `}`}
	for _, d := range deltas {
		out = append(out, `{"type":"content_block_delta","index":`+i+`,"delta":`+d+`}`)
	}
	return append(out, `{"type":"content_block_stop","index":`+i+`}`)
}

// AnthropicTextBlock spells the events of a block of text.
func AnthropicTextBlock(index int, pieces ...string) []string {
	var deltas []string
	for _, p := range pieces {
		deltas = append(deltas, `{"type":"text_delta","text":`+quote(p)+`}`)
	}
	return AnthropicBlock(index, `{"type":"text","text":""}`, deltas...)
}

// AnthropicThinkingBlock spells the events of a block of thinking.
func AnthropicThinkingBlock(index int, text, signature string) []string {
	return AnthropicBlock(
		index, `{"type":"thinking","thinking":"","signature":""}`,
		`{"type":"thinking_delta","thinking":`+quote(text)+`}`, `{"type":"signature_delta","signature":`+quote(signature)+`}`,
	)
}

// AnthropicCallBlock spells the events of a tool call, its input in two pieces.
func AnthropicCallBlock(index int, c content.ToolCall) []string {
	half := len(c.Arguments) / 2
	piece := func(s string) string { return `{"type":"input_json_delta","partial_json":` + quote(s) + `}` }
	return AnthropicBlock(
		index, `{"type":"tool_use","id":`+quote(c.ID)+`,"name":`+quote(c.Name)+`,"input":{}}`,
		piece(""), piece(c.Arguments[:half]), piece(c.Arguments[half:]),
	)
}

// AnthropicEnd spells the events that end an answer.
func AnthropicEnd(reason string, u AnthropicUsage) []string {
	return []string{
		`{"type":"message_delta","delta":{"stop_reason":` + quote(reason) + `,"stop_sequence":null},"usage":` + u.JSON() + `}`,
		`{"type":"message_stop"}`,
	}
}

// AnthropicText answers with words, streamed piece by piece.
func AnthropicText(pieces ...string) Reply { return AnthropicTextUsage(anthropicUsual, pieces...) }

// AnthropicTextUsage answers with words and the given usage.
func AnthropicTextUsage(u AnthropicUsage, pieces ...string) Reply {
	data := append([]string{AnthropicStart(u), `{"type":"ping"}`}, AnthropicTextBlock(0, pieces...)...)
	return AnthropicEvents(append(data, AnthropicEnd("end_turn", u)...)...)
}

// AnthropicCalls answers with tool calls.
func AnthropicCalls(calls ...content.ToolCall) Reply {
	data := []string{AnthropicStart(anthropicUsual)}
	for i, c := range calls {
		data = append(data, AnthropicCallBlock(i, c)...)
	}
	return AnthropicEvents(append(data, AnthropicEnd("tool_use", anthropicUsual)...)...)
}

// AnthropicErrorJSON spells an error of the Messages API. Details is JSON, "" for
// none.
func AnthropicErrorJSON(typ, message, details string) string {
	if details != "" {
		details = `,"details":` + details
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s%s},"request_id":"req_1"}`, quote(typ), quote(message), details)
}

// AnthropicError answers with an error status.
func AnthropicError(status int, typ, message string) Reply {
	return Status(status, AnthropicErrorJSON(typ, message, ""))
}

// AnthropicStreamError answers with words and then an error inside the stream.
func AnthropicStreamError(typ, message string, pieces ...string) Reply {
	data := append([]string{AnthropicStart(anthropicUsual)}, AnthropicTextBlock(0, pieces...)...)
	return AnthropicEvents(append(data, AnthropicErrorJSON(typ, message, ""))...)
}

// AnthropicRefuseMedia answers a request that holds media with an error, any
// other one as otherwise.
func AnthropicRefuseMedia(status int, typ, message string, otherwise Reply) Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		if sent, err := ReadAnthropic(body); err == nil && len(sent.Media()) > 0 {
			AnthropicError(status, typ, message)(w, r, body)
			return
		}
		otherwise(w, r, body)
	}
}
