package bedrock_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

// heard is an answer put together.
type heard struct {
	Text, Thoughts string
	Thought        []content.Reasoning
	Calls          []content.ToolCall
	Usage          content.Usage
	Raw            string
	Remarks        []string
	Retries        int
	Stop           content.StopReason
	Note           string
	Err            *provider.Error
}

func listen(ctx context.Context, tb testing.TB, p provider.Provider, body provider.Body) (h heard) {
	tb.Helper()
	var said strings.Builder
	defer func() { h.Text = said.String() }()
	finished := 0
	for ev, err := range p.Stream(ctx, body) {
		if err != nil {
			if !errors.As(err, &h.Err) {
				tb.Fatalf("not an *Error: %v", err)
			}
			continue
		}
		if h.Err != nil || finished > 0 {
			tb.Fatalf("%T behind the end", ev)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			said.WriteString(ev.Text)
		case provider.ThoughtDelta:
			h.Thoughts += ev.Text
		case provider.Thought:
			h.Thought = append(h.Thought, ev.Reasoning)
		case provider.Call:
			h.Calls = append(h.Calls, ev.Call)
		case provider.UsageReport:
			h.Usage, h.Raw = ev.Usage, string(ev.Raw)
		case provider.Retry:
			h.Retries++
		case provider.Remark:
			h.Remarks = append(h.Remarks, ev.Text)
		case provider.Finish:
			h.Stop, h.Note = ev.Stop, ev.Note
			finished++
		}
	}
	if finished == 0 && h.Err == nil {
		tb.Fatal("neither a finish nor an error")
	}
	return h
}

// keyed answers with a bearer token, so that nothing is signed.
func keyed(url string) provider.Options {
	return provider.Options{Name: "aws", BaseURL: url, MaxRetries: -1, Key: func() (string, error) { return "bedrock-key", nil }}
}

