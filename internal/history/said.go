package history

import (
	"context"
	"database/sql"
	"errors"
)

// SaveSaid keeps what a server said of itself, in the caller's own form, in place
// of what it said before.
func (db *DB) SaveSaid(ctx context.Context, endpoint string, said []byte) error {
	return db.onEndpoint(ctx, "save what a server said", endpoint, func(tx *sql.Tx, ep int64) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO said (endpoint, text) VALUES (?,?) ON CONFLICT DO UPDATE SET text = excluded.text", ep, string(said))
		return err
	})
}

// Said returns what SaveSaid kept, nil for nothing.
func (db *DB) Said(ctx context.Context, endpoint string) ([]byte, error) {
	var text string
	err := db.read(ctx, "read what a server said", func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT s.text FROM endpoint e JOIN said s ON s.endpoint = e.num WHERE e.name = ?", endpoint).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if text == "" {
		return nil, err
	}
	return []byte(text), err
}
