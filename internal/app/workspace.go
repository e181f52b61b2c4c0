package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/checkpoint"
	"tote/internal/config"
	"tote/internal/delegate"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/hook"
	"tote/internal/ingest"
	"tote/internal/mcp"
	"tote/internal/permission"
	"tote/internal/project"
	"tote/internal/provider"
	"tote/internal/store"
	"tote/internal/tool"
	toolsDelegate "tote/internal/tool/delegate"
	"tote/internal/tool/search"
	"tote/internal/tool/shell"
	"tote/internal/tool/web"
)

// Workspace is a working folder with its configuration and its agents.
type Workspace struct {
	app *App
	cwd string
	db  *history.DB

	agent *agent.Agent
	crew  *delegate.Crew
	guide guide
	shell *shell.Shells

	mu    sync.Mutex
	hooks hook.Runner
	// guarded tells which of the hooks hang on the trust in the project; refusalTold:
	// the user has been told that they do not run.
	guarded     []bool
	refusalTold bool
	// given are the MCP servers that editors gave with sessions.
	given map[string][]mcp.Server
	// live are the turns that began last, by session.
	live   map[string]live
	loaded config.Loaded
	rules  permission.Rules
	// broken is the stamp of files that could not be read; they are not
	// complained about twice.
	broken config.Stamp
	// paths are those that were made since the configuration was read.
	paths map[pathKey]provider.Provider
}

// Workspace returns the workspace of a folder, and builds it where it is new.
func (a *App) Workspace(ctx context.Context, cwd string) (*Workspace, error) {
	cwd = filepath.Clean(cwd)
	st, db, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	w, ok := a.workspaces[cwd]
	a.mu.Unlock()
	if ok {
		return w, nil
	}
	w = &Workspace{app: a, cwd: cwd, db: db}
	if _, err := w.load(); err != nil {
		return nil, err
	}
	if w.agent, err = a.wire(w, st, db); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if other, ok := a.workspaces[cwd]; ok {
		return other, nil
	}
	a.workspaces[cwd] = w
	return w, nil
}

// wire joins what the agent needs.
func (a *App) wire(w *Workspace, st *store.Store, db *history.DB) (*agent.Agent, error) {
	cfg := w.Loaded().Config
	home, _ := os.UserHomeDir() // without one, "~" in a path is refused by name
	in := ingest.New(st, ingest.Options{Limit: int64(cfg.Limits.AttachmentBytes), Home: home, StripMetadata: cfg.Privacy.StripMetadata})
	rec := records{db: db, now: a.o.Now}
	w.guide = guide{w: w, reader: project.New(a.o.Now)}
	tools, err := w.tools()
	if err != nil {
		return nil, err
	}
	w.crew = delegate.New(delegate.Options{
		Directory: w, Models: w, Records: jobs{db}, NewID: a.NewID, Now: a.o.Now, Owner: a.ownerID, Alive: a.alive,
		Limits: func() delegate.Limits {
			l := w.Loaded().Config.Limits
			return delegate.Limits{Depth: l.TaskDepth, Jobs: l.Jobs}
		},
	})
	made := agent.New(agent.Options{
		Inlet: inlet{in: in, store: st}, Store: st, Cutter: &cutter{store: st, db: db}, Stager: &scratch{dir: a.dirs.Scratch, store: st},
		Sessions: rec, Turns: rec, Lanes: rec, Endpoints: rec, Models: w, Prober: prober{}, Describer: w, Tools: tools,
		Toolbox: toolbox{w}, Permits: permits{db}, Checkpoints: checkpoints{checkpoint.New(st, checkpointRows{db}, checkpoint.Options{})}, Descriptions: rec, Reductions: rec,
		Guide: w.guide, Hooks: hooks{w}, Directory: w, Hosts: hosts{w}, Prices: prices{w},
		Lock:      a.LockSession,
		Forbidden: []string{a.dirs.Config, a.dirs.Data, a.dirs.Cache, a.dirs.Scratch}, Policy: w.policy,
		Now: a.o.Now, NewID: func() string { return newID(a.o.Now()) }, Rand: randomNumber,
	})
	w.crew.Bind(made)
	return made, nil
}

