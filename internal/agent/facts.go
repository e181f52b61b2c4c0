package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// facts are what is known before a request of the session to a model: of the
// endpoint, of what the user took out or had summarised, and of who can look at
// pictures.
func (s *Session) facts(ctx context.Context, m Model, tools *toolset, system string) (delivery.Facts, error) {
	f, err := s.a.o.Endpoints.Facts(ctx, m.Profile.Endpoint)
	if err != nil {
		return f, fmt.Errorf("read what is known about the model: %w", err)
	}
	if f.Proven == nil {
		f.Proven = map[content.Digest]bool{}
	}
	f.Files = tools.has("read")
	f.Fixed = int64(len(system))
	_, f.Describer = s.a.describer(ctx, m)
	if !m.Runner {
		s.offer(ctx, m, tools, &f)
	}
	r := s.a.o.Reductions
	if r == nil {
		return f, nil
	}
	if f.Detached, err = r.Detached(ctx, s.ID()); err != nil {
		return f, fmt.Errorf("read what was taken out of the conversation: %w", err)
	}
	f.Summary, _, err = s.summary(ctx)
	return f, err
}

// offer notes what the tools cost, and those of which a model is told where it may
// need them.
func (s *Session) offer(ctx context.Context, m Model, tools *toolset, f *delivery.Facts) {
	f.Fixed += tools.size()
	if tools.has(viewTool) {
		f.View = viewTool
	}
	if tools.has(lookTool) {
		for _, c := range s.a.lookers(ctx, m) {
			f.Lookers = append(f.Lookers, c.Name)
		}
	}
}

// summary is the newest summary in messages and in turns, zero for none.
func (s *Session) summary(ctx context.Context) (delivery.Summary, Summary, error) {
	if s.a.o.Reductions == nil {
		return delivery.Summary{}, Summary{}, nil
	}
	sum, err := s.a.o.Reductions.Summary(ctx, s.ID())
	if err != nil {
		return delivery.Summary{}, sum, fmt.Errorf("read the summary of the conversation: %w", err)
	}
	turns := s.Turns()
	if sum.Turns <= 0 || sum.Turns > len(turns) {
		return delivery.Summary{}, Summary{}, nil // it is of turns that are gone
	}
	n := 0
	for _, t := range turns[:sum.Turns] {
		n += len(t.Messages)
	}
	return delivery.Summary{Messages: n, Text: sum.Text}, sum, nil
}

// The tools of which a model is told where it may need them.
const (
	viewTool = "view_image"
	lookTool = "look"
)

// describer is the agent that describes pictures to m, where there is one that
// sees.
func (a *Agent) describer(ctx context.Context, m Model) (Model, bool) {
	if m.Describer == "" || m.Describer == m.Name {
		return Model{}, false
	}
	d, err := a.o.Models.Model(ctx, m.Describer)
	return d, err == nil && d.Unusable == nil && d.Profile.Images.Answer == delivery.Yes
}

// lookers are the agents that can look at a picture for m, sorted by name.
func (a *Agent) lookers(ctx context.Context, m Model) []Callable {
	var out []Callable
	if a.o.Directory != nil {
		for _, c := range a.o.Directory.Callable(m.Name) {
			if c.Sees == delivery.Yes {
				out = append(out, c)
			}
		}
	}
	if d, ok := a.describer(ctx, m); ok && !slices.ContainsFunc(out, func(c Callable) bool { return c.Name == d.Name }) {
		out = append(out, Callable{Name: d.Name, Model: d.called(), Sees: delivery.Yes})
	}
	slices.SortFunc(out, func(x, y Callable) int { return strings.Compare(x.Name, y.Name) })
	return out
}
