package history

import (
	"context"
	"database/sql"
	"fmt"

	"tote/internal/content"
)

// TakeHandles gives out handle numbers: counts[k] of each kind k. It returns
// the first of each; the others follow it. No number is given twice, also not
// in a fork.
func (db *DB) TakeHandles(ctx context.Context, session string, counts map[content.Kind]int) (map[content.Kind]int, error) {
	first := make(map[content.Kind]int)
	err := db.relaxed(ctx, "take handles in session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		for k, n := range counts {
			if n == 0 {
				continue
			}
			if n < 0 {
				return fmt.Errorf("%d handles for %v", n, k)
			}
			kind, err := word(k)
			if err != nil {
				return err
			}
			var last int
			err = tx.QueryRowContext(ctx, `INSERT INTO counter (session, kind, last) VALUES (?1, ?2, ?3)
				ON CONFLICT DO UPDATE SET last = last + ?3 RETURNING last`, s, kind, n).Scan(&last)
			if err != nil {
				return err
			}
			first[k] = last - n + 1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return first, nil
}

// Counters returns the last handle number of each kind.
func (db *DB) Counters(ctx context.Context, session string) (map[content.Kind]int, error) {
	out := make(map[content.Kind]int)
	err := db.read(ctx, "read counters of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			var kind string
			var last int
			if err := rows.Scan(&kind, &last); err != nil {
				return err
			}
			k, err := unword[content.Kind]("kind", kind)
			out[k] = last
			return err
		}, "SELECT kind, last FROM counter WHERE session = ?", s)
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	return out, nil
}

// NextRequest gives out the number of a session's next request, from 1.
func (db *DB) NextRequest(ctx context.Context, session string) (int, error) {
	var n int
	err := db.relaxed(ctx, "number a request of session "+session, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "UPDATE session SET requests = requests + 1 WHERE id = ? RETURNING requests", session).Scan(&n)
		return notFound(err)
	})
	return n, err
}
