package offline

import (
	"encoding/json"
	"fmt"
	"strings"
)

// request is what the backend reads of a chat request.
type request struct {
	Stream   *bool     `json:"stream"`
	Messages []message `json:"messages"`
}

type message struct {
	Role      string            `json:"role"`
	Content   parts             `json:"content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// parts is content in the string or the array form.
type parts []part

type part struct {
	Type     string   `json:"type"`
	Text     string   `json:"text"`
	ImageURL imageURL `json:"image_url"`
	Audio    struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *parts) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == 'n':
		return nil
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*p = parts{{Type: "text", Text: s}}
		return nil
	}
	var list []part
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*p = list
	return nil
}

// imageURL is a picture's address, as an object or as the bare string that
// some clients send.
type imageURL string

// UnmarshalJSON implements [json.Unmarshaler].
func (u *imageURL) UnmarshalJSON(b []byte) error {
	var s string
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*u = imageURL(s)
		return nil
	}
	var o struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	*u = imageURL(o.URL)
	return nil
}

// parseRequest reads a request and checks what a strict server checks.
func parseRequest(body []byte) (request, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return request{}, fmt.Errorf("parse the request: %w", err)
	}
	if len(r.Messages) == 0 {
		return request{}, fmt.Errorf("the request has no messages")
	}
	for i, m := range r.Messages {
		for j, p := range m.Content {
			switch {
			case p.Type == "text" || p.Type == "image_url" && m.Role == "user" || p.Type == "input_audio" || p.Type == "file":
			case p.Type == "image_url":
				return request{}, fmt.Errorf("messages[%d]: Image URLs are only allowed for messages with role 'user'", i)
			default:
				return request{}, fmt.Errorf("messages[%d].content[%d]: unknown type %q", i, j, p.Type)
			}
		}
	}
	return r, nil
}

func (r request) pictures() int {
	n := 0
	for _, m := range r.Messages {
		for _, p := range m.Content {
			if p.Type == "image_url" {
				n++
			}
		}
	}
	return n
}

// turn returns where the current turn begins, and how often a tool was asked
// for in it. A user message that follows a tool's is not a prompt: it carries
// what tools returned.
func (r request) turn() (start, asked int) {
	for i, m := range r.Messages {
		if m.Role == "user" && (i == 0 || r.Messages[i-1].Role != "tool") {
			start = i
		}
	}
	for _, m := range r.Messages[start:] {
		if m.Role == "assistant" && len(m.ToolCalls) > 0 {
			asked++
		}
	}
	return start, asked
}

// splitDataURI returns media type and base64 of a data URI.
func splitDataURI(uri string) (mime, payload string, ok bool) {
	rest, isData := strings.CutPrefix(uri, "data:")
	mime, payload, is64 := strings.Cut(rest, ";base64,")
	return mime, payload, isData && is64
}
