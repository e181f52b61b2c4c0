package bedrock_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/schemas"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"

	"tote/e2e/sdk"
	"tote/internal/content"
)

var protocol = restjson1.New(schemas.AmazonBedrockFrontendService)

// read has the SDK's type for the inside of a request, or for a part of it, read
// JSON. Members that it does not know are skipped.
func read(t *testing.T, body []byte, schema *smithy.Schema, into smithy.Deserializable) {
	t.Helper()
	resp := &smithyhttp.Response{Response: &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}}
	op := smithy.NewOperationSchema(schemas.ConverseStream, schemas.ConverseStreamRequest, schema)
	if err := protocol.DeserializeResponse(t.Context(), op, bedrockruntime.TypeRegistry, resp, into); err != nil {
		t.Fatal(err)
	}
}

// input is a request as the SDK takes it. Its type for the messages, the system
// prompt, the tools and the further fields is that of counting tokens.
func input(t *testing.T, model string, body []byte) *bedrockruntime.ConverseStreamInput {
	t.Helper()
	var inside types.ConverseTokensRequest
	read(t, body, schemas.ConverseTokensRequest, &inside)
	in := &bedrockruntime.ConverseStreamInput{ModelId: &model, Messages: inside.Messages, System: inside.System, ToolConfig: inside.ToolConfig}
	if f := inside.AdditionalModelRequestFields; f != nil {
		in.AdditionalModelRequestFields = lazy(t, f)
	}
	for i := range in.Messages {
		for j, b := range in.Messages[i].Content {
			if use, ok := b.(*types.ContentBlockMemberToolUse); ok {
				use.Value.Input = lazy(t, use.Value.Input)
				in.Messages[i].Content[j] = use
			}
		}
	}
	if in.ToolConfig != nil {
		for _, tool := range in.ToolConfig.Tools {
			if spec, ok := tool.(*types.ToolMemberToolSpec); ok {
				if schema, ok := spec.Value.InputSchema.(*types.ToolInputSchemaMemberJson); ok {
					schema.Value = lazy(t, schema.Value)
				}
			}
		}
	}
	tree, ok := sdk.Tree(t, body).(map[string]any)
	if !ok {
		t.Fatal("the request is no object")
	}
	if c, ok := tree["inferenceConfig"]; ok {
		in.InferenceConfig = &types.InferenceConfiguration{}
		read(t, sdk.JSON(t, c), schemas.InferenceConfiguration, in.InferenceConfig)
	}
	return in
}

// lazy makes a document that was read one to be sent.
func lazy(t *testing.T, d document.Interface) document.Interface {
	t.Helper()
	data, err := d.MarshalSmithyDocument()
	if err != nil {
		t.Fatal(err)
	}
	return document.NewLazyDocument(sdk.Tree(t, data))
}

