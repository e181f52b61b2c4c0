package app

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/mcp"
	"tote/internal/tool"
)

func durationOf(d config.Duration) time.Duration { return time.Duration(d) }

// servers are the MCP servers of this process. They start at the first turn that
// may use them.
func (a *App) servers() *mcp.Manager {
	keys := a.Keys() // takes the lock too
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mcp == nil {
		a.mcp = mcp.New(mcp.Options{
			Version: a.o.Version, Environ: mcp.Environment(os.Environ()), Now: a.o.Now, Roots: a.rootsOf, Sample: a.sample,
			OpenURL: openURL, Tokens: tokens{keys},
		})
	}
	return a.mcp
}

// rootsOf are the folders of which the servers of a scope are told.
func (a *App) rootsOf(scope string) []string {
	a.mu.Lock()
	w := a.workspaces[scope]
	a.mu.Unlock()
	if w == nil {
		return nil
	}
	return append([]string{w.cwd}, w.Loaded().Config.AdditionalDirectories...)
}

// toolbox gives the tools of MCP servers.
type toolbox struct{ w *Workspace }

// Tools implements agent.Toolbox.
func (t toolbox) Tools(ctx context.Context, s agent.Stored) ([]tool.Tool, []delivery.Notice) {
	scopes, notices := t.w.scopes(s.ID)
	if len(scopes) == 0 {
		return nil, notices
	}
	tools, problems := t.w.app.servers().Tools(ctx, scopes...)
	return tools, append(notices, told(problems)...)
}

// told are problems of servers for people.
func told(problems []mcp.Problem) (notices []delivery.Notice) {
	for _, p := range problems {
		n := delivery.Notice{Severity: delivery.SeverityWarning, Title: p.String()}
		if p.Good {
			n.Severity = delivery.SeverityInfo
		}
		notices = append(notices, n)
	}
	return notices
}

// scopes are the servers that a session may use: those of the configuration, and
// those that an editor gave with it.
func (w *Workspace) scopes(session string) ([]mcp.Scope, []delivery.Notice) {
	var notices []delivery.Notice
	own := mcp.Scope{ID: w.cwd, Dir: w.cwd}
	cfg := w.Loaded().Config
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		s, err := cfg.MCPServers[name].Expand(w.app.env())
		if err != nil {
			notices = append(notices, delivery.Notice{Severity: delivery.SeverityWarning, Title: err.Error()})
			continue
		}
		own.Servers = append(own.Servers, serverOf(s))
	}
	var out []mcp.Scope
	if len(own.Servers) > 0 {
		out = append(out, own)
	}
	w.mu.Lock()
	given := w.given[session]
	w.mu.Unlock()
	if len(given) > 0 {
		out = append(out, mcp.Scope{ID: session, Dir: w.cwd, Servers: given})
	}
	return out, notices
}

// GiveServers has a session use servers that its editor gave with it.
func (w *Workspace) GiveServers(session string, servers []mcp.Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.given == nil {
		w.given = map[string][]mcp.Server{}
	}
	w.given[session] = servers
}

func serverOf(s config.MCPServer) mcp.Server {
	return mcp.Server{
		Name: s.Name, Type: mcp.Transport(s.Type), Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.CWD, URL: s.URL, Headers: s.Headers,
		Disabled: s.Disabled, CallTimeout: durationOf(s.Timeout), StartTimeout: ownStart(s), Allow: s.Allow, Deny: s.Deny,
	}
}

// usualStart is the time of a start for which the configuration says nothing.
const usualStart = 30 * time.Second

// ownStart is the time of a start that the user has set, 0 for none: that is how long
// the first turn waits for the server.
func ownStart(s config.MCPServer) time.Duration {
	if d := durationOf(s.StartTimeout); d != usualStart {
		return d
	}
	return 0
}

// Servers says how the MCP servers of the workspace are.
func (w *Workspace) Servers() []mcp.Status {
	return slices.DeleteFunc(w.app.servers().Servers(), func(s mcp.Status) bool { return s.Scope != w.cwd })
}

// StartServers starts the servers of the configuration, waits until each runs or has
// failed, and says how they are.
func (w *Workspace) StartServers(ctx context.Context) ([]mcp.Status, []delivery.Notice) {
	scopes, notices := w.scopes("")
	if len(scopes) > 0 {
		_, problems := w.app.servers().Await(ctx, scopes...)
		notices = append(notices, told(problems)...)
	}
	return w.Servers(), notices
}

// LoginServer sends the user through the login of a server.
func (w *Workspace) LoginServer(ctx context.Context, name string) error {
	s, ok := w.Loaded().Config.MCPServers[name]
	if !ok {
		return fmt.Errorf("log in to %q: there is no such MCP server in the configuration", name)
	}
	s, err := s.Expand(w.app.env())
	if err != nil {
		return err
	}
	return w.app.servers().Login(ctx, serverOf(s))
}

// LogoutServer forgets the login of a server.
func (w *Workspace) LogoutServer(name string) error { return w.app.servers().Logout(name) }
