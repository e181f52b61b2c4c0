package agenttest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// This file fakes what an agent may be given beyond what it cannot do without.

var (
	_ agent.Permits      = (*Disk)(nil)
	_ agent.Descriptions = (*Disk)(nil)
	_ agent.Reductions   = (*Disk)(nil)
)

// Reduces has a bench's agents keep on its disk what is taken out of conversations.
func Reduces(o *agent.Options) {
	if d, ok := o.Sessions.(*Disk); ok {
		o.Reductions = d
	}
}

// Allowed implements agent.Permits.
func (d *Disk) Allowed(_ context.Context, cwd string) ([]permission.Rule, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.permits[cwd]), nil
}

// Allow implements agent.Permits.
func (d *Disk) Allow(ctx context.Context, cwd string, r permission.Rule) error {
	return d.write(ctx, "Allow", "", func(*kept) error {
		d.permits[cwd] = append(d.permits[cwd], r)
		return nil
	})
}

// Description implements agent.Descriptions.
func (d *Disk) Description(_ context.Context, picture content.Digest, question string) (delivery.Description, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x, ok := d.descriptions[picture.String()+question]
	return x, ok, nil
}

// SaveDescription implements agent.Descriptions.
func (d *Disk) SaveDescription(ctx context.Context, picture content.Digest, question string, x delivery.Description) error {
	return d.write(ctx, "SaveDescription", "", func(*kept) error {
		d.descriptions[picture.String()+question] = x
		return nil
	})
}

// Summary implements agent.Reductions.
func (d *Disk) Summary(_ context.Context, session string) (agent.Summary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.sessions[session]
	if !ok {
		return agent.Summary{}, fmt.Errorf("there is no session %q", session)
	}
	return k.summary, nil
}

// SaveSummary implements agent.Reductions.
func (d *Disk) SaveSummary(ctx context.Context, session string, s agent.Summary) error {
	return d.write(ctx, "SaveSummary", session, func(k *kept) error {
		k.summary = s
		return nil
	})
}

// Detached implements agent.Reductions.
func (d *Disk) Detached(_ context.Context, session string) (map[content.Handle]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.sessions[session]
	if !ok {
		return nil, fmt.Errorf("there is no session %q", session)
	}
	return maps.Clone(k.detached), nil
}

// SetDetached implements agent.Reductions.
func (d *Disk) SetDetached(ctx context.Context, session string, handles []content.Handle, off bool) error { //nolint:revive // the state itself, not a choice of what to do
	return d.write(ctx, "SetDetached", session, func(k *kept) error {
		for _, h := range handles {
			if delete(k.detached, h); off {
				k.detached[h] = true
			}
		}
		return nil
	})
}

// UndoTurns implements agent.Reductions.
func (d *Disk) UndoTurns(ctx context.Context, session, turn string) error {
	return d.write(ctx, "UndoTurns", session, func(k *kept) error {
		i := slices.IndexFunc(k.turns, func(t content.Turn) bool { return t.ID == turn })
		if i < 0 {
			return fmt.Errorf("there is no turn %q", turn)
		}
		k.turns = k.turns[:i]
		k.stored.Turns = i
		if k.summary.Turns > i {
			k.summary = agent.Summary{}
		}
		return nil
	})
}

// ForkSession implements agent.SessionForker.
func (d *Disk) ForkSession(ctx context.Context, from, id, upTo string) error {
	return d.write(ctx, "ForkSession", from, func(k *kept) error {
		n := len(k.turns)
		if upTo != "" {
			if n = 1 + slices.IndexFunc(k.turns, func(t content.Turn) bool { return t.ID == upTo }); n == 0 {
				return fmt.Errorf("there is no turn %q", upTo)
			}
		}
		c := &kept{
			stored: k.stored, drafts: map[string][]string{}, handles: maps.Clone(k.handles), requests: k.requests, summary: k.summary,
			ledgers: map[agent.Lane]map[content.Handle]delivery.LedgerEntry{}, detached: maps.Clone(k.detached),
		}
		for lane, rows := range k.ledgers {
			c.ledgers[lane] = maps.Clone(rows)
		}
		for _, t := range k.turns[:n] {
			c.turns = append(c.turns, cloneTurn(t))
		}
		c.stored.ID, c.stored.Parent, c.stored.Kind, c.stored.Turns = id, from, "", n
		d.sessions[id] = c
		return nil
	})
}

