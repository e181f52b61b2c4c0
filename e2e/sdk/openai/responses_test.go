package openai_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/responses"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	totechat "tote/internal/provider/openai"
)

func respellResponses(body []byte) ([]byte, error) {
	var params responses.ResponseNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	return json.Marshal(params)
}

func newResponses(s *sdk.Stage, o provider.Options, model string) *totechat.Responses {
	return totechat.NewResponses(o, totechat.ResponsesConfig{
		Model: model, Detail: s.Wire.Detail, NoStore: s.Wire.NoStore, NoInclude: s.Wire.NoEncryptedReasoning,
		ImageCompression: s.Wire.ImageCompression, EffortForm: totechat.EffortForm(s.Wire.Effort), EffortWords: s.Wire.EffortWords,
	})
}

// respond holds the next request of a conversation against the SDK, sends it by
// both clients, and returns the answer.
func respond(t *testing.T, s *sdk.Stage, e provider.Effort, model string, answer []byte) sdk.Reply {
	t.Helper()
	w := sdk.NewWire(t, "text/event-stream", answer)
	p := newResponses(s, options(w), model)
	body, data := sdk.Body(t, p, s.Request(t, e))
	theirs, err := respellResponses(data)
	if err != nil {
		t.Fatal(err)
	}
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, data), sdk.Tree(t, theirs)), streams)

	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	var params responses.ResponseNewParams
	if err := json.Unmarshal(data, &params); err != nil {
		t.Fatal(err)
	}
	c := responses.NewResponseService(settings(w)...)
	stream := c.NewStreaming(t.Context(), params)
	var seen streamed
	for stream.Next() {
		seen.add(t, stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	sent := w.Last(t)
	sdk.Heads(t, ours, sent, heads...)
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, ours.Body), sdk.Tree(t, sent.Body)))
	sdk.Same(t, reply, seen.answer(t))
	return reply
}

// streamed is what the SDK makes of an answer.
type streamed struct {
	text, thinking strings.Builder
	acc            responses.ResponseAccumulator
}

func (s *streamed) add(t *testing.T, ev responses.ResponseStreamEventUnion) {
	t.Helper()
	switch ev := ev.AsAny().(type) {
	case responses.ResponseTextDeltaEvent:
		s.text.WriteString(ev.Delta)
	case responses.ResponseRefusalDeltaEvent:
		s.text.WriteString(ev.Delta)
	case responses.ResponseReasoningSummaryTextDeltaEvent:
		s.thinking.WriteString(ev.Delta)
	}
	// The accumulator takes the events of the other transport, which are the same.
	var same responses.ResponsesServerEventUnion
	if err := json.Unmarshal([]byte(ev.RawJSON()), &same); err != nil {
		t.Fatal(err)
	}
	if err := s.acc.AddEvent(same); err != nil {
		t.Fatal(err)
	}
}

func (s *streamed) answer(t *testing.T) sdk.Answer {
	t.Helper()
	r, err := s.acc.ReconstructedResponse()
	if err != nil {
		t.Fatal(err)
	}
	a := sdk.Answer{
		Text: s.text.String(), Thinking: s.thinking.String(),
		Usage: content.Usage{
			Input: content.Reported(r.Usage.InputTokens), Output: content.Reported(r.Usage.OutputTokens),
			Cached:     content.Reported(r.Usage.InputTokensDetails.CachedTokens),
			CacheWrite: content.Reported(r.Usage.InputTokensDetails.CacheWriteTokens),
			Reasoning:  content.Reported(r.Usage.OutputTokensDetails.ReasoningTokens),
		},
	}
	if r.OutputText() != "" && a.Text != r.OutputText() {
		t.Errorf("the SDK streamed %q and ended with %q", a.Text, r.OutputText())
	}
	switch {
	case r.Status == "completed":
		a.Stop = content.StopEndTurn
	case r.IncompleteDetails.Reason == "max_output_tokens":
		a.Stop = content.StopMaxTokens
	case r.IncompleteDetails.Reason == "content_filter":
		a.Stop = content.StopRefusal
	}
	for _, item := range r.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseFunctionToolCall:
			a.Calls = append(a.Calls, sdk.Call{ID: item.CallID, Name: item.Name, Arguments: sdk.Tree(t, []byte(item.Arguments))})
		case responses.ResponseOutputMessage:
			for _, c := range item.Content {
				if c.Refusal != "" {
					a.Stop = content.StopRefusal
				}
			}
		}
	}
	return a
}

// script spells an answer of Responses in the SDK's own types.
type script struct {
	t      *testing.T
	events [][2]string
	output []any
}

