package app

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/ingest"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/store"
	"tote/internal/tool"
)

// Workspace is a working folder with its configuration and its agents.
type Workspace struct {
	app *App
	cwd string
	db  *history.DB

	agent *agent.Agent

	mu     sync.Mutex
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
	tools, err := tool.NewRegistry(tool.Read{}, tool.List{})
	if err != nil {
		return nil, err
	}
	cfg := w.Loaded().Config
	home, _ := os.UserHomeDir() // without one, "~" in a path is refused by name
	in := ingest.New(st, ingest.Options{Limit: int64(cfg.Limits.AttachmentBytes), Home: home, StripMetadata: cfg.Privacy.StripMetadata})
	rec := records{db: db, now: a.o.Now}
	return agent.New(agent.Options{
		Inlet: inlet{in: in, store: st}, Store: st, Cutter: &cutter{store: st, db: db}, Stager: &scratch{dir: a.dirs.Scratch, store: st},
		Sessions: rec, Turns: rec, Lanes: rec, Endpoints: rec, Models: w, Prober: prober{}, Describer: w, Tools: tools,
		Lock:      a.LockSession,
		Forbidden: []string{a.dirs.Config, a.dirs.Data, a.dirs.Cache, a.dirs.Scratch}, Policy: w.policy,
		Now: a.o.Now, NewID: func() string { return newID(a.o.Now()) }, Rand: randomNumber,
	}), nil
}

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
	o.CWD = w.cwd
	return o
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loaded, w.rules, w.paths = l, rules, map[pathKey]provider.Provider{}
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
	if names := slices.Sorted(maps.Keys(l.Config.MCPServers)); len(names) > 0 {
		out = append(out, delivery.Notice{
			Severity: delivery.SeverityWarning, Title: "MCP servers are not started by this version: " + strings.Join(names, ", "),
		})
	}
	if idle := idleMembers(l.Config.Agents); len(idle) > 0 {
		out = append(out, delivery.Notice{
			Severity: delivery.SeverityWarning, Title: "settings without effect in this version: " + strings.Join(idle, ", "),
		})
	}
	if n := len(l.Config.Agents); n > 2 && l.Config.DefaultAgent == offlineAgent {
		out = append(out, delivery.Notice{
			Severity: delivery.SeverityInfo, Title: "the offline stand-in answers: none of the configured agents is the default",
			Detail: "set default_agent, or choose with --agent",
		})
	}
	return out
}

// idleMembers names the members of agents that nothing reads yet.
func idleMembers(agents map[string]config.Agent) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a := agents[name]
		for _, m := range []struct {
			name string
			set  bool
		}{{"fallbacks", len(a.Fallbacks) > 0}, {"describer", a.Describer != ""}, {"escalate_to", a.EscalateTo != ""}} {
			if m.set {
				out = append(out, "agents."+name+"."+m.name)
			}
		}
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
		Rules: w.rules, MaxSteps: c.Limits.MaxSteps, MaxSends: c.Limits.MaxSends,
		Budgets: delivery.Budgets{
			Picture: int64(c.Limits.PictureBytes), History: int64(c.Limits.HistoryBytes),
			Request: int64(c.Limits.RequestBytes), Text: int64(c.Limits.InlineTextBytes),
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
