package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/url"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Path is the path of this wire in profiles and in stored reasoning.
const Path = "gemini"

// Thinking is how a model is told how hard to think.
type Thinking uint8

// The forms. The zero value sends nothing about thinking.
const (
	ThinkingNone Thinking = iota
	// ThinkingLevel is a word, on Gemini 3 and later.
	ThinkingLevel
	// ThinkingBudget is a number of tokens, on Gemini 2.5.
	ThinkingBudget
)

// Config is what one model behind one address wants.
type Config struct {
	// Model is Google's name for the model, without "models/".
	Model string
	// Thinking is the form that the effort is sent in.
	Thinking Thinking
	// NoCallIDs leaves out the identifiers of calls and results, which Vertex
	// refuses. Results are then matched by name and order.
	NoCallIDs bool
	// CallSignatures: the model refuses a call in the conversation that is not
	// signed, as Gemini 3 does. Calls of other models get the signature that
	// Google documents for them.
	CallSignatures bool
	// NoSeed leaves out the seed.
	NoSeed bool
}

// Gemini is a model behind generateContent.
type Gemini struct {
	client *provider.Client
	config Config
}

var _ provider.Provider = (*Gemini)(nil)

// New makes an adapter. The base URL of o is the server's up to and without
// "/models": https://generativelanguage.googleapis.com/v1beta. The key goes in
// the header x-goog-api-key, which o names.
func New(o provider.Options, c Config) *Gemini {
	c.Model = strings.TrimPrefix(c.Model, "models/")
	return &Gemini{client: provider.NewClient(o), config: c}
}

// Encode implements [provider.Provider].
func (g *Gemini) Encode(r provider.Request) (provider.Body, error) {
	enc := &encoder{config: &g.config}
	rendered, err := delivery.Render(r.Prompt, enc)
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode gemini request: %w", err)
	}
	var s provider.Spelling
	s.Raw(`{`)
	if r.System != "" {
		s.Raw(`"systemInstruction":{"parts":[{"text":`)
		s.String(r.System)
		s.Raw(`}]},`)
	}
	if err := spellTools(&s, r.Tools); err != nil {
		return provider.Body{}, fmt.Errorf("encode gemini request: %w", err)
	}
	spellContents(&s, enc.roles, rendered)
	if c := g.generation(r); c != "" {
		s.Raw(`,"generationConfig":{` + c + `}`)
	}
	s.Raw(`}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	return body, nil
}

// spellContents joins neighbours of the same wire role.
func spellContents(s *provider.Spelling, roles []content.Role, rendered [][]delivery.Segment) {
	s.Raw(`"contents":[`)
	last := ""
	for i, parts := range rendered {
		role := "user"
		if roles[i] == content.RoleAssistant {
			role = "model"
		}
		switch last {
		case role:
			s.Raw(`,`)
		case "":
			s.Raw(`{"role":"` + role + `","parts":[`)
		default:
			s.Raw(`]},{"role":"` + role + `","parts":[`)
		}
		s.Append(parts)
		last = role
	}
	if last != "" {
		s.Raw(`]}`)
	}
	s.Raw(`]`)
}

// spellTools spells the tools with plain JSON Schema; "parameters" would take
// Google's own dialect of OpenAPI (google.golang.org/genai v1.77.0,
// FunctionDeclaration).
func spellTools(s *provider.Spelling, tools []provider.ToolSpec) error {
	if len(tools) == 0 {
		return nil
	}
	s.Raw(`"tools":[{"functionDeclarations":[`)
	for i, t := range tools {
		if i > 0 {
			s.Raw(`,`)
		}
		s.Raw(`{"name":`)
		s.String(t.Name)
		if t.Description != "" {
			s.Raw(`,"description":`)
			s.String(t.Description)
		}
		if len(t.Schema) > 0 {
			if !json.Valid(t.Schema) {
				return fmt.Errorf("tool %q: its schema is no JSON", t.Name)
			}
			s.Raw(`,"parametersJsonSchema":`)
			s.Bytes(t.Schema)
		}
		s.Raw(`}`)
	}
	s.Raw(`]}],`)
	return nil
}

// generation spells what stands in generationConfig, "" for nothing.
func (g *Gemini) generation(r provider.Request) string {
	var fields []string
	if r.MaxOutput > 0 {
		fields = append(fields, `"maxOutputTokens":`+strconv.Itoa(r.MaxOutput))
	}
	if r.Seed != 0 && !g.config.NoSeed {
		fields = append(fields, `"seed":`+strconv.FormatInt(seed(r.Seed), 10))
	}
	if t := thinking(g.config.Thinking, r.Effort); t != "" {
		fields = append(fields, `"thinkingConfig":{`+t+`}`)
	}
	return strings.Join(fields, ",")
}

// seed folds a seed into the 31 bits that the backend takes.
func seed(n int64) int64 { return (n ^ n>>32) & math.MaxInt32 }

// levels and budgets are Google's own equivalents of the efforts:
// https://ai.google.dev/gemini-api/docs/openai (read 2026-11-30).
var (
	levels = [...]string{
		provider.EffortNone: "MINIMAL", provider.EffortLow: "LOW", provider.EffortMedium: "MEDIUM", provider.EffortHigh: "HIGH",
	}
	budgets = [...]int{
		provider.EffortNone: 0, provider.EffortLow: 1024, provider.EffortMedium: 8192, provider.EffortHigh: 24_576,
	}
)

// thinking spells what stands in thinkingConfig, "" for nothing. Thoughts are
// asked for wherever there may be any: they are refused where there are none.
func thinking(form Thinking, e provider.Effort) string {
	const thoughts = `"includeThoughts":true`
	set := e != provider.EffortDefault && int(e) < len(levels)
	switch form {
	case ThinkingNone:
		return ""
	case ThinkingLevel:
		if !set {
			return thoughts
		}
		return `"thinkingLevel":"` + levels[e] + `",` + thoughts
	case ThinkingBudget:
		switch {
		case !set:
			return thoughts
		case budgets[e] == 0:
			return `"thinkingBudget":0`
		}
		return `"thinkingBudget":` + strconv.Itoa(budgets[e]) + `,` + thoughts
	}
	panic("gemini: invalid Thinking " + strconv.Itoa(int(form)))
}

// Stream implements [provider.Provider].
func (g *Gemini) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	path := "models/" + url.PathEscape(g.config.Model) + ":streamGenerateContent?alt=sse"
	return g.client.Stream(ctx, path, body, read)
}
