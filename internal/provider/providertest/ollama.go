package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"tote/internal/content"
)

// OllamaLine spells one line of an answer with this message object.
func OllamaLine(message string) string {
	return `{"model":"m","created_at":"2026-11-30T12:00:00Z","message":` + message + `,"done":false}`
}

// OllamaEnd spells the last line. A negative number of u leaves the field out.
func OllamaEnd(reason string, u Usage) string {
	s := `{"model":"m","created_at":"2026-11-30T12:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"` + reason + `"`
	if u.Prompt >= 0 {
		s += fmt.Sprintf(`,"prompt_eval_count":%d`, u.Prompt)
	}
	if u.Completion >= 0 {
		s += fmt.Sprintf(`,"eval_count":%d`, u.Completion)
	}
	return s + "}"
}

// Lines answers with lines of JSON.
func Lines(lines ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, l := range lines {
			_, _ = io.WriteString(w, l+"\n") // a client that left sees nothing
			flush(w)
		}
	}
}

// OllamaText answers with words, streamed one piece a line.
func OllamaText(pieces ...string) Reply {
	return OllamaUsage(Usage{Prompt: 10, Completion: 5}, pieces...)
}

// OllamaUsage answers with words and the given usage, of which the wire has the
// tokens of the prompt and of the answer only.
func OllamaUsage(u Usage, pieces ...string) Reply {
	var lines []string
	for _, p := range pieces {
		lines = append(lines, OllamaLine(`{"role":"assistant","content":`+quote(p)+`}`))
	}
	return Lines(append(lines, OllamaEnd("stop", u))...)
}

// OllamaCalls answers with tool calls; an empty identifier is left out.
func OllamaCalls(calls ...content.ToolCall) Reply {
	var out []string
	for i, c := range calls {
		id := ""
		if c.ID != "" {
			id = `"id":` + quote(c.ID) + `,`
		}
		out = append(out, fmt.Sprintf(`{%s"function":{"index":%d,"name":%s,"arguments":%s}}`, id, i, quote(c.Name), c.Arguments))
	}
	return Lines(
		OllamaLine(`{"role":"assistant","content":"","tool_calls":[`+strings.Join(out, ",")+`]}`),
		OllamaEnd("stop", Usage{Prompt: 10, Completion: 5}))
}

