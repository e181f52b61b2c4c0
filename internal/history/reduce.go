package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tote/internal/content"
)

// Summary stands for the oldest turns of a session.
type Summary struct {
	// Turns is how many leading turns it stands for, undone ones not counted.
	Turns int
	Text  string
	// Model wrote it.
	Model string
	// Created is now where it is zero.
	Created time.Time
}

// maxSummaries is how many summaries of a session are kept: those before the
// newest count again when turns are undone.
const maxSummaries = 16

// Summary returns the newest summary of a session whose turns are all still in
// the conversation; Turns is 0 for none.
func (db *DB) Summary(ctx context.Context, session string) (Summary, error) {
	var s Summary
	err := db.read(ctx, "read summary of session "+session, func(tx *sql.Tx) error {
		num, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		var created int64
		err = tx.QueryRowContext(ctx, "SELECT turns, text, model, created FROM summary WHERE session = ? ORDER BY num DESC LIMIT 1", num).
			Scan(&s.Turns, &s.Text, &s.Model, &created)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		s.Created = fromNanos(created)
		return err
	})
	return s, err
}

// SaveSummary records a summary. It is void as soon as one of its turns is
// undone or a block of them is forgotten.
func (db *DB) SaveSummary(ctx context.Context, session string, s Summary) error {
	return db.relaxed(ctx, "save summary of session "+session, func(tx *sql.Tx) error {
		num, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		if s.Created.IsZero() {
			s.Created = db.now()
		}
		var upto int64
		err = tx.QueryRowContext(ctx, "SELECT seq FROM turn WHERE session = ? AND undone = 0 ORDER BY seq LIMIT 1 OFFSET ?", num, s.Turns-1).Scan(&upto)
		if s.Turns < 1 || errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%d turns: %w", s.Turns, ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO summary (session, upto, turns, text, model, created) VALUES (?,?,?,?,?,?)",
			num, upto, s.Turns, s.Text, s.Model, nanos(s.Created))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM summary WHERE num IN
			(SELECT num FROM summary WHERE session = ? ORDER BY num DESC LIMIT -1 OFFSET ?)`, num, maxSummaries)
		return err
	})
}

// dropSummaries voids the summaries that stand for the turn seq of a session.
func dropSummaries(ctx context.Context, tx *sql.Tx, session, seq int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM summary WHERE session = ? AND upto >= ?", session, seq)
	return err
}

// Detached returns the blocks of a session that the user switched off.
func (db *DB) Detached(ctx context.Context, session string) (map[content.Handle]bool, error) {
	out := map[content.Handle]bool{}
	err := db.read(ctx, "read detached blocks of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			var h string
			err := rows.Scan(&h)
			out[content.Handle(h)] = true
			return err
		}, "SELECT handle FROM detached WHERE session = ?", s)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SetDetached switches blocks of a session off, or on again.
func (db *DB) SetDetached(ctx context.Context, session string, handles []content.Handle, off bool) error { //nolint:revive // the state itself, as the agent hands it over
	statement := "DELETE FROM detached WHERE session = ? AND handle = ?"
	if off {
		statement = "INSERT OR IGNORE INTO detached (session, handle) VALUES (?, ?)"
	}
	return db.durable(ctx, "detach blocks of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		for _, h := range handles {
			if _, err := tx.ExecContext(ctx, statement, s, string(h)); err != nil {
				return err
			}
		}
		return nil
	})
}