// frames frames an answer.
func frames(t *testing.T, events ...types.ConverseStreamOutput) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, e := range events {
		var kind *smithy.Schema
		switch e.(type) {
		case *types.ConverseStreamOutputMemberMessageStart:
			kind = schemas.ConverseStreamOutput_messageStart
		case *types.ConverseStreamOutputMemberContentBlockStart:
			kind = schemas.ConverseStreamOutput_contentBlockStart
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			kind = schemas.ConverseStreamOutput_contentBlockDelta
		case *types.ConverseStreamOutputMemberContentBlockStop:
			kind = schemas.ConverseStreamOutput_contentBlockStop
		case *types.ConverseStreamOutputMemberMessageStop:
			kind = schemas.ConverseStreamOutput_messageStop
		case *types.ConverseStreamOutputMemberMetadata:
			kind = schemas.ConverseStreamOutput_metadata
		default:
			t.Fatalf("no frame for %T", e)
		}
		v, ok := e.(smithy.Serializable)
		if !ok {
			t.Fatalf("%T cannot be written", e)
		}
		if err := protocol.SerializeEventMessage(schemas.ConverseStreamOutput, kind, v, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// script spells an answer block by block.
type script struct {
	events []types.ConverseStreamOutput
	blocks int32
}

func (s *script) start(b types.ContentBlockStart) {
	i := s.blocks
	s.events = append(s.events, &types.ConverseStreamOutputMemberContentBlockStart{Value: types.ContentBlockStartEvent{ContentBlockIndex: &i, Start: b}})
}

func (s *script) block(deltas ...types.ContentBlockDelta) {
	i := s.blocks
	for _, d := range deltas {
		s.events = append(s.events, &types.ConverseStreamOutputMemberContentBlockDelta{Value: types.ContentBlockDeltaEvent{ContentBlockIndex: &i, Delta: d}})
	}
	s.events = append(s.events, &types.ConverseStreamOutputMemberContentBlockStop{Value: types.ContentBlockStopEvent{ContentBlockIndex: &i}})
	s.blocks++
}

func begin() *script {
	return &script{events: []types.ConverseStreamOutput{
		&types.ConverseStreamOutputMemberMessageStart{Value: types.MessageStartEvent{Role: types.ConversationRoleAssistant}},
	}}
}

func (s *script) end(t *testing.T, reason types.StopReason) []byte {
	in, out, total, cached, written, latency := int32(1200), int32(88), int32(1940), int32(640), int32(12), int64(900)
	return frames(t, append(
		s.events,
		&types.ConverseStreamOutputMemberMessageStop{Value: types.MessageStopEvent{StopReason: reason}},
		&types.ConverseStreamOutputMemberMetadata{Value: types.ConverseStreamMetadataEvent{
			Metrics: &types.ConverseStreamMetrics{LatencyMs: &latency},
			Usage:   &types.TokenUsage{InputTokens: &in, OutputTokens: &out, TotalTokens: &total, CacheReadInputTokens: &cached, CacheWriteInputTokens: &written},
		}},
	)...)
}

const (
	signature = "EqQBCkYIBxgCKkD+/abc=="
	secret    = "redacted \xff\xfe bytes"
)

func says(text string) types.ContentBlockDelta {
	return &types.ContentBlockDeltaMemberText{Value: text}
}

func thinks(d types.ReasoningContentBlockDelta) types.ContentBlockDelta {
	return &types.ContentBlockDeltaMemberReasoningContent{Value: d}
}

func writes(args string) types.ContentBlockDelta {
	return &types.ContentBlockDeltaMemberToolUse{Value: types.ToolUseBlockDelta{Input: &args}}
}

func rich(t *testing.T) []byte {
	t.Helper()
	s := begin()
	s.block(
		thinks(&types.ReasoningContentBlockDeltaMemberText{Value: "Let me <look>"}), thinks(&types.ReasoningContentBlockDeltaMemberText{Value: " at \"it\"."}),
		thinks(&types.ReasoningContentBlockDeltaMemberSignature{Value: signature}),
	)
	s.block(thinks(&types.ReasoningContentBlockDeltaMemberRedactedContent{Value: []byte(secret)}))
	s.block(says("I look at "), says("both \u2028\U0001f600."))
	call := func(id, name string, args ...types.ContentBlockDelta) {
		s.start(&types.ContentBlockStartMemberToolUse{Value: types.ToolUseBlockStart{ToolUseId: &id, Name: &name}})
		s.block(args...)
	}
	call("tooluse_a", "read", writes(""), writes(`{"path":"a.`), writes(`png","n":[1,{"x":null}]}`))
	call("tooluse_b", "read", writes(`{"path":"b"}`))
	call("tooluse_c", "list", writes(`{}`))
	return s.end(t, types.StopReasonToolUse)
}

// heard is what the SDK makes of an answer, event by event.
func heard(t *testing.T, events <-chan types.ConverseStreamOutput, total bool) sdk.Answer {
	t.Helper()
	var a sdk.Answer
	args := map[int32]string{}
	at := map[int32]int{}
	for e := range events {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if use, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				at[*e.Value.ContentBlockIndex] = len(a.Calls)
				a.Calls = append(a.Calls, sdk.Call{ID: *use.Value.ToolUseId, Name: *use.Value.Name})
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				a.Text += d.Value
			case *types.ContentBlockDeltaMemberToolUse:
				args[*e.Value.ContentBlockIndex] += *d.Value.Input
			case *types.ContentBlockDeltaMemberReasoningContent:
				if text, ok := d.Value.(*types.ReasoningContentBlockDeltaMemberText); ok {
					a.Thinking += text.Value
				}
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			a.Stop = stops[e.Value.StopReason]
		case *types.ConverseStreamOutputMemberMetadata:
			u := e.Value.Usage
			a.Usage = content.Usage{
				Input: content.Reported(int64(*u.InputTokens)), Output: content.Reported(int64(*u.OutputTokens)),
				Cached: content.Reported(int64(*u.CacheReadInputTokens)), CacheWrite: content.Reported(int64(*u.CacheWriteInputTokens)),
			}
			if !total { // the cache stands beside the count, but for OpenAI's models
				a.Usage.Input.N += a.Usage.Cached.N + a.Usage.CacheWrite.N
			}
		case *types.ConverseStreamOutputMemberMessageStart, *types.ConverseStreamOutputMemberContentBlockStop:
		default:
			t.Errorf("the SDK reads %T", e)
		}
	}
	for index, text := range args {
		a.Calls[at[index]].Arguments = sdk.Tree(t, []byte(text))
	}
	return a
}

// stops are what the stop reasons come to, behind some text.
var stops = map[types.StopReason]content.StopReason{
	types.StopReasonEndTurn: content.StopEndTurn, types.StopReasonToolUse: content.StopEndTurn, types.StopReasonStopSequence: content.StopEndTurn,
	types.StopReasonMalformedModelOutput: content.StopEndTurn, types.StopReasonMalformedToolUse: content.StopEndTurn,
	types.StopReasonMaxTokens: content.StopMaxTokens, types.StopReasonModelContextWindowExceeded: content.StopMaxTokens,
	types.StopReasonGuardrailIntervened: content.StopRefusal, types.StopReasonContentFiltered: content.StopRefusal,
}
