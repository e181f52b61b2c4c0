package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// CheckChat reports what a strict server would refuse in a chat request: calls
// that stay unanswered before another role speaks, answers to no call, empty
// text parts, media outside user messages, payloads that do not decode.
func CheckChat(body []byte) error {
	c, err := ParseChat(body)
	if err != nil {
		return err
	}
	if !json.Valid(body) {
		return errors.New("not JSON")
	}
	if len(c.Messages) == 0 {
		return errors.New("no messages")
	}
	open := map[string]bool{}
	for i, m := range c.Messages {
		if err := checkMessage(m, open); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d tool calls at the end have no answer", len(open))
	}
	return nil
}

// checkMessage checks one message; open are the calls that wait for an answer.
func checkMessage(m ChatMessage, open map[string]bool) error {
	if m.Role != "tool" && len(open) > 0 {
		return fmt.Errorf("%d tool calls before it have no answer", len(open))
	}
	switch m.Role {
	case "tool":
		if !open[m.ToolCallID] {
			return fmt.Errorf("it answers no open call: %q", m.ToolCallID)
		}
		delete(open, m.ToolCallID)
	case "assistant":
		if bytes.Equal(m.Content, []byte("null")) && len(m.ToolCalls) == 0 {
			return errors.New("it is empty")
		}
		for _, call := range m.ToolCalls {
			if call.ID == "" || call.Function.Name == "" || open[call.ID] {
				return errors.New("a tool call without a name of its own")
			}
			open[call.ID] = true
		}
	case "user", "system", "developer":
	default:
		return errors.New("an unknown role")
	}
	return checkParts(m)
}

func checkParts(m ChatMessage) error {
	parts, err := m.Parts()
	if err != nil {
		return err
	}
	array := len(m.Content) > 0 && m.Content[0] == '['
	if m.Role == "user" && (len(parts) == 0 || !array) {
		return errors.New("no content parts")
	}
	for i, p := range parts {
		if array && p.Type == "text" && p.Text == "" {
			return fmt.Errorf("part %d: it is empty", i)
		}
		if err := checkPart(m.Role, p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

func checkPart(role string, p ChatPart) error {
	switch p.Type {
	case "text":
		return nil
	case "image_url":
		if role != "user" {
			return errors.New("a picture outside a user message")
		}
		_, data, err := DataURI(p.ImageURL.URL)
		if err == nil && len(data) == 0 {
			return errors.New("an empty picture")
		}
		return err
	case "input_audio":
		if p.InputAudio.Format != "wav" && p.InputAudio.Format != "mp3" {
			return fmt.Errorf("sound of format %q", p.InputAudio.Format)
		}
		_, err := base64.StdEncoding.Strict().DecodeString(p.InputAudio.Data)
		return err
	case "file":
		mime, _, err := DataURI(p.File.FileData)
		if err == nil && (mime != "application/pdf" || p.File.Filename == "") {
			return fmt.Errorf("a file %q of type %q", p.File.Filename, mime)
		}
		return err
	}
	return fmt.Errorf("a part of type %q", p.Type)
}