// tools are the built-in tools, as far as they are not switched off.
func (w *Workspace) tools() (*tool.Registry, error) {
	loaded := w.Loaded().Config
	cfg := loaded.Tools
	home, _ := os.UserHomeDir() // without one there are no caches below it
	w.shell = shell.New(shell.Options{
		Shell: cfg.Bash.Shell, Sandbox: shell.Sandbox(cfg.Bash.Sandbox), Hide: w.keyNames, Writable: shell.CacheFolders(home, os.Environ()), Now: w.app.o.Now,
		Dir:     filepath.Join(w.app.dirs.Scratch, "shells"),
		Timeout: durationOf(cfg.Bash.Timeout), MaxTimeout: durationOf(cfg.Bash.MaxTimeout),
	})
	all := []tool.Tool{
		tool.Read{},
		tool.List{},
		tool.Write{},
		tool.Edit{},
		tool.Todo{},
		tool.ViewImage{},
		search.Glob{},
		search.NewGrep(search.Options{}),
		skill{w.guide},
	}
	all = append(all, w.shell.Tools()...)
	all = append(all, toolsDelegate.All()...)
	if cfg.Fetch.Enabled {
		all = append(all, web.NewFetch(web.Options{UserAgent: "tote/" + w.app.o.Version}))
	}
	return tool.NewRegistry(slices.DeleteFunc(all, func(t tool.Tool) bool { return slices.Contains(cfg.Disabled, t.Spec().Name) })...)
}

// live is a turn that runs.
type live struct {
	session *agent.Session
	front   agent.Front
}

// hosts make delegated work possible, and know which turns run.
type hosts struct{ w *Workspace }

// Host implements agent.Hosts.
func (h hosts) Host(s *agent.Session, t agent.TurnInfo) tool.Host {
	h.w.mu.Lock()
	if h.w.live == nil {
		h.w.live = map[string]live{}
	}
	h.w.live[s.ID()] = live{s, t.Front}
	h.w.mu.Unlock()
	if host := h.w.crew.Host(s, t); host != nil {
		return host
	}
	return nil
}

// Crew gives work to other agents.
func (w *Workspace) Crew() *delegate.Crew { return w.crew }

// Agent returns the workspace's agent.
func (w *Workspace) Agent() *agent.Agent { return w.agent }

// Loaded returns the configuration as it was last read.
func (w *Workspace) Loaded() config.Loaded {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.loaded
}

func (w *Workspace) options() config.Options {
	o := w.app.o.Config
	o.CWD, o.Rule = w.cwd, checkRule
	return o
}

// checkRule says what is wrong with a rule of the configuration.
func checkRule(where, rule string) error {
	r, err := permission.ParseRule(rule)
	if err != nil || where != "allow" {
		return err
	}
	return r.CheckAllow()
}

// ConfigError says that the configuration cannot be used as it stands, which is
// for the user to mend.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with it.
func (e *ConfigError) Unwrap() error { return e.Err }

