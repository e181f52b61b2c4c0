package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Path is the path of this wire in profiles and in stored reasoning.
const Path = "anthropic"

// The generations of the API, as the header anthropic-version names them.
const (
	Version2023 = "2023-06-01"
	Version2026 = "2026-10-21"
)

// DefaultMaxOutput is the longest answer in tokens where neither the request nor
// the configuration says one; the API demands a number. Every model that is
// served takes this much
// (https://platform.claude.com/docs/en/about-claude/models/overview, read 2026-11-30).
const DefaultMaxOutput = 8192

// Config is what one model on one server wants.
type Config struct {
	// Model is the server's name for the model.
	Model string
	// Version is the header anthropic-version, "" for Version2023.
	Version string
	// Betas are the names in the header anthropic-beta.
	Betas []string
	// MaxOutput is the longest answer that the model can give, in tokens. A
	// request that wants more gets this; 0 for no limit and, where the request
	// says nothing, DefaultMaxOutput.
	MaxOutput int
	// Thinking is how the model is asked to think.
	Thinking Thinking
	// NoCache leaves cache_control out, for servers that do not know it, and
	// NoToolCache on tools alone.
	NoCache, NoToolCache bool
	// PictureHeaders are sent with a request that holds a picture anywhere,
	// history included.
	PictureHeaders map[string]string
	// OversizedError asks the server to refuse a picture that it would
	// otherwise shrink without a word.
	OversizedError bool
	// AllowEmptySignature sends thinking back that came without a signature.
	// Anthropic refuses it; servers that sign nothing may want it.
	AllowEmptySignature bool
}

// Messages is a model behind the Messages API.
type Messages struct {
	client *provider.Client
	config Config
	// origin names the server and the model in stored signatures.
	origin string
}

var _ provider.Provider = (*Messages)(nil)

// New makes an adapter for the Messages API. The base URL of o is the server's
// up to and without "/v1/messages".
func New(o provider.Options, c Config) *Messages {
	if c.Version == "" {
		c.Version = Version2023
	}
	return &Messages{client: provider.NewClient(o), config: c, origin: originOf(o.BaseURL, c.Model)}
}

// Encode implements [provider.Provider].
func (m *Messages) Encode(r provider.Request) (provider.Body, error) {
	enc := &encoder{
		origin: m.origin, unsigned: m.config.AllowEmptySignature, oversizedError: m.config.OversizedError,
		ids: identifiers{seen: map[string]int{}, open: map[string][]string{}},
	}
	rendered, err := delivery.Render(r.Prompt, enc)
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode messages request: %w", err)
	}
	var s provider.Spelling
	limit := m.maxTokens(r.MaxOutput)
	room := limit / budgetShare
	if !enc.mayThink() {
		room = 0
	}
	s.Raw(`{"model":`)
	s.String(m.config.Model)
	s.Raw(`,"max_tokens":` + strconv.Itoa(limit) + `,"stream":true`)
	s.Raw(m.config.Thinking.spell(r.Effort, room))
	if strings.TrimSpace(r.System) != "" {
		s.Raw(`,"system":[{"type":"text","text":`)
		s.String(r.System)
		s.Raw(m.mark() + `}]`)
	}
	if err := m.spellTools(&s, r.Tools); err != nil {
		return provider.Body{}, fmt.Errorf("encode messages request: %w", err)
	}
	s.Raw(`,"messages":[`)
	if err := enc.join(&s, rendered, m.mark()); err != nil {
		return provider.Body{}, fmt.Errorf("encode messages request: %w", err)
	}
	s.Raw(`]}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	body.Header = m.header(r.Prompt)
	return body, nil
}

// mark is the field that makes a block a breakpoint of the cache, "" for none.
func (m *Messages) mark() string {
	if m.config.NoCache {
		return ""
	}
	return `,"cache_control":{"type":"ephemeral"}`
}

func (m *Messages) header(p delivery.Prompt) map[string]string {
	h := map[string]string{"anthropic-version": m.config.Version}
	if len(m.config.Betas) > 0 {
		h["anthropic-beta"] = strings.Join(m.config.Betas, ",")
	}
	if p.Pictures() > 0 {
		maps.Copy(h, m.config.PictureHeaders)
	}
	return h
}

// maxTokens is the longest answer for a request that wants one of want tokens.
func (m *Messages) maxTokens(want int) int {
	most := m.config.MaxOutput
	switch {
	case want > 0 && most > 0:
		return min(want, most)
	case want > 0:
		return want
	case most > 0:
		return most
	}
	return DefaultMaxOutput
}

func (m *Messages) spellTools(s *provider.Spelling, tools []provider.ToolSpec) error {
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
		s.Raw(`{"name":`)
		s.String(t.Name)
		if t.Description != "" {
			s.Raw(`,"description":`)
			s.String(t.Description)
		}
		s.Raw(`,"input_schema":`)
		s.Bytes(schema)
		if i == len(tools)-1 && !m.config.NoToolCache {
			s.Raw(m.mark())
		}
		s.Raw(`}`)
	}
	s.Raw(`]`)
	return nil
}

// Stream implements [provider.Provider].
func (m *Messages) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	return m.client.Stream(ctx, "v1/messages", body, func(a *provider.Answer, emit func(provider.Event) bool) error {
		return read(a, m.origin, emit)
	})
}

// wireRole is the API's word for a role. It knows two.
func wireRole(r content.Role) string {
	if r == content.RoleAssistant {
		return "assistant"
	}
	return "user"
}