// add adds an event. Members of the SDK's type that are empty are left out, those
// in more stand over it.
func (s *script) add(event any, more map[string]any) {
	s.t.Helper()
	tree, ok := sdk.Lean(sdk.Tree(s.t, sdk.JSON(s.t, event))).(map[string]any)
	if !ok {
		s.t.Fatalf("%T is no object", event)
	}
	maps.Copy(tree, more)
	tree["sequence_number"] = len(s.events)
	name, ok := tree["type"].(string)
	if !ok {
		s.t.Fatalf("%T has no type", event)
	}
	s.events = append(s.events, [2]string{name, string(sdk.JSON(s.t, tree))})
}

// empty are the members that a server sends also where they are empty.
var empty = map[string]map[string]any{
	"reasoning": {"summary": []any{}}, "message": {"content": []any{}}, "function_call": {"arguments": ""},
	"output_text": {"annotations": []any{}},
}

// lean is an object as a server sends it.
func (s *script) lean(v any) any {
	tree, ok := sdk.Lean(sdk.Tree(s.t, sdk.JSON(s.t, v))).(map[string]any)
	if !ok {
		s.t.Fatalf("%T is no object", v)
	}
	parts, _ := tree["content"].([]any) // items of other kinds have none
	for _, o := range append(parts, tree) {
		o, ok := o.(map[string]any)
		if !ok {
			s.t.Fatalf("a part of %T is no object", v)
		}
		kind, _ := o["type"].(string) // some objects have none
		for k, e := range empty[kind] {
			if _, ok := o[k]; !ok {
				o[k] = e
			}
		}
	}
	return tree
}

// item adds an item: its beginning, what comes between, and the whole of it.
func (s *script) item(begun, whole any, between func(index int64)) {
	s.t.Helper()
	i := int64(len(s.output))
	s.add(responses.ResponseOutputItemAddedEvent{OutputIndex: i}, map[string]any{"item": s.lean(begun)})
	if between != nil {
		between(i)
	}
	s.add(responses.ResponseOutputItemDoneEvent{OutputIndex: i}, map[string]any{"item": s.lean(whole)})
	s.output = append(s.output, s.lean(whole))
}

func (s *script) response(status responses.ResponseStatus, incomplete string) map[string]any {
	r := responses.Response{ID: "resp_1", CreatedAt: 1_790_000_000, Model: "gpt-5.4", Status: status, Image: responses.ResponseImage{ContextCompression: "disabled"}}
	r.IncompleteDetails.Reason = incomplete
	tree, ok := s.lean(r).(map[string]any)
	if !ok {
		s.t.Fatal("a response is no object")
	}
	delete(tree, "usage")
	tree["output"] = []any{}
	if status == "in_progress" {
		return tree
	}
	tree["output"] = s.output
	tree["usage"] = s.lean(responses.ResponseUsage{
		InputTokens: 1200, OutputTokens: 88, TotalTokens: 1288,
		InputTokensDetails:  responses.ResponseUsageInputTokensDetails{CachedTokens: 640, CacheWriteTokens: 12},
		OutputTokensDetails: responses.ResponseUsageOutputTokensDetails{ReasoningTokens: 40},
	})
	return tree
}

func (s *script) begin() {
	s.add(responses.ResponseCreatedEvent{}, map[string]any{"response": s.response("in_progress", "")})
}

func (s *script) end() []byte {
	s.add(responses.ResponseCompletedEvent{}, map[string]any{"response": s.response("completed", "")})
	return sdk.Events(s.events...)
}

func (s *script) thought(id, secret string, summary ...string) {
	whole := responses.ResponseReasoningItem{ID: id, EncryptedContent: secret}
	for _, text := range summary {
		whole.Summary = append(whole.Summary, responses.ResponseReasoningItemSummary{Text: text})
	}
	s.item(responses.ResponseReasoningItem{ID: id}, whole, func(index int64) {
		for n, text := range summary {
			for _, piece := range halves(text) {
				s.add(responses.ResponseReasoningSummaryTextDeltaEvent{Delta: piece, ItemID: id, OutputIndex: index, SummaryIndex: int64(n)}, nil)
			}
		}
	})
}

func (s *script) message(id, phase, text string) {
	whole := responses.ResponseOutputMessage{
		ID: id, Status: "completed", Phase: responses.ResponseOutputMessagePhase(phase),
		Content: []responses.ResponseOutputMessageContentUnion{{Type: "output_text", Text: text}},
	}
	s.item(responses.ResponseOutputMessage{ID: id, Status: "in_progress", Phase: whole.Phase}, whole, func(index int64) {
		for _, piece := range halves(text) {
			s.add(responses.ResponseTextDeltaEvent{Delta: piece, ItemID: id, OutputIndex: index}, nil)
		}
	})
}

func (s *script) call(id, callID, name, args string) {
	whole := responses.ResponseFunctionToolCall{ID: id, CallID: callID, Name: name, Arguments: args, Status: "completed"}
	begun := whole
	begun.Arguments, begun.Status = "", "in_progress"
	s.item(begun, whole, func(index int64) {
		for _, piece := range halves(args) {
			s.add(responses.ResponseFunctionCallArgumentsDeltaEvent{Delta: piece, ItemID: id, OutputIndex: index}, nil)
		}
		s.add(responses.ResponseFunctionCallArgumentsDoneEvent{Arguments: args, ItemID: id, OutputIndex: index}, nil)
	})
}

