package history

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"tote/internal/content"
)

// EncodeParts and DecodeParts are the codec of parts.
var (
	EncodeParts = encodeParts
	DecodeParts = decodeParts
)

// KindWords lists the kinds that can be read.
func KindWords() []string {
	var out []string
	for w := range partDecoders {
		out = append(out, w)
	}
	for w := range blockDecoders {
		out = append(out, w)
	}
	return out
}

// KindWord returns the word that a part is stored under.
func KindWord(p content.Part) (string, error) {
	w, err := content.VisitPart(p, content.PartVisitor[wirePart](encoder{}))
	return w.Kind, err
}

// Exec runs a statement on the connection that writes durably.
func Exec(ctx context.Context, db *DB, query string, args ...any) error {
	db.full.SetMaxOpenConns(1)
	_, err := db.full.ExecContext(ctx, query, args...)
	return err
}

// Unsynced leaves out every fsync, for tests that write a lot.
func Unsynced(ctx context.Context, db *DB) error {
	for _, pool := range []*sql.DB{db.full, db.lazy} {
		pool.SetMaxOpenConns(1)
		if _, err := pool.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
			return fmt.Errorf("switch syncing off: %w", err)
		}
	}
	return nil
}

// Checkpoint moves the journal into the file.
func Checkpoint(ctx context.Context, db *DB) error { return db.scrub(ctx) }

// Count returns the number of rows of a table.
func Count(tb testing.TB, db *DB, table string) int {
	tb.Helper()
	var n int
	if err := db.full.QueryRowContext(tb.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}
