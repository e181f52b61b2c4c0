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

// ResponsesPath is the path of this wire in profiles and in stored reasoning.
const ResponsesPath = "openai-responses"

// ResponsesConfig is what one model on one server wants. The zero value but for
// Model is what OpenAI takes; only ImageCompression should be "disabled" there.
type ResponsesConfig struct {
	// Model is the server's name for the model.
	Model string
	// Detail is sent with each picture, "" leaves it out.
	Detail string
	// NoStore leaves out "store":false, for servers that refuse the field.
	NoStore bool
	// NoInclude does not ask for encrypted thinking, for servers and models
	// that have none. Thinking is then not given back.
	NoInclude bool
	// NoMaxOutput leaves out the limit on the answer.
	NoMaxOutput bool
	// ImageCompression is the policy for older pictures that is asked for:
	// "disabled", "enabled", "auto", or "" to say nothing. OpenAI may change
	// pictures of the conversation otherwise (openai-go v3.99, read
	// 2026-11-30).
	ImageCompression string
	// EffortForm is how an effort is spelled: "" and EffortOpenAI with a
	// summary of the thinking, EffortOpenRouter without. Other forms send
	// nothing.
	EffortForm EffortForm
	// EffortWords are the model's own words, as in [Config].
	EffortWords map[string]string
	// PictureHeaders are sent with a request that holds a picture anywhere,
	// history included.
	PictureHeaders map[string]string
	// Extra holds further members of the body. One that the codec spells
	// itself is an error.
	Extra map[string]json.RawMessage
}

// Responses is a model behind OpenAI's Responses.
type Responses struct {
	client *provider.Client
	config ResponsesConfig
	// by names the model on its server in signatures.
	by string
}

var _ provider.Provider = (*Responses)(nil)

// NewResponses makes an adapter for Responses. The base URL of o is the
// server's up to and without "/responses".
func NewResponses(o provider.Options, c ResponsesConfig) *Responses {
	return &Responses{client: provider.NewClient(o), config: c, by: maker(o, c.Model)}
}

// compression is what Encode tells Stream: the policy that was asked for, ""
// where the request holds no picture that it could be about.
type compression string

// Encode implements [provider.Provider]. The wire has no member for a seed.
func (p *Responses) Encode(r provider.Request) (provider.Body, error) {
	rendered, err := delivery.Render(r.Prompt, responsesEncoder{detail: p.config.Detail, by: p.by, names: newCallNames(callIDsFlat)})
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode responses request: %w", err)
	}
	var s provider.Spelling
	if err := p.spellHead(&s, r); err != nil {
		return provider.Body{}, fmt.Errorf("encode responses request: %w", err)
	}
	s.Raw(`,"input":[`)
	for i, message := range rendered {
		if i > 0 {
			s.Raw(",")
		}
		s.Append(message)
	}
	s.Raw(`]`)
	if r.MaxOutput > 0 && !p.config.NoMaxOutput {
		s.Raw(`,"max_output_tokens":` + strconv.Itoa(r.MaxOutput))
	}
	s.Raw(`}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	body.Header = pictureHeader(r.Prompt, p.config.PictureHeaders)
	if r.Prompt.Pictures() > 0 {
		body.Attached = compression(p.config.ImageCompression)
	}
	return body, nil
}

// spellHead spells what stands before the input.
func (p *Responses) spellHead(s *provider.Spelling, r provider.Request) error {
	taken := []string{"model", "stream", "instructions", "tools", "input", "max_output_tokens"}
	s.Raw(`{"model":`)
	s.String(p.config.Model)
	s.Raw(`,"stream":true`)
	if !p.config.NoStore {
		s.Raw(`,"store":false`)
		taken = append(taken, "store")
	}
	if !p.config.NoInclude {
		s.Raw(`,"include":["reasoning.encrypted_content"]`)
		taken = append(taken, "include")
	}
	if r.System != "" {
		s.Raw(`,"instructions":`)
		s.String(r.System)
	}
	if err := spellFlatTools(s, r.Tools); err != nil {
		return err
	}
	if p.config.ImageCompression != "" {
		taken = append(taken, "image")
	}
	effort := responsesEffort(p.config.EffortForm, r.Effort, p.config.EffortWords)
	if err := spellExtra(s, p.config.Extra, effort, taken...); err != nil {
		return err
	}
	if p.config.ImageCompression != "" {
		s.Raw(`,"image":{"context_compression":`)
		s.String(p.config.ImageCompression)
		s.Raw(`}`)
	}
	return nil
}

// spellFlatTools spells tools without an object around each function.
func spellFlatTools(s *provider.Spelling, tools []provider.ToolSpec) error {
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
		s.Raw(`{"type":"function","name":`)
		s.String(t.Name)
		s.Raw(`,"description":`)
		s.String(t.Description)
		s.Raw(`,"parameters":`)
		s.Bytes(schema)
		s.Raw(`,"strict":false}`)
	}
	s.Raw(`]`)
	return nil
}

// Stream implements [provider.Provider].
func (p *Responses) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	asked, _ := body.Attached.(compression) // a body of another codec asked for nothing
	return p.client.Stream(ctx, "responses", body, func(a *provider.Answer, emit func(provider.Event) bool) error {
		r := responseReader{emit: emit, by: p.by, asked: string(asked)}
		return r.read(a)
	})
}
