package history

import (
	"context"
	"database/sql"
	"errors"
)

// childrenOf is a table "family" for WITH RECURSIVE: the session with the
// identifier ?1 and its children, theirs included.
const childrenOf = `family (id) AS (SELECT ?1 UNION
	SELECT s.id FROM session s JOIN family f ON s.parent = f.id WHERE s.kind <> '')`

// CreateChild records a new session that works for another. It needs a kind. It
// inherits the counters of handles, so that what it numbers itself never has the
// name of what the parent handed over.
func (db *DB) CreateChild(ctx context.Context, s Session, parent string) error {
	return db.durable(ctx, "create session "+s.ID+" for session "+parent, func(tx *sql.Tx) error {
		if s.Kind == "" {
			return errors.New("a child needs a kind")
		}
		p, err := sessionNum(ctx, tx, parent)
		if err != nil {
			return err
		}
		s.Parent = parent
		c, err := db.insertSession(ctx, tx, s)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO counter (session, kind, last) SELECT ?, kind, last FROM counter WHERE session = ?", c, p)
		return err
	})
}

// Children lists the sessions that work or worked for another, oldest first.
// Forks are none of them.
func (db *DB) Children(ctx context.Context, parent string) ([]Session, error) {
	var out []Session
	err := db.read(ctx, "list children of session "+parent, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			s, err := scanSession(rows.Scan)
			out = append(out, s)
			return err
		}, "SELECT "+sessionColumns+" FROM session WHERE parent = ? AND kind <> '' ORDER BY created, num", parent)
	})
	return out, err
}
