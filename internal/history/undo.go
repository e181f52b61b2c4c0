package history

import (
	"context"
	"database/sql"

	"tote/internal/content"
)

// UndoTurns takes a turn and all after it out of the conversation, as one
// batch. They stay on record: their handles are not given again, their blobs
// and receipts stay as long as the session. Summaries that stand for one of them
// are void. The error wraps ErrNotFound for a turn that is not in the
// conversation.
func (db *DB) UndoTurns(ctx context.Context, session, turnID string) error {
	return db.durable(ctx, "undo turn "+turnID+" of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		var seq int64
		err = tx.QueryRowContext(ctx, "SELECT seq FROM turn WHERE session = ? AND id = ? AND undone = 0", s, turnID).Scan(&seq)
		if err != nil {
			return notFound(err)
		}
		_, err = tx.ExecContext(ctx, `UPDATE turn SET undone = (SELECT max(abs(undone)) + 1 FROM turn WHERE session = ?1)
			WHERE session = ?1 AND seq >= ?2 AND undone = 0`, s, seq)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE session SET turns = (SELECT count(*) FROM turn WHERE session = ?1 AND undone = 0), touched = ?2 WHERE num = ?1", s, nanos(db.now()))
		if err != nil {
			return err
		}
		if err := dropSummaries(ctx, tx, s, seq); err != nil {
			return err
		}
		return recount(ctx, tx, s)
	})
}

// Undone returns the turns that the last undo took out, oldest first, with the
// envelopes of their user messages; none where nothing was undone.
func (db *DB) Undone(ctx context.Context, session string) ([]content.Turn, error) {
	var l loader
	err := db.read(ctx, "load undone turns of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		const last = "t.undone > 0 AND t.undone = (SELECT max(undone) FROM turn WHERE session = ?1)"
		if err := l.load(ctx, tx, last, s); err != nil {
			return err
		}
		l.finish()
		return l.envelopes(ctx, tx, last, s)
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	return l.turns, nil
}

// envelopes adds those of the turns that load has read with the same condition.
func (l *loader) envelopes(ctx context.Context, tx *sql.Tx, where string, session int64) error {
	at := map[string]int{}
	for i, t := range l.turns {
		at[t.ID] = i
	}
	return each(ctx, tx, func(rows *sql.Rows) error {
		var id string
		var seq int
		var row envelopeRow
		if err := rows.Scan(&id, &seq, &row.part, &row.json, &row.hole, &row.payload, &row.spelling); err != nil {
			return err
		}
		e, err := row.envelope()
		if err != nil {
			return err
		}
		m := &l.turns[at[id]].Messages[seq-1]
		if m.Envelopes == nil {
			m.Envelopes = make([]content.Envelope, len(m.Parts))
		}
		if i := int(row.part.Int64); i < len(m.Envelopes) {
			m.Envelopes[i] = e
		}
		return nil
	}, `SELECT t.id, m.seq, e.part, e.json, e.hole, e.payload, e.spelling
		FROM turn t JOIN message m ON m.turn = t.num JOIN envelope e ON e.message = m.num
		WHERE t.session = ?1 AND `+where+" ORDER BY t.seq, m.seq, e.part", session)
}
