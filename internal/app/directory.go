package app

import (
	"context"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/profile"
)

// Callable implements agent.Directory: the agents that one may give work to. Without
// a list of its own that is every other one of the configuration; the offline
// stand-in does no work.
func (w *Workspace) Callable(name string) []agent.Callable {
	cfg := w.Loaded().Config
	var out []agent.Callable
	for _, n := range cfg.CallableFrom(name) {
		a, err := cfg.Agent(n)
		if err != nil {
			continue
		}
		c := agent.Callable{Name: n, Model: a.Model, Purpose: a.Purpose, Runner: a.Runner != ""}
		// What cannot be asked now is listed as unknown: it may be mended when it
		// is called.
		if m, err := w.Model(context.Background(), n); err == nil {
			c.Sees = m.Profile.Images.Answer
		}
		out = append(out, c)
	}
	return out
}

// price is what a request cost by the catalogue.
func (w *Workspace) price(m agent.Model, u content.Usage) (dollars float64, known bool) {
	cfg := w.Loaded().Config
	a, err := cfg.Agent(m.Name)
	if err != nil {
		return 0, false
	}
	b, p, err := w.bind(&cfg, a)
	if err != nil || p.Kind == config.KindOffline || a.Runner != "" {
		return 0, false
	}
	r, ok := profile.Open().Lookup(b.Kind, b.BaseURL, b.Model)
	if !ok {
		return 0, false
	}
	return r.Cost.Price(u)
}

// prices are the catalogue's.
type prices struct{ w *Workspace }

// Cost implements agent.Prices.
func (p prices) Cost(m agent.Model, u content.Usage) (dollars float64, known bool) {
	return p.w.price(m, u)
}
