package main

import (
	"context"
	"fmt"

	"tote/internal/app"
	"tote/internal/front/headless"
	"tote/internal/mcp"
)

const mcpHelp = `Says how the MCP servers of this folder's configuration are, after starting them.

list         starts them and says what each offers
login NAME   goes through the login of a server in a browser
logout NAME  forgets it`

type jsonServer struct {
	Type      string `json:"type"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Tools     int    `json:"tools"`
	Resources int    `json:"resources"`
	Prompts   int    `json:"prompts"`
	Problem   string `json:"problem"`
	Version   string `json:"version"`
	Protocol  string `json:"protocol"`
}

func cmdMCP(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "mcp", "list | login NAME | logout NAME", mcpHelp).withJSON()
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) == 0 {
		rest = []string{"list"}
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	ws, err := a.Workspace(ctx, cwd)
	if err != nil {
		return f.fail(err)
	}
	switch {
	case rest[0] == "list" && len(rest) == 1:
		err = f.listServers(ctx, ws)
	case rest[0] == "login" && len(rest) == 2:
		if err = ws.LoginServer(ctx, rest[1]); err == nil {
			say(e.stderr, "logged in to %s", rest[1])
		}
	case rest[0] == "logout" && len(rest) == 2:
		if err = ws.LogoutServer(rest[1]); err == nil {
			say(e.stderr, "the login of %s is forgotten", rest[1])
		}
	default:
		err = misuse("mcp takes list, login NAME or logout NAME")
	}
	if err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func (f *flags) listServers(ctx context.Context, ws *app.Workspace) error {
	list, notices := ws.StartServers(ctx)
	for _, n := range ws.Notices() {
		say(f.e.stderr, "%s: %s", n.Severity, n.Title)
	}
	for _, s := range list {
		if err := f.putServer(s); err != nil {
			return err
		}
	}
	if len(list) == 0 && !f.json {
		for _, n := range notices {
			say(f.e.stderr, "%s: %s", n.Severity, n.Title)
		}
		say(f.e.stdout, "no MCP servers are configured here (mcp_servers in the configuration, or .mcp.json)")
	}
	return nil
}

func (f *flags) putServer(s mcp.Status) error {
	if f.json {
		return headless.PutJSON(f.e.stdout, jsonServer{
			"server", s.Name, string(s.State), s.Tools, s.Resources, s.Prompts, s.Problem, s.Version, s.Protocol,
		})
	}
	_, err := fmt.Fprintf(f.e.stdout, "%-20s %-9s %d tools, %d resources, %d prompts  %s\n", s.Name, s.State, s.Tools, s.Resources, s.Prompts, s.Version)
	if err == nil && s.Problem != "" {
		_, err = fmt.Fprintf(f.e.stdout, "  %s\n", s.Problem)
	}
	return err
}
