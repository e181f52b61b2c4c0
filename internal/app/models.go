package app

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider"
	"tote/internal/provider/cli"
)

// offlineAgent is the built-in agent, which always exists.
const offlineAgent = "offline"

// Model implements agent.Models.
func (w *Workspace) Model(ctx context.Context, name string) (agent.Model, error) {
	w.mu.Lock()
	cfg := w.loaded.Config
	w.mu.Unlock()
	a, err := cfg.Agent(name)
	if err != nil {
		return agent.Model{}, err
	}
	b, p, err := w.bind(&cfg, a)
	if err != nil {
		return agent.Model{}, err
	}
	now := w.app.o.Now()
	built, due, err := w.profileOf(ctx, b, now)
	if err != nil {
		return agent.Model{}, fmt.Errorf("read what is known about %s: %w", a.Name, err)
	}
	path, err := w.path(p, a, b, built.Context)
	if err != nil {
		return agent.Model{}, &ConfigError{err}
	}
	return agent.Model{
		Name: a.Name, Provider: path, Profile: built, ProbeDue: due, Effort: effort(a.Effort), Fallbacks: a.Fallbacks,
		Runner: a.Runner != "", Describer: a.Describer, EscalateTo: a.EscalateTo,
		Unusable: w.app.unusable(ctx, p, path),
	}, nil
}

// unusable says what keeps a path from being asked, nil for nothing: a variable
// that is not set, a program that is not installed.
func (a *App) unusable(ctx context.Context, p config.Provider, path provider.Provider) error {
	if r, ok := path.(*cli.Runner); ok {
		if s := r.Missing(ctx); s != "" {
			return errors.New(s)
		}
		return nil
	}
	if _, err := p.KeyFrom(a.env(), a.Keys().Get); err != nil {
		return fmt.Errorf("%w; set it, or providers.%s.api_key", err, p.Name)
	}
	return nil
}

// profileOf puts together what is known of an endpoint: the tables, what it
// taught, and what it says of itself. due reports whether a probe would be new.
func (w *Workspace) profileOf(ctx context.Context, b profile.Binding, now time.Time) (p delivery.Profile, due bool, err error) {
	endpoint := profile.Endpoint(b.Kind, b.BaseURL, b.Model)
	rows, err := w.db.Evidence(ctx, endpoint)
	if err != nil {
		return p, false, err
	}
	facts := make([]profile.Fact, 0, len(rows))
	for _, r := range rows {
		facts = append(facts, profile.Fact{Kind: r.Kind, Answer: r.Answer, Evidence: r.Evidence, Detail: r.Detail, At: r.At})
	}
	if b.Said, err = w.said(ctx, endpoint); err != nil {
		return p, false, err
	}
	limits, err := w.db.Limits(ctx, endpoint)
	if err != nil {
		return p, false, err
	}
	p = profile.Build(b, facts, now)
	if limits[agent.LimitHoist] > 0 {
		p.Placement.HoistResults = true
	}
	return p, !profile.ProbedRecently(facts, now), nil
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
		if m.Unusable != nil {
			c.Problem = m.Unusable.Error()
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

// DefaultAgent names the agent of a new session.
func (w *Workspace) DefaultAgent() (string, error) {
	cfg := w.Loaded().Config
	a, err := cfg.Agent("")
	return a.Name, err
}

// Probe asks the server of an agent about itself and its model whether it sees
// pictures, and keeps the answers. What was learned before is dropped first, since the user wants to
// know anew.
func (w *Workspace) Probe(ctx context.Context, name string) (delivery.Answer, agent.Model, error) {
	if err := w.Forget(ctx, name); err != nil {
		return delivery.Unknown, agent.Model{}, err
	}
	if _, err := w.Describe(ctx, name); err != nil && ctx.Err() != nil {
		return delivery.Unknown, agent.Model{}, err
	}
	m, err := w.Model(ctx, name)
	if err != nil {
		return delivery.Unknown, m, err
	}
	answer, err := w.agent.Probe(ctx, m)
	if err != nil {
		return answer, m, err
	}
	m, err = w.Model(ctx, name) // with what is known now
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
	w.app.forgetAsked(m.Profile.Endpoint)
	return nil
}
