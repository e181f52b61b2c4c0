package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"tote/internal/content"
)

// responsesMembers are the members of a Responses request that the strict
// reader knows: those of the reference that a coding agent may use
// (openai-go v3.99, read 2026-11-30). There is none for a seed.
var responsesMembers = []string{
	"image", "include", "input", "instructions", "max_output_tokens", "model", "parallel_tool_calls", "prompt_cache_key", "reasoning",
	"store", "stream", "temperature", "text", "tool_choice", "tools", "top_p", "truncation",
}

type responsesRequest struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Store        *bool             `json:"store"`
	Include      []string          `json:"include"`
	Tools        []json.RawMessage `json:"tools"`
	Input        []json.RawMessage `json:"input"`
	Reasoning    *struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
	Image *struct {
		Compression string `json:"context_compression"`
	} `json:"image"`
}

// ReadResponses reads a Responses request as a picky server would: every member,
// item and part must be known, text is never empty, every function_call has an
// identifier of its own and is answered once before anybody else speaks, media stand in user messages and
// outputs alone and decode, thinking comes encrypted and before what it led to.
//
// Each item is one message of what is returned. The role of an item that is no
// message is its type.
func ReadResponses(body []byte) (Sent, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Sent{}, fmt.Errorf("parse responses request: %w", err)
	}
	for name := range members {
		if !slices.Contains(responsesMembers, name) {
			return Sent{}, fmt.Errorf("unknown member %q", name)
		}
	}
	var r responsesRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return Sent{}, fmt.Errorf("parse responses request: %w", err)
	}
	if r.Model == "" || len(r.Input) == 0 {
		return Sent{}, errors.New("no model or no input")
	}
	if r.Image != nil && !slices.Contains([]string{"auto", "enabled", "disabled"}, r.Image.Compression) {
		return Sent{}, fmt.Errorf("context_compression %q", r.Image.Compression)
	}
	sent := Sent{Model: r.Model, System: r.Instructions}
	for i, raw := range r.Tools {
		name, err := readFlatTool(raw)
		if err != nil {
			return Sent{}, fmt.Errorf("tool %d: %w", i, err)
		}
		sent.Tools = append(sent.Tools, name)
	}
	in := responsesInput{open: map[string]bool{}, seen: map[string]bool{}}
	for i, raw := range r.Input {
		m, err := in.item(raw)
		if err != nil {
			return Sent{}, fmt.Errorf("input item %d: %w", i, err)
		}
		sent.Messages = append(sent.Messages, m)
	}
	if len(in.open) > 0 {
		return Sent{}, fmt.Errorf("%d function calls have no output", len(in.open))
	}
	if in.thought {
		return Sent{}, errors.New("reasoning without the item that it led to")
	}
	return sent, nil
}

// flatName is what a function may be called.
var flatName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func readFlatTool(raw []byte) (string, error) {
	var t struct {
		Type        string         `json:"type"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
		Strict      *bool          `json:"strict"`
	}
	if err := strictFlat(raw, &t); err != nil {
		return "", err
	}
	if t.Type != "function" || !flatName.MatchString(t.Name) || t.Parameters == nil || t.Strict == nil {
		return "", fmt.Errorf("a %s %q without a name, parameters or strict", t.Type, t.Name)
	}
	return t.Name, nil
}

// strictFlat decodes one JSON value in which every member is known.
func strictFlat(raw []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// responsesInput is what was read of an input so far.
type responsesInput struct {
	// open are the calls that wait for an output; seen are all.
	open, seen map[string]bool
	// thought: the last item was reasoning.
	thought bool
}

func (in *responsesInput) item(raw []byte) (SentMessage, error) {
	var head struct {
		Type string `json:"type"`
		Role string `json:"role"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return SentMessage{}, err
	}
	said := head.Type == "function_call" || head.Type == "reasoning" || head.Role == "assistant"
	if in.thought && !said {
		return SentMessage{}, errors.New("reasoning before it without the item that it led to")
	}
	in.thought = head.Type == "reasoning"
	if len(in.open) > 0 && !said && head.Type != "function_call_output" {
		return SentMessage{}, fmt.Errorf("%d function calls before it have no output", len(in.open))
	}
	m := SentMessage{Role: head.Type}
	var err error
	switch head.Type {
	case "message", "":
		m.Role = head.Role
		m.Parts, err = readFlatMessage(raw)
	case "function_call":
		m.Parts, err = in.call(raw)
	case "function_call_output":
		m.Parts, err = in.output(raw)
	case "reasoning":
		m.Parts, err = readFlatReasoning(raw)
	default:
		err = fmt.Errorf("unknown type %q", head.Type)
	}
	return m, err
}

