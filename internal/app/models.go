package app

import (
	"context"
	"fmt"
	"os"
	"sort"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider"
	"tote/internal/provider/offline"
	"tote/internal/provider/openai"
)

// offlineAgent is the built-in agent, which always exists.
const offlineAgent = "offline"

// built is a provider that was made of one piece of configuration.
type built struct {
	provider provider.Provider
	binding  profile.Binding
}

// Model implements agent.Models.
func (w *Workspace) Model(ctx context.Context, name string) (agent.Model, error) {
	w.mu.Lock()
	cfg := w.loaded.Config
	w.mu.Unlock()
	a, err := cfg.Agent(name)
	if err != nil {
		return agent.Model{}, err
	}
	b, err := w.build(&cfg, a)
	if err != nil {
		return agent.Model{}, err
	}
	now := w.app.o.Now()
	endpoint := profile.Endpoint(b.binding.Kind, b.binding.BaseURL, b.binding.Model)
	rows, err := w.db.Evidence(ctx, endpoint)
	if err != nil {
		return agent.Model{}, fmt.Errorf("read what is known about %s: %w", a.Name, err)
	}
	facts := make([]profile.Fact, 0, len(rows))
	for _, r := range rows {
		facts = append(facts, profile.Fact{Kind: r.Kind, Answer: r.Answer, Evidence: r.Evidence, Detail: r.Detail, At: r.At})
	}
	return agent.Model{
		Name: a.Name, Provider: b.provider, Profile: profile.Build(b.binding, facts, now),
		ProbeDue: !profile.ProbedRecently(facts, now), Fallbacks: a.Fallbacks,
	}, nil
}

// build makes the provider of an agent, once for each reading of the
// configuration.
func (w *Workspace) build(cfg *config.Config, a config.Agent) (built, error) {
	w.mu.Lock()
	b, ok := w.providers[a.Name]
	w.mu.Unlock()
	if ok {
		return b, nil
	}
	if a.Runner != "" {
		return built{}, fmt.Errorf("agent %q: running %s is not part of this version; choose an agent with a provider", a.Name, a.Runner)
	}
	p, err := cfg.Provider(a.Provider)
	if err != nil {
		return built{}, err
	}
	b = built{binding: binding(p, a)}
	switch p.Kind {
	case config.KindOffline:
		b.binding.BaseURL, b.binding.Offline = offline.BaseURL, true
		b.provider = offline.New(offline.Options{Name: p.Name, Model: a.Model, Faults: faults(p.Faults)})
	case config.KindOpenAIChat:
		if b.provider, err = w.app.chat(p, a); err != nil {
			return built{}, err
		}
	case config.KindOpenAIResponses, config.KindAnthropic, config.KindBedrockConverse, config.KindGemini, config.KindOllama:
		return built{}, fmt.Errorf("agent %q: providers of kind %s are not part of this version; use openai-chat, which %s servers often speak too", a.Name, p.Kind, p.Name)
	default:
		return built{}, fmt.Errorf("agent %q: unknown provider kind %q", a.Name, p.Kind)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.providers == nil {
		w.providers = map[string]built{}
	}
	w.providers[a.Name] = b
	return b, nil
}

func (a *App) chat(p config.Provider, m config.Agent) (provider.Provider, error) {
	headers, err := p.HeaderValues(a.o.Config.Env)
	if err != nil {
		return nil, err
	}
	from := ""
	if n := p.KeyName(); n != "" {
		from = "$" + n
	}
	return openai.New(provider.Options{
		Name: p.Name, BaseURL: p.BaseURL, Key: func() (string, error) { return p.Key(a.o.Config.Env) }, KeyFrom: from,
		Headers: headers, UserAgent: "tote/" + a.o.Version, Now: a.o.Now,
	}, openai.Config{Model: m.Model}), nil
}

func binding(p config.Provider, a config.Agent) profile.Binding {
	b := profile.Binding{
		Provider: p.Name, Model: a.Model, Kind: string(p.Kind), BaseURL: p.BaseURL,
		Limits: profile.Overrides{
			Images: p.Limits.Images, ImageEdge: p.Limits.ImageEdge, Context: p.Limits.ContextTokens, Output: p.Limits.OutputTokens,
			ImageBytes: int64(p.Limits.ImageBytes), RequestBytes: int64(p.Limits.RequestBytes), MediaTypes: p.Limits.MediaTypes,
		},
	}
	switch a.Vision {
	case config.VisionAuto:
		b.Vision = profile.TriAuto
	case config.VisionYes:
		b.Vision = profile.TriYes
	case config.VisionNo:
		b.Vision = profile.TriNo
	}
	return b
}

// Choice is an agent that a user can pick.
type Choice struct {
	Name, Provider, Model, Path string
	Images                      delivery.Capability
	Audio, Documents            delivery.Capability
	Context                     int
	// Problem says why it cannot be used, "" when it can.
	Problem string
	Default bool
	// Refused is what its endpoint has refused, and until when that counts.
	Refused []profile.Row
}

// Choices lists the agents of the configuration and the built-in one, sorted,
// the default first.
func (w *Workspace) Choices(ctx context.Context) ([]Choice, error) {
	cfg := w.Loaded().Config
	def, err := cfg.Agent("")
	if err != nil {
		return nil, err
	}
	names := map[string]bool{def.Name: true, offlineAgent: true}
	for n := range cfg.Agents {
		names[n] = true
	}
	var out []Choice
	for n := range names {
		c := Choice{Name: n, Default: n == def.Name}
		m, err := w.Model(ctx, n)
		if err != nil {
			c.Problem = err.Error()
			if a, aerr := cfg.Agent(n); aerr == nil {
				c.Provider, c.Model = a.Provider, a.Model
			}
			out = append(out, c)
			continue
		}
		p := m.Profile
		c.Provider, c.Model, c.Path, c.Context = p.Provider, p.Model, p.Path, p.Context
		c.Images, c.Audio, c.Documents = p.Images, p.Audio, p.Documents
		if c.Refused, err = w.refused(ctx, p.Endpoint); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Default != out[j].Default {
			return out[i].Default
		}
		return out[i].Name < out[j].Name
	})
	return out, nil
}

