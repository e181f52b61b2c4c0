package app

import (
	"context"
	"io/fs"

	"tote/internal/agent"
	"tote/internal/checkpoint"
	"tote/internal/content"
	"tote/internal/history"
)

// checkpointRows are the rows of checkpoints in the history.
type checkpointRows struct{ db *history.DB }

// SaveCheckpoint implements checkpoint.Rows.
func (r checkpointRows) SaveCheckpoint(ctx context.Context, session, turn string, row checkpoint.Row) error {
	return r.db.SaveCheckpoint(ctx, session, turn, history.Checkpoint(row))
}

// SaveAfter implements checkpoint.Rows.
func (r checkpointRows) SaveAfter(ctx context.Context, session, turn string, n int, after content.Digest, mode fs.FileMode) error {
	return r.db.SaveAfter(ctx, session, turn, n, after, mode)
}

// SaveExpected implements checkpoint.Rows.
func (r checkpointRows) SaveExpected(ctx context.Context, session, turn string, n int, expected content.Digest) error {
	return r.db.SaveExpected(ctx, session, turn, n, expected)
}

// Checkpoints implements checkpoint.Rows.
func (r checkpointRows) Checkpoints(ctx context.Context, session string, turns []string) ([]checkpoint.Row, error) {
	rows, err := r.db.Checkpoints(ctx, session, turns)
	out := make([]checkpoint.Row, 0, len(rows))
	for _, x := range rows {
		out = append(out, checkpoint.Row(x))
	}
	return out, err
}

// checkpoints keep files as they were, as the agent knows it.
type checkpoints struct{ k *checkpoint.Keeper }

// Keep implements agent.Checkpoints.
func (c checkpoints) Keep(ctx context.Context, session, turn, path string) error {
	return c.k.Keep(ctx, session, turn, path)
}

// Expect implements agent.Expecter.
func (c checkpoints) Expect(ctx context.Context, session, turn, path string, after content.Digest) error {
	return c.k.Expect(ctx, session, turn, path, after)
}

var _ agent.Expecter = checkpoints{}

// Wrote implements agent.Checkpoints.
func (c checkpoints) Wrote(ctx context.Context, session, turn, path string) error {
	return c.k.Wrote(ctx, session, turn, path)
}

// Changed implements agent.Checkpoints.
func (c checkpoints) Changed(ctx context.Context, session string, turns []string) ([]agent.FileChange, error) {
	list, err := c.k.Changed(ctx, session, turns)
	out := make([]agent.FileChange, 0, len(list))
	for _, x := range list {
		out = append(out, agent.FileChange(x))
	}
	return out, err
}

// Restore implements agent.Checkpoints.
func (c checkpoints) Restore(ctx context.Context, session string, turns []string) (agent.Restored, error) {
	r, err := c.k.Restore(ctx, session, turns)
	return agent.Restored(r), err
}
