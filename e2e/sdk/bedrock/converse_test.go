package bedrock_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"tote/e2e/sdk"
	"tote/internal/profile"
	"tote/internal/provider"
	totebedrock "tote/internal/provider/bedrock"
)

const (
	region = "us-east-1"
	base   = "https://bedrock-runtime.us-east-1.amazonaws.com"
)

var keys = map[string]string{
	"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_SESSION_TOKEN": "token/+=",
}

// config is the one that the model wants, with keys from here alone. The AWS library
// also looks into the environment of the process: a file of certificates that is
// named there it would put into the HTTP client, and a test's takes none.
func config(t *testing.T, s *sdk.Stage, model string) totebedrock.Config {
	t.Helper()
	t.Setenv("AWS_CA_BUNDLE", "")
	t.Setenv("AWS_PROFILE", "")
	c := totebedrock.Config{
		Model: model, Region: region, ResultStatus: s.Wire.ResultStatus, Env: func(name string) string { return keys[name] },
		ConfigFile: os.DevNull, CredentialsFile: os.DevNull,
	}
	switch {
	case s.Wire.CachePoints && s.Wire.NoToolCache:
		c.CachePoints = totebedrock.CacheNoTools
	case s.Wire.CachePoints:
		c.CachePoints = totebedrock.CacheAll
	}
	switch s.Wire.Effort {
	case profile.EffortBudget:
		c.Thinking = totebedrock.ThinkingBudget
	case profile.EffortAdaptive:
		c.Thinking = totebedrock.ThinkingAdaptive
	case profile.EffortNova:
		c.Thinking = totebedrock.ThinkingNova
	case profile.EffortField:
		c.Thinking = totebedrock.ThinkingEffort
	}
	return c
}

func client(w *sdk.Wire) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region: region, HTTPClient: w.Client(), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: keys["AWS_ACCESS_KEY_ID"], SecretAccessKey: keys["AWS_SECRET_ACCESS_KEY"], SessionToken: keys["AWS_SESSION_TOKEN"]}, nil
		}),
	})
}

// send has the SDK send a request, and returns what went out and what came back.
func send(t *testing.T, w *sdk.Wire, in *bedrockruntime.ConverseStreamInput, total bool) (sdk.Sent, sdk.Answer) {
	t.Helper()
	out, err := client(w).ConverseStream(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer func() { _ = stream.Close() }() // it was read to its end
	a := heard(t, stream.Events(), total)
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return w.Last(t), a
}

const mediaType = "application/vnd.amazon.eventstream"

// ask holds the next request of a conversation against the SDK, sends it by both
// clients, and returns the answer.
func ask(t *testing.T, s *sdk.Stage, e provider.Effort, c totebedrock.Config, answer []byte) sdk.Reply {
	t.Helper()
	w := sdk.NewWire(t, mediaType, answer)
	p := totebedrock.New(provider.Options{Transport: w, MaxRetries: -1}, c)
	body, data := sdk.Body(t, p, s.Request(t, e))
	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	theirs, read := send(t, w, input(t, c.Model, data), strings.Contains(c.Model, "openai."))
	sdk.Heads(t, ours, theirs, "Content-Type", "X-Amz-Security-Token")
	signed(t, ours, theirs)
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, ours.Body), sdk.Tree(t, theirs.Body)))
	sdk.Same(t, reply, read)
	return reply
}

// signed reports where the two sign other headers. The SDK signs two more that it
// sends itself, which count its attempts; tote signs the type of the answer, which
// the SDK leaves to the service.
func signed(t *testing.T, ours, theirs sdk.Sent) {
	t.Helper()
	a, b := signedHeaders(t, ours.Header), signedHeaders(t, theirs.Header)
	for _, h := range a {
		if !slices.Contains(b, h) && h != "accept" {
			t.Errorf("tote alone signs %q", h)
		}
	}
	for _, h := range b {
		if !slices.Contains(a, h) && h != "amz-sdk-invocation-id" && h != "amz-sdk-request" {
			t.Errorf("the SDK alone signs %q", h)
		}
	}
	for _, h := range []string{"content-length", "content-type", "host", "x-amz-date", "x-amz-security-token"} {
		if !slices.Contains(a, h) {
			t.Errorf("tote does not sign %q", h)
		}
	}
	if x, y := scope(ours.Header), scope(theirs.Header); x != y {
		t.Errorf("tote signs for %q, the SDK for %q", x, y)
	}
}

func signedHeaders(t *testing.T, h http.Header) []string {
	t.Helper()
	_, rest, ok := strings.Cut(h.Get("Authorization"), "SignedHeaders=")
	if !ok {
		t.Fatal("it is not signed")
	}
	names, _, _ := strings.Cut(rest, ",")
	return strings.Split(names, ";")
}

// scope is what a signature is for: key, region and service, without the day.
func scope(h http.Header) string {
	_, rest, _ := strings.Cut(h.Get("Authorization"), "Credential=")
	credential, _, _ := strings.Cut(rest, ",")
	parts := strings.Split(credential, "/")
	if len(parts) > 1 {
		parts[1] = "day"
	}
	return strings.Join(parts, "/")
}

const (
	claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	arn    = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0"
	nova   = "amazon.nova-lite-v1:0"
	nova2  = "us.amazon.nova-2-lite-v1:0"
	oss    = "openai.gpt-oss-120b-1:0"
)

