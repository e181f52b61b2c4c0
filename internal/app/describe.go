package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"time"

	"tote/internal/config"
	"tote/internal/profile"
	"tote/internal/provider"
)

// This file asks servers what they say of themselves. Their word may withhold
// pictures or lead to a probe; profile sees to it that it enables nothing.

// Describe implements agent.Describer.
func (w *Workspace) Describe(ctx context.Context, name string) (changed bool, err error) {
	before, err := w.Model(ctx, name)
	if err != nil {
		return false, err
	}
	if !w.app.due(before.Profile.Endpoint) {
		return false, nil
	}
	cfg := w.Loaded().Config
	a, err := cfg.Agent(name)
	if err != nil {
		return false, err
	}
	said, err := w.ask(ctx, &cfg, a)
	if err != nil || said.IsZero() {
		return false, err
	}
	text, err := json.Marshal(said)
	if err != nil {
		return false, fmt.Errorf("keep what the server says of itself: %w", err)
	}
	if err := w.db.SaveSaid(ctx, before.Profile.Endpoint, text); err != nil {
		return false, err
	}
	after, err := w.Model(ctx, name)
	return err == nil && !reflect.DeepEqual(before.Profile, after.Profile), err
}

// ask puts every question that is worth asking, until one settles the matter.
func (w *Workspace) ask(ctx context.Context, cfg *config.Config, a config.Agent) (profile.Said, error) {
	if a.Runner != "" {
		return w.askRunner(ctx, a)
	}
	b, p, err := w.bind(cfg, a)
	if err != nil {
		return profile.Said{}, err
	}
	queries := profile.Queries(b.Kind, b.BaseURL, b.Model)
	if len(queries) == 0 {
		return profile.Said{}, nil
	}
	o, err := w.app.reach(p, profile.WireOf(b.Kind, b.BaseURL, a.Model))
	if err != nil {
		return profile.Said{}, err
	}
	said, err := put(ctx, o, queries)
	said.At = w.app.o.Now()
	return said, err
}

// put puts questions to one server.
func put(ctx context.Context, o provider.Options, queries []profile.Query) (profile.Said, error) {
	below := provider.NewClient(o)
	root, err := rootOf(o.BaseURL)
	if err != nil {
		return profile.Said{}, err
	}
	o.BaseURL = root
	above := provider.NewClient(o)
	var said profile.Said
	for _, q := range queries {
		c := below
		if q.Root {
			c = above
		}
		answer, err := c.Fetch(ctx, q.Method, q.Path, q.Body)
		if ctx.Err() != nil {
			return profile.Said{}, ctx.Err()
		}
		if err != nil {
			if q.Name == profile.AskModels {
				break // what has no list of models knows no other question
			}
			continue // a server need not know every question
		}
		if more, ok := profile.Read(q, answer); ok {
			said = said.With(more)
		}
		if said.Settled() {
			break
		}
	}
	return said, nil
}

// rootOf is a URL without its path.
func rootOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u.Path, u.RawPath = "/", ""
	return u.String(), nil
}

// due reports whether an endpoint has not been asked by this process lately, and
// notes that it is now. What it said before is kept over restarts; that it did
// not answer is not.
func (a *App) due(endpoint string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.o.Now()
	if last, ok := a.asked[endpoint]; ok && now.Sub(last).Abs() < profile.LifeServer {
		return false
	}
	if a.asked == nil || len(a.asked) >= remembered {
		a.asked = map[string]time.Time{}
	}
	a.asked[endpoint] = now
	return true
}

// forgetAsked has an endpoint be asked again.
func (a *App) forgetAsked(endpoint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.asked, endpoint)
}

// said reads back what a server said, zero for nothing.
func (w *Workspace) said(ctx context.Context, endpoint string) (profile.Said, error) {
	text, err := w.db.Said(ctx, endpoint)
	if err != nil || len(text) == 0 {
		return profile.Said{}, err
	}
	var s profile.Said
	if err := json.Unmarshal(text, &s); err != nil {
		return profile.Said{}, nil //nolint:nilerr // it is a memory, and can be asked for again
	}
	return s, nil
}