// refused lists what counts against attachments at an endpoint.
func (w *Workspace) refused(ctx context.Context, endpoint string) ([]profile.Row, error) {
	rows, err := w.db.Verdicts(ctx, endpoint, w.app.o.Now())
	if err != nil {
		return nil, fmt.Errorf("read what a backend has refused: %w", err)
	}
	var vs []profile.Verdict
	for _, v := range rows {
		if !v.Accepted {
			vs = append(vs, profile.Verdict{Digest: v.Digest, MIME: v.MIME, Reason: v.Reason, Until: v.Until})
		}
	}
	return profile.Table(vs), nil
}

// Catalogue lists the models of a provider that the catalogue knows, as
// PROVIDER/MODEL would name them.
func (w *Workspace) Catalogue(name string) ([]Choice, error) {
	cfg := w.Loaded().Config
	p, err := cfg.Provider(name)
	if err != nil {
		return nil, err
	}
	var out []Choice
	for _, r := range profile.Open().Models(string(p.Kind), p.BaseURL) {
		built := profile.Build(binding(p, config.Agent{Model: r.Model}), nil, w.app.o.Now())
		out = append(out, Choice{
			Name: name + "/" + r.Model, Provider: name, Model: r.Model, Path: built.Path, Images: built.Images,
			Audio: built.Audio, Documents: built.Documents, Context: built.Context,
		})
	}
	return out, nil
}

// DefaultAgent names the agent of a new session.
func (w *Workspace) DefaultAgent() (string, error) {
	cfg := w.Loaded().Config
	a, err := cfg.Agent("")
	return a.Name, err
}

// Offers lists the well-known backends whose key is in the environment.
func (w *Workspace) Offers() []config.Offer {
	env := w.app.o.Config.Env
	if env == nil {
		env = os.Getenv
	}
	return config.Offers(env)
}

// Probe asks the model of an agent whether it sees pictures, and keeps the
// answer. What was learned before is dropped first, since the user wants to
// know anew.
func (w *Workspace) Probe(ctx context.Context, name string) (delivery.Answer, agent.Model, error) {
	if err := w.Forget(ctx, name); err != nil {
		return delivery.Unknown, agent.Model{}, err
	}
	m, err := w.Model(ctx, name)
	if err != nil {
		return delivery.Unknown, m, err
	}
	answer, err := w.agent.Probe(ctx, m)
	return answer, m, err
}

// Forget drops what was learned about the endpoint of an agent.
func (w *Workspace) Forget(ctx context.Context, name string) error {
	m, err := w.Model(ctx, name)
	if err != nil {
		return err
	}
	if err := w.db.ForgetEndpoint(ctx, m.Profile.Endpoint); err != nil {
		return fmt.Errorf("forget what is known about %s: %w", m.Name, err)
	}
	return nil
}

// KeyProblem says what keeps an agent's provider from having its key, "" for
// nothing.
func (w *Workspace) KeyProblem(name string) string {
	cfg := w.Loaded().Config
	p, err := cfg.Provider(name)
	if err != nil {
		return ""
	}
	if _, err := p.Key(w.app.o.Config.Env); err != nil {
		return err.Error()
	}
	return ""
}
