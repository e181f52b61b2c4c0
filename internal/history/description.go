package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/delivery"
)

const (
	// maxDescriptions is how many descriptions are remembered.
	maxDescriptions = 10_000
	// maxQuestion is how much of a question is kept, in bytes. The whole of it
	// counts for finding the description again.
	maxQuestion = 4096
)

// Description returns what was said about a picture when that question was
// asked.
func (db *DB) Description(ctx context.Context, picture content.Digest, question string) (d delivery.Description, found bool, err error) {
	hash := sha256.Sum256([]byte(question))
	err = db.read(ctx, "look up a description of "+picture.Short(), func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, "SELECT model, text FROM description WHERE picture = ? AND hash = ?", picture[:], hash[:])
		err := row.Scan(&d.Model, &d.Text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	if err != nil {
		return delivery.Description{}, false, err
	}
	return d, found, nil
}

// SaveDescription remembers what was said about a picture, in place of what was
// said to the same question. Beyond maxDescriptions the oldest go. Of a text
// that is longer than a description may be, so much is kept that it is still
// too long: whoever sends it marks where it was cut.
func (db *DB) SaveDescription(ctx context.Context, picture content.Digest, question string, d delivery.Description) error {
	what := "save a description of " + picture.Short()
	if picture.IsZero() || d.Text == "" {
		return fmt.Errorf("%s: %w", what, errors.New("it needs a picture and a text"))
	}
	hash := sha256.Sum256([]byte(question))
	return db.relaxed(ctx, what, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO description (picture, hash, question, model, text, at) VALUES (?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET model = excluded.model, text = excluded.text, at = excluded.at`,
			picture[:], hash[:], cutText(question, maxQuestion), d.Model, cutText(d.Text, delivery.MaxDescription+utf8.UTFMax), nanos(db.now()))
		if err != nil || (db.descriptions.Add(1)-1)%pruneEvery != 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM description WHERE (picture, hash) IN
			(SELECT picture, hash FROM description ORDER BY at DESC LIMIT -1 OFFSET ?)`, maxDescriptions)
		return err
	})
}

// cutText keeps at most n bytes, and no half rune.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
