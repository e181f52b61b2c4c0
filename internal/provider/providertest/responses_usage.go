package providertest

import (
	"fmt"
	"strings"
)

// ResponsesItems answers a Responses request with whole output items, spelled as
// JSON, and the given usage, of which the wire has no count of pictures.
func ResponsesItems(u Usage, items ...string) Reply {
	var events []string
	for i, item := range items {
		events = append(events, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item))
	}
	usage := fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
		`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, u.Prompt, max(u.Cached, 0), u.Completion, u.Prompt+u.Completion)
	head := `{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`
	end := `{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,` +
		`"incomplete_details":null,"output":[` + strings.Join(items, ",") + `],"usage":` + usage + `}}`
	return responsesEvents(append(append([]string{head}, events...), end)...)
}

// ResponsesUsage answers a Responses request with words, streamed one piece an
// event, and the given usage.
func ResponsesUsage(u Usage, pieces ...string) Reply {
	var items []string
	for i, p := range pieces {
		items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_%d","status":"completed","role":"assistant",`+
			`"content":[{"type":"output_text","text":%s,"annotations":[]}]}`, i, quote(p)))
	}
	return ResponsesItems(u, items...)
}

// ResponsesReasoning spells a reasoning item, without what is encrypted of it
// where that is "".
func ResponsesReasoning(id, summary, encrypted string) string {
	if encrypted != "" {
		encrypted = `,"encrypted_content":` + quote(encrypted)
	}
	return `{"type":"reasoning","id":` + quote(id) + `,"summary":[{"type":"summary_text","text":` + quote(summary) + `}]` + encrypted + `}`
}

// ResponsesCall spells a function call item.
func ResponsesCall(id, callID, name, arguments string) string {
	return `{"type":"function_call","id":` + quote(id) + `,"status":"completed","call_id":` + quote(callID) +
		`,"name":` + quote(name) + `,"arguments":` + quote(arguments) + `}`
}
