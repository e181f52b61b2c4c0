package ollama_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	toteollama "tote/internal/provider/ollama"
)

const (
	base  = "http://127.0.0.1:11434"
	model = "gemma3:4b"
)

// unknown are the members that version 0.17.4 of the types lacks.
var unknown = []sdk.Exception{
	{
		Place: ".tools.function.parameters.additionalProperties", How: "does not know",
		Reason: "of a JSON Schema the type holds what models' templates show; the server reads with the same type and leaves the rest out",
	},
	{Place: ".tools.function.parameters.properties.depth.minimum", How: "does not know", Reason: "as additionalProperties"},
	{Place: ".tools.function.parameters.properties.depth.maximum", How: "does not know", Reason: "as additionalProperties"},
	{Place: ".tools.function.parameters.properties.offset.minimum", How: "does not know", Reason: "as additionalProperties"},
	{Place: ".tools.function.parameters.properties.limit.minimum", How: "does not know", Reason: "as additionalProperties"},
}

func respell(body []byte) ([]byte, error) {
	var r api.ChatRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// strictly reads a request with the members left out that are known to be unknown.
func strictly(t *testing.T, body []byte) {
	t.Helper()
	tree := sdk.Tree(t, body)
	for _, e := range unknown {
		drop(tree, strings.Split(strings.TrimPrefix(e.Place, "."), "."))
	}
	dec := json.NewDecoder(bytes.NewReader(sdk.JSON(t, tree)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(new(api.ChatRequest)); err != nil {
		t.Error(err)
	}
}

func drop(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
			return
		}
		drop(v[path[0]], path[1:])
	case []any:
		for _, e := range v {
			drop(e, path)
		}
	}
}

// newOllama spells the duration as the SDK does.
func newOllama(o provider.Options) *toteollama.Ollama {
	return toteollama.New(o, toteollama.Config{Model: model, Context: 8192, KeepAlive: "10m0s"})
}

// ask holds the next request of a conversation against the SDK, sends it by both
// clients, and returns the answer.
func ask(t *testing.T, s *sdk.Stage, e provider.Effort, answer []byte) sdk.Reply {
	t.Helper()
	w := sdk.NewWire(t, "application/x-ndjson", answer)
	p := newOllama(provider.Options{BaseURL: base, Transport: w, KeyHeader: s.Wire.KeyHeader})
	body, data := sdk.Body(t, p, s.Request(t, e))
	theirs, err := respell(data)
	if err != nil {
		t.Fatal(err)
	}
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, data), sdk.Tree(t, theirs)), unknown...)
	strictly(t, data)

	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	var r api.ChatRequest
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	var seen sdk.Answer
	err = api.NewClient(at, w.Client()).Chat(t.Context(), &r, func(r api.ChatResponse) error {
		add(t, &seen, &r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sent := w.Last(t)
	sdk.Heads(t, ours, sent, "Content-Type", "Authorization")
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, ours.Body), sdk.Tree(t, sent.Body)), unknown...)
	sdk.Same(t, reply, seen)
	return reply
}

// add is what the SDK makes of an answer, line by line.
func add(t *testing.T, a *sdk.Answer, r *api.ChatResponse) {
	t.Helper()
	a.Text += r.Message.Content
	a.Thinking += r.Message.Thinking
	for _, c := range r.Message.ToolCalls {
		a.Calls = append(a.Calls, sdk.Call{ID: c.ID, Name: c.Function.Name, Arguments: sdk.Tree(t, sdk.JSON(t, c.Function.Arguments))})
	}
	if !r.Done {
		return
	}
	a.Usage = content.Usage{Input: content.Reported(int64(r.PromptEvalCount)), Output: content.Reported(int64(r.EvalCount))}
	switch r.DoneReason {
	case "stop":
		a.Stop = content.StopEndTurn
	case "length":
		a.Stop = content.StopMaxTokens
	default:
		t.Errorf("no rule for %q", r.DoneReason)
	}
}

// lines spells an answer in the SDK's own types.
func lines(t *testing.T, end string, messages ...api.Message) []byte {
	t.Helper()
	var b bytes.Buffer
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, m := range messages {
		m.Role = "assistant"
		b.Write(append(sdk.JSON(t, api.ChatResponse{Model: model, CreatedAt: at, Message: m}), '\n'))
	}
	b.Write(append(sdk.JSON(t, api.ChatResponse{
		Model: model, CreatedAt: at, Message: api.Message{Role: "assistant"}, Done: true, DoneReason: end,
		Metrics: api.Metrics{TotalDuration: time.Second, PromptEvalCount: 1200, PromptEvalDuration: time.Second, EvalCount: 88, EvalDuration: time.Second},
	}), '\n'))
	return b.Bytes()
}

