package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tote/internal/config"
	"tote/internal/profile"
	"tote/internal/provider"
)

// Catalogue lists the models of a provider, as PROVIDER/MODEL would name them:
// those that the catalogue knows at its address, else those that the server says
// it serves.
func (w *Workspace) Catalogue(ctx context.Context, name string) ([]Choice, error) {
	cfg := w.Loaded().Config
	p, err := cfg.Provider(name)
	if err != nil {
		return nil, err
	}
	var models []string
	for _, r := range profile.Open().Models(string(p.Kind), p.Address(w.app.env())) {
		models = append(models, r.Model)
	}
	if len(models) == 0 {
		if models, err = w.served(ctx, p); err != nil {
			return nil, fmt.Errorf("ask %s for its models: %w", name, err)
		}
	}
	problem := ""
	if err := w.app.unusable(ctx, p, nil); err != nil {
		problem = err.Error()
	}
	out := make([]Choice, 0, len(models))
	for _, m := range models {
		b, _, err := w.bind(&cfg, config.Agent{Name: name + "/" + m, Provider: name, Model: m})
		if err != nil {
			return nil, err
		}
		built, _, err := w.profileOf(ctx, b, w.app.o.Now())
		if err != nil {
			return nil, err
		}
		out = append(out, Choice{
			Name: name + "/" + m, Provider: name, Model: m, Path: built.Path, Images: built.Images,
			Audio: built.Audio, Documents: built.Documents, Context: built.Context, Problem: problem,
		})
	}
	return out, nil
}

// listOf is where servers of a protocol list their models, "" for nowhere.
func listOf(k config.Kind) string {
	switch k {
	case config.KindOpenAIChat, config.KindOpenAIResponses, config.KindGemini:
		return "models"
	case config.KindAnthropic:
		return "v1/models"
	case config.KindOllama:
		return "api/tags"
	case config.KindBedrockConverse, config.KindOffline:
	}
	return ""
}

// served are the models that a server says it serves, sorted; nil where the
// protocol has no such list.
func (w *Workspace) served(ctx context.Context, p config.Provider) ([]string, error) {
	path := listOf(p.Kind)
	if path == "" {
		return nil, nil
	}
	o, err := w.app.reach(p, profile.WireOf(string(p.Kind), p.BaseURL, ""))
	if err != nil {
		return nil, err
	}
	answer, err := provider.NewClient(o).Fetch(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	type entry struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var list struct {
		Data   []entry `json:"data"`
		Models []entry `json:"models"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("read the list of models: %w", err)
	}
	var out []string
	for _, e := range append(list.Data, list.Models...) {
		id := e.ID
		if id == "" {
			id = strings.TrimPrefix(e.Name, "models/")
		}
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}
