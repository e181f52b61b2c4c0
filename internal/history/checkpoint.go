package history

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"tote/internal/content"
)

// Checkpoint is a file as a turn found it, and as the turn left it.
type Checkpoint struct {
	// Turn and N name it; both are the history's. N counts from 1 in the turn.
	Turn string
	N    int
	// Path is how it was named, Target where it lay behind all links.
	Path, Target string
	// Before is the file's blob, zero where there was no file; Mode and Size
	// are of that file.
	Before content.Digest
	Mode   fs.FileMode
	Size   int64
	// Noted: After and AfterMode are what the turn left; After is zero where
	// it left no file. It is no reference.
	Noted     bool
	After     content.Digest
	AfterMode fs.FileMode
	// Expecting: Expected is what the turn was about to leave when it was last
	// heard of. It is no reference.
	Expecting bool
	Expected  content.Digest
}

// SaveCheckpoint records a file before a turn changes it. The blob is a
// reference of the session.
func (db *DB) SaveCheckpoint(ctx context.Context, session, turnID string, c Checkpoint) error {
	what := fmt.Sprintf("save checkpoint of %s in turn %s of session %s", c.Path, turnID, session)
	return db.inTurn(ctx, what, session, turnID, func(tx *sql.Tx, s, t int64) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO checkpoint (turn, n, path, target, before, mode, size, noted, after, after_mode)
			SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM checkpoint WHERE turn = ?1`,
			t, c.Path, c.Target, digestColumn(c.Before), int64(c.Mode), c.Size, c.Noted, digestColumn(c.After), int64(c.AfterMode))
		if err != nil || c.Before.IsZero() {
			return err
		}
		return addRefs(ctx, tx, s, []content.Digest{c.Before})
	})
}

// SaveAfter notes what a turn has left of the file of its checkpoint n; a zero
// digest is no file.
func (db *DB) SaveAfter(ctx context.Context, session, turnID string, n int, after content.Digest, mode fs.FileMode) error {
	what := fmt.Sprintf("note what turn %s of session %s left", turnID, session)
	return db.durable(ctx, what, func(tx *sql.Tx) error {
		t, err := turnNum(ctx, tx, session, turnID)
		if err != nil {
			return err
		}
		return affected(tx.ExecContext(ctx, "UPDATE checkpoint SET noted = 1, after = ?, after_mode = ?, expected = NULL WHERE turn = ? AND n = ?",
			digestColumn(after), int64(mode), t, n))
	})
}

// SaveExpected notes what a turn is about to leave of the file of its checkpoint n,
// before it writes.
func (db *DB) SaveExpected(ctx context.Context, session, turnID string, n int, expected content.Digest) error {
	what := fmt.Sprintf("note what turn %s of session %s is about to write", turnID, session)
	return db.durable(ctx, what, func(tx *sql.Tx) error {
		t, err := turnNum(ctx, tx, session, turnID)
		if err != nil {
			return err
		}
		return affected(tx.ExecContext(ctx, "UPDATE checkpoint SET expected = ? WHERE turn = ? AND n = ?", digestColumn(expected), t, n))
	})
}

// Checkpoints returns the checkpoints of some turns of a session, in the order
// in which they were made. Turns that were undone have theirs; a turn that is
// not known has none.
func (db *DB) Checkpoints(ctx context.Context, session string, turns []string) ([]Checkpoint, error) {
	ids, err := compactJSON(turns)
	if err != nil {
		return nil, fmt.Errorf("read checkpoints: %w", err)
	}
	var out []Checkpoint
	err = db.read(ctx, "read checkpoints of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			c, err := scanCheckpoint(rows)
			out = append(out, c)
			return err
		}, `SELECT t.id, c.n, c.path, c.target, c.before, c.mode, c.size, c.noted, c.after, c.after_mode, c.expected IS NOT NULL, c.expected
			FROM turn t JOIN checkpoint c ON c.turn = t.num WHERE t.session = ? AND t.id IN (SELECT value FROM json_each(?)) ORDER BY t.seq, c.n`, s, ids)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func scanCheckpoint(rows *sql.Rows) (Checkpoint, error) {
	var c Checkpoint
	var before, after, expected []byte
	var mode, afterMode int64
	err := rows.Scan(&c.Turn, &c.N, &c.Path, &c.Target, &before, &mode, &c.Size, &c.Noted, &after, &afterMode, &c.Expecting, &expected)
	if err != nil {
		return Checkpoint{}, err
	}
	c.Mode, c.AfterMode = fs.FileMode(mode), fs.FileMode(afterMode)
	if c.Before, err = fromDigestColumn(before); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint of %s: %w", c.Path, err)
	}
	if c.After, err = fromDigestColumn(after); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint of %s: %w", c.Path, err)
	}
	c.Expected, err = fromDigestColumn(expected)
	return c, err
}