func rich(t *testing.T) []byte {
	t.Helper()
	call := func(i int, id, name, args string) api.ToolCall {
		c := api.ToolCall{ID: id, Function: api.ToolCallFunction{Index: i, Name: name}}
		if err := json.Unmarshal([]byte(args), &c.Function.Arguments); err != nil {
			t.Fatal(err)
		}
		return c
	}
	return lines(
		t, "stop",
		api.Message{Thinking: "Let me <look>"}, api.Message{Thinking: " at \"it\"."},
		api.Message{Content: "I look at "}, api.Message{Content: "both \u2028\U0001f600."},
		api.Message{ToolCalls: []api.ToolCall{call(0, "call_a", "read", `{"path":"a.png","n":[1,{"x":null}]}`), call(1, "call_b", "read", `{"path":"b"}`)}},
		api.Message{ToolCalls: []api.ToolCall{call(2, "call_c", "list", `{}`)}},
	)
}

// TestOllama holds conversations against the SDK: with media in the messages of
// tools, as the server takes them, and hoisted.
func TestOllama(t *testing.T) {
	for name, place := range map[string]func(*delivery.Placement){
		"native":   nil,
		"hoisted":  func(p *delivery.Placement) { p.HoistResults = true },
		"thinking": func(p *delivery.Placement) { p.NoReasoning = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: toteollama.Path, Base: base, Model: model, Place: place})
			s.AddReply(t, ask(t, s, provider.EffortLow, rich(t)))
			ask(t, s, provider.EffortNone, rich(t))
			s.AddStrangers()
			ask(t, s, provider.EffortDefault, rich(t))
			_, data := sdk.Body(t, newOllama(provider.Options{BaseURL: base}), s.Request(t, provider.EffortHigh))
			results, failed := s.Whole(t, data)
			for _, at := range append(results, failed...) {
				if at != ".messages.images" {
					t.Errorf("a medium of a tool stands at %s", at)
				}
			}
			roles := holders(t, data)
			if want := "user tool tool"; name != "hoisted" && roles != want || name == "hoisted" && roles != "user user" {
				t.Errorf("pictures stand in messages of %q", roles)
			}
			if n := strings.Count(string(data), `"thinking":`); (n > 0) != (name == "thinking") {
				t.Errorf("%d messages hold thinking", n)
			}
			blind := sdk.Blind(t, data, respell, ".messages.tool_calls.function.arguments", ".tools.function.parameters", ".options")
			if len(blind) > 0 {
				t.Errorf("a strange member would not be found at %v", blind)
			}
		})
	}
}

// holders are the roles of the messages that hold pictures.
func holders(t *testing.T, data []byte) string {
	t.Helper()
	var r api.ChatRequest
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range r.Messages {
		if len(m.Images) > 0 {
			out = append(out, m.Role)
		}
	}
	return strings.Join(out, " ")
}

// TestEnds has both read the end that is not the usual one.
func TestEnds(t *testing.T) {
	s := sdk.NewStage(t, sdk.Vendor{Kind: toteollama.Path, Base: base, Model: model})
	ask(t, s, provider.EffortDefault, lines(t, "length", api.Message{Content: "and so"}))
}

// TestOptions: the server takes options that its types do not name without a word,
// so that those that are sent have to be among them.
func TestOptions(t *testing.T) {
	s := sdk.NewStage(t, sdk.Vendor{Kind: toteollama.Path, Base: base, Model: model})
	_, data := sdk.Body(t, newOllama(provider.Options{BaseURL: base}), s.Request(t, provider.EffortDefault))
	tree, ok := sdk.Tree(t, data).(map[string]any)
	if !ok {
		t.Fatal("the request is no object")
	}
	dec := json.NewDecoder(bytes.NewReader(sdk.JSON(t, tree["options"])))
	dec.DisallowUnknownFields()
	var o api.Options
	if err := dec.Decode(&o); err != nil {
		t.Fatal(err)
	}
	if o.NumCtx != 8192 || o.NumPredict != 9000 || o.Seed != 7 {
		t.Errorf("the options are %+v", o)
	}
}