func (in *responsesInput) call(raw []byte) ([]SentPart, error) {
	var c struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Status    string `json:"status"`
	}
	if err := strictFlat(raw, &c); err != nil {
		return nil, err
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil || args == nil {
		return nil, errors.New("arguments that are no object")
	}
	if c.CallID == "" || len(c.CallID) > 64 || in.seen[c.CallID] || !flatName.MatchString(c.Name) {
		return nil, errors.New("a call without a name of its own")
	}
	in.open[c.CallID], in.seen[c.CallID] = true, true
	return []SentPart{{Call: &content.ToolCall{ID: c.CallID, Name: c.Name, Arguments: c.Arguments}}}, nil
}

func (in *responsesInput) output(raw []byte) ([]SentPart, error) {
	var o struct {
		Type   string          `json:"type"`
		ID     string          `json:"id"`
		CallID string          `json:"call_id"`
		Output json.RawMessage `json:"output"`
		Status string          `json:"status"`
	}
	if err := strictFlat(raw, &o); err != nil {
		return nil, err
	}
	if !in.open[o.CallID] {
		return nil, fmt.Errorf("it answers no open call: %q", o.CallID)
	}
	delete(in.open, o.CallID)
	parts, err := readFlatParts(o.Output, "user")
	return []SentPart{{Result: &SentResult{CallID: o.CallID, Parts: parts}}}, err
}

func readFlatReasoning(raw []byte) ([]SentPart, error) {
	var r struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Summary []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"summary"`
		Encrypted string `json:"encrypted_content"`
	}
	if err := strictFlat(raw, &r); err != nil {
		return nil, err
	}
	if r.ID == "" || r.Encrypted == "" || r.Summary == nil {
		return nil, errors.New("reasoning without an id, a summary or its encrypted content")
	}
	texts := make([]string, 0, len(r.Summary))
	for _, s := range r.Summary {
		if s.Type != "summary_text" || s.Text == "" {
			return nil, fmt.Errorf("a summary part of type %q", s.Type)
		}
		texts = append(texts, s.Text)
	}
	return []SentPart{{Thought: strings.Join(texts, "\n\n"), Signature: r.Encrypted}}, nil
}

func readFlatMessage(raw []byte) ([]SentPart, error) {
	var m struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Phase   string          `json:"phase"`
	}
	if err := strictFlat(raw, &m); err != nil {
		return nil, err
	}
	switch m.Role {
	case "user", "assistant", "system", "developer":
		return readFlatParts(m.Content, m.Role)
	}
	return nil, fmt.Errorf("unknown role %q", m.Role)
}

// readFlatParts reads the content of a message of a role, or an output: a
// string, or an array of parts.
func readFlatParts(raw json.RawMessage, role string) ([]SentPart, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return flatText(text)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("no content parts")
	}
	var out []SentPart
	for i, p := range list {
		part, err := readFlatPart(p, role)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		out = append(out, part...)
	}
	return out, nil
}

func flatText(text string) ([]SentPart, error) {
	if text == "" {
		return nil, errors.New("empty text")
	}
	return []SentPart{{Text: text}}, nil
}

type flatPart struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	Annotations []json.RawMessage `json:"annotations"`
	ImageURL    string            `json:"image_url"`
	Detail      string            `json:"detail"`
	Filename    string            `json:"filename"`
	FileData    string            `json:"file_data"`
}

func readFlatPart(raw []byte, role string) ([]SentPart, error) {
	var p flatPart
	if err := strictFlat(raw, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Type == "input_text" && role != "assistant":
		return flatText(p.Text)
	case p.Type == "output_text":
		return nil, errors.New("output text as a part of a message without an id")
	case p.Type == "input_image" && role == "user":
		return readFlatImage(p)
	case p.Type == "input_file" && role == "user":
		mime, data, err := DataURI(p.FileData)
		if err == nil && (p.Filename == "" || len(data) == 0) {
			err = errors.New("a file without a name or bytes")
		}
		return []SentPart{{Kind: content.KindDocument, MIME: mime, Data: data, Name: p.Filename}}, err
	}
	return nil, fmt.Errorf("a part of type %q in a message of role %q", p.Type, role)
}

func readFlatImage(p flatPart) ([]SentPart, error) {
	if !slices.Contains([]string{"", "low", "high", "auto", "original"}, p.Detail) {
		return nil, fmt.Errorf("detail %q", p.Detail)
	}
	mime, data, err := DataURI(p.ImageURL)
	if err == nil && (!strings.HasPrefix(mime, "image/") || len(data) == 0) {
		err = fmt.Errorf("a picture of type %q with %d bytes", mime, len(data))
	}
	return []SentPart{{Kind: content.KindImage, MIME: mime, Data: data}}, err
}

// ResponsesText answers a Responses request with words, streamed one piece an
// event.
func ResponsesText(pieces ...string) Reply {
	text := strings.Join(pieces, "")
	const part = `"item_id":"msg_1","output_index":0,"content_index":0`
	item := func(status, content string) string {
		return `{"type":"message","id":"msg_1","status":"` + status + `","role":"assistant","content":[` + content + `]}`
	}
	whole := `{"type":"output_text","text":` + quote(text) + `,"annotations":[]}`
	events := []string{
		`{"type":"response.output_item.added","output_index":0,"item":` + item("in_progress", "") + `}`,
		`{"type":"response.content_part.added",` + part + `,"part":{"type":"output_text","text":"","annotations":[]}}`,
	}
	for _, p := range pieces {
		events = append(events, `{"type":"response.output_text.delta",`+part+`,"delta":`+quote(p)+`}`)
	}
	events = append(events,
		`{"type":"response.output_text.done",`+part+`,"text":`+quote(text)+`}`,
		`{"type":"response.content_part.done",`+part+`,"part":`+whole+`}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+item("completed", whole)+`}`)
	return responsesStream(events, item("completed", whole))
}

