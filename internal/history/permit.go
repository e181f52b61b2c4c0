package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Permit is a rule that a user allowed for good in one project folder.
type Permit struct {
	Folder string
	// Rule is in the caller's words.
	Rule    string
	Created time.Time
}

// Allow records a rule for a folder. One that is there keeps its time.
func (db *DB) Allow(ctx context.Context, folder, rule string) error {
	what := "allow a rule in " + folder
	if folder == "" || rule == "" {
		return fmt.Errorf("%s: %w", what, errors.New("it needs a folder and a rule"))
	}
	return db.durable(ctx, what, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO permit (folder, rule, created) VALUES (?,?,?)", folder, rule, nanos(db.now()))
		return err
	})
}

// Allowed returns the rules of a folder, oldest first.
func (db *DB) Allowed(ctx context.Context, folder string) ([]string, error) {
	list, err := db.permits(ctx, "read rules of "+folder, "WHERE folder = ?", folder)
	var out []string
	for _, p := range list {
		out = append(out, p.Rule)
	}
	return out, err
}

// Disallow takes a rule back and reports whether it was there.
func (db *DB) Disallow(ctx context.Context, folder, rule string) (bool, error) {
	err := db.durable(ctx, "take back a rule in "+folder, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, "DELETE FROM permit WHERE folder = ? AND rule = ?", folder, rule))
	})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Permits lists the rules of all folders, by folder and then oldest first.
func (db *DB) Permits(ctx context.Context) ([]Permit, error) {
	return db.permits(ctx, "list rules", "")
}

func (db *DB) permits(ctx context.Context, what, where string, args ...any) ([]Permit, error) {
	var out []Permit
	err := db.read(ctx, what, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var p Permit
			var created int64
			err := rows.Scan(&p.Folder, &p.Rule, &created)
			p.Created = fromNanos(created)
			out = append(out, p)
			return err
		}, "SELECT folder, rule, created FROM permit "+where+" ORDER BY folder, created, rule", args...)
	})
	return out, err
}
