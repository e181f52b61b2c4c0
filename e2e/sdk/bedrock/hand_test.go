package bedrock_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	totebedrock "tote/internal/provider/bedrock"
)

// resigned signs a request again, with its own date.
func resigned(t *testing.T, s sdk.Sent) string {
	t.Helper()
	r, err := http.NewRequest(s.Method, s.URL, bytes.NewReader(s.Body)) //nolint:noctx // it is not sent
	if err != nil {
		t.Fatal(err)
	}
	r.Header = s.Header.Clone()
	r.Header.Del("Authorization")
	at, err := time.Parse("20060102T150405Z", s.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(s.Body)
	creds := aws.Credentials{AccessKeyID: keys["AWS_ACCESS_KEY_ID"], SecretAccessKey: keys["AWS_SECRET_ACCESS_KEY"], SessionToken: keys["AWS_SESSION_TOKEN"]}
	if err := v4.NewSigner().SignHTTP(t.Context(), creds, r, hex.EncodeToString(sum[:]), "bedrock", region, at); err != nil {
		t.Fatal(err)
	}
	return r.Header.Get("Authorization")
}

// hand builds a request by hand, in the SDK's types, from the parts of a settled
// prompt. It knows the names of calls that need no change alone.
type hand struct {
	blobs    provider.Blobs
	status   bool
	messages []types.Message
	// held are the media of the message in hand, for the check of whoever renders.
	held []content.Blob
}

var _ delivery.Encoder[types.ContentBlock] = (*hand)(nil)

func (h *hand) bytes(b content.Blob) ([]byte, error) {
	h.held = append(h.held, b)
	r, err := h.blobs.Open(b.Digest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only
	return io.ReadAll(r)
}

func (*hand) Text(b content.Text) (types.ContentBlock, error) {
	return &types.ContentBlockMemberText{Value: b.Body}, nil
}

func (h *hand) Image(b content.Image) (types.ContentBlock, error) {
	data, err := h.bytes(b.Prepared)
	return &types.ContentBlockMemberImage{Value: types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: data}}}, err
}

func (h *hand) Audio(b content.Audio) (types.ContentBlock, error) {
	data, err := h.bytes(b.Prepared)
	return &types.ContentBlockMemberAudio{Value: types.AudioBlock{Format: types.AudioFormatWav, Source: &types.AudioSourceMemberBytes{Value: data}}}, err
}

func (h *hand) Document(b content.Document) (types.ContentBlock, error) {
	data, err := h.bytes(b.Prepared)
	name, _, _ := strings.Cut(string(b.Handle), ".")
	return &types.ContentBlockMemberDocument{Value: types.DocumentBlock{
		Format: types.DocumentFormatPdf, Name: &name, Source: &types.DocumentSourceMemberBytes{Value: data},
	}}, err
}

func (*hand) ResourceText(b content.ResourceText) (types.ContentBlock, error) {
	return &types.ContentBlockMemberText{Value: b.Body}, nil
}

func (*hand) ResourceLink(content.ResourceLink) (types.ContentBlock, error) {
	return nil, errors.New("a settled prompt holds no link")
}

func (*hand) Opaque(content.Opaque) (types.ContentBlock, error) {
	return nil, errors.New("a settled prompt holds no unknown block")
}

func (*hand) Reasoning(r content.Reasoning) (types.ContentBlock, error) {
	if r.Text == "" {
		return &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberRedactedContent{Value: []byte(secret)}}, nil
	}
	sig := signature
	return &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{
		Value: types.ReasoningTextBlock{Text: &r.Text, Signature: &sig},
	}}, nil
}

func (*hand) ToolCall(c content.ToolCall) (types.ContentBlock, error) {
	return &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
		ToolUseId: &c.ID, Name: &c.Name, Input: document.NewLazyDocument(arguments[c.ID]),
	}}, nil
}

// arguments are those of the calls in [rich].
var arguments = map[string]map[string]any{
	"tooluse_a": {"path": "a.png", "n": []any{1, map[string]any{"x": nil}}}, "tooluse_b": {"path": "b"}, "tooluse_c": {},
}

func (h *hand) ToolResult(r content.ToolResult, parts []types.ContentBlock) (types.ContentBlock, error) {
	out := types.ToolResultBlock{ToolUseId: &r.CallID}
	for _, p := range parts {
		switch p := p.(type) {
		case *types.ContentBlockMemberText:
			out.Content = append(out.Content, &types.ToolResultContentBlockMemberText{Value: p.Value})
		case *types.ContentBlockMemberImage:
			out.Content = append(out.Content, &types.ToolResultContentBlockMemberImage{Value: p.Value})
		case *types.ContentBlockMemberDocument:
			out.Content = append(out.Content, &types.ToolResultContentBlockMemberDocument{Value: p.Value})
		default:
			return nil, errors.New("a result has no form for it")
		}
	}
	if len(parts) == 0 {
		out.Content = append(out.Content, &types.ToolResultContentBlockMemberText{Value: "[no output]"})
	}
	switch {
	case h.status && r.IsError:
		out.Status = types.ToolResultStatusError
	case h.status:
		out.Status = types.ToolResultStatusSuccess
	}
	return &types.ContentBlockMemberToolResult{Value: out}, nil
}

// Message joins neighbours of one role. What it returns is for the check of whoever
// renders alone.
func (h *hand) Message(role content.Role, parts []types.ContentBlock) ([]delivery.Segment, error) {
	wire := types.ConversationRoleUser
	if role == content.RoleAssistant {
		wire = types.ConversationRoleAssistant
	}
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == wire {
		h.messages[n-1].Content = append(h.messages[n-1].Content, parts...)
	} else {
		h.messages = append(h.messages, types.Message{Role: wire, Content: parts})
	}
	segments := []delivery.Segment{delivery.Literal("x")}
	for _, b := range h.held {
		segments = append(segments, delivery.Hole(b))
	}
	h.held = nil
	return segments, nil
}

// TestByHand builds the requests of a conversation by hand, has the SDK send them,
// and compares what arrives with what tote sends.
func TestByHand(t *testing.T) {
	for _, model := range []string{claude, oss} {
		t.Run(model, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: model, Audio: true, Documents: true})
			c := config(t, s, model)
			c.CachePoints, c.Thinking = totebedrock.CacheOff, totebedrock.ThinkingNone
			s.AddReply(t, ask(t, s, provider.EffortDefault, c, rich(t)))
			r := s.Request(t, provider.EffortDefault)
			h := &hand{blobs: r.Blobs, status: c.ResultStatus}
			if _, err := delivery.Render(r.Prompt, h); err != nil {
				t.Fatal(err)
			}
			in := &bedrockruntime.ConverseStreamInput{
				ModelId: &model, Messages: h.messages, System: []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System}},
				InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(r.MaxOutput))}, ToolConfig: &types.ToolConfiguration{},
			}
			for _, tool := range r.Tools {
				in.ToolConfig.Tools = append(in.ToolConfig.Tools, &types.ToolMemberToolSpec{Value: types.ToolSpecification{
					Name: &tool.Name, Description: &tool.Description,
					InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(sdk.Tree(t, tool.Schema))},
				}})
			}
			theirs, _ := send(t, sdk.NewWire(t, mediaType, rich(t)), in, model == oss)
			_, data := sdk.Body(t, totebedrock.New(provider.Options{}, c), r)
			sdk.Expect(t, sdk.Diff(sdk.Tree(t, data), sdk.Tree(t, theirs.Body)))
		})
	}
}