// ResponsesCalls answers a Responses request with function calls.
func ResponsesCalls(calls ...content.ToolCall) Reply {
	var events, items []string
	for i, c := range calls {
		item := func(status, arguments string) string {
			return fmt.Sprintf(`{"type":"function_call","id":"fc_%d","status":%q,"call_id":%s,"name":%s,"arguments":%s}`,
				i, status, quote(c.ID), quote(c.Name), quote(arguments))
		}
		whole := item("completed", c.Arguments)
		events = append(events,
			fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, i, item("in_progress", "")),
			fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":"fc_%d","output_index":%d,"delta":%s}`, i, i, quote(c.Arguments)),
			fmt.Sprintf(`{"type":"response.function_call_arguments.done","item_id":"fc_%d","output_index":%d,"arguments":%s}`, i, i, quote(c.Arguments)),
			fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, whole))
		items = append(items, whole)
	}
	return responsesStream(events, items...)
}

// ResponsesFailed answers a Responses request with 200 and a stream that ends
// in an error.
func ResponsesFailed(code, message string) Reply {
	return responsesEvents(
		`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}`,
		`{"type":"response.failed","response":{"id":"resp_1","object":"response","status":"failed","error":{"code":`+quote(code)+
			`,"message":`+quote(message)+`},"incomplete_details":null,"output":[],"usage":null}}`)
}

func responsesStream(events []string, items ...string) Reply {
	all := []string{
		`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`,
		`{"type":"response.in_progress","response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`,
	}
	all = append(all, events...)
	all = append(all, `{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,`+
		`"incomplete_details":null,"output":[`+strings.Join(items, ",")+`],"usage":{"input_tokens":10,`+
		`"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}}`)
	return responsesEvents(all...)
}

// responsesEvents sends events under their names, as OpenAI does.
func responsesEvents(data ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			var head struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal([]byte(d), &head)                           // an event without a type has no name
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", head.Type, d) // a client that left sees nothing
			flush(w)
		}
	}
}
