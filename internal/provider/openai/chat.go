package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// ChatPath is the path of this wire in profiles and in stored reasoning.
const ChatPath = "openai-chat"

// MaxField is the request's field for the longest answer.
type MaxField uint8

// The fields. OpenAI renamed it; many servers know the older name only.
const (
	MaxCompletionTokens MaxField = iota
	MaxTokens
)

func (f MaxField) name() string {
	switch f {
	case MaxCompletionTokens:
		return "max_completion_tokens"
	case MaxTokens:
		return "max_tokens"
	}
	panic("openai: invalid MaxField " + strconv.Itoa(int(f)))
}

// Config is what one model on one server wants.
type Config struct {
	// Model is the server's name for the model.
	Model string
	// MaxField names the limit on the answer.
	MaxField MaxField
	// Detail is sent with each picture, "" leaves it out; some servers
	// refuse the field.
	Detail string
	// System is the role of the system prompt, "" for "system".
	System string
}

// Chat is a model behind Chat Completions.
type Chat struct {
	client *provider.Client
	config Config
}

var _ provider.Provider = (*Chat)(nil)

// New makes an adapter for Chat Completions. The base URL of o is the server's
// up to and without "/chat/completions".
func New(o provider.Options, c Config) *Chat {
	return &Chat{client: provider.NewClient(o), config: c}
}

// Encode implements [provider.Provider].
func (c *Chat) Encode(r provider.Request) (provider.Body, error) {
	rendered, err := delivery.Render(r.Prompt, chatEncoder{detail: c.config.Detail})
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode chat request: %w", err)
	}
	var s provider.Spelling
	s.Raw(`{"model":`)
	s.String(c.config.Model)
	s.Raw(`,"stream":true,"stream_options":{"include_usage":true}`)
	if r.MaxOutput > 0 {
		s.Raw(`,"` + c.config.MaxField.name() + `":` + strconv.Itoa(r.MaxOutput))
	}
	if err := spellTools(&s, r.Tools); err != nil {
		return provider.Body{}, fmt.Errorf("encode chat request: %w", err)
	}
	s.Raw(`,"messages":[`)
	sep := ""
	if r.System != "" {
		role := c.config.System
		if role == "" {
			role = "system"
		}
		s.Raw(`{"role":`)
		s.String(role)
		s.Raw(`,"content":`)
		s.String(r.System)
		s.Raw(`}`)
		sep = ","
	}
	for _, message := range rendered {
		s.Raw(sep)
		s.Append(message)
		sep = ","
	}
	s.Raw(`]`)
	if r.Seed != 0 {
		s.Raw(`,"seed":` + strconv.FormatInt(r.Seed, 10))
	}
	s.Raw(`}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	return body, nil
}

func spellTools(s *provider.Spelling, tools []provider.ToolSpec) error {
	if len(tools) == 0 {
		return nil
	}
	s.Raw(`,"tools":[`)
	for i, t := range tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if !json.Valid(schema) {
			return fmt.Errorf("tool %q: its schema is no JSON", t.Name)
		}
		if i > 0 {
			s.Raw(",")
		}
		s.Raw(`{"type":"function","function":{"name":`)
		s.String(t.Name)
		s.Raw(`,"description":`)
		s.String(t.Description)
		s.Raw(`,"parameters":`)
		s.Bytes(schema)
		s.Raw(`}}`)
	}
	s.Raw(`]`)
	return nil
}

// Stream implements [provider.Provider].
func (c *Chat) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	return c.client.Stream(ctx, "chat/completions", body, readChat)
}
