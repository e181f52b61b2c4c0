package main

import (
	"context"
	"fmt"
	"strings"

	"tote/internal/app"
	"tote/internal/delivery"
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
	if !f.json {
		for _, l := range serverLines(list, notices) {
			say(f.e.stdout, "%s", l)
		}
		return nil
	}
	for _, s := range list {
		err := headless.PutJSON(f.e.stdout, jsonServer{
			"server", s.Name, string(s.State), s.Tools, s.Resources, s.Prompts, s.Problem, s.Version, s.Protocol,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// serverLines say how the servers are, for tote mcp and /mcp alike.
func serverLines(list []mcp.Status, notices []delivery.Notice) []string {
	var out []string
	for _, s := range list {
		line := fmt.Sprintf("%-20s %-9s %s, %s, %s  %s", s.Name, s.State, many(s.Tools, "tool"), many(s.Resources, "resource"), many(s.Prompts, "prompt"), s.Version)
		out = append(out, strings.TrimRight(line, " "))
		if s.Problem != "" {
			out = append(out, "  "+s.Problem)
		}
	}
	if len(list) > 0 {
		return out
	}
	for _, n := range notices {
		out = append(out, n.Severity.String()+": "+n.Title)
	}
	return append(out, "no MCP servers are configured here (mcp_servers in the configuration, or .mcp.json)")
}
