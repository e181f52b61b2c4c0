package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"tote/internal/auth"
	"tote/internal/config"
	"tote/internal/history"
	"tote/internal/mcp"
	"tote/internal/provider/cli"
	"tote/internal/store"
)

// Options say where an app lives and what the command line wants.
type Options struct {
	// Config says where configuration is looked for. Its CWD is left empty:
	// every workspace has its own.
	Config  config.Options
	Overlay config.Overlay
	// Version of the program, for requests.
	Version string
	// Now is the clock.
	Now func() time.Time
	// Keyring keeps keys, nil for that of the system.
	Keyring auth.Ring
}

// App is one process with one home. Nothing is opened before it is needed, so
// that an editor's handshake is answered at once.
type App struct {
	o     Options
	dirs  config.Dirs
	trust config.Trust

	mu         sync.Mutex
	store      *store.Store
	db         *history.DB
	workspaces map[string]*Workspace
	// asked says when servers were last asked about themselves, by endpoint.
	asked map[string]time.Time
	// keys and copilot are made when they are needed.
	keys    *auth.Keys
	copilot *auth.Copilot
	mcp     *mcp.Manager
	// owner is the lock by which others see that this process runs.
	ownerID string
	owner   *flock.Flock
}

// Open finds the home. It touches no file.
func Open(o Options) (*App, error) {
	o.Config.CWD = ""
	dirs, err := config.Home(o.Config)
	if err != nil {
		return nil, err
	}
	return &App{o: o, dirs: dirs, trust: config.TrustFile(dirs, o.Now), workspaces: map[string]*Workspace{}}, nil
}

// env is the environment that the configuration refers to.
func (a *App) env() func(string) string {
	if a.o.Config.Env != nil {
		return a.o.Config.Env
	}
	return os.Getenv
}

// Dirs returns the folders of the home.
func (a *App) Dirs() config.Dirs { return a.dirs }

// Trust returns the record of trusted folders.
func (a *App) Trust() config.Trust { return a.trust }

// closeTimeout bounds the end of jobs when the program ends.
const closeTimeout = 10 * time.Second

// Close stops what runs in the background and closes what was opened.
func (a *App) Close() error {
	a.mu.Lock()
	spaces, servers := slices.Collect(maps.Values(a.workspaces)), a.mcp
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var first error
	for _, w := range spaces {
		if err := w.close(ctx); first == nil {
			first = err
		}
	}
	if servers != nil {
		servers.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.disown()
	if a.db != nil {
		if err := a.db.Close(); first == nil {
			first = err
		}
	}
	if a.store != nil {
		if err := a.store.Close(); first == nil {
			first = err
		}
	}
	a.db, a.store = nil, nil
	return first
}

// open opens store and history once.
func (a *App) open(ctx context.Context) (*store.Store, *history.DB, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.db != nil {
		return a.store, a.db, nil
	}
	if err := a.dirs.Make(); err != nil {
		return nil, nil, fmt.Errorf("make the folders of tote: %w", err)
	}
	st, err := store.Open(filepath.Join(a.dirs.Data, "attachments"), store.Options{Now: a.o.Now})
	if err != nil {
		return nil, nil, err
	}
	db, err := history.Open(ctx, filepath.Join(a.dirs.Data, "history.db"), history.Options{Now: a.o.Now})
	if err != nil {
		_ = st.Close() // the history's error is the one to show
		return nil, nil, err
	}
	if err := a.own(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("lock the home of tote: %w", err), db.Close(), st.Close())
	}
	a.store, a.db = st, db
	// What cannot be removed or recorded now is tried again at the next start.
	_, _ = cli.Sweep(a.dirs.Scratch)
	a.endOrphans(ctx, db)
	a.sweepOwners()
	return st, db, nil
}

// endOrphans notes that the jobs of processes which are gone have ended.
func (a *App) endOrphans(ctx context.Context, db *history.DB) {
	owners, err := db.JobOwners(ctx)
	if err != nil {
		return
	}
	for _, o := range owners {
		if o != a.ownerID && !a.alive(o) {
			_, _ = db.InterruptJobs(ctx, o) // the next start tries again
		}
	}
}

// Store returns the store of attachments.
func (a *App) Store(ctx context.Context) (*store.Store, error) {
	st, _, err := a.open(ctx)
	return st, err
}

// History returns the record of sessions.
func (a *App) History(ctx context.Context) (*history.DB, error) {
	_, db, err := a.open(ctx)
	return db, err
}

// DeleteSession removes a session, its scratch folder and its lock file.
func (a *App) DeleteSession(ctx context.Context, id string) error {
	db, err := a.History(ctx)
	if err != nil {
		return err
	}
	if err := db.DeleteSession(ctx, id); err != nil {
		return err
	}
	s := scratch{dir: a.dirs.Scratch}
	return errors.Join(s.remove(id), a.dropLock(id))
}
