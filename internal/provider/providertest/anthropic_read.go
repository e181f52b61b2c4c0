package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
)

// anthropicRequest is a request of the Messages API, as far as it is sent. A
// field that is not here is one that the API would have to know.
type anthropicRequest struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	Thinking  *struct {
		Type   string `json:"type"`
		Budget *int   `json:"budget_tokens"`
	} `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	System []anthropicText `json:"system"`
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *anthropicCache `json:"cache_control"`
	} `json:"tools"`
	Messages []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
}

type anthropicCache struct {
	Type string `json:"type"`
}

type anthropicText struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Cache *anthropicCache `json:"cache_control"`
}

type anthropicMedia struct {
	Type   string `json:"type"`
	Source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	Title           string `json:"title"`
	Transformations *struct {
		OversizedImage string `json:"oversized_image"`
	} `json:"transformations"`
	Cache *anthropicCache `json:"cache_control"`
}

type anthropicThinking struct {
	Type      string  `json:"type"`
	Thinking  *string `json:"thinking"`
	Signature *string `json:"signature"`
	Data      string  `json:"data"`
}

type anthropicCall struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Cache *anthropicCache `json:"cache_control"`
}

type anthropicResult struct {
	Type    string          `json:"type"`
	CallID  string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
	Cache   *anthropicCache `json:"cache_control"`
}

var (
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// The most breakpoints that a request may have, and the least budget.
const (
	anthropicBreakpoints = 4
	anthropicBudget      = 1024
)

// ReadAnthropic reads a request of the Messages API as the server does: a field
// that it does not know, roles that do not alternate, a call without its result
// in the next message, an empty text, a payload that does not decode, a fifth
// breakpoint and whatever else it refuses is an error.
func ReadAnthropic(body []byte) (Sent, error) {
	var req anthropicRequest
	if !utf8.Valid(body) {
		return Sent{}, errors.New("read messages request: it is not UTF-8")
	}
	if err := strictly(body, &req); err != nil {
		return Sent{}, fmt.Errorf("read messages request: %w", err)
	}
	r := anthropicReader{names: map[string]bool{}, budget: req.Thinking != nil && req.Thinking.Type == "enabled"}
	sent := Sent{Model: req.Model}
	if err := r.head(&req, &sent); err != nil {
		return Sent{}, err
	}
	if len(req.Messages) == 0 {
		return Sent{}, errors.New("messages: at least one message is required")
	}
	for i, m := range req.Messages {
		out, err := r.message(i, m.Role, m.Content)
		if err != nil {
			return Sent{}, fmt.Errorf("messages.%d (%s): %w", i, m.Role, err)
		}
		sent.Messages = append(sent.Messages, out)
	}
	if r.last == "assistant" {
		return Sent{}, errors.New("the conversation must end with a user message")
	}
	if r.marks > anthropicBreakpoints {
		return Sent{}, fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", anthropicBreakpoints, r.marks)
	}
	return sent, r.thought(sent.Messages)
}

// strictly decodes JSON that may hold nothing else than to knows.
func strictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if !json.Valid(data) {
		return errors.New("something stands behind the JSON")
	}
	return nil
}

// anthropicReader checks a request while it reads it.
type anthropicReader struct {
	last   string
	open   []string
	names  map[string]bool
	marks  int
	budget bool
}

func (r *anthropicReader) head(req *anthropicRequest, sent *Sent) error {
	switch {
	case req.Model == "":
		return errors.New("model: field required")
	case req.MaxTokens < 1:
		return errors.New("max_tokens: it must be greater than or equal to 1")
	}
	if err := checkThinking(req); err != nil {
		return err
	}
	for i, s := range req.System {
		if s.Type != "text" || strings.TrimSpace(s.Text) == "" {
			return fmt.Errorf("system.%d: text content blocks must be non-empty", i)
		}
		if sent.System += s.Text; s.Cache != nil {
			r.marks++
		}
	}
	for i, t := range req.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !anthropicName.MatchString(t.Name) || slices.Contains(sent.Tools, t.Name) {
			return fmt.Errorf("tools.%d.name: %q is no name, or there twice", i, t.Name)
		}
		if json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object" {
			return fmt.Errorf("tools.%d.input_schema: it is not of type object", i)
		}
		if sent.Tools = append(sent.Tools, t.Name); t.Cache != nil {
			r.marks++
		}
	}
	return nil
}

func checkThinking(req *anthropicRequest) error {
	if o := req.OutputConfig; o != nil && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, o.Effort) {
		return fmt.Errorf("output_config.effort: %q is none", o.Effort)
	}
	if req.Thinking == nil {
		return nil
	}
	budget := req.Thinking.Budget
	switch req.Thinking.Type {
	case "enabled":
		if budget == nil || *budget < anthropicBudget || *budget >= req.MaxTokens {
			return errors.New("thinking.budget_tokens: it must be at least 1024 and less than max_tokens")
		}
	case "adaptive", "disabled":
		if budget != nil {
			return errors.New("thinking.budget_tokens: extra inputs are not permitted")
		}
	default:
		return fmt.Errorf("thinking.type: %q is none", req.Thinking.Type)
	}
	return nil
}

func (r *anthropicReader) message(i int, role string, blocks []json.RawMessage) (SentMessage, error) {
	out := SentMessage{Role: role}
	switch {
	case role != "user" && role != "assistant":
		return out, errors.New("an unknown role")
	case i == 0 && role != "user":
		return out, errors.New("the first message must be the user's")
	case role == r.last:
		return out, errors.New("roles must alternate")
	case len(blocks) == 0:
		return out, errors.New("all messages must have non-empty content")
	}
	r.last = role
	for j, raw := range blocks {
		p, err := r.block(role, raw)
		if err != nil {
			return out, fmt.Errorf("content.%d: %w", j, err)
		}
		if p.Result != nil && j > 0 && out.Parts[j-1].Result == nil {
			return out, fmt.Errorf("content.%d: tool_result blocks must come first", j)
		}
		out.Parts = append(out.Parts, p)
	}
	if role == "user" && len(r.open) > 0 {
		return out, fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %s", strings.Join(r.open, ", "))
	}
	return out, nil
}

func (r *anthropicReader) block(role string, raw json.RawMessage) (SentPart, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return SentPart{}, err
	}
	assistant := role == "assistant"
	switch head.Type {
	case "text":
		return r.text(raw)
	case "image", "document":
		if assistant {
			return SentPart{}, errors.New("media in a message of the assistant")
		}
		return r.media(raw)
	case "thinking", "redacted_thinking":
		if !assistant {
			return SentPart{}, errors.New("thinking in a message of the user")
		}
		return readThinking(raw)
	case "tool_use":
		if !assistant {
			return SentPart{}, errors.New("tool_use blocks can only be in assistant messages")
		}
		return r.call(raw)
	case "tool_result":
		if assistant {
			return SentPart{}, errors.New("tool_result blocks can only be in user messages")
		}
		return r.result(raw)
	}
	return SentPart{}, fmt.Errorf("an unknown type %q", head.Type)
}

// mark counts a breakpoint.
func (r *anthropicReader) mark(c *anthropicCache) (bool, error) {
	if c == nil {
		return false, nil
	}
	r.marks++
	if c.Type != "ephemeral" {
		return true, fmt.Errorf("cache_control.type: %q is none", c.Type)
	}
	return true, nil
}

func (r *anthropicReader) text(raw json.RawMessage) (SentPart, error) {
	var b anthropicText
	if err := strictly(raw, &b); err != nil {
		return SentPart{}, err
	}
	if strings.TrimSpace(b.Text) == "" {
		return SentPart{}, errors.New("text content blocks must contain non-whitespace text")
	}
	cache, err := r.mark(b.Cache)
	return SentPart{Text: b.Text, Cache: cache}, err
}

func (r *anthropicReader) media(raw json.RawMessage) (SentPart, error) {
	var b anthropicMedia
	if err := strictly(raw, &b); err != nil {
		return SentPart{}, err
	}
	p := SentPart{Kind: content.KindImage, MIME: b.Source.MediaType, Name: b.Title}
	types := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	if b.Type == "document" {
		p.Kind, types = content.KindDocument, []string{"application/pdf"}
		if b.Transformations != nil {
			return p, errors.New("transformations: extra inputs are not permitted")
		}
	} else if b.Title != "" {
		return p, errors.New("title: extra inputs are not permitted")
	}
	if t := b.Transformations; t != nil && t.OversizedImage != "error" && t.OversizedImage != "downsize" {
		return p, fmt.Errorf("transformations.oversized_image: %q is none", t.OversizedImage)
	}
	if b.Source.Type != "base64" || !slices.Contains(types, p.MIME) {
		return p, fmt.Errorf("source: a %s of type %q; input should be one of %s", b.Source.Type, p.MIME, strings.Join(types, ", "))
	}
	var err error
	if p.Data, err = base64.StdEncoding.Strict().DecodeString(b.Source.Data); err != nil {
		return p, fmt.Errorf("source.data: %w", err)
	}
	if len(p.Data) == 0 {
		return p, fmt.Errorf("source.data: the %s cannot be empty", b.Type)
	}
	p.Cache, err = r.mark(b.Cache)
	return p, err
}

func readThinking(raw json.RawMessage) (SentPart, error) {
	var b anthropicThinking
	if err := strictly(raw, &b); err != nil {
		return SentPart{}, err
	}
	if b.Type == "redacted_thinking" {
		if b.Data == "" || b.Thinking != nil || b.Signature != nil {
			return SentPart{}, errors.New("redacted thinking holds its data and nothing else")
		}
		return SentPart{Signature: b.Data}, nil
	}
	if b.Thinking == nil || b.Signature == nil || b.Data != "" {
		return SentPart{}, errors.New("thinking holds its text and its signature and nothing else")
	}
	return SentPart{Thought: *b.Thinking, Signature: *b.Signature}, nil
}

func (r *anthropicReader) call(raw json.RawMessage) (SentPart, error) {
	var b anthropicCall
	if err := strictly(raw, &b); err != nil {
		return SentPart{}, err
	}
	var input map[string]json.RawMessage
	switch {
	case !anthropicID.MatchString(b.ID):
		return SentPart{}, errors.New("id: it should match '^[a-zA-Z0-9_-]+$'")
	case r.names[b.ID]:
		return SentPart{}, errors.New("tool_use ids must be unique")
	case !anthropicName.MatchString(b.Name):
		return SentPart{}, errors.New("name: it should match '^[a-zA-Z0-9_-]{1,128}$'")
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return SentPart{}, errors.New("input: it should be an object")
	}
	r.names[b.ID] = true
	r.open = append(r.open, b.ID)
	cache, err := r.mark(b.Cache)
	return SentPart{Call: &content.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)}, Cache: cache}, err
}

func (r *anthropicReader) result(raw json.RawMessage) (SentPart, error) {
	var b anthropicResult
	if err := strictly(raw, &b); err != nil {
		return SentPart{}, err
	}
	i := slices.Index(r.open, b.CallID)
	if i < 0 {
		return SentPart{}, fmt.Errorf("unexpected tool_use_id found in tool_result blocks: %q", b.CallID)
	}
	r.open = slices.Delete(r.open, i, i+1)
	res := &SentResult{CallID: b.CallID, IsError: b.IsError}
	var parts []json.RawMessage
	var text string
	switch {
	case len(b.Content) == 0:
	case json.Unmarshal(b.Content, &text) == nil:
		res.Parts = append(res.Parts, SentPart{Text: text})
	case json.Unmarshal(b.Content, &parts) != nil:
		return SentPart{}, errors.New("content: neither a string nor a list")
	}
	for j, raw := range parts {
		p, err := r.block("user", raw)
		switch {
		case err != nil:
			return SentPart{}, fmt.Errorf("content.%d: %w", j, err)
		case p.Result != nil:
			return SentPart{}, fmt.Errorf("content.%d: a tool_result inside another", j)
		case b.IsError && p.Kind != 0:
			return SentPart{}, fmt.Errorf("content.%d: all content must be type text if is_error is true", j)
		}
		res.Parts = append(res.Parts, p)
	}
	cache, err := r.mark(b.Cache)
	return SentPart{Result: res, Cache: cache}, err
}

// thought checks that a turn which goes on after tools began with thinking
// where a budget is asked for.
func (r *anthropicReader) thought(messages []SentMessage) error {
	i := len(messages) - 1
	for i >= 2 && messages[i].Parts[0].Result != nil {
		i -= 2
	}
	if !r.budget || i == len(messages)-1 {
		return nil
	}
	if p := messages[i+1].Parts[0]; p.Thought == "" && p.Signature == "" {
		return errors.New("when thinking is enabled, a final assistant message must start with a thinking block")
	}
	return nil
}