// TestConverse holds conversations against the SDK, with media in the results of
// tools, as Claude and Nova take them, and hoisted, and under every form of a
// model's name.
func TestConverse(t *testing.T) {
	const inside, outside = ".messages.content.toolResult.content", ".messages.content"
	for model, where := range map[string]string{claude: inside, arn: inside, nova: inside, nova2: inside, oss: outside} {
		t.Run(model, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: model, Audio: true, Documents: true})
			c := config(t, s, model)
			s.AddReply(t, ask(t, s, provider.EffortLow, c, rich(t)))
			ask(t, s, provider.EffortNone, c, rich(t))
			s.AddStrangers()
			ask(t, s, provider.EffortDefault, c, rich(t))
			_, data := sdk.Body(t, totebedrock.New(provider.Options{}, c), s.Request(t, provider.EffortHigh))
			results, failed := s.Whole(t, data)
			for _, at := range results {
				if at != where+".image.source.bytes" && at != where+".document.source.bytes" && at != outside+".audio.source.bytes" {
					t.Errorf("a medium of a tool stands at %s", at)
				}
			}
			for _, at := range failed {
				if !strings.HasPrefix(at, outside) || strings.Contains(at, "toolResult") {
					t.Errorf("a medium of a failed call stands at %s", at)
				}
			}
			for _, text := range []string{signature, base64.StdEncoding.EncodeToString([]byte(secret))} {
				if at := sdk.Find(sdk.Tree(t, data), text); len(at) != 1 || !strings.Contains(at[0], ".reasoningContent.") {
					t.Errorf("thinking goes back at %v", at)
				}
			}
			words(t, data)
			blind := sdk.Blind(t, data, respell(t, model), ".messages.content.toolUse.input", ".toolConfig.tools.toolSpec.inputSchema.json", ".additionalModelRequestFields")
			if len(blind) > 0 {
				t.Errorf("a strange member would not be found at %v", blind)
			}
		})
	}
}

// respell has the SDK read a request and send it.
func respell(t *testing.T, model string) func([]byte) ([]byte, error) {
	w := sdk.NewWire(t, mediaType, begin().end(t, types.StopReasonEndTurn))
	return func(body []byte) ([]byte, error) {
		sent, _ := send(t, w, input(t, model, body), false)
		return sent.Body, nil
	}
}

// words holds what stands for a choice against the choices that the SDK has: its
// types take any word.
func words(t *testing.T, data []byte) {
	t.Helper()
	var walk func(v any, under string)
	check := func(at, word string, ok bool) {
		if !ok {
			t.Errorf("%q is no %s", word, at)
		}
	}
	walk = func(v any, under string) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				word, is := e.(string)
				switch at := under + "." + k; {
				case !is:
				case at == "image.format":
					check(at, word, slices.Contains(types.ImageFormat("").Values(), types.ImageFormat(word)))
				case at == "document.format":
					check(at, word, slices.Contains(types.DocumentFormat("").Values(), types.DocumentFormat(word)))
				case at == "audio.format":
					check(at, word, slices.Contains(types.AudioFormat("").Values(), types.AudioFormat(word)))
				case at == "toolResult.status":
					check(at, word, slices.Contains(types.ToolResultStatus("").Values(), types.ToolResultStatus(word)))
				case at == "cachePoint.type":
					check(at, word, slices.Contains(types.CachePointType("").Values(), types.CachePointType(word)))
				case at == "messages.role":
					check(at, word, slices.Contains(types.ConversationRole("").Values(), types.ConversationRole(word)))
				}
				walk(e, k)
			}
		case []any:
			for _, e := range v {
				walk(e, under)
			}
		}
	}
	walk(sdk.Tree(t, data), "")
}

// TestEnds has both read the ends that are not the usual one.
func TestEnds(t *testing.T) {
	for reason, want := range stops {
		t.Run(string(reason), func(t *testing.T) {
			a := begin()
			a.block(says("and so"))
			s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: claude})
			if r := ask(t, s, provider.EffortDefault, config(t, s, claude), a.end(t, reason)); r.Stop != want {
				t.Errorf("it stops with %s", r.Stop)
			}
		})
	}
}

// TestModels has both clients address models in every form of a name.
func TestModels(t *testing.T) {
	for _, model := range []string{
		claude, arn, nova, "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0",
		"arn:aws:bedrock:us-east-1:123456789012:provisioned-model/abc123", "arn:aws:bedrock:us-east-1:123456789012:prompt/PROMPT12345:1",
	} {
		t.Run(model, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: model})
			a := begin()
			a.block(says("ok"))
			ask(t, s, provider.EffortDefault, config(t, s, model), a.end(t, types.StopReasonEndTurn))
		})
	}
}

// TestSigned: the signature that tote sends is the one that the SDK's signer makes
// for what arrived.
func TestSigned(t *testing.T) {
	s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: arn, Documents: true})
	w := sdk.NewWire(t, mediaType, rich(t))
	p := totebedrock.New(provider.Options{Transport: w, MaxRetries: -1, UserAgent: "tote/test"}, config(t, s, arn))
	body, _ := sdk.Body(t, p, s.Request(t, provider.EffortDefault))
	sdk.Ask(t.Context(), t, p, body)
	sent := w.Last(t)
	if got, want := sent.Header.Get("Authorization"), resigned(t, sent); got != want {
		t.Errorf("it is signed\n%s, should be\n%s", got, want)
	}
	if !json.Valid(sent.Body) {
		t.Error("the body is no JSON")
	}
}
