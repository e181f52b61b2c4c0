package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tote/internal/content"
)

// GeminiChunk spells one chunk of an answer with these parts, spelled as JSON
// and joined with commas.
func GeminiChunk(parts string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0}],"modelVersion":"m","responseId":"resp-1"}`
}

// GeminiEnd spells the last chunk, with a usage object or "".
func GeminiEnd(reason, usage string) string {
	s := `{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"` + reason + `","index":0}]`
	if usage != "" {
		s += `,"usageMetadata":` + usage
	}
	return s + `,"modelVersion":"m","responseId":"resp-1"}`
}

// GeminiUsageJSON spells a usage object with its modalities. A negative number
// leaves the field, or the modality, out.
func GeminiUsageJSON(u Usage) string {
	details := fmt.Sprintf(`{"modality":"TEXT","tokenCount":%d}`, u.Prompt-max(u.Image, 0))
	if u.Image >= 0 {
		details += fmt.Sprintf(`,{"modality":"IMAGE","tokenCount":%d}`, u.Image)
	}
	s := fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[%s]`,
		u.Prompt, u.Completion, u.Prompt+u.Completion, details)
	if u.Cached >= 0 {
		s += fmt.Sprintf(`,"cachedContentTokenCount":%d`, u.Cached)
	}
	return s + "}"
}

// GeminiText answers with words, streamed one piece a chunk, without image
// tokens.
func GeminiText(pieces ...string) Reply {
	return GeminiUsage(Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}, pieces...)
}

// GeminiUsage answers with words and the given usage.
func GeminiUsage(u Usage, pieces ...string) Reply {
	var data []string
	for _, p := range pieces {
		data = append(data, GeminiChunk(`{"text":`+quote(p)+`}`))
	}
	return Events(append(data, GeminiEnd("STOP", GeminiUsageJSON(u)))...)
}

// GeminiCalls answers with tool calls, signed where they have a signature.
func GeminiCalls(calls ...content.ToolCall) Reply {
	var parts []string
	for _, c := range calls {
		p := `{"functionCall":{"id":` + quote(c.ID) + `,"name":` + quote(c.Name) + `,"args":` + c.Arguments + `}`
		if c.Signature != "" {
			p += `,"thoughtSignature":` + quote(c.Signature)
		}
		parts = append(parts, p+"}")
	}
	usage := GeminiUsageJSON(Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1})
	return Events(GeminiChunk(strings.Join(parts, ",")), GeminiEnd("STOP", usage))
}

