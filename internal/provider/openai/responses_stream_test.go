package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

func responses(url string) provider.Provider {
	return openai.NewResponses(provider.Options{BaseURL: url, MaxRetries: -1}, openai.ResponsesConfig{Model: "m"})
}

// flat is a server for Responses that checks what it gets.
func flat(tb testing.TB, script ...providertest.Reply) *providertest.Recorder {
	tb.Helper()
	return providertest.NewRecorder(tb, script...).Check("/responses", func(body []byte) error {
		_, err := providertest.ReadResponses(body)
		return err
	})
}

func flatHello(tb testing.TB, p provider.Provider, more ...content.Message) provider.Body {
	tb.Helper()
	ms := append([]content.Message{providertest.User(text("text-1", "hi"))}, more...)
	body, err := p.Encode(provider.Request{Prompt: providertest.Settle(tb, flatProfile(), nil, ms...)})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// The events of a stream, spelled shortly.
func added(i int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, i, item)
}

func itemDone(i int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item)
}

func more(kind string, i int, delta string) string {
	return fmt.Sprintf(`{"type":"response.%s.delta","output_index":%d,"delta":%q}`, kind, i, delta)
}

func completed(members string) string {
	return `{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed"` + members + `}}`
}

func flatCall(id, name, args string) string {
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","status":"completed","call_id":%q,"name":%q,"arguments":%q}`, id, id, name, args)
}

