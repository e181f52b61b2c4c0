package providertest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
)

// chatMore is what a strict reader of a message wants besides [ChatMessage].
type chatMore struct {
	Messages []struct {
		ReasoningContent string          `json:"reasoning_content"`
		Reasoning        string          `json:"reasoning"`
		ReasoningDetails json.RawMessage `json:"reasoning_details"`
	} `json:"messages"`
}

// ReadChat reads a Chat Completions request with the strictness of [CheckChat].
// Pictures in tool messages are read as some servers take them; whether one may
// stand there is for the test to say.
//
// A leading system message is the system prompt of what is returned. A tool
// message is one result.
func ReadChat(body []byte) (Sent, error) {
	c, err := ParseChat(body)
	if err != nil {
		return Sent{}, err
	}
	var more chatMore
	if err := json.Unmarshal(body, &more); err != nil {
		return Sent{}, fmt.Errorf("parse chat request: %w", err)
	}
	if c.Model == "" || len(c.Messages) == 0 {
		return Sent{}, errors.New("no model or no messages")
	}
	sent := Sent{Model: c.Model}
	for _, t := range c.Tools {
		sent.Tools = append(sent.Tools, t.Function.Name)
	}
	calls := newChatCalls()
	for i, m := range c.Messages {
		check := checkMessage
		if m.Role == "tool" {
			check = checkToolMessage
		}
		if err := check(m, calls); err != nil {
			return Sent{}, fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		if i == 0 && (m.Role == "system" || m.Role == "developer") {
			sent.System = m.Text()
			continue
		}
		parts, err := chatSentParts(m)
		if err != nil {
			return Sent{}, fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		x := more.Messages[i]
		if thought := x.ReasoningContent + x.Reasoning; thought != "" || len(x.ReasoningDetails) > 0 {
			parts = append([]SentPart{{Thought: thought, Signature: string(x.ReasoningDetails)}}, parts...)
		}
		sent.Messages = append(sent.Messages, SentMessage{Role: m.Role, Parts: parts})
	}
	if len(calls.open) > 0 {
		return Sent{}, fmt.Errorf("%d tool calls at the end have no answer", len(calls.open))
	}
	return sent, nil
}

// checkToolMessage is checkMessage for a tool message that may hold pictures.
func checkToolMessage(m ChatMessage, calls chatCalls) error {
	if err := calls.answer(m.ToolCallID); err != nil {
		return err
	}
	parts, err := m.Parts()
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("no content parts")
	}
	for i, p := range parts {
		if p.Type == "text" && p.Text == "" && m.Content[0] == '[' {
			return fmt.Errorf("part %d: it is empty", i)
		}
		if err := checkPart("user", p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// chatSentParts reads the parts of a message that was checked.
func chatSentParts(m ChatMessage) ([]SentPart, error) {
	parts, err := m.Parts()
	if err != nil {
		return nil, err
	}
	var out []SentPart
	for _, p := range parts {
		part, err := chatSentPart(p)
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	if m.Role == "tool" {
		return []SentPart{{Result: &SentResult{CallID: m.ToolCallID, Parts: out}}}, nil
	}
	for _, call := range m.ToolCalls {
		var args map[string]json.RawMessage
		if err := json.Unmarshal([]byte(call.Function.Arguments), &args); err != nil || args == nil {
			return nil, fmt.Errorf("call %q: arguments that are no object", call.ID)
		}
		out = append(out, SentPart{Call: &content.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}})
	}
	return out, nil
}

func chatSentPart(p ChatPart) (SentPart, error) {
	switch p.Type {
	case "text":
		return SentPart{Text: p.Text}, nil
	case "image_url":
		mime, data, err := DataURI(p.ImageURL.URL)
		if err == nil && !strings.HasPrefix(mime, "image/") {
			err = fmt.Errorf("a picture of type %q", mime)
		}
		return SentPart{Kind: content.KindImage, MIME: mime, Data: data}, err
	case "input_audio":
		mime := map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[p.InputAudio.Format]
		data, err := base64.StdEncoding.Strict().DecodeString(p.InputAudio.Data)
		return SentPart{Kind: content.KindAudio, MIME: mime, Data: data}, err
	case "file":
		mime, data, err := DataURI(p.File.FileData)
		return SentPart{Kind: content.KindDocument, MIME: mime, Data: data, Name: p.File.Filename}, err
	}
	return SentPart{}, fmt.Errorf("a part of type %q", p.Type)
}
