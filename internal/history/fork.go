package history

import (
	"context"
	"database/sql"
	"fmt"
)

// ForkSession copies a session under a new identifier, up to and with the turn
// upToTurn, "" for all. Handles, counters, ledgers, receipts, summaries,
// detached blocks, checkpoints and the number of requests are inherited; what
// the turns cost is not, because it was spent once. from becomes the parent. A
// fork is the user's, also one of a child. Undone turns stay behind: only bare
// rows of them come along, for their receipts.
func (db *DB) ForkSession(ctx context.Context, from, newID, upToTurn string) error {
	return db.durable(ctx, fmt.Sprintf("fork session %s as %s", from, newID), func(tx *sql.Tx) error {
		f := fork{tx: tx, upTo: int64(1) << 62}
		s, err := scanSession(tx.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM session WHERE id = ?", from).Scan)
		if err != nil {
			return notFound(err)
		}
		if f.from, err = sessionNum(ctx, tx, from); err != nil {
			return err
		}
		if upToTurn != "" {
			err := tx.QueryRowContext(ctx, "SELECT seq FROM turn WHERE session = ? AND id = ? AND undone = 0", f.from, upToTurn).Scan(&f.upTo)
			if err != nil {
				return fmt.Errorf("turn %s: %w", upToTurn, notFound(err))
			}
		}
		s.ID, s.Parent, s.Kind, s.Created, s.Updated = newID, from, "", db.now(), db.now()
		if f.to, err = db.insertSession(ctx, tx, s); err != nil {
			return err
		}
		return f.copyRows(ctx)
	})
}

type fork struct {
	tx *sql.Tx
	// from and to number the sessions, upTo is the last turn's seq.
	from, to, upTo int64
}

// forkSteps copy the rows of session ?1 to session ?2, turns up to ?3. New
// turns, messages and lanes are found again by what is unique in their session.
var forkSteps = []string{
	`INSERT INTO turn (session, seq, id, created, stop, usage, request, undone)
	SELECT ?2, seq, id, created, stop, usage, request, -abs(undone) FROM turn WHERE session = ?1 AND seq <= ?3 ORDER BY seq`,

	`INSERT INTO message (turn, seq, role, parts) SELECT n.num, m.seq, m.role, m.parts
	FROM turn o JOIN turn n ON n.session = ?2 AND n.seq = o.seq JOIN message m ON m.turn = o.num
	WHERE o.session = ?1 AND o.seq <= ?3 AND o.undone = 0 ORDER BY o.seq, m.seq`,

	`INSERT INTO envelope (message, part, json, hole, payload, spelling) SELECT nm.num, e.part, e.json, e.hole, e.payload, e.spelling
	FROM turn o JOIN turn n ON n.session = ?2 AND n.seq = o.seq JOIN message m ON m.turn = o.num
	JOIN message nm ON nm.turn = n.num AND nm.seq = m.seq JOIN envelope e ON e.message = m.num
	WHERE o.session = ?1 AND o.seq <= ?3 AND o.undone = 0`,

	`INSERT INTO draft (turn, body) SELECT n.num, d.body
	FROM turn o JOIN turn n ON n.session = ?2 AND n.seq = o.seq JOIN draft d ON d.turn = o.num
	WHERE o.session = ?1 AND o.seq <= ?3 AND o.undone = 0`,

	`INSERT INTO checkpoint (turn, n, path, target, before, mode, size, noted, after, after_mode, expected)
	SELECT n.num, c.n, c.path, c.target, c.before, c.mode, c.size, c.noted, c.after, c.after_mode, c.expected
	FROM turn o JOIN turn n ON n.session = ?2 AND n.seq = o.seq JOIN checkpoint c ON c.turn = o.num
	WHERE o.session = ?1 AND o.seq <= ?3 AND o.undone = 0`,

	`INSERT INTO summary (session, upto, turns, text, model, created)
	SELECT ?2, upto, turns, text, model, created FROM summary WHERE session = ?1 AND upto <= ?3 ORDER BY num`,

	`INSERT INTO detached (session, handle) SELECT ?2, handle FROM detached WHERE session = ?1 AND ?3 > 0`,

	`INSERT INTO counter (session, kind, last) SELECT ?2, kind, last FROM counter WHERE session = ?1 AND ?3 > 0`,

	`INSERT INTO lane (session, endpoint, generation) SELECT ?2, endpoint, generation FROM lane WHERE session = ?1 AND ?3 > 0`,

	`INSERT INTO ledger (lane, handle, entry) SELECT n.num, l.handle, l.entry
	FROM lane o JOIN lane n ON n.session = ?2 AND n.endpoint = o.endpoint AND n.generation = o.generation
	JOIN ledger l ON l.lane = o.num WHERE o.session = ?1 AND ?3 > 0`,

	`INSERT INTO receipt (session, handle, request, attempt, pos, turn, generation, route, body)
	SELECT ?2, r.handle, r.request, r.attempt, r.pos, n.num, r.generation, r.route, r.body
	FROM receipt r JOIN turn o ON o.num = r.turn JOIN turn n ON n.session = ?2 AND n.seq = o.seq
	WHERE r.session = ?1 AND o.seq <= ?3`,

	`UPDATE session SET requests = (SELECT requests FROM session WHERE num = ?1),
	turns = (SELECT count(*) FROM turn WHERE session = ?2 AND undone = 0) WHERE num = ?2 AND ?3 > 0`,
}

func (f fork) copyRows(ctx context.Context) error {
	for _, step := range forkSteps {
		if _, err := f.tx.ExecContext(ctx, step, f.from, f.to, f.upTo); err != nil {
			return err
		}
	}
	return recount(ctx, f.tx, f.to)
}
