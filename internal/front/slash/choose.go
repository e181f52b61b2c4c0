package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
)

// errNotHere: the surface has not wired it.
var errNotHere = errors.New("not available here")

func (w World) agents(ctx context.Context, _ Call) (Outcome, error) {
	if w.Agents == nil {
		return Outcome{}, fmt.Errorf("/agents: %w", errNotHere)
	}
	var sb strings.Builder
	current := w.Session.Stored().Agent
	for _, a := range w.Agents(ctx) {
		mark := " "
		if a.Name == current {
			mark = "*"
		}
		fmt.Fprintf(&sb, "%s %-20s %-30s %s\n", mark, a.Name, a.Model, a.Note)
	}
	return Outcome{Text: sb.String()}, nil
}

func (w World) model(ctx context.Context, c Call) (Outcome, error) {
	if c.Args == "" {
		m, err := w.Session.Model(ctx)
		if err != nil {
			return Outcome{}, err
		}
		s := "agent " + m.Name
		if m.Profile.Model != "" {
			s += ", model " + m.Profile.Model
		}
		return Outcome{Text: s + "; pictures: " + m.Profile.Images.Answer.String() + "\n"}, nil
	}
	if err := w.Session.SetAgent(ctx, c.Args); err != nil {
		return Outcome{}, fmt.Errorf("/model: %w; /agents lists them", err)
	}
	return Outcome{Text: "the next turn goes to " + content.Clean(c.Args) + "\n"}, nil
}

func (w World) mode(ctx context.Context, c Call) (Outcome, error) {
	if c.Args == "" {
		return Outcome{Text: "mode " + w.Session.Mode().String() + "\n"}, nil
	}
	m, err := permission.ParseMode(c.Args)
	if err != nil {
		return Outcome{}, fmt.Errorf("/mode: %w", err)
	}
	if err := w.Session.ChooseMode(ctx, m); err != nil {
		return Outcome{}, fmt.Errorf("/mode: %w", err)
	}
	return Outcome{Text: "mode " + m.String() + ", in this session from now on\n"}, nil
}

func (w World) servers(ctx context.Context, _ Call) (Outcome, error) {
	if w.Servers == nil {
		return Outcome{}, fmt.Errorf("/mcp: %w", errNotHere)
	}
	lines := w.Servers(ctx)
	if len(lines) == 0 {
		return Outcome{Text: "no MCP servers are configured\n"}, nil
	}
	return Outcome{Text: strings.Join(lines, "\n") + "\n"}, nil
}

func (w World) cost(ctx context.Context, _ Call) (Outcome, error) {
	if w.Cost == nil {
		return Outcome{}, fmt.Errorf("/cost: %w", errNotHere)
	}
	dollars, known, err := w.Cost(ctx)
	switch {
	case err != nil:
		return Outcome{}, fmt.Errorf("/cost: %w", err)
	case !known:
		return Outcome{Text: "there is no price for the models of this session\n"}, nil
	}
	return Outcome{Text: fmt.Sprintf("this session has cost about $%.4f by the catalogue's prices\n", dollars)}, nil
}
