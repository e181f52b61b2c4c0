package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/front/acp"
	"tote/internal/front/headless"
	"tote/internal/front/slash"
	"tote/internal/history"
	"tote/internal/mcp"
)

const acpHelp = `Serves an editor that speaks the Agent Client Protocol on standard input and
output. Editors started from a desktop lack your shell's environment; --home and
--config say where things are. --mode is how sessions begin, until another mode is
chosen in the editor; --add-dir counts for all of them. --log writes what goes
wrong to a file, without the content of messages.`

func cmdACP(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "acp", "", acpHelp).withModel().withPowers()
	logFile := f.String("log", "", "append to this `file` what goes wrong")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 0 {
		return f.fail(fmt.Errorf("%w: acp takes no arguments", config.ErrUsage))
	}
	if _, err := config.ParseMode(f.mode); f.mode != "" && err != nil {
		return f.fail(misuse("--%v", err))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	log := e.stderr
	if *logFile != "" {
		if err := os.MkdirAll(filepath.Dir(*logFile), 0o700); err != nil {
			return f.fail(fmt.Errorf("open the log: %w", err))
		}
		file, err := os.OpenFile(*logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return f.fail(fmt.Errorf("open the log: %w", err))
		}
		defer func() { _ = file.Close() }() // every line was written by itself
		log = file
	}
	settings, err := f.acpSettings(cwd)
	if err != nil {
		return f.fail(err)
	}
	err = acp.Serve(ctx, e.stdin, e.stdout, acp.Options{
		Version: version, Host: host{a}, V2: settings.V2, Fork: settings.Fork, MaxLine: int64(settings.MaxLine), Now: e.now, NewID: a.NewID,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil && ctx.Err() == nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

// acpSettings are those of the whole connection. A broken file is told about when a
// session is opened, where an editor shows it.
func (f *flags) acpSettings(cwd string) (config.ACP, error) {
	l, err := config.Load(f.configOptions(cwd))
	switch {
	case errors.Is(err, config.ErrUsage):
		return config.ACP{}, err
	case err != nil:
		return config.ACP{}, nil
	}
	return l.Config.ACP, nil
}

// host is the app, as the front for editors knows it.
type host struct{ app *app.App }

var _ acp.Host = host{}

// Workspace implements acp.Host.
func (h host) Workspace(ctx context.Context, cwd string) (acp.Workspace, error) {
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return acp.Workspace{}, fmt.Errorf("%w: %s", acp.ErrFolder, cwd)
	}
	w, err := h.app.Workspace(ctx, cwd)
	if err != nil {
		return acp.Workspace{}, err
	}
	// A session that is opened sees the files as they are now.
	notices, err := w.Reload(ctx)
	if err != nil {
		return acp.Workspace{}, err
	}
	name, err := w.DefaultAgent()
	if err != nil {
		return acp.Workspace{}, err
	}
	l := w.Loaded()
	out := acp.Workspace{
		Agent: w.Agent(), Default: name, Notices: append(notices, w.Notices()...),
		Settings: acp.Settings{Echo: string(l.Config.ACP.Echo), UnknownBlocks: string(l.Config.ACP.UnknownBlocks)},
		Choices:  func(ctx context.Context) ([]acp.Choice, error) { return choices(ctx, w) },
		Give:     func(session string, servers []acp.GivenServer) { w.GiveServers(session, given(servers)) },
		Ended:    w.EndSession,
		World:    func(s *agent.Session) *slash.World { return world(w, s) },
	}
	if len(l.Withheld) > 0 && l.Fingerprint != "" && !l.Trusted {
		out.Untrusted = &acp.Untrusted{
			Folder: l.Project.Folder, Fingerprint: l.Fingerprint, Withheld: l.Withheld, Accept: w.TrustProject,
		}
	}
	return out, nil
}

// given are the MCP servers that an editor wants, as the app knows them.
func given(servers []acp.GivenServer) []mcp.Server {
	out := make([]mcp.Server, 0, len(servers))
	for _, s := range servers {
		x := mcp.Server{Name: s.Name, Type: mcp.Transport(s.Type), Command: s.Command, Args: s.Args, URL: s.URL, Env: map[string]string{}, Headers: map[string]string{}}
		for _, v := range s.Env {
			x.Env[v.Name] = v.Value
		}
		for _, v := range s.Headers {
			x.Headers[v.Name] = v.Value
		}
		out = append(out, x)
	}
	return out
}

func choices(ctx context.Context, w *app.Workspace) ([]acp.Choice, error) {
	list, err := w.Choices(ctx)
	if err != nil {
		return nil, err
	}
	var out []acp.Choice
	for _, c := range list {
		if c.Problem == "" {
			out = append(out, acp.Choice{Name: c.Name, Model: c.Provider + "/" + c.Model, Vision: c.Images})
		}
	}
	return out, nil
}

// List implements acp.Host.
func (h host) List(ctx context.Context, cwd, cursor string) ([]agent.Stored, string, error) {
	db, err := h.app.History(ctx)
	if err != nil {
		return nil, "", err
	}
	page, next, err := db.Sessions(ctx, history.Filter{Cwd: cwd, Cursor: cursor})
	if errors.Is(err, history.ErrCursor) {
		return nil, "", fmt.Errorf("%w: %w", acp.ErrCursor, err)
	}
	if err != nil {
		return nil, "", err
	}
	out := make([]agent.Stored, 0, len(page))
	for _, s := range page {
		out = append(out, app.ToStored(s))
	}
	return out, next, nil
}

// Delete implements acp.Host.
func (h host) Delete(ctx context.Context, id string) error {
	err := h.app.DeleteSession(ctx, id)
	if errors.Is(err, history.ErrNotFound) {
		return nil
	}
	return err
}

// Stored implements acp.Host.
func (h host) Stored(ctx context.Context, id string) (agent.Stored, error) {
	db, err := h.app.History(ctx)
	if err != nil {
		return agent.Stored{}, err
	}
	s, err := db.Session(ctx, id)
	if errors.Is(err, history.ErrNotFound) {
		return agent.Stored{}, fmt.Errorf("%w: %w", acp.ErrNoSession, err)
	}
	return app.ToStored(s), err
}