func halves(text string) []string {
	runes := []rune(text)
	return []string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

func richResponse(t *testing.T) []byte {
	t.Helper()
	s := &script{t: t}
	s.begin()
	s.thought("rs_1", "Z0FBQUFB+/==", "**First** I think.", "Then <more>.")
	s.message("msg_1", "commentary", "I look at \"both\" \u2028\U0001f600.")
	s.call("fc_1", "call_a", "read", `{"path":"a.png","n":[1,{"x":null}]}`)
	s.thought("rs_2", "Z0FBQUFC")
	s.call("fc_2", "call_b", "read", `{"path":"b"}`)
	s.call("fc_3", "call_c", "list", `{}`)
	return s.end()
}

// hoisted is the placement on servers that lag behind OpenAI's.
func hoisted(p *delivery.Placement) { p.HoistResults, p.TextErrors = true, true }

// TestResponses holds conversations with Responses against the SDK: where OpenAI's
// own server has media in the results of tools, and hoisted as elsewhere.
func TestResponses(t *testing.T) {
	const inside, outside = ".input.output", ".input.content"
	for name, c := range map[string]struct {
		model string
		place func(*delivery.Placement)
		want  string
	}{
		"thinks":   {"gpt-5.4", nil, inside},
		"newest":   {"gpt-6", nil, inside},
		"does not": {"gpt-4o", nil, inside},
		"hoisted":  {"gpt-5.4", hoisted, outside},
	} {
		t.Run(name, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totechat.ResponsesPath, Base: base, Model: c.model, Documents: true, Place: c.place})
			reply := respond(t, s, provider.EffortLow, c.model, richResponse(t))
			if len(reply.Remarks) > 0 {
				t.Errorf("it remarks %q", reply.Remarks)
			}
			s.AddReply(t, reply)
			respond(t, s, provider.EffortNone, c.model, richResponse(t))
			s.AddStrangers()
			respond(t, s, provider.EffortDefault, c.model, richResponse(t))
			_, data := sdk.Body(t, newResponses(s, provider.Options{BaseURL: base}, c.model), s.Request(t, provider.EffortHigh))
			results, failed := s.Whole(t, data)
			for _, at := range append(results, failed...) {
				if at != c.want+".image_url" && at != c.want+".file_data" {
					t.Errorf("a medium of a tool stands at %s", at)
				}
			}
			for _, secret := range []string{"Z0FBQUFB+/==", "Z0FBQUFC"} {
				if at := sdk.Find(sdk.Tree(t, data), secret); len(at) != 1 || !strings.HasSuffix(at[0], ".encrypted_content") {
					t.Errorf("encrypted thinking goes back at %v", at)
				}
			}
			if at := sdk.Find(sdk.Tree(t, data), "disabled"); len(at) != 1 || at[0] != ".image.context_compression" {
				t.Errorf("the policy for pictures stands at %v", at)
			}
			if blind := sdk.Blind(t, data, respellResponses, ".tools.parameters"); len(blind) > 0 {
				t.Errorf("a strange member would not be found at %v", blind)
			}
		})
	}
}

// TestResponsesEnds has both read the ends that are not the usual one.
func TestResponsesEnds(t *testing.T) {
	for name, answer := range map[string]func(s *script) []byte{
		"length": func(s *script) []byte {
			s.message("msg_1", "", "and so")
			s.add(responses.ResponseIncompleteEvent{}, map[string]any{"response": s.response("incomplete", "max_output_tokens")})
			return sdk.Events(s.events...)
		},
		"filter": func(s *script) []byte {
			s.message("msg_1", "", "and so")
			s.add(responses.ResponseIncompleteEvent{}, map[string]any{"response": s.response("incomplete", "content_filter")})
			return sdk.Events(s.events...)
		},
		"refusal": func(s *script) []byte {
			whole := responses.ResponseOutputMessage{ID: "msg_1", Status: "completed", Content: []responses.ResponseOutputMessageContentUnion{{Type: "refusal", Refusal: "I cannot."}}}
			s.item(responses.ResponseOutputMessage{ID: "msg_1", Status: "in_progress"}, whole, func(index int64) {
				for _, piece := range halves("I cannot.") {
					s.add(responses.ResponseRefusalDeltaEvent{Delta: piece, ItemID: "msg_1", OutputIndex: index}, nil)
				}
			})
			return s.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t}
			s.begin()
			st := sdk.NewStage(t, sdk.Vendor{Kind: totechat.ResponsesPath, Base: base, Model: "gpt-5.4"})
			respond(t, st, provider.EffortDefault, "gpt-5.4", answer(s))
		})
	}
}
