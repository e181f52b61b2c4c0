package openai

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// ChatPath is the path of this wire in profiles and in stored reasoning.
const ChatPath = "openai-chat"

// Chat is a model behind Chat Completions.
type Chat struct {
	client *provider.Client
	config Config
	// by names the model on its server in signatures.
	by string
}

var _ provider.Provider = (*Chat)(nil)

// New makes an adapter for Chat Completions. The base URL of o is the server's
// up to and without "/chat/completions".
func New(o provider.Options, c Config) *Chat {
	return &Chat{client: provider.NewClient(o), config: c, by: maker(o, c.Model)}
}

// Encode implements [provider.Provider].
func (c *Chat) Encode(r provider.Request) (provider.Body, error) {
	encoder := chatEncoder{detail: c.config.Detail, by: c.by, thoughtAlways: c.config.ThoughtAlways, names: newCallNames(c.config.CallIDs)}
	if c.config.CachePoints {
		encoder.marks = &chatMarks{}
	}
	rendered, err := delivery.Render(r.Prompt, encoder)
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode chat request: %w", err)
	}
	encoder.marks.mark(rendered)
	var s provider.Spelling
	if err := c.spellHead(&s, r); err != nil {
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
		if c.config.CachePoints {
			spellArray(&s, []piece{{form: formText, text: r.System}}, 0)
		} else {
			s.String(r.System)
		}
		s.Raw(`}`)
		sep = ","
	}
	for _, message := range rendered {
		s.Raw(sep)
		s.Append(message)
		sep = ","
	}
	s.Raw(`]`)
	if r.Seed != 0 && !c.config.NoSeed {
		s.Raw(`,"seed":` + strconv.FormatInt(r.Seed, 10))
	}
	s.Raw(`}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	body.Header = pictureHeader(r.Prompt, c.config.PictureHeaders)
	return body, nil
}

// spellHead spells what stands before the messages.
func (c *Chat) spellHead(s *provider.Spelling, r provider.Request) error {
	s.Raw(`{"model":`)
	s.String(c.config.Model)
	s.Raw(`,"stream":true`)
	if !c.config.NoStreamOptions {
		s.Raw(`,"stream_options":{"include_usage":true}`)
	}
	if r.MaxOutput > 0 {
		s.Raw(`,"` + c.config.MaxField.name() + `":` + strconv.Itoa(r.MaxOutput))
	}
	effort := chatEffort(c.config.EffortForm, r.Effort, c.config.EffortWords)
	err := spellExtra(s, c.config.Extra, effort, "model", "stream", "stream_options", c.config.MaxField.name(), "tools", "messages", "seed")
	if err != nil {
		return err
	}
	return spellTools(s, r.Tools)
}

func spellTools(s *provider.Spelling, tools []provider.ToolSpec) error {
	if len(tools) == 0 {
		return nil
	}
	s.Raw(`,"tools":[`)
	for i, t := range tools {
		schema, err := schemaOf(t)
		if err != nil {
			return err
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
	return c.client.Stream(ctx, "chat/completions", body, func(a *provider.Answer, emit func(provider.Event) bool) error {
		return readChat(a, emit, c.by)
	})
}
