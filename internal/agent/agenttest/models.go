package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
)

// Models gives models by name. What the disk has learned about whether they see
// stands above what they were set to, unless the user said so. A server's own
// word may only withhold.
type Models struct {
	Disk *Disk

	mu      sync.Mutex
	models  map[string]agent.Model
	notices []delivery.Notice
	fail    error
}

var _ agent.Models = (*Models)(nil)

// Set adds or replaces a model.
func (m *Models) Set(name string, x agent.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models == nil {
		m.models = map[string]agent.Model{}
	}
	x.Name = name
	m.models[name] = x
}

// OnReload sets what the next reload tells.
func (m *Models) OnReload(notices []delivery.Notice, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notices, m.fail = notices, err
}

// Model implements agent.Models.
func (m *Models) Model(_ context.Context, name string) (agent.Model, error) {
	m.mu.Lock()
	x, ok := m.models[name]
	m.mu.Unlock()
	if !ok {
		return agent.Model{}, fmt.Errorf("there is no agent %q", name)
	}
	c, known := m.Disk.Evidence(x.Profile.Endpoint, content.KindImage)
	word := c.Evidence == delivery.EvidenceServer
	if images := &x.Profile.Images; images.Evidence != delivery.EvidenceBinding && (c.Answer == delivery.No || c.Answer == delivery.Yes && !word) {
		*images = c
	}
	x.ProbeDue = x.Profile.Images.Answer == delivery.Unknown && (!known || word)
	if m.Disk.Limit(x.Profile.Endpoint, agent.LimitHoist) > 0 {
		x.Profile.Placement.HoistResults = true
	}
	return x, nil
}

// Reload implements agent.Models.
func (m *Models) Reload(ctx context.Context) ([]delivery.Notice, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.notices, m.fail
	m.notices, m.fail = nil, nil
	return n, errors.Join(err, ctx.Err())
}

// Sees is a profile of a model that takes pictures and nothing else of note. Its
// results are hoisted, as in Chat Completions.
func Sees(endpoint string) delivery.Profile {
	return delivery.Profile{
		Path: "test", Provider: "test", Model: "model-" + endpoint, Endpoint: endpoint,
		Images:      delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue},
		ImageLimits: delivery.Limits{MIMEs: []string{"image/png", "image/jpeg"}},
		Placement:   delivery.Placement{HoistResults: true},
	}
}

// Blind is a profile of a model that is known to take no pictures.
func Blind(endpoint string) delivery.Profile {
	p := Sees(endpoint)
	p.Images.Answer = delivery.No
	return p
}

// Unknown is a profile of a model of which nothing is known.
func Unknown(endpoint string) delivery.Profile {
	p := Sees(endpoint)
	p.Images = delivery.Capability{}
	return p
}

// Describer is a function that asks a server about itself.
type Describer func(ctx context.Context, name string) (changed bool, err error)

var _ agent.Describer = Describer(nil)

// Describe implements agent.Describer.
func (d Describer) Describe(ctx context.Context, name string) (changed bool, err error) {
	return d(ctx, name)
}

// Code is what a Prober's picture shows.
const Code = "K4T9"

// Prober draws a picture of noise and believes the right code.
type Prober struct{}

var _ agent.Prober = Prober{}

// Picture implements agent.Prober.
func (Prober) Picture(seed uint64) (png []byte, code, question string, err error) {
	return PNG(8, 8, seed), Code, "Which code is written there?", nil
}

// Judge implements agent.Prober.
func (Prober) Judge(code, answer string, u content.Usage, f delivery.Failure) delivery.Answer {
	switch {
	case f.Kind == delivery.FailRefused:
		return delivery.No
	case f.Kind != delivery.FailNone:
		return delivery.Unknown
	case strings.Contains(answer, code), u.Image.N > 0:
		return delivery.Yes
	}
	return delivery.Unknown
}