func saidItem(id, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"status":"completed","role":"assistant","content":[{"type":"output_text","text":%q}]}`, id, text)
}

func TestResponsesAnswers(t *testing.T) {
	const usage = `{"input_tokens":11,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2}}`
	counted := content.Usage{Input: known(11), Output: known(3), Cached: known(4), CacheWrite: known(0), Reasoning: known(2)}
	end := content.StopEndTurn
	list := content.ToolCall{ID: "a", Name: "list", Arguments: `{"p":1}`}
	incomplete := func(reason, members string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}` + members + `}}`
	}
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  heard
	}{
		"text":           {providertest.ResponsesText("Hel", "lo ", "ä"), heard{Text: "Hello ä", Stop: end, Usage: content.Usage{Input: known(10), Output: known(5), Cached: known(0), Reasoning: known(0)}, Raw: `{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}`}},
		"usage":          {providertest.Events(more("output_text", 0, "x"), completed(`,"usage":`+usage)), heard{Text: "x", Stop: end, Usage: counted, Raw: usage}},
		"image tokens":   {providertest.Events(completed(`,"usage":{"input_tokens_details":{"image_tokens":0}}`)), heard{Stop: end, Usage: content.Usage{Image: known(0)}, Raw: `{"input_tokens_details":{"image_tokens":0}}`}},
		"no deltas":      {providertest.Events(itemDone(0, saidItem("m", "x")), completed("")), heard{Text: "x", Stop: end}},
		"only the end":   {providertest.Events(completed(`,"output":[` + saidItem("m", "x") + `,` + flatCall("a", "list", `{"p":1}`) + `]`)), heard{Text: "x", Calls: []content.ToolCall{list}, Stop: end}},
		"two messages":   {providertest.Events(more("output_text", 0, "one"), more("output_text", 1, "t"), more("output_text", 1, "wo"), completed("")), heard{Text: "one\n\ntwo", Stop: end}},
		"calls":          {providertest.Events(added(1, `{"type":"function_call","id":"fc_a","call_id":"a","name":"list","arguments":""}`), more("function_call_arguments", 1, `{"p":`), more("function_call_arguments", 1, `1}`), itemDone(2, flatCall("b", "x y", "")), completed("")), heard{Calls: []content.ToolCall{list, {ID: "b", Name: "x_y", Arguments: "{}"}}, Stop: end}},
		"one index":      {providertest.Events(added(0, flatCall("a", "list", "")), itemDone(0, flatCall("a", "list", `{"p":1}`)), itemDone(0, flatCall("b", "x", "{}")), completed(`,"output":[`+flatCall("a", "list", `{"p":1}`)+`,`+flatCall("b", "x", "{}")+`]`)), heard{Calls: []content.ToolCall{list, {ID: "b", Name: "x", Arguments: "{}"}}, Stop: end}},
		"no index":       {providertest.Events(`{"type":"response.output_item.added","item":`+flatCall("a", "list", "")+`}`, `{"type":"response.function_call_arguments.done","item_id":"fc_a","arguments":"{\"p\":1}"}`, completed("")), heard{Calls: []content.ToolCall{list}, Stop: end}},
		"changing ids":   {providertest.Events(added(0, `{"type":"message","id":"1"}`), `{"type":"response.output_text.delta","item_id":"2","output_index":0,"delta":"x"}`, itemDone(0, saidItem("3", "x")), completed(`,"output":[`+saidItem("4", "x")+`]`)), heard{Text: "x", Stop: end}},
		"object args":    {providertest.Events(itemDone(0, `{"type":"function_call","call_id":"a","name":"list","arguments":{"p":1}}`), completed("")), heard{Calls: []content.ToolCall{list}, Stop: end}},
		"refusal":        {providertest.Events(more("refusal", 0, "I will not."), completed("")), heard{Text: "I will not.", Stop: content.StopRefusal, Note: "refusal"}},
		"refusal, whole": {providertest.Events(itemDone(0, `{"type":"message","content":[{"type":"refusal","refusal":"No."}]}`), completed("")), heard{Text: "No.", Stop: content.StopRefusal, Note: "refusal"}},
		"thinking":       {providertest.Events(more("reasoning_text", 0, "h"), more("reasoning_text", 0, "m"), completed("")), heard{Thoughts: "hm", Thought: content.Reasoning{Text: "hm", Path: openai.ResponsesPath}, Stop: end}},
		"length":         {providertest.Events(more("output_text", 0, "x"), itemDone(1, `{"type":"function_call","status":"incomplete","call_id":"a","name":"list","arguments":"{\"p"}`), incomplete("max_output_tokens", "")), heard{Text: "x", Stop: content.StopMaxTokens, Note: "a tool call was cut off"}},
		"filter":         {providertest.Events(more("output_text", 0, "x"), incomplete("content_filter", "")), heard{Text: "x", Stop: content.StopRefusal, Note: "content_filter"}},
		"own reason":     {providertest.Events(incomplete("tired", "")), heard{Stop: end, Note: "tired"}},
		"end mark alone": {providertest.Events(itemDone(0, saidItem("m", "x")), providertest.Done), heard{Text: "x", Stop: end}},
		"one object":     {providertest.Raw("application/json", `{"object":"response","status":"completed","error":null,"output":[`+saidItem("m", "x")+`],"usage":{"input_tokens":4}}`), heard{Text: "x", Stop: end, Usage: content.Usage{Input: known(4)}, Raw: `{"input_tokens":4}`}},
		"unknown events": {providertest.Events(`{"type":"response.web_search_call.searching","output_index":0}`, `{"type":"keepalive"}`, more("output_text", 0, "x"), completed(`,"output":"odd","usage":[]`)), heard{Text: "x", Stop: end, Raw: "[]"}},
		"named events":   {providertest.Raw("text/event-stream", "event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\nevent: response.completed\ndata: {\"response\":{}}\n\n"), heard{Text: "x", Stop: end}},
	} {
		t.Run(name, func(t *testing.T) {
			p := responses(flat(t, tc.reply).URL)
			if diff := cmp.Diff(tc.want, listen(t.Context(), t, p, flatHello(t, p))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResponsesFailures(t *testing.T) {
	failed := providertest.ResponsesFailed
	refused := func(c delivery.Class) delivery.Failure {
		return delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: c}
	}
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.Failure
	}{
		"invalid_image":                  {failed("invalid_image", "The picture is not valid."), refused(delivery.ClassDecode)},
		"invalid_image_format":           {failed("invalid_image_format", "no"), refused(delivery.ClassMIME)},
		"invalid_base64_image":           {failed("invalid_base64_image", "no"), refused(delivery.ClassDecode)},
		"invalid_image_url":              {failed("invalid_image_url", "no"), refused(delivery.ClassDecode)},
		"image_too_large":                {failed("image_too_large", "no"), refused(delivery.ClassBytes)},
		"image_too_small":                {failed("image_too_small", "no"), refused(delivery.ClassDecode)},
		"image_parse_error":              {failed("image_parse_error", "no"), refused(delivery.ClassDecode)},
		"image_content_policy_violation": {failed("image_content_policy_violation", "no"), refused(delivery.ClassUnknown)},
		"invalid_image_mode":             {failed("invalid_image_mode", "no"), refused(delivery.ClassMIME)},
		"image_file_too_large":           {failed("image_file_too_large", "no"), refused(delivery.ClassBytes)},
		"unsupported_image_media_type":   {failed("unsupported_image_media_type", "no"), refused(delivery.ClassMIME)},
		"empty_image_file":               {failed("empty_image_file", "no"), refused(delivery.ClassDecode)},
		"failed_to_download_image":       {failed("failed_to_download_image", "no"), refused(delivery.ClassDecode)},
		"image_file_not_found":           {failed("image_file_not_found", "no"), refused(delivery.ClassDecode)},
		"invalid_prompt":                 {failed("invalid_prompt", "no"), refused(delivery.ClassUnknown)},
		"rate_limit_exceeded":            {failed("rate_limit_exceeded", "slow down"), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
		"server_error":                   {failed("server_error", "sorry"), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"context_length_exceeded":        {failed("context_length_exceeded", "too long"), delivery.Failure{Kind: delivery.FailOverflow, Status: 200}},
		"wording of codex": {
			providertest.Events(`{"type":"error","code":"invalid_value","message":"Invalid 'input[2].content[1].image_url'. Expected a valid URL, but got a value with an invalid format.","param":"input[2].content[1].image_url"}`),
			refused(delivery.ClassDecode),
		},
		"error event":         {providertest.Raw("text/event-stream", "event: error\ndata: {\"code\":\"rate_limit_exceeded\",\"message\":\"no\"}\n\n"), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
		"nested error":        {providertest.Events(`{"type":"error","error":{"type":"server_error","message":"no"}}`), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"bare error":          {providertest.Events(`{"error":{"message":"Model does not support images"}}`), refused(delivery.ClassBlind)},
		"failed, no error":    {providertest.Events(`{"type":"response.failed","response":{"status":"failed","error":null}}`), delivery.Failure{Kind: delivery.FailServer}},
		"cancelled":           {providertest.Events(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), delivery.Failure{Kind: delivery.FailStream}},
		"no response":         {providertest.Events(`{"type":"response.completed"}`), delivery.Failure{Kind: delivery.FailProtocol}},
		"no end":              {providertest.Events(more("output_text", 0, "x")), delivery.Failure{Kind: delivery.FailStream}},
		"end mark, half item": {providertest.Events(added(0, `{"type":"message"}`), more("output_text", 0, "x"), providertest.Done), delivery.Failure{Kind: delivery.FailStream}},
		"nothing":             {providertest.Raw("text/event-stream", ""), delivery.Failure{Kind: delivery.FailStream}},
		"cut":                 {providertest.Cut(60, providertest.ResponsesText("hello")), delivery.Failure{Kind: delivery.FailStream}},
		"half an event":       {providertest.Raw("text/event-stream", "data: {\"type\""), delivery.Failure{Kind: delivery.FailStream}},
		"no JSON":             {providertest.Events("hello"), delivery.Failure{Kind: delivery.FailProtocol}},
		"no object":           {providertest.Events("7"), delivery.Failure{Kind: delivery.FailProtocol}},
		"page":                {providertest.Raw("text/html", "<!doctype html><title>Welcome</title>"), delivery.Failure{Kind: delivery.FailProtocol}},
		"error in a 200":      {providertest.Raw("application/json", `{"error":"Vision add-on is not loaded, but images were provided"}`), refused(delivery.ClassBlind)},
		"failed in a 200":     {providertest.Raw("application/json", `{"object":"response","status":"failed","error":{"code":"image_too_large","message":"no"}}`), refused(delivery.ClassBytes)},
		"list in a 200":       {providertest.Raw("application/json", `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]`), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
		"other in a 200":      {providertest.Raw("application/json", `{"detail":"no"}`), refused(delivery.ClassUnknown)},
		"bad JSON in a 200":   {providertest.Raw("application/json", `{"status":`), delivery.Failure{Kind: delivery.FailProtocol}},
		"status":              {providertest.Status(400, `{"error":{"message":"no"}}`), delivery.Failure{Kind: delivery.FailRefused, Status: 400}},
	} {
		t.Run(name, func(t *testing.T) {
			p := responses(flat(t, tc.reply).URL)
			h := listen(t.Context(), t, p, flatHello(t, p))
			if h.Err == nil {
				t.Fatalf("no error: %+v", h)
			}
			if diff := cmp.Diff(tc.want, h.Err.Failure); diff != "" {
				t.Errorf("%v\n%s", h.Err, diff)
			}
		})
	}
}

// Thinking goes back as it came, before the answer that it led to, but to no
// other model and no other server.
func TestResponsesThinkingGoesBack(t *testing.T) {
	const item = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"First <this>."},{"type":"summary_text","text":"Then."}],"encrypted_content":"c2VjcmV0"}`
	const hidden = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"bW9yZQ=="}`
	const plain = `{"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"open"}]}`
	said := strings.Replace(saidItem("msg_1", "Done."), `"role"`, `"phase":"final_answer","role"`, 1)
	rec := flat(t, providertest.Events(
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"First <this>."}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Then."}`,
		itemDone(0, item), itemDone(1, hidden), itemDone(2, plain), itemDone(3, said), itemDone(4, flatCall("a", "list", "{}")), completed(""),
	), providertest.ResponsesText("ok"))
	p := responses(rec.URL)
	h := listen(t.Context(), t, p, flatHello(t, p))
	if h.Thoughts != "First <this>.\n\nThen.\n\nopen" || len(h.More) != 3 {
		t.Fatalf("thoughts %q and %d more", h.Thoughts, len(h.More))
	}
	if h.Thought.Text != "First <this>.\n\nThen." || h.Thought.Path != openai.ResponsesPath {
		t.Errorf("%+v", h.Thought)
	}
	turn := []content.Part{h.Thought}
	for _, r := range h.More {
		turn = append(turn, r)
	}
	turn = append(turn, content.Text{Body: h.Text}, h.Calls[0])
	next := []content.Message{providertest.Say(turn...), providertest.Results(content.ToolResult{CallID: "a", Name: "list", Blocks: []content.Block{text("text-2", "x")}})}
	listen(t.Context(), t, p, flatHello(t, p, next...))
	var got struct{ Input []json.RawMessage }
	if err := json.Unmarshal(rec.Last().Body, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`, item, hidden,
		`{"type":"message","role":"assistant","content":"Done.","phase":"final_answer"}`,
		`{"type":"function_call","call_id":"a","name":"list","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"x"}`,
	}
	if diff := cmp.Diff(want, rawStrings(got.Input)); diff != "" {
		t.Error(diff)
	}
	for name, other := range map[string]provider.Provider{
		"another server": responses("http://elsewhere"),
		"another model":  openai.NewResponses(provider.Options{BaseURL: rec.URL}, openai.ResponsesConfig{Model: "m2"}),
	} {
		body := spell(t, other, provider.Request{Prompt: providertest.Settle(t, flatProfile(), nil, append([]content.Message{providertest.User(text("text-1", "hi"))}, next...)...)})
		if bytes.Contains(body, []byte("rs_1")) || bytes.Contains(body, []byte("phase")) {
			t.Errorf("%s gets it: %s", name, body)
		}
	}
}

func rawStrings(in []json.RawMessage) []string {
	var out []string
	for _, r := range in {
		out = append(out, string(r))
	}
	return out
}

// The user is told when older pictures may be compressed against the request.
func TestResponsesTellsOfCompression(t *testing.T) {
	var blobs providertest.Blobs
	for name, tc := range map[string]struct {
		asked, got string
		message    content.Message
		want       int
	}{
		"heeded":     {"disabled", `"disabled"`, providertest.User(picture(&blobs, "image-1.png", "PNG")), 0},
		"not heeded": {"disabled", `"enabled"`, providertest.User(picture(&blobs, "image-1.png", "PNG")), 1},
		"not said":   {"disabled", `null`, providertest.User(picture(&blobs, "image-1.png", "PNG")), 0},
		"no picture": {"disabled", `"enabled"`, providertest.User(text("text-1", "hi")), 0},
		"not asked":  {"", `"enabled"`, providertest.User(picture(&blobs, "image-1.png", "PNG")), 0},
	} {
		rec := flat(t, providertest.Events(more("output_text", 0, "x"), completed(`,"image":{"context_compression":`+tc.got+`}`)))
		p := openai.NewResponses(provider.Options{BaseURL: rec.URL}, openai.ResponsesConfig{Model: "m", ImageCompression: tc.asked})
		body, err := p.Encode(provider.Request{Prompt: providertest.Settle(t, flatProfile(), &blobs, tc.message), Blobs: &blobs})
		if err != nil {
			t.Fatal(err)
		}
		h := listen(t.Context(), t, p, body)
		if len(h.Remarks) != tc.want || tc.want > 0 && h.Remarks[0].Lost {
			t.Errorf("%s: %+v", name, h.Remarks)
		}
	}
}

// Bodies that ReadResponses accepts go out for a whole conversation with tools,
// and broken calls do not spoil it.
func TestResponsesConversation(t *testing.T) {
	rec := flat(t, providertest.ResponsesCalls(
		content.ToolCall{ID: "a", Name: "view", Arguments: `{"path":"x"}`}, content.ToolCall{ID: "a", Name: "rm -rf", Arguments: `{"p`},
		content.ToolCall{ID: strings.Repeat("n", 300), Name: "", Arguments: ""},
	), providertest.ResponsesText("ok"))
	var blobs providertest.Blobs
	p := responses(rec.URL)
	h := listen(t.Context(), t, p, flatHello(t, p))
	if len(h.Calls) != 3 {
		t.Fatalf("%d calls", len(h.Calls))
	}
	var calls []content.Part
	var results []content.ToolResult
	for i, c := range h.Calls {
		calls = append(calls, c)
		handle := content.NewHandle(content.KindImage, i+1, ".png")
		results = append(results, content.ToolResult{CallID: c.ID, Name: c.Name, Blocks: []content.Block{picture(&blobs, handle, "PNG "+c.Name)}})
	}
	prompt := providertest.Settle(t, flatProfile(), &blobs, providertest.User(text("text-1", "hi")), providertest.Say(calls...), providertest.Results(results...))
	body, err := p.Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
	if err != nil {
		t.Fatal(err)
	}
	if h := listen(t.Context(), t, p, body); h.Text != "ok" {
		t.Errorf("%+v", h)
	}
	sent, err := providertest.ReadResponses(rec.Last().Body)
	if err != nil || len(sent.Media()) != 3 {
		t.Errorf("%d pictures, %v", len(sent.Media()), err)
	}
}

func TestResponsesAnswerIsBounded(t *testing.T) {
	for name, piece := range map[string]string{
		"text":  more("output_text", 0, strings.Repeat("x", 1<<20)),
		"items": added(0, saidItem("m", "")),
	} {
		wire := []byte(strings.Repeat("data: "+piece+"\n\n", 20))
		if name == "items" {
			wire = bytes.Repeat(wire, 1000)
		}
		p := openai.NewResponses(provider.Options{BaseURL: "http://h", Transport: answering(wire)}, openai.ResponsesConfig{Model: "m"})
		if h := listen(t.Context(), t, p, provider.Body{}); kind(h) != delivery.FailProtocol {
			t.Errorf("%s: %v", name, h.Err)
		}
	}
}

// A consumer that leaves in the middle ends the stream.
func TestResponsesStops(t *testing.T) {
	p := responses(flat(t, providertest.ResponsesText("a", "b")).URL)
	for ev, err := range p.Stream(t.Context(), flatHello(t, p)) {
		if err != nil || ev != (provider.TextDelta{Text: "a"}) {
			t.Errorf("%v, %v", ev, err)
		}
		break
	}
	var e *provider.Error
	for _, err := range responses("http://127.0.0.1:1").Stream(t.Context(), flatHello(t, p)) {
		if !errors.As(err, &e) || e.Failure.Kind != delivery.FailNetwork {
			t.Errorf("%v", err)
		}
	}
}

// No answer makes the reader panic or break the contract, which listen checks.
func FuzzResponsesAnswer(f *testing.F) {
	event := func(data ...string) []byte {
		return []byte("data: " + strings.Join(data, "\n\ndata: ") + "\n\n")
	}
	f.Add(event(added(0, flatCall("a", "n", "")), more("function_call_arguments", 0, "{}"), itemDone(0, flatCall("a", "n", "{}")), completed("")))
	f.Add(event(more("reasoning_summary_text", 0, "x"), more("output_text", 1, "x"), completed(`,"usage":{"input_tokens":1},"image":{"context_compression":"enabled"}`)))
	f.Add(event(`{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_image"}}}`))
	f.Add([]byte(`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","arguments":7}]}`))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		p := openai.NewResponses(provider.Options{BaseURL: "http://h", Transport: answering(wire)}, openai.ResponsesConfig{Model: "m"})
		h := listen(t.Context(), t, p, provider.Body{})
		ids := map[string]bool{}
		for _, c := range h.Calls {
			if c.ID == "" || c.Arguments == "" || c.Name == "" || ids[c.ID] {
				t.Errorf("call %+v", c)
			}
			ids[c.ID] = true
		}
	})
}

func BenchmarkResponsesStream(b *testing.B) {
	var wire bytes.Buffer
	wire.WriteString("data: " + added(0, `{"type":"message","id":"msg_1"}`) + "\n\n")
	for range 1000 {
		wire.WriteString("data: " + more("output_text", 0, "some words ") + "\n\n")
	}
	wire.WriteString("data: " + completed("") + "\n\n")
	p := openai.NewResponses(provider.Options{BaseURL: "http://h", Transport: answering(wire.Bytes())}, openai.ResponsesConfig{Model: "m"})
	b.SetBytes(int64(wire.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if h := listen(b.Context(), b, p, provider.Body{}); h.Err != nil {
			b.Fatal(h.Err)
		}
	}
}
