package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tote/internal/content"
)

// Usage is what a chat answer reports. A negative number leaves the field out.
type Usage struct{ Prompt, Completion, Image, Cached int }

// JSON spells the usage.
func (u Usage) JSON() string {
	var details []string
	if u.Image >= 0 {
		details = append(details, `"image_tokens":`+strconv.Itoa(u.Image))
	}
	if u.Cached >= 0 {
		details = append(details, `"cached_tokens":`+strconv.Itoa(u.Cached))
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{%s}}`,
		u.Prompt, u.Completion, u.Prompt+u.Completion, strings.Join(details, ","))
}

// Delta spells one chunk of a chat answer with a delta object.
func Delta(delta string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// End spells the chunk that carries the finish reason.
func End(reason string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// Report spells the chunk that carries the usage.
func Report(u Usage) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":` + u.JSON() + `}`
}

// Done ends a stream.
const Done = "[DONE]"

// Text answers with words, streamed one piece a chunk, without image tokens.
func Text(pieces ...string) Reply {
	return TextUsage(Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}, pieces...)
}

// TextUsage answers with words and the given usage.
func TextUsage(u Usage, pieces ...string) Reply {
	return Events(append(deltas(pieces), End("stop"), Report(u), Done)...)
}

func deltas(pieces []string) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, Delta(`{"role":"assistant","content":`+quote(p)+`}`))
	}
	return out
}

// Calls answers with tool calls.
func Calls(calls ...content.ToolCall) Reply {
	var data []string
	for i, c := range calls {
		head := fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, quote(c.ID), quote(c.Name))
		args := fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(c.Arguments))
		data = append(data, Delta(head), Delta(args))
	}
	return Events(append(data, End("tool_calls"), Report(Usage{Prompt: 10, Completion: 5, Image: -1, Cached: -1}), Done)...)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("providertest: a string cannot be spelled: " + err.Error())
	}
	return string(b)
}

// Chat is a chat request as a server reads it.
type Chat struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Seed     *int64        `json:"seed"`
	Messages []ChatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// ChatMessage is one message of it.
type ChatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// ChatPart is one part of the array form of content.
type ChatPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
	InputAudio struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	File struct {
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	} `json:"file"`
}

// Parts returns the content as parts; a string is one text part.
func (m ChatMessage) Parts() ([]ChatPart, error) {
	switch {
	case len(m.Content) == 0 || bytes.Equal(m.Content, []byte("null")):
		return nil, nil
	case m.Content[0] == '"':
		var s string
		if err := json.Unmarshal(m.Content, &s); err != nil {
			return nil, err
		}
		return []ChatPart{{Type: "text", Text: s}}, nil
	}
	var parts []ChatPart
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return nil, fmt.Errorf("content of a %s message: %w", m.Role, err)
	}
	return parts, nil
}

// Text returns all text of the message, one part a line.
func (m ChatMessage) Text() string {
	parts, err := m.Parts()
	if err != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if p.Type == "text" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

// ParseChat reads a chat request.
func ParseChat(body []byte) (Chat, error) {
	var c Chat
	if err := json.Unmarshal(body, &c); err != nil {
		return Chat{}, fmt.Errorf("parse chat request: %w", err)
	}
	return c, nil
}

// Pictures returns the decoded bytes of every picture of a chat request, in
// order.
func Pictures(body []byte) ([][]byte, error) {
	c, err := ParseChat(body)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, m := range c.Messages {
		parts, err := m.Parts()
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.Type != "image_url" {
				continue
			}
			_, data, err := DataURI(p.ImageURL.URL)
			if err != nil {
				return nil, err
			}
			out = append(out, data)
		}
	}
	return out, nil
}

// DataURI reads a data URI strictly: one prefix, padded base64, nothing else.
func DataURI(uri string) (mime string, data []byte, err error) {
	rest, ok := strings.CutPrefix(uri, "data:")
	mime, payload, ok2 := strings.Cut(rest, ";base64,")
	if !ok || !ok2 || mime == "" {
		return "", nil, fmt.Errorf("not a data URI: it begins with %.20q", uri)
	}
	if strings.Contains(payload, "data:") {
		return "", nil, fmt.Errorf("a data URI inside a data URI")
	}
	data, err = base64.StdEncoding.Strict().DecodeString(payload)
	if err != nil {
		return "", nil, fmt.Errorf("data URI of type %s: %w", mime, err)
	}
	return mime, data, nil
}
