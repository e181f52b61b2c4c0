package history

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// migrations holds NNNN_name.sql, numbered from 0001 without holes. The number
// is the version that the file leads to.
//
//go:embed migrations/*.sql
var migrations embed.FS

// queryer is a pool or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// openPoll is how often a file is tried again that others are about to make.
const openPoll = 20 * time.Millisecond

// migrateWhenFree tries again while SQLite says at once that the file is busy: it
// does not wait where several processes switch a new file to its journal.
func (db *DB) migrateWhenFree(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout*time.Millisecond)
	defer cancel()
	for {
		err := db.migrate(ctx)
		var se *sqlite.Error
		if !errors.As(err, &se) || se.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-time.After(openPoll):
		case <-ctx.Done():
			return err
		}
	}
}

func (db *DB) migrate(ctx context.Context) error {
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return err
	}
	v, err := db.version(ctx, db.full, len(entries))
	if err != nil || v == len(entries) {
		return err
	}
	return inTx(ctx, db.full, nil, func(tx *sql.Tx) error {
		v, err := db.version(ctx, tx, len(entries)) // another process may have been faster
		if err != nil {
			return err
		}
		for _, e := range entries[v:] {
			text, err := fs.ReadFile(migrations, "migrations/"+e.Name())
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("apply migration %s: %w", e.Name(), err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(entries)))
		return err
	})
}

// version returns the version of the file, which must not be above known.
func (db *DB) version(ctx context.Context, q queryer, known int) (int, error) {
	var v int
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil {
		return 0, err
	}
	if v < 0 || v > known {
		return 0, &VersionError{Path: db.path, Found: v, Known: known}
	}
	return v, nil
}