type ollamaRequest struct {
	Model     string          `json:"model"`
	Stream    *bool           `json:"stream"`
	Truncate  *bool           `json:"truncate"`
	Shift     *bool           `json:"shift"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Tools     []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Parameters  struct {
				Type       string                     `json:"type"`
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Messages []ollamaMessage `json:"messages"`
	Options  struct {
		NumCtx     int    `json:"num_ctx"`
		NumPredict int    `json:"num_predict"`
		Seed       *int32 `json:"seed"`
	} `json:"options"`
	Think any `json:"think"`
}

type ollamaMessage struct {
	Role      string   `json:"role"`
	Content   string   `json:"content"`
	Thinking  string   `json:"thinking"`
	Images    []string `json:"images"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Index     int             `json:"index"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolName   string `json:"tool_name"`
	ToolCallID string `json:"tool_call_id"`
}

// ReadOllama reads a request to /api/chat strictly. Beside what the server
// refuses it is an error to let it leave out messages in silence, to send words
// that the server takes for the place of a picture, and to leave a call
// unanswered, which templates refuse. Media have no type on this wire: it is
// told by the bytes.
func ReadOllama(body []byte) (Sent, error) {
	r, err := parseOllama(body)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Sent{}, fmt.Errorf("read ollama request: %w", err)
	}
	s := Sent{Model: r.Model}
	for _, t := range r.Tools {
		s.Tools = append(s.Tools, t.Function.Name)
	}
	var open []content.ToolCall
	for i, m := range r.Messages {
		if m.Role == "system" {
			s.System += m.Content
			continue
		}
		out, err := m.read(&open)
		if err != nil {
			return Sent{}, fmt.Errorf("read ollama request: message %d (%s): %w", i, m.Role, err)
		}
		s.Messages = append(s.Messages, out)
	}
	if len(open) > 0 {
		return Sent{}, fmt.Errorf("read ollama request: %d calls at the end have no result", len(open))
	}
	if len(s.Media()) == 0 {
		return s, nil
	}
	for i, m := range r.Messages {
		if strings.Contains(m.Content, "[img]") || strings.Contains(m.Content, "[img-") {
			return Sent{}, fmt.Errorf("read ollama request: message %d names the place of a picture", i)
		}
	}
	return s, nil
}

// check checks all but the messages.
func (r *ollamaRequest) check() error {
	switch {
	case r.Model == "":
		return errors.New("model is required")
	case r.Stream != nil && !*r.Stream:
		return errors.New("it asks for no stream")
	case r.Truncate == nil || *r.Truncate || r.Shift == nil || *r.Shift:
		return errors.New("it lets the server leave out messages")
	case len(r.Messages) == 0:
		return errors.New("no messages")
	}
	switch t := r.Think.(type) {
	case nil, bool:
	case string:
		if !slices.Contains([]string{"low", "medium", "high", "max"}, t) {
			return fmt.Errorf("invalid think value: %q", t)
		}
	default:
		return errors.New("think must be a boolean or string")
	}
	for _, t := range r.Tools {
		if t.Type != "function" || t.Function.Name == "" || t.Function.Parameters.Type != "object" {
			return fmt.Errorf("tool %q is no function of an object", t.Function.Name)
		}
	}
	return nil
}

func parseOllama(body []byte) (ollamaRequest, error) {
	// A schema may hold more than the server reads: tools are read apart.
	var loose map[string]json.RawMessage
	if err := json.Unmarshal(body, &loose); err != nil {
		return ollamaRequest{}, err
	}
	tools, ok := loose["tools"]
	delete(loose, "tools")
	rest, err := json.Marshal(loose)
	if err != nil {
		return ollamaRequest{}, err
	}
	var r ollamaRequest
	dec := json.NewDecoder(bytes.NewReader(rest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return ollamaRequest{}, err
	}
	if ok {
		if err := json.Unmarshal(tools, &r.Tools); err != nil {
			return ollamaRequest{}, fmt.Errorf("tools: %w", err)
		}
	}
	return r, nil
}

// read reads one message; open are the calls that wait for a result.
func (m ollamaMessage) read(open *[]content.ToolCall) (SentMessage, error) {
	if m.Role != "tool" && len(*open) > 0 {
		return SentMessage{}, fmt.Errorf("%d calls before it have no result", len(*open))
	}
	var parts []SentPart
	if m.Thinking != "" {
		parts = append(parts, SentPart{Thought: m.Thinking})
	}
	if m.Content != "" {
		parts = append(parts, SentPart{Text: m.Content})
	}
	for i, img := range m.Images {
		p, err := ollamaMedia(img)
		if err != nil {
			return SentMessage{}, fmt.Errorf("image %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 && len(m.ToolCalls) == 0 && m.Role != "tool" {
		return SentMessage{}, errors.New("it is empty")
	}
	var err error
	switch m.Role {
	case "user":
	case "assistant":
		parts, err = m.calls(parts, open)
	case "tool":
		r := &SentResult{CallID: m.ToolCallID, Name: m.ToolName, Parts: parts}
		*open, err = answered(*open, r)
		parts = []SentPart{{Result: r}}
	default:
		err = errors.New("an unknown role")
	}
	return SentMessage{Role: m.Role, Parts: parts}, err
}

// calls adds the calls of a message to its parts and to those that wait.
func (m ollamaMessage) calls(parts []SentPart, open *[]content.ToolCall) ([]SentPart, error) {
	for _, c := range m.ToolCalls {
		args := c.Function.Arguments
		if c.Function.Name == "" || len(args) == 0 || args[0] != '{' {
			return nil, errors.New("a call without a name, or whose arguments are no object")
		}
		call := content.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: string(args)}
		*open = append(*open, call)
		parts = append(parts, SentPart{Call: &call})
	}
	return parts, nil
}

// ollamaMedia tells sound from pictures as the server does, by the bytes.
func ollamaMedia(encoded string) (SentPart, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return SentPart{}, err
	}
	if len(data) == 0 {
		return SentPart{}, errors.New("it is empty")
	}
	kind := content.KindImage
	if bytes.HasPrefix(data, []byte("RIFF")) && !bytes.HasPrefix(data[min(len(data), 8):], []byte("WEBP")) ||
		bytes.HasPrefix(data, []byte("ID3")) || data[0] == 0xFF && len(data) > 1 && data[1]&0xE0 == 0xE0 {
		kind = content.KindAudio
	}
	return SentPart{Kind: kind, Data: data}, nil
}
