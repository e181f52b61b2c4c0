package gemini_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"tote/e2e/sdk"
	"tote/internal/content"
	"tote/internal/profile"
	"tote/internal/provider"
	totegemini "tote/internal/provider/gemini"
)

const key = "AIza-test"

// place is one of Google's addresses.
type place struct {
	base    string
	config  genai.ClientConfig
	version string
}

var (
	studio = place{
		base: "https://generativelanguage.googleapis.com/v1beta", version: "v1beta",
		config: genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: key},
	}
	vertex = place{
		base:    "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google",
		version: "v1",
		config:  genai.ClientConfig{Backend: genai.BackendVertexAI, Project: "p", Location: "us-central1"},
	}
)

// rest is the body of a request in the SDK's types.
type rest struct {
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	Contents          []*genai.Content        `json:"contents,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

func strictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func respell(body []byte) ([]byte, error) {
	var r rest
	if err := strictly(body, &r); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// config is the request as the SDK's client takes it.
func config(t *testing.T, body []byte) ([]*genai.Content, *genai.GenerateContentConfig) {
	t.Helper()
	var r rest
	if err := strictly(body, &r); err != nil {
		t.Fatal(err)
	}
	c := &genai.GenerateContentConfig{}
	tree, ok := sdk.Tree(t, body).(map[string]any)
	if !ok {
		t.Fatal("the request is no object")
	}
	if err := strictly(sdk.JSON(t, tree["generationConfig"]), c); err != nil {
		t.Fatal(err)
	}
	c.SystemInstruction, c.Tools = r.SystemInstruction, r.Tools
	return r.Contents, c
}

// plain is a request without what says the same in another way, and which the Go
// types cannot hold or leave out:
//   - A text of no words beside a signature, and arguments of no members. Parts go
//     back as they came (https://ai.google.dev/gemini-api/docs/thought-signatures);
//     Go's omitempty drops both.
//   - A signature in the other alphabet of base64. The JSON of protocol buffers has
//     either for bytes (https://protobuf.dev/programming-guides/json/); the one that
//     Google documents for calls of other models has an underscore.
//
// Both pages were read on 2026-11-30.
func plain(t *testing.T, body []byte) []byte {
	t.Helper()
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
			if _, signed := v["thoughtSignature"]; signed && v["text"] == "" {
				delete(v, "text")
			}
			if args, ok := v["args"].(map[string]any); ok && len(args) == 0 && v["name"] != nil {
				delete(v, "args")
			}
			if sig, ok := v["thoughtSignature"].(string); ok {
				v["thoughtSignature"] = strings.NewReplacer("-", "+", "_", "/").Replace(sig)
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		}
		return v
	}
	return sdk.JSON(t, walk(sdk.Tree(t, body)))
}

// role is what the SDK's client adds to the system instruction. The interface does
// not look at it, and Google's own examples in JSON have none
// (https://ai.google.dev/gemini-api/docs/text-generation, read 2026-11-30).
var role = sdk.Exception{Place: ".systemInstruction.role", How: "adds", Reason: "a default of the SDK's client"}

// ask holds the next request of a conversation against the SDK, sends it by both
// clients, and returns the answer.
func ask(t *testing.T, at place, s *sdk.Stage, e provider.Effort, model string, answer []byte) sdk.Reply {
	t.Helper()
	w := sdk.NewWire(t, "text/event-stream", answer)
	p := newGemini(s, provider.Options{
		BaseURL: at.base, Transport: w, KeyHeader: s.Wire.KeyHeader, Key: func() (string, error) { return key, nil },
	}, model)
	body, data := sdk.Body(t, p, s.Request(t, e))
	data = plain(t, data)
	theirs, err := respell(data)
	if err != nil {
		t.Fatal(err)
	}
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, data), sdk.Tree(t, theirs)))

	reply := sdk.Ask(t.Context(), t, p, body)
	ours := w.Last(t)
	cc := at.config
	cc.HTTPClient, cc.HTTPOptions = w.Client(), genai.HTTPOptions{APIVersion: at.version}
	client, err := genai.NewClient(t.Context(), &cc)
	if err != nil {
		t.Fatal(err)
	}
	contents, conf := config(t, data)
	var seen streamed
	for r, err := range client.Models.GenerateContentStream(t.Context(), model, contents, conf) {
		if err != nil {
			t.Fatal(err)
		}
		seen.add(t, r)
	}
	sent := w.Last(t)
	heads := []string{"Content-Type"}
	if at.config.APIKey != "" { // else the SDK's HTTP client brings a token
		heads = append(heads, "X-Goog-Api-Key")
	}
	sdk.Heads(t, ours, sent, heads...)
	sdk.Expect(t, sdk.Diff(sdk.Tree(t, plain(t, ours.Body)), sdk.Tree(t, sent.Body)), role)
	for i, c := range seen.Calls {
		if c.ID == "" && i < len(reply.Calls) && reply.Calls[i].ID != "" {
			seen.Calls[i].ID = reply.Calls[i].ID // tote names a call that the server does not
		}
	}
	sdk.Same(t, reply, seen.Answer)
	return reply
}

func newGemini(s *sdk.Stage, o provider.Options, model string) *totegemini.Gemini {
	c := totegemini.Config{Model: model, NoCallIDs: s.Wire.NoCallIDs, CallSignatures: s.Wire.CallSignatures, NoSeed: s.Wire.NoSeed}
	switch s.Wire.Effort {
	case profile.EffortLevel:
		c.Thinking = totegemini.ThinkingLevel
	case profile.EffortBudget:
		c.Thinking = totegemini.ThinkingBudget
	}
	return totegemini.New(o, c)
}

// streamed is what the SDK makes of an answer, chunk by chunk.
type streamed struct{ sdk.Answer }

func (s *streamed) add(t *testing.T, r *genai.GenerateContentResponse) {
	t.Helper()
	if u := r.UsageMetadata; u != nil {
		modality := func(m genai.MediaModality) content.Count {
			var n int64
			for _, d := range u.PromptTokensDetails {
				if d.Modality == m {
					n += int64(d.TokenCount)
				}
			}
			return content.Reported(n)
		}
		s.Usage = content.Usage{
			Input:  content.Reported(int64(u.PromptTokenCount + u.ToolUsePromptTokenCount)),
			Output: content.Reported(int64(u.CandidatesTokenCount + u.ThoughtsTokenCount)), Cached: content.Reported(int64(u.CachedContentTokenCount)),
			Reasoning: content.Reported(int64(u.ThoughtsTokenCount)), Image: modality(genai.MediaModalityImage), Audio: modality(genai.MediaModalityAudio),
		}
	}
	for _, c := range r.Candidates {
		if stop := stopOf(c.FinishReason); stop != content.StopNone {
			s.Stop = stop
		}
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				s.Calls = append(s.Calls, sdk.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: sdk.Tree(t, sdk.JSON(t, arguments(p.FunctionCall.Args)))})
			case p.Thought:
				s.Thinking += p.Text
			default:
				s.Text += p.Text
			}
		}
	}
}

// stopOf is what a finish reason comes to, StopNone where it is no end.
func stopOf(r genai.FinishReason) content.StopReason {
	switch r {
	case genai.FinishReasonStop, genai.FinishReasonLanguage, genai.FinishReasonOther, genai.FinishReasonNoImage, genai.FinishReasonImageOther:
		return content.StopEndTurn
	case genai.FinishReasonMaxTokens:
		return content.StopMaxTokens
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent,
		genai.FinishReasonSPII, genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return content.StopRefusal
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls:
		return content.StopFailed
	case genai.FinishReasonUnspecified, genai.FinishReasonContinuation:
	}
	return content.StopNone
}

// arguments are those of a call; the SDK has nil for none.
func arguments(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// chunks spells an answer in the SDK's own types, one part a chunk.
func chunks(t *testing.T, end genai.FinishReason, parts ...*genai.Part) []byte {
	t.Helper()
	var events [][2]string
	for i, p := range parts {
		c := &genai.Candidate{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{p}}}
		r := genai.GenerateContentResponse{ResponseID: "resp-1", ModelVersion: "gemini", Candidates: []*genai.Candidate{c}, UsageMetadata: usage(int32(i + 1))}
		if i == len(parts)-1 {
			c.FinishReason = end
		}
		events = append(events, [2]string{"", string(sdk.JSON(t, r))})
	}
	return sdk.Events(events...)
}

// usage is the running total after n chunks.
func usage(n int32) *genai.GenerateContentResponseUsageMetadata {
	return &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: 1200, CandidatesTokenCount: 40 + n, ThoughtsTokenCount: 30 + n, CachedContentTokenCount: 640, ToolUsePromptTokenCount: 5, TotalTokenCount: 1275 + 2*n,
		PromptTokensDetails: []*genai.ModalityTokenCount{
			{Modality: genai.MediaModalityText, TokenCount: 900}, {Modality: genai.MediaModalityImage, TokenCount: 258}, {Modality: genai.MediaModalityAudio, TokenCount: 42},
		},
	}
}

// signatures are what an answer's parts are signed with.
var signatures = []string{"thought-sig", "call-sig \xff\xfe", "text-sig"}

func encoded(i int) string { return base64.StdEncoding.EncodeToString([]byte(signatures[i])) }

// rich is an answer with every kind of part. Where ids are not known there are none.
func rich(t *testing.T, ids bool) []byte {
	t.Helper()
	call := func(id, name string, args map[string]any) *genai.FunctionCall {
		if !ids {
			id = ""
		}
		return &genai.FunctionCall{ID: id, Name: name, Args: args}
	}
	return chunks(
		t, genai.FinishReasonStop,
		&genai.Part{Text: "Let me <look>", Thought: true}, &genai.Part{Text: " at \"it\".", Thought: true, ThoughtSignature: []byte(signatures[0])},
		&genai.Part{Text: "I look at "}, &genai.Part{Text: "both \u2028\U0001f600."},
		&genai.Part{FunctionCall: call("call-1", "read", map[string]any{"path": "a.png", "n": []any{1, map[string]any{"x": nil}}}), ThoughtSignature: []byte(signatures[1])},
		&genai.Part{FunctionCall: call("call-2", "read", map[string]any{"path": "b"})},
		&genai.Part{FunctionCall: call("call-3", "list", nil)},
		&genai.Part{ThoughtSignature: []byte(signatures[2])},
	)
}

// TestGemini holds conversations against the SDK: with media in the results of
// tools, which Gemini 3 takes, and hoisted, with Google's key and on Vertex.
func TestGemini(t *testing.T) {
	const inside, outside = ".contents.parts.functionResponse.parts.inlineData.data", ".contents.parts.inlineData.data"
	for name, c := range map[string]struct {
		at    place
		model string
		want  string
	}{
		"native":         {studio, "gemini-3-pro-preview", inside},
		"hoisted":        {studio, "gemini-2.5-pro", outside},
		"vertex":         {vertex, "gemini-3-pro-preview", inside},
		"vertex hoisted": {vertex, "gemini-2.5-flash", outside},
	} {
		t.Run(name, func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totegemini.Path, Base: c.at.base, Model: c.model, Audio: true, Documents: true})
			answer := rich(t, !s.Wire.NoCallIDs)
			s.AddReply(t, ask(t, c.at, s, provider.EffortLow, c.model, answer))
			ask(t, c.at, s, provider.EffortNone, c.model, answer)
			s.AddStrangers()
			ask(t, c.at, s, provider.EffortDefault, c.model, answer)
			_, data := sdk.Body(t, newGemini(s, provider.Options{BaseURL: c.at.base}, c.model), s.Request(t, provider.EffortHigh))
			check(t, s, data, c.want, outside)
			if blind := sdk.Blind(t, plain(t, data), respell, ".contents.parts.functionCall.args", ".contents.parts.functionResponse.response", ".tools.functionDeclarations.parametersJsonSchema"); len(blind) > 0 {
				t.Errorf("a strange member would not be found at %v", blind)
			}
		})
	}
}

// check looks for what has to be in the last request.
func check(t *testing.T, s *sdk.Stage, data []byte, inside, outside string) {
	t.Helper()
	results, failed := s.Whole(t, data)
	native := 0
	for _, at := range append(results, failed...) {
		switch at {
		case inside:
			native++
		case outside: // sound, which results have no form for
		default:
			t.Errorf("a medium of a tool stands at %s", at)
		}
	}
	if native == 0 {
		t.Errorf("no medium of a tool stands at %s", inside)
	}
	for i := range signatures {
		if at := sdk.Find(sdk.Tree(t, data), encoded(i)); len(at) != 1 || !strings.HasSuffix(at[0], ".thoughtSignature") {
			t.Errorf("signature %d goes back at %v", i, at)
		}
	}
}

// TestEnds has both read the ends that are not the usual one.
func TestEnds(t *testing.T) {
	const model = "gemini-3-pro-preview"
	for _, end := range []genai.FinishReason{
		genai.FinishReasonLanguage, genai.FinishReasonOther, genai.FinishReasonNoImage, genai.FinishReasonImageOther, genai.FinishReasonMaxTokens,
		genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent,
		genai.FinishReasonSPII, genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation,
	} {
		t.Run(string(end), func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totegemini.Path, Base: studio.base, Model: model})
			ask(t, studio, s, provider.EffortDefault, model, chunks(t, end, &genai.Part{Text: "and so"}))
		})
	}
}

// TestFailures: a call that the backend could not read reaches no tool, so such an
// answer is an error.
func TestFailures(t *testing.T) {
	const model = "gemini-3-pro-preview"
	for _, end := range []genai.FinishReason{
		genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls,
	} {
		t.Run(string(end), func(t *testing.T) {
			s := sdk.NewStage(t, sdk.Vendor{Kind: totegemini.Path, Base: studio.base, Model: model})
			w := sdk.NewWire(t, "text/event-stream", chunks(t, end, &genai.Part{Text: "and so"}))
			p := newGemini(s, provider.Options{BaseURL: studio.base, Transport: w}, model)
			body, _ := sdk.Body(t, p, s.Request(t, provider.EffortDefault))
			var failure error
			for _, err := range p.Stream(t.Context(), body) {
				failure = err
			}
			if failure == nil || !strings.Contains(failure.Error(), string(end)) {
				t.Errorf("it ends with %v", failure)
			}
		})
	}
}

// TestContinuation: an answer that ends with CONTINUATION is not whole. The SDK
// sends the request again with the token that came along, until it is. tote has to
// do so too, or at least not take it for the end of the turn.
func TestContinuation(t *testing.T) {
	const model = "gemini-3-pro-preview"
	first := genai.GenerateContentResponse{ResponseID: "resp-1", UsageMetadata: usage(1), Candidates: []*genai.Candidate{{
		Content:      &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "The first half, "}}},
		FinishReason: genai.FinishReasonContinuation, ContinuationToken: []byte("go on"),
	}}}
	hops := [][]byte{sdk.Events([2]string{"", string(sdk.JSON(t, first))}), chunks(t, genai.FinishReasonStop, &genai.Part{Text: "the second half."})}
	s := sdk.NewStage(t, sdk.Vendor{Kind: totegemini.Path, Base: studio.base, Model: model})
	w := sdk.NewWire(t, "text/event-stream", hops...)
	p := newGemini(s, provider.Options{BaseURL: studio.base, Transport: w, Key: func() (string, error) { return key, nil }}, model)
	body, data := sdk.Body(t, p, s.Request(t, provider.EffortDefault))
	reply := sdk.Ask(t.Context(), t, p, body)

	cc := studio.config
	cc.HTTPClient = sdk.NewWire(t, "text/event-stream", hops...).Client()
	client, err := genai.NewClient(t.Context(), &cc)
	if err != nil {
		t.Fatal(err)
	}
	contents, conf := config(t, data)
	var seen streamed
	for r, err := range client.Models.GenerateContentStream(t.Context(), model, contents, conf) {
		if err != nil {
			t.Fatal(err)
		}
		seen.add(t, r)
	}
	if reply.Text != seen.Text && reply.Stop == content.StopEndTurn {
		t.Errorf("tote takes %q for the whole answer (%q), the SDK has %q", reply.Text, reply.Note, seen.Text)
	}
}