type geminiRequest struct {
	SystemInstruction *geminiContent `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Description          string          `json:"description"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Contents         []geminiContent `json:"contents"`
	GenerationConfig struct {
		MaxOutputTokens *int32 `json:"maxOutputTokens"`
		Seed            *int32 `json:"seed"`
		ThinkingConfig  *struct {
			IncludeThoughts bool   `json:"includeThoughts"`
			ThinkingBudget  *int32 `json:"thinkingBudget"`
			ThinkingLevel   string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string       `json:"text"`
	Thought          bool          `json:"thought"`
	ThoughtSignature string        `json:"thoughtSignature"`
	InlineData       *geminiInline `json:"inlineData"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *geminiResponse `json:"functionResponse"`
}

type geminiInline struct {
	MIMEType    string `json:"mimeType"`
	Data        string `json:"data"`
	DisplayName string `json:"displayName"`
}

type geminiResponse struct {
	ID       string             `json:"id"`
	Name     string             `json:"name"`
	Response map[string]*string `json:"response"`
	Parts    []struct {
		InlineData *geminiInline `json:"inlineData"`
	} `json:"parts"`
}

// ReadGemini reads a generateContent request as a strict server does. It refuses
// unknown fields, roles that do not alternate, empty parts, calls and results
// that do not match, and media of types that the backend does not take. The
// model stands in the address and is left empty.
func ReadGemini(body []byte) (Sent, error) {
	var r geminiRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return Sent{}, fmt.Errorf("read gemini request: %w", err)
	}
	if t := r.GenerationConfig.ThinkingConfig; t != nil && t.ThinkingLevel != "" && t.ThinkingBudget != nil {
		return Sent{}, errors.New("read gemini request: thinking has both a level and a budget")
	}
	s, err := r.head()
	if err != nil {
		return Sent{}, fmt.Errorf("read gemini request: %w", err)
	}
	if len(r.Contents) == 0 {
		return Sent{}, errors.New("read gemini request: no contents")
	}
	g := geminiReader{}
	for i, c := range r.Contents {
		m, err := g.content(c)
		if err != nil {
			return Sent{}, fmt.Errorf("read gemini request: content %d (%s): %w", i, c.Role, err)
		}
		s.Messages = append(s.Messages, m)
	}
	if len(g.open) > 0 {
		return Sent{}, fmt.Errorf("read gemini request: %d calls at the end have no result", len(g.open))
	}
	return s, nil
}

// head reads what stands before the contents.
func (r *geminiRequest) head() (Sent, error) {
	var s Sent
	if r.SystemInstruction != nil {
		for _, p := range r.SystemInstruction.Parts {
			if p.Text == nil || *p.Text == "" {
				return Sent{}, errors.New("an empty instruction")
			}
			s.System += *p.Text
		}
	}
	for _, t := range r.Tools {
		for _, f := range t.FunctionDeclarations {
			if f.Name == "" || len(f.ParametersJSONSchema) > 0 && f.ParametersJSONSchema[0] != '{' {
				return Sent{}, fmt.Errorf("tool %q: no name, or a schema that is no object", f.Name)
			}
			s.Tools = append(s.Tools, f.Name)
		}
	}
	return s, nil
}

// geminiReader holds the order of contents against the rules.
type geminiReader struct {
	role string
	// open are the calls of the content before that wait for a result.
	open []content.ToolCall
}

func (g *geminiReader) content(c geminiContent) (SentMessage, error) {
	switch {
	case c.Role != "user" && c.Role != "model":
		return SentMessage{}, errors.New("an unknown role")
	case g.role == c.Role:
		return SentMessage{}, errors.New("the role comes twice")
	case g.role == "" && c.Role != "user":
		return SentMessage{}, errors.New("the first is not the user's")
	case len(c.Parts) == 0:
		return SentMessage{}, errors.New("no parts")
	}
	g.role = c.Role
	waiting := g.open
	g.open = nil
	m := SentMessage{Role: c.Role}
	others := false
	for i, p := range c.Parts {
		part, err := g.part(p)
		if err == nil && part.Result != nil {
			if others {
				err = errors.New("a result behind other parts")
			} else {
				waiting, err = answered(waiting, part.Result)
			}
		} else if part.Call != nil {
			g.open = append(g.open, *part.Call)
		} else {
			others = true
		}
		if err != nil {
			return SentMessage{}, fmt.Errorf("part %d: %w", i, err)
		}
		m.Parts = append(m.Parts, part)
	}
	if len(waiting) > 0 {
		return SentMessage{}, fmt.Errorf("%d calls before it have no result", len(waiting))
	}
	return m, nil
}

// answered takes the call that a result answers: by its identifier, else the
// first of its name.
func answered(open []content.ToolCall, r *SentResult) ([]content.ToolCall, error) {
	i := slices.IndexFunc(open, func(c content.ToolCall) bool { return c.Name == r.Name && c.ID == r.CallID })
	if i < 0 {
		return open, fmt.Errorf("it answers no open call: %s %q", r.Name, r.CallID)
	}
	return slices.Delete(slices.Clone(open), i, i+1), nil
}

func (g *geminiReader) part(p geminiPart) (SentPart, error) {
	kinds := 0
	for _, has := range []bool{p.Text != nil, p.InlineData != nil, p.FunctionCall != nil, p.FunctionResponse != nil} {
		if has {
			kinds++
		}
	}
	model := g.role == "model"
	switch {
	case kinds != 1:
		return SentPart{}, fmt.Errorf("it is %d things", kinds)
	case !model && (p.Thought || p.ThoughtSignature != "" || p.FunctionCall != nil):
		return SentPart{}, errors.New("a user's part that only a model makes")
	case model && (p.InlineData != nil || p.FunctionResponse != nil):
		return SentPart{}, errors.New("a model's part that only a user makes")
	case p.Thought && p.Text == nil:
		return SentPart{}, errors.New("a thought without words")
	case p.Text != nil && *p.Text == "" && p.ThoughtSignature == "":
		return SentPart{}, errors.New("an empty text")
	case p.Thought:
		return SentPart{Thought: *p.Text, Signature: p.ThoughtSignature}, nil
	case p.Text != nil:
		return SentPart{Text: *p.Text, Signature: p.ThoughtSignature}, nil
	case p.InlineData != nil:
		return p.InlineData.read()
	case p.FunctionResponse != nil:
		r, err := p.FunctionResponse.read()
		return SentPart{Result: r}, err
	}
	f := p.FunctionCall
	if f.Name == "" || len(f.Args) == 0 || f.Args[0] != '{' {
		return SentPart{}, errors.New("a call without a name, or whose arguments are no object")
	}
	return SentPart{Signature: p.ThoughtSignature, Call: &content.ToolCall{ID: f.ID, Name: f.Name, Arguments: string(f.Args)}}, nil
}

// geminiTypes are the media types that the backend takes, and their kinds.
var geminiTypes = map[string]content.Kind{
	"image/png": content.KindImage, "image/jpeg": content.KindImage, "image/webp": content.KindImage,
	"image/heic": content.KindImage, "image/heif": content.KindImage,
	"audio/wav": content.KindAudio, "audio/mp3": content.KindAudio, "audio/aiff": content.KindAudio, "audio/aac": content.KindAudio,
	"audio/ogg": content.KindAudio, "audio/flac": content.KindAudio,
	"application/pdf": content.KindDocument,
}

func (d *geminiInline) read() (SentPart, error) {
	kind, ok := geminiTypes[d.MIMEType]
	if !ok {
		return SentPart{}, fmt.Errorf("unsupported MIME type: %s", d.MIMEType)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(d.Data)
	if err != nil {
		return SentPart{}, fmt.Errorf("data of type %s: %w", d.MIMEType, err)
	}
	if len(data) == 0 {
		return SentPart{}, errors.New("empty data")
	}
	return SentPart{Kind: kind, MIME: d.MIMEType, Data: data, Name: d.DisplayName}, nil
}

func (r *geminiResponse) read() (*SentResult, error) {
	output, isOutput := r.Response["output"]
	words, isError := r.Response["error"]
	if r.Name == "" || len(r.Response) != 1 || isOutput == isError {
		return nil, errors.New("a result without a name, or with another response than one output or error")
	}
	if isError {
		output = words
	}
	if output == nil {
		return nil, errors.New("a result that is null")
	}
	out := &SentResult{CallID: r.ID, Name: r.Name, IsError: isError}
	if *output != "" {
		out.Parts = append(out.Parts, SentPart{Text: *output})
	}
	names := map[string]bool{}
	for i, p := range r.Parts {
		if p.InlineData == nil {
			return nil, fmt.Errorf("part %d of a result is empty", i)
		}
		part, err := p.InlineData.read()
		switch {
		case err != nil:
			return nil, fmt.Errorf("part %d of a result: %w", i, err)
		case part.Kind == content.KindAudio || strings.HasPrefix(part.MIME, "image/hei"):
			return nil, fmt.Errorf("part %d of a result: type %s", i, part.MIME)
		case names[part.Name] && part.Name != "":
			return nil, fmt.Errorf("part %d of a result: the name %q comes twice", i, part.Name)
		}
		names[part.Name] = true
		out.Parts = append(out.Parts, part)
	}
	return out, nil
}
