package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// Path is the path of this wire in profiles and in stored reasoning.
const Path = "ollama"

// Config is what one model on one server wants.
type Config struct {
	// Model is the server's name for the model.
	Model string
	// Context is the size of the context in tokens, 0 for the server's default.
	Context int
	// KeepAlive is how long the model stays in memory, as Go writes durations
	// ("10m", "-1s" for ever), "" for the server's default.
	KeepAlive string
}

// Ollama is a model on an Ollama server.
type Ollama struct {
	client *provider.Client
	config Config
}

var _ provider.Provider = (*Ollama)(nil)

// New makes an adapter. The base URL of o is the server's up to and without
// "/api": http://127.0.0.1:11434.
func New(o provider.Options, c Config) *Ollama {
	return &Ollama{client: provider.NewClient(o), config: c}
}

// Encode implements [provider.Provider].
func (o *Ollama) Encode(r provider.Request) (provider.Body, error) {
	prose := plain
	if len(r.Prompt.Media()) > 0 {
		prose = unmarked
	}
	rendered, err := delivery.Render(r.Prompt, encoder{prose: prose})
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode ollama request: %w", err)
	}
	var s provider.Spelling
	s.Raw(`{"model":`)
	s.String(o.config.Model)
	s.Raw(`,"stream":true,"truncate":false,"shift":false`)
	if o.config.KeepAlive != "" {
		s.Raw(`,"keep_alive":`)
		s.String(o.config.KeepAlive)
	}
	if err := spellTools(&s, r.Tools); err != nil {
		return provider.Body{}, fmt.Errorf("encode ollama request: %w", err)
	}
	s.Raw(`,"messages":[`)
	sep := ""
	if r.System != "" {
		s.Raw(`{"role":"system","content":`)
		s.String(prose(r.System))
		s.Raw(`}`)
		sep = ","
	}
	for _, message := range rendered {
		s.Raw(sep)
		s.Append(message)
		sep = ","
	}
	s.Raw(`]`)
	o.options(&s, r)
	s.Raw(`}`)
	body := provider.NewBody(s.Segments(), r.Blobs)
	body.Expect = r.Expect
	return body, nil
}

// options spells what may change from one request to the next.
func (o *Ollama) options(s *provider.Spelling, r provider.Request) {
	sep := `,"options":{`
	number := func(name string, n int64) {
		if n > 0 {
			s.Raw(sep + `"` + name + `":` + strconv.FormatInt(n, 10))
			sep = ","
		}
	}
	number("num_ctx", int64(o.config.Context))
	number("num_predict", int64(r.MaxOutput))
	number("seed", seed(r.Seed))
	if sep == "," {
		s.Raw(`}`)
	}
	switch r.Effort {
	case provider.EffortDefault:
	case provider.EffortNone:
		s.Raw(`,"think":false`)
	case provider.EffortLow, provider.EffortMedium, provider.EffortHigh:
		s.Raw(`,"think":"` + r.Effort.String() + `"`)
	}
}

// seed folds a seed into the 31 bits that every runner takes; a negative one
// would ask for chance.
func seed(n int64) int64 { return (n ^ n>>32) & math.MaxInt32 }

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
func (o *Ollama) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	return o.client.Stream(ctx, "api/chat", body, read)
}
