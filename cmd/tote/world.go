package main

import (
	"context"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/front/slash"
)

// world is what /commands act on, the same on every surface.
func world(ws *app.Workspace, s *agent.Session) *slash.World {
	return &slash.World{
		Session: s, Jobs: ws.Crew(), Custom: custom{ws, s.ID()},
		Agents: func(ctx context.Context) []slash.Agent {
			list, err := ws.Choices(ctx)
			if err != nil {
				return nil // the turn itself will meet the same fault
			}
			var out []slash.Agent
			for _, c := range list {
				note := "pictures: " + c.Images.Answer.String()
				if c.Problem != "" {
					note = c.Problem
				}
				out = append(out, slash.Agent{Name: c.Name, Model: c.Model, Note: note})
			}
			return out
		},
		Servers: func(ctx context.Context) []string {
			return serverLines(ws.StartServers(ctx))
		},
		Fork: func(ctx context.Context, turn string) (string, error) {
			copied, err := ws.Agent().Fork(ctx, s.ID(), turn)
			if err != nil {
				return "", err
			}
			return copied.ID(), nil
		},
		Cost: func(ctx context.Context) (float64, bool, error) { return ws.Cost(ctx, s.ID()) },
	}
}

// custom are the commands that are not built in.
type custom struct {
	ws      *app.Workspace
	session string
}

// Commands implements slash.Custom.
func (c custom) Commands(ctx context.Context) []slash.Info {
	var out []slash.Info
	for _, x := range c.ws.Commands(ctx, c.session) {
		out = append(out, slash.Info{Name: x.Name, Hint: x.Hint, Description: x.Description})
	}
	return out
}

// Expand implements slash.Custom.
func (c custom) Expand(ctx context.Context, name, args string) ([]content.Source, bool, error) {
	return c.ws.Expand(ctx, c.session, name, args)
}
