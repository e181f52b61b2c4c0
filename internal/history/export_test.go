package history

import (
	"context"
	"database/sql"
	"errors"
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

// Versions is how many migrations there are.
func Versions() (int, error) {
	entries, err := migrations.ReadDir("migrations")
	return len(entries), err
}

// MakeVersion makes the file path a database of an older version, with a session
// "s" in it that has a turn "old" with the given parts.
func MakeVersion(ctx context.Context, path string, version int, parts ...content.Part) error {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", dsn(path, "FULL"))
	if err != nil {
		return err
	}
	for _, e := range entries[:version] {
		text, err := migrations.ReadFile("migrations/" + e.Name())
		if err != nil {
			return err
		}
		if _, err := pool.ExecContext(ctx, string(text)); err != nil {
			return err
		}
	}
	text, err := encodeParts(parts)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, fmt.Sprintf(`
		INSERT INTO session (id, parent, title, cwd, agent, dirs, created, updated, generation, turns, pictures)
		VALUES ('s', '', 'old', '/w', 'a', '[]', 1, 1, 1, 1, 1);
		INSERT INTO turn (session, seq, id, created, stop) VALUES (1, 1, 'old', 1, 'end_turn');
		INSERT INTO message (turn, seq, role, parts) VALUES (1, 1, 'user', '%s');
		INSERT INTO counter (session, kind, last) VALUES (1, 'image', 1);
		INSERT INTO endpoint (name) VALUES ('e');
		INSERT INTO learned (endpoint, name, value) VALUES (1, 'max_request', 900000);
		PRAGMA user_version = %d`, text, version))
	return errors.Join(err, pool.Close())
}

// Flush moves the journal into the file.
func Flush(ctx context.Context, db *DB) error { return db.scrub(ctx) }

// Count returns the number of rows of a table.
func Count(tb testing.TB, db *DB, table string) int {
	tb.Helper()
	var n int
	if err := db.full.QueryRowContext(tb.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}