// load reads the configuration and builds everything that hangs on it. It is
// the one function that does, at start and on every change.
func (w *Workspace) load() (config.Loaded, error) {
	l, err := config.Load(w.options())
	if err != nil {
		return l, &ConfigError{err}
	}
	cfg, err := l.Config.Apply(w.app.o.Overlay)
	if err != nil {
		return l, &ConfigError{err}
	}
	l.Config = cfg
	rules, err := parseRules(cfg.Permissions)
	if err != nil {
		return l, &ConfigError{err}
	}
	rules.Closed, rules.Names = w.app.closed(), globNames
	list, err := parseHooks(cfg.Hooks)
	if err != nil {
		return l, &ConfigError{err}
	}
	held, err := parseHooks(l.Held)
	if err != nil {
		held = nil // a project that is not trusted does not stop the program; its fault is told with what is withheld
	}
	list = append(list, held...) // behind the user's, so that they hang on the trust
	own, err := w.ownHooks(l)
	if err != nil {
		return l, &ConfigError{err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loaded, w.rules, w.paths = l, rules, map[pathKey]provider.Provider{}
	w.hooks, w.guarded, w.refusalTold = hook.Runner{Hooks: list, Env: without(keyNames(cfg, w.app.env()))}, guarded(l, list, own), false
	return l, nil
}

// Reload implements agent.Models: it looks whether the files have changed. A
// broken file keeps the last good configuration.
func (w *Workspace) Reload(context.Context) ([]delivery.Notice, error) {
	stamp, err := config.Snapshot(w.options())
	if err != nil {
		return []delivery.Notice{{
			Severity: delivery.SeverityWarning, Title: "the configuration cannot be read; the last good one stays", Detail: err.Error(),
		}}, nil
	}
	w.mu.Lock()
	same, known, before := w.loaded.Stamp.Equal(stamp), w.broken.Equal(stamp), w.loaded
	w.mu.Unlock()
	if same || known {
		return nil, nil
	}
	l, err := w.load()
	if err != nil {
		w.mu.Lock()
		w.broken = stamp
		w.mu.Unlock()
		return []delivery.Notice{{
			Severity: delivery.SeverityWarning, Title: "the configuration has a fault; the last good one stays", Detail: err.Error(),
		}}, nil
	}
	notices := []delivery.Notice{{Severity: delivery.SeverityInfo, Title: "the configuration was read again"}}
	if l.Fingerprint != before.Fingerprint || len(l.Withheld) > 0 && !l.Trusted && before.Trusted {
		notices = append(notices, withheldNotice(l)...)
	}
	return notices, nil
}

// Notices says what a user should know of the configuration before a turn: what
// of the project waits for trust, and what has no effect.
func (w *Workspace) Notices() []delivery.Notice {
	l := w.Loaded()
	out := withheldNotice(l)
	for _, n := range l.Notes {
		out = append(out, delivery.Notice{Severity: delivery.SeverityWarning, Title: n})
	}
	if n := len(l.Config.Agents); n > 2 && l.Config.DefaultAgent == offlineAgent {
		out = append(out, delivery.Notice{
			Severity: delivery.SeverityInfo, Title: "the offline stand-in answers: none of the configured agents is the default",
			Detail: "set default_agent, or choose with --agent",
		})
	}
	return out
}

func withheldNotice(l config.Loaded) []delivery.Notice {
	if len(l.Withheld) == 0 {
		return nil
	}
	return []delivery.Notice{{
		Severity: delivery.SeverityWarning,
		Title:    "settings of this project wait for your trust: " + strings.Join(l.Withheld, "; "),
		Detail:   "look at the files, then run: tote trust " + l.Project.Folder,
	}}
}

// TrustProject trusts the project as it is now and reads it again.
func (w *Workspace) TrustProject(ctx context.Context) error {
	l := w.Loaded()
	if err := w.app.trust.Add(ctx, l.Project.Folder, l.Fingerprint); err != nil {
		return fmt.Errorf("trust %s: %w", l.Project.Folder, err)
	}
	_, err := w.load()
	return err
}

// policy implements agent.Options.Policy.
func (w *Workspace) policy() agent.Policy {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.loaded.Config
	p := agent.Policy{
		Rules: w.rules, MaxSteps: c.Limits.MaxSteps, MaxSends: c.Limits.MaxSends, ToolOutput: int(c.Limits.ToolOutputBytes), Dirs: c.AdditionalDirectories,
		Budgets: delivery.Budgets{
			Picture: int64(c.Limits.PictureBytes), History: int64(c.Limits.HistoryBytes),
			Request: int64(c.Limits.RequestBytes), Text: int64(c.Limits.InlineTextBytes),
			Summary: c.Limits.SummaryAt,
		},
	}
	switch c.Probe {
	case config.ProbeAuto:
		p.Probe = agent.ProbeAuto
	case config.ProbeAsk:
		p.Probe = agent.ProbeAsk
	case config.ProbeNever:
		p.Probe = agent.ProbeNever
	}
	return p
}

func parseRules(p config.Permissions) (permission.Rules, error) {
	mode, err := permission.ParseMode(string(p.Mode))
	if err != nil {
		return permission.Rules{}, err
	}
	r := permission.Rules{Mode: mode}
	for _, list := range []struct {
		in  []string
		out *[]permission.Rule
	}{{p.Allow, &r.Allow}, {p.Ask, &r.Ask}, {p.Deny, &r.Deny}} {
		for _, s := range list.in {
			rule, err := permission.ParseRule(s)
			if err != nil {
				return permission.Rules{}, err
			}
			*list.out = append(*list.out, rule)
		}
	}
	return r, nil
}

// close stops what the workspace has in the background.
func (w *Workspace) close(ctx context.Context) error {
	err := w.crew.Close(ctx)
	return errors.Join(err, w.shell.Close())
}

// EndSession ends what a session that is closed has left running: its shells, and
// the servers that its editor gave with it. Its jobs go on.
func (w *Workspace) EndSession(id string) {
	w.shell.CloseSession(id)
	w.mu.Lock()
	given := len(w.given[id]) > 0
	delete(w.given, id)
	delete(w.live, id)
	w.mu.Unlock()
	if given {
		w.app.servers().CloseScope(id)
	}
}