func hello(tb testing.TB, p provider.Provider) provider.Body {
	tb.Helper()
	body, err := p.Encode(provider.Request{
		Prompt: providertest.Settle(tb, profile(native), nil, providertest.User(text("text-1", "hi"))),
		Tools:  []provider.ToolSpec{{Name: "list"}, {Name: "server.tool"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func hear(t *testing.T, reply providertest.Reply) heard {
	t.Helper()
	rec := providertest.NewRecorder(t, reply).Check("/converse-stream", providertest.CheckConverse)
	c := model(keyed(rec.URL), bedrock.Config{})
	return listen(t.Context(), t, c, hello(t, c))
}

func known(n int64) content.Count { return content.Reported(n) }

func TestAnswers(t *testing.T) {
	ev := providertest.ConverseFrame
	begin := ev("messageStart", `{"role":"assistant"}`)
	end := func(reason string) []byte { return ev("messageStop", `{"stopReason":"`+reason+`"}`) }
	say := func(i, s string) []byte {
		return ev("contentBlockDelta", `{"contentBlockIndex":`+i+`,"delta":{"text":"`+s+`"}}`)
	}
	use := func(i, id, name string) []byte {
		return ev("contentBlockStart", `{"contentBlockIndex":`+i+`,"start":{"toolUse":{"toolUseId":"`+id+`","name":"`+name+`"}}}`)
	}
	input := func(i, s string) []byte {
		return ev("contentBlockDelta", `{"contentBlockIndex":`+i+`,"delta":{"toolUse":{"input":"`+s+`"}}}`)
	}
	think := func(i, field string) []byte {
		return ev("contentBlockDelta", `{"contentBlockIndex":`+i+`,"delta":{"reasoningContent":{`+field+`}}}`)
	}
	stop := func(i string) []byte { return ev("contentBlockStop", `{"contentBlockIndex":`+i+`}`) }
	for name, tt := range map[string]struct {
		reply providertest.Reply
		want  heard
	}{
		"text": {
			providertest.ConverseUsage(providertest.Usage{Prompt: 100, Completion: 7, Cached: 60}, "Hel", "lo"),
			heard{Text: "Hello", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(100), Output: known(7), Cached: known(60), CacheWrite: known(0)}, Raw: `{"inputTokens":40,"outputTokens":7,"totalTokens":107,"cacheReadInputTokens":60,"cacheWriteInputTokens":0}`},
		},
		"absent is not zero": {
			providertest.ConverseFrames(begin, say("0", "x"), end("end_turn"), ev("metadata", `{"usage":{"inputTokens":3,"cacheReadInputTokens":null}}`)),
			heard{Text: "x", Stop: content.StopEndTurn, Usage: content.Usage{Input: known(3)}, Raw: `{"inputTokens":3,"cacheReadInputTokens":null}`},
		},
		"calls": {
			providertest.ConverseCalls(content.ToolCall{ID: "t1", Name: "list", Arguments: `{"a":"é\n"}`}, content.ToolCall{ID: "t2", Name: "list"}),
			heard{Calls: []content.ToolCall{{ID: "t1", Name: "list", Arguments: `{"a":"é\n"}`}, {ID: "t2", Name: "list", Arguments: "{}"}}, Stop: content.StopEndTurn, Usage: content.Usage{Input: known(10), Output: known(5)}, Raw: `{"inputTokens":10,"outputTokens":5,"totalTokens":15}`},
		},
		"own names of tools": {
			providertest.ConverseFrames(begin, use("0", "t1", "server_tool_ea6df6d3"), stop("0"), use("1", "t1", "no such"), stop("1"), end("tool_use")),
			heard{Calls: []content.ToolCall{{ID: "t1", Name: "server.tool", Arguments: "{}"}, {ID: "call_cac1b7ee6aa40599267d6be9", Name: "no_such_6ca085ba", Arguments: "{}"}}, Stop: content.StopEndTurn},
		},
		"thinking": {
			providertest.ConverseFrames(begin, think("0", `"text":"a"`), think("0", `"text":"b"`), think("0", `"signature":"c2ln"`), stop("0"),
				think("1", `"redactedContent":"AAEC"`), think("1", `"redactedContent":"AwQ="`), stop("1"), think("2", `"text":""`), think("2", `"signature":"eA=="`), stop("2"),
				think("3", `"text":"unsigned"`), say("4", "x"), stop("4"), end("end_turn")),
			heard{Thoughts: "abunsigned", Text: "x", Stop: content.StopEndTurn, Thought: []content.Reasoning{
				{Text: "ab", Signature: "c2ln", Path: bedrock.Path},
				{Signature: "redacted:AAECAwQ=", Path: bedrock.Path},
				{Signature: "eA==", Path: bedrock.Path},
				{Text: "unsigned", Path: bedrock.Path},
			}},
		},
		"cut off": {
			providertest.ConverseFrames(begin, use("0", "t1", "list"), input("0", `{}`), stop("0"), use("1", "t2", "list"), input("1", `{\"a`), end("max_tokens")),
			heard{Calls: []content.ToolCall{{ID: "t1", Name: "list", Arguments: "{}"}}, Stop: content.StopMaxTokens, Note: "a tool call was cut off"},
		},
		"window": {
			providertest.ConverseFrames(begin, say("0", "x"), end("model_context_window_exceeded")),
			heard{Text: "x", Stop: content.StopMaxTokens, Note: "model_context_window_exceeded"},
		},
		"guardrail": {
			providertest.ConverseFrames(begin, say("0", "no"), end("guardrail_intervened")),
			heard{Text: "no", Stop: content.StopRefusal, Note: "guardrail_intervened"},
		},
		"filtered": {
			providertest.ConverseFrames(begin, end("content_filtered")), heard{Stop: content.StopRefusal, Note: "content_filtered"},
		},
		"sequence":   {providertest.ConverseFrames(begin, say("0", "x"), end("stop_sequence")), heard{Text: "x", Stop: content.StopEndTurn}},
		"new reason": {providertest.ConverseFrames(begin, end("tired")), heard{Stop: content.StopEndTurn, Note: "tired"}},
		"malformed with words": {
			providertest.ConverseFrames(begin, say("0", "x"), end("malformed_tool_use")), heard{Text: "x", Stop: content.StopEndTurn, Note: "malformed_tool_use"},
		},
		"unknown events": {
			providertest.ConverseFrames(begin, ev("weather", `{"contentBlockIndex":"x"}`), ev("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"citation":{},"text":"x"}}`), end("end_turn")),
			heard{Text: "x", Stop: content.StopEndTurn},
		},
		"picture": {
			providertest.ConverseFrames(begin, ev("contentBlockStart", `{"contentBlockIndex":0,"start":{"image":{"format":"png"}}}`), ev("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"image":{"source":{}}}}`), end("end_turn")),
			heard{Remarks: []string{"the model answered with a picture, which is not taken"}, Stop: content.StopEndTurn},
		},
		"exception behind the end": {
			providertest.ConverseFrames(begin, say("0", "x"), end("end_turn"), []byte("rest")),
			heard{Text: "x", Stop: content.StopEndTurn},
		},
	} {
		if d := cmp.Diff(tt.want, hear(t, tt.reply)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// OpenAI's models count what was cached twice.
func TestUsageOfOpenAI(t *testing.T) {
	usage := `{"inputTokens":4995,"outputTokens":19,"cacheWriteInputTokens":4993}`
	reply := providertest.ConverseFrames(providertest.ConverseFrame("messageStart", `{}`), providertest.ConverseFrame("messageStop", `{"stopReason":"end_turn"}`),
		providertest.ConverseFrame("metadata", `{"usage":`+usage+`}`))
	for id, want := range map[string]int64{"us.openai.gpt-x": 4995, "anthropic.claude": 9988} {
		rec := providertest.NewRecorder(t, reply)
		c := model(keyed(rec.URL), bedrock.Config{Model: id})
		if h := listen(t.Context(), t, c, hello(t, c)); h.Usage.Input != known(want) || h.Usage.CacheWrite != known(4993) {
			t.Errorf("%s: %+v", id, h.Usage)
		}
	}
}

func TestFailures(t *testing.T) {
	ev := providertest.ConverseFrame
	begin := ev("messageStart", `{"role":"assistant"}`)
	flipped := append([]byte(nil), begin...)
	flipped[len(flipped)-6] ^= 1
	head := append([]byte(nil), begin...)
	head[3] ^= 1
	for name, tt := range map[string]struct {
		reply  providertest.Reply
		kind   delivery.FailureKind
		class  delivery.Class
		words  string
		inHint string
	}{
		"throttled":        {providertest.ConverseException("throttlingException", "Too many requests"), delivery.FailRateLimit, 0, "Too many requests", ""},
		"invalid":          {providertest.ConverseException("validationException", "The model returned the following errors: bad"), delivery.FailRefused, 0, "bad", ""},
		"model":            {providertest.ConverseException("modelStreamErrorException", "it broke"), delivery.FailServer, 0, "it broke", ""},
		"internal":         {providertest.ConverseException("internalServerException", ""), delivery.FailServer, 0, "internalserverexception", ""},
		"unavailable":      {providertest.ConverseException("serviceUnavailableException", "try later"), delivery.FailServer, 0, "try later", ""},
		"original":         {providertest.ConverseFrames(begin, providertest.ConverseFault("modelStreamErrorException", `{"message":"it broke","originalMessage":"the picture","originalStatusCode":500}`)), delivery.FailServer, 0, "it broke: the picture", ""},
		"no object":        {providertest.ConverseFrames(providertest.ConverseFault("throttlingException", `x`)), delivery.FailRateLimit, 0, "throttlingexception", ""},
		"checksum":         {providertest.ConverseFrames(flipped), delivery.FailProtocol, 0, "wrong checksum", ""},
		"checksum of head": {providertest.ConverseFrames(head), delivery.FailProtocol, 0, "head of a frame", ""},
		"no JSON":          {providertest.ConverseFrames(ev("messageStart", `{`)), delivery.FailProtocol, 0, "no JSON", ""},
		"empty":            {providertest.ConverseFrames(), delivery.FailStream, 0, "broke off", ""},
		"no end":           {providertest.ConverseFrames(begin), delivery.FailStream, 0, "no messageStop", ""},
		"no message":       {providertest.ConverseFrames(ev("messageStop", `{}`)), delivery.FailProtocol, 0, "no message", ""},
		"cut":              {providertest.Cut(40, providertest.ConverseText("x")), delivery.FailStream, 0, "middle", ""},
		"malformed":        {providertest.ConverseFrames(begin, ev("messageStop", `{"stopReason":"malformed_model_output"}`)), delivery.FailServer, 0, "malformed", ""},
		"page":             {providertest.Raw("text/html", "<html><title>Login</title></html>"), delivery.FailProtocol, 0, "Login", ""},
		"object":           {providertest.Raw("application/json", `{"message":"no such thing"}`), delivery.FailRefused, 0, "no such thing", ""},
		"named in a header": {
			providertest.Status(429, `{"message":"slow down"}`, "X-Amzn-Errortype", "ThrottlingException:http://x/"), delivery.FailRateLimit, 0, "slow down", "",
		},
		"placement": {
			providertest.Status(400, `{"message":"This model doesn't support the image field for user messages. Remove the field and try again."}`, "X-Amzn-Errortype", "ValidationException"),
			delivery.FailRefused, delivery.ClassPlacement, "image field", "",
		},
		"format": {
			providertest.Status(400, `{"message":"The provided image does not match the specified image format."}`), delivery.FailRefused, delivery.ClassMIME, "image format", "",
		},
		"constraint": {
			providertest.Status(400, `{"message":"Value at 'messages.1.member.content.1.member.image.format' failed to satisfy constraint"}`), delivery.FailRefused, delivery.ClassMIME, "constraint", "",
		},
		"long": {
			providertest.Status(400, `{"message":"Input is too long for requested model."}`), delivery.FailOverflow, delivery.ClassBody, "too long", "",
		},
		"permission": {
			providertest.Status(403, `{"message":"You don't have access to the model with the specified model ID."}`), delivery.FailPermission, 0, "access", "console of Bedrock",
		},
		"inference profile": {
			providertest.Status(400, `{"message":"Invocation of model ID x with on-demand throughput isn't supported."}`), delivery.FailRefused, 0, "throughput", "inference profile",
		},
		"model's id": {
			providertest.Status(400, `{"message":"The provided model identifier is invalid."}`), delivery.FailRefused, 0, "identifier", "region",
		},
		"key": {
			providertest.Status(403, `{"message":"Bearer Token bedrock-key has expired"}`), delivery.FailPermission, 0, "Bearer", "api_key",
		},
	} {
		h := hear(t, tt.reply)
		if h.Err == nil || h.Err.Failure.Kind != tt.kind || h.Err.Failure.Class != tt.class || !strings.Contains(h.Err.Error(), tt.words) ||
			!strings.Contains(h.Err.Hint, tt.inHint) || strings.Contains(h.Err.Error(), "bedrock-key") {
			t.Errorf("%s: %v (kind %v, class %v, hint %q)", name, h.Err, h.Err.Failure.Kind, h.Err.Failure.Class, h.Err.Hint)
		}
	}
}

// What was used before an answer broke is charged and reported.
func TestUsageBeforeFailure(t *testing.T) {
	h := hear(t, providertest.ConverseFrames(providertest.ConverseFrame("messageStart", `{}`),
		providertest.ConverseFrame("metadata", `{"usage":{"inputTokens":5}}`), providertest.ConverseFault("throttlingException", `{}`)))
	if h.Err == nil || h.Usage.Input != known(5) {
		t.Errorf("%+v", h)
	}
}

func TestEndlessAnswer(t *testing.T) {
	delta := providertest.ConverseFrame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"`+strings.Repeat("x", 1<<20)+`"}}`)
	frames := make([][]byte, 20)
	for i := range frames {
		frames[i] = delta
	}
	if h := hear(t, providertest.ConverseFrames(frames...)); h.Err == nil || h.Err.Failure.Kind != delivery.FailProtocol {
		t.Errorf("%v", h.Err)
	}
	frames = nil
	for i := range 20_000 {
		frames = append(frames, providertest.ConverseFrame("contentBlockDelta", `{"contentBlockIndex":`+strconv.Itoa(i)+`,"delta":{"text":"x"}}`))
	}
	if h := hear(t, providertest.ConverseFrames(frames...)); h.Err == nil || h.Err.Failure.Kind != delivery.FailProtocol {
		t.Errorf("many blocks: %v", h.Err)
	}
}

func TestCancelled(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.Hang())
	c := model(keyed(rec.URL), bedrock.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h := listen(ctx, t, c, hello(t, c)); h.Err == nil || h.Err.Failure.Kind != delivery.FailCancelled {
		t.Errorf("%v", h.Err)
	}
}

// A consumer that stops gets nothing more.
func TestStopped(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.ConverseText("a", "b", "c"))
	c := model(keyed(rec.URL), bedrock.Config{})
	for ev, err := range c.Stream(t.Context(), hello(t, c)) {
		if d, ok := ev.(provider.TextDelta); err != nil || !ok || d.Text != "a" {
			t.Errorf("%#v, %v", ev, err)
		}
		break
	}
}

// A whole turn: what a model answers goes back in a form that is taken.
func TestRoundTrip(t *testing.T) {
	ev := providertest.ConverseFrame
	rec := providertest.NewRecorder(t, providertest.ConverseFrames(
		ev("messageStart", `{}`), ev("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm"}}}`),
		ev("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`), ev("contentBlockStop", `{"contentBlockIndex":0}`),
		ev("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"AAE="}}}`), ev("contentBlockStop", `{"contentBlockIndex":1}`),
		ev("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"name":"server_tool_ea6df6d3"}}}`),
		ev("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"broken"}}}`), ev("messageStop", `{"stopReason":"tool_use"}`),
	), providertest.ConverseText("ok")).Check("/converse-stream", providertest.CheckConverse)
	c := model(keyed(rec.URL), bedrock.Config{})
	h := listen(t.Context(), t, c, hello(t, c))
	if len(h.Calls) != 1 || len(h.Thought) != 2 {
		t.Fatalf("%+v", h)
	}
	body, err := c.Encode(provider.Request{Prompt: providertest.Settle(t, profile(native), nil,
		providertest.User(text("text-1", "hi")),
		providertest.Say(h.Thought[0], h.Thought[1], h.Calls[0]),
		providertest.Results(content.ToolResult{CallID: h.Calls[0].ID, Name: h.Calls[0].Name, Blocks: []content.Block{text("text-2", "no")}}),
	)})
	if err != nil {
		t.Fatal(err)
	}
	if h := listen(t.Context(), t, c, body); h.Err != nil {
		t.Fatal(h.Err)
	}
	sent, err := providertest.ReadConverse(rec.Last().Body)
	if err != nil {
		t.Fatal(err)
	}
	want := []providertest.SentPart{
		{Thought: "hm", Signature: "c2ln"},
		{Signature: "\x00\x01"},
		{Call: &content.ToolCall{ID: h.Calls[0].ID, Name: "server_tool_ea6df6d3", Arguments: "{}"}},
	}
	if d := cmp.Diff(want, sent.Messages[1].Parts); d != "" {
		t.Error(d)
	}
	if got := rec.Last().Header; got.Get("Authorization") != "Bearer bedrock-key" || got.Get("Accept") != "application/vnd.amazon.eventstream" || got.Get("X-Amz-Date") != "" {
		t.Errorf("headers %v", got)
	}
}
