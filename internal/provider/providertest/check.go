package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// CheckChat reports what a strict server would refuse in a chat request: calls
// that stay unanswered before another role speaks, answers to no call, two calls
// of one identifier or one that is too long, empty text parts, media outside user messages, payloads that do not decode.
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
	calls := newChatCalls()
	for i, m := range c.Messages {
		if err := checkMessage(m, calls); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	if len(calls.open) > 0 {
		return fmt.Errorf("%d tool calls at the end have no answer", len(calls.open))
	}
	return nil
}

// maxChatCallID is the longest identifier of a call that OpenAI takes
// (https://github.com/pydantic/pydantic-ai/issues/4389, read 2026-11-30).
const maxChatCallID = 40

// chatCalls are the calls of a request so far, by their identifiers.
type chatCalls struct {
	// open wait for an answer; seen are all.
	open, seen map[string]bool
}

func newChatCalls() chatCalls {
	return chatCalls{open: map[string]bool{}, seen: map[string]bool{}}
}

// call takes a call in.
func (c chatCalls) call(id string) error {
	switch {
	case id == "":
		return errors.New("a tool call without an identifier")
	case len(id) > maxChatCallID:
		return fmt.Errorf("a tool call with an identifier of %d bytes, which is too long", len(id))
	case c.seen[id]:
		return fmt.Errorf("a tool call with the identifier of another: %q", id)
	}
	c.open[id], c.seen[id] = true, true
	return nil
}

// answer takes the answer to a call in.
func (c chatCalls) answer(id string) error {
	if !c.open[id] {
		return fmt.Errorf("it answers no open call: %q", id)
	}
	delete(c.open, id)
	return nil
}

// checkMessage checks one message after the calls before it.
func checkMessage(m ChatMessage, calls chatCalls) error {
	if m.Role != "tool" && len(calls.open) > 0 {
		return fmt.Errorf("%d tool calls before it have no answer", len(calls.open))
	}
	switch m.Role {
	case "tool":
		if err := calls.answer(m.ToolCallID); err != nil {
			return err
		}
	case "assistant":
		if bytes.Equal(m.Content, []byte("null")) && len(m.ToolCalls) == 0 {
			return errors.New("it is empty")
		}
		for _, call := range m.ToolCalls {
			if call.Function.Name == "" {
				return errors.New("a tool call without a name")
			}
			if err := calls.call(call.ID); err != nil {
				return err
			}
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