// Checkpoints keep real files in memory.
type Checkpoints struct {
	mu   sync.Mutex
	rows []*point
}

type point struct {
	session, turn, path string
	before, after       []byte
	was, is             bool
}

var _ agent.Checkpoints = (*Checkpoints)(nil)

func (c *Checkpoints) find(session, turn, path string) *point {
	for _, p := range c.rows {
		if p.session == session && p.turn == turn && p.path == path {
			return p
		}
	}
	return nil
}

// Keep implements agent.Checkpoints.
func (c *Checkpoints) Keep(_ context.Context, session, turn, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.find(session, turn, path) != nil {
		return nil
	}
	data, err := os.ReadFile(path)
	c.rows = append(c.rows, &point{session: session, turn: turn, path: path, before: data, was: err == nil})
	return nil
}

// Wrote implements agent.Checkpoints.
func (c *Checkpoints) Wrote(_ context.Context, session, turn, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.find(session, turn, path)
	if p == nil {
		return fmt.Errorf("%s was not kept", path)
	}
	data, err := os.ReadFile(path)
	p.after, p.is = data, err == nil
	return nil
}

// Changed implements agent.Checkpoints.
func (c *Checkpoints) Changed(_ context.Context, session string, turns []string) ([]agent.FileChange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []agent.FileChange
	for _, p := range slices.Backward(c.rows) {
		if p.session == session && slices.Contains(turns, p.turn) {
			out = append(out, agent.FileChange{Turn: p.turn, Path: p.path, Created: !p.was})
		}
	}
	return out, nil
}

// Restore implements agent.Checkpoints.
func (c *Checkpoints) Restore(_ context.Context, session string, turns []string) (agent.Restored, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out agent.Restored
	for _, p := range slices.Backward(c.rows) {
		if p.session != session || !slices.Contains(turns, p.turn) {
			continue
		}
		now, err := os.ReadFile(p.path)
		switch {
		case (err == nil) != p.is || string(now) != string(p.after):
			out.Kept = append(out.Kept, p.path)
		case p.was:
			if err := os.WriteFile(p.path, p.before, 0o600); err != nil {
				return out, err
			}
			out.Files = append(out.Files, p.path)
		default:
			if err := os.Remove(p.path); err != nil {
				return out, err
			}
			out.Removed = append(out.Removed, p.path)
		}
	}
	return out, nil
}

// Toolbox gives the same tools to every turn.
type Toolbox struct {
	List    func() []tool.Tool
	Notices []delivery.Notice
}

// Tools implements agent.Toolbox.
func (t Toolbox) Tools(context.Context, agent.Stored) ([]tool.Tool, []delivery.Notice) {
	return t.List(), t.Notices
}

// Hooks are a function.
type Hooks func(agent.HookEvent) agent.HookResult

// Run implements agent.Hooks.
func (h Hooks) Run(_ context.Context, e agent.HookEvent) (agent.HookResult, []delivery.Notice) {
	return h(e), nil
}

// Guide says the same of every folder.
type Guide struct {
	Text string
	Near []agent.Rules
}

// Instructions implements agent.Guide.
func (g Guide) Instructions(context.Context, string, []string) (string, []delivery.Notice) {
	return g.Text, nil
}

// Beside implements agent.Guide.
func (g Guide) Beside(context.Context, string, string) []agent.Rules { return g.Near }

// Directory lists the same agents for everyone.
type Directory []agent.Callable

// Callable implements agent.Directory.
func (d Directory) Callable(string) []agent.Callable { return d }

// Prices charge a dollar for a million tokens of input.
type Prices struct{}

// Cost implements agent.Prices.
func (Prices) Cost(_ agent.Model, u content.Usage) (float64, bool) {
	return float64(u.Input.N) / 1e6, u.Input.Known
}
