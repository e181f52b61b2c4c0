package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delegate"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/permission"
	"tote/internal/tool"
)

// permits are what the user allowed for good, by project folder.
type permits struct{ db *history.DB }

// Allowed implements agent.Permits. A rule that cannot be read any more allows
// nothing.
func (p permits) Allowed(ctx context.Context, cwd string) ([]permission.Rule, error) {
	list, err := p.db.Allowed(ctx, cwd)
	if err != nil {
		return nil, err
	}
	var out []permission.Rule
	for _, s := range list {
		if rule, err := permission.ParseRule(s); err == nil {
			out = append(out, rule)
		}
	}
	return out, nil
}

// Allow implements agent.Permits.
func (p permits) Allow(ctx context.Context, cwd string, r permission.Rule) error {
	return p.db.Allow(ctx, cwd, r.String())
}

// Description implements agent.Descriptions.
func (r records) Description(ctx context.Context, picture content.Digest, question string) (delivery.Description, bool, error) {
	return r.db.Description(ctx, picture, question)
}

// SaveDescription implements agent.Descriptions.
func (r records) SaveDescription(ctx context.Context, picture content.Digest, question string, d delivery.Description) error {
	return r.db.SaveDescription(ctx, picture, question, d)
}

// Summary implements agent.Reductions.
func (r records) Summary(ctx context.Context, session string) (agent.Summary, error) {
	s, err := r.db.Summary(ctx, session)
	return agent.Summary(s), err
}

// SaveSummary implements agent.Reductions.
func (r records) SaveSummary(ctx context.Context, session string, s agent.Summary) error {
	return r.db.SaveSummary(ctx, session, history.Summary(s))
}

// Detached implements agent.Reductions.
func (r records) Detached(ctx context.Context, session string) (map[content.Handle]bool, error) {
	return r.db.Detached(ctx, session)
}

// SetDetached implements agent.Reductions.
func (r records) SetDetached(ctx context.Context, session string, handles []content.Handle, off bool) error {
	return r.db.SetDetached(ctx, session, handles, off)
}

// UndoTurns implements agent.Reductions.
func (r records) UndoTurns(ctx context.Context, session, turn string) error {
	return r.db.UndoTurns(ctx, session, turn)
}

// TouchSession implements agent.Toucher.
func (r records) TouchSession(ctx context.Context, session string) error {
	return r.db.TouchSession(ctx, session)
}

// SaveCost implements agent.CostRecorder.
func (r records) SaveCost(ctx context.Context, session, turn string, dollars float64) error {
	return r.db.SaveCost(ctx, session, turn, dollars)
}

// ForkSession implements agent.SessionForker.
func (r records) ForkSession(ctx context.Context, from, id, upTo string) error {
	return r.db.ForkSession(ctx, from, id, upTo)
}

var (
	_ agent.CostRecorder  = records{}
	_ agent.SessionForker = records{}
	_ agent.Toucher       = records{}
	_ agent.Spiller       = (*scratch)(nil)
)

// jobs are background jobs in the history, where the id of a job holds that of the
// session that gave it.
type jobs struct{ db *history.DB }

// SaveJob implements delegate.Records.
func (j jobs) SaveJob(ctx context.Context, r delegate.Record) error {
	return j.db.SaveJob(ctx, history.Job{
		ID: r.Parent + "/" + r.ID, Parent: r.Parent, Session: r.Session, Agent: r.Agent, Title: r.Title, State: r.State, Owner: r.Owner,
		Started: r.Started, Ended: r.Ended, Report: r.Report, Reported: r.Reported,
	})
}

// Jobs implements delegate.Records.
func (j jobs) Jobs(ctx context.Context, parent string) ([]delegate.Record, error) {
	rows, err := j.db.Jobs(ctx, parent)
	if err != nil {
		return nil, err
	}
	out := make([]delegate.Record, 0, len(rows))
	for _, r := range rows {
		out = append(out, delegate.Record{
			JobState: tool.JobState{
				ID: strings.TrimPrefix(r.ID, parent+"/"), Agent: r.Agent, Title: r.Title, State: r.State, Started: r.Started, Ended: r.Ended,
				Session: r.Session, Report: r.Report,
			},
			Parent: r.Parent, Owner: r.Owner, Reported: r.Reported,
		})
	}
	return out, nil
}

// Cost is what a session has cost in US dollars, with the work that was done for
// it; known is false where no turn has a price.
func (w *Workspace) Cost(ctx context.Context, session string) (dollars float64, known bool, err error) {
	c, err := w.db.Costs(ctx, session)
	if err != nil {
		return 0, false, err
	}
	return c.Own + c.Children, len(c.Turns) > 0 || c.Children > 0, nil
}

// Permits are the rules that the user allowed for good.
func (a *App) Permits(ctx context.Context) ([]history.Permit, error) {
	db, err := a.History(ctx)
	if err != nil {
		return nil, err
	}
	return db.Permits(ctx)
}

// ErrNoPermit says that there is no such rule to take back.
var ErrNoPermit = errors.New("no such rule was allowed there")

// TakeBack takes a rule back that the user allowed for good.
func (a *App) TakeBack(ctx context.Context, folder, rule string) error {
	db, err := a.History(ctx)
	if err != nil {
		return err
	}
	found, err := db.Disallow(ctx, folder, rule)
	if err == nil && !found {
		err = fmt.Errorf("%s in %s: %w", rule, folder, ErrNoPermit)
	}
	return err
}
