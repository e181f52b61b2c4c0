package history

import (
	"context"
	"database/sql"
	"fmt"

	"tote/internal/content"
)

func addRefs(ctx context.Context, tx *sql.Tx, session int64, digests []content.Digest) error {
	if len(digests) == 0 {
		return nil
	}
	put, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO blob_ref (session, digest) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }() // ends with the transaction anyway
	for _, d := range digests {
		if _, err := put.ExecContext(ctx, session, d[:]); err != nil {
			return err
		}
	}
	return nil
}

// References calls fn for every digest that any session refers to. fn must not
// use the history.
func (db *DB) References(ctx context.Context, fn func(content.Digest)) error {
	return db.read(ctx, "list references", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			d, err := scanDigest(rows)
			if err == nil {
				fn(d)
			}
			return err
		}, "SELECT DISTINCT digest FROM blob_ref")
	})
}

func scanDigest(rows *sql.Rows) (content.Digest, error) {
	var b sql.RawBytes
	if err := rows.Scan(&b); err != nil {
		return content.Digest{}, err
	}
	return fromDigestColumn(b)
}

// HasDigest reports whether a session refers to a blob.
func (db *DB) HasDigest(ctx context.Context, session string, d content.Digest) (bool, error) {
	var found bool
	err := db.read(ctx, "look up blob "+d.Short()+" in session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM blob_ref WHERE session = ? AND digest = ?)", s, d[:]).Scan(&found)
	})
	return found, err
}

// recount makes a session's references and its count of pictures anew from
// what its messages, envelopes, ledgers and checkpoints hold. Undone turns keep
// their blobs and do not count.
func recount(ctx context.Context, tx *sql.Tx, session int64) error {
	var digests []content.Digest
	pictures := 0
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var role string
		var parts sql.RawBytes
		var undone int
		if err := rows.Scan(&role, &parts, &undone); err != nil {
			return err
		}
		m, err := decodeMessage(role, parts)
		if err != nil {
			return err
		}
		ds, n := census(m)
		if digests = append(digests, ds...); undone == 0 {
			pictures += n
		}
		return nil
	}, "SELECT m.role, m.parts, t.undone FROM turn t JOIN message m ON m.turn = t.num WHERE t.session = ?", session)
	if err != nil {
		return err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		d, err := scanDigest(rows)
		digests = append(digests, d)
		return err
	}, `SELECT e.payload FROM turn t JOIN message m ON m.turn = t.num JOIN envelope e ON e.message = m.num
		WHERE t.session = ?1 AND length(e.payload) > 0
		UNION ALL SELECT c.before FROM turn t JOIN checkpoint c ON c.turn = t.num WHERE t.session = ?1 AND length(c.before) > 0`, session)
	if err != nil {
		return err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var text sql.RawBytes
		if err := rows.Scan(&text); err != nil {
			return err
		}
		e, err := decodeEntry(text)
		if err == nil && !e.Variant.IsZero() {
			digests = append(digests, e.Variant.Digest)
		}
		return err
	}, "SELECT ledger.entry FROM lane JOIN ledger ON ledger.lane = lane.num WHERE lane.session = ?", session)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM blob_ref WHERE session = ?", session); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE session SET pictures = ? WHERE num = ?", pictures, session); err != nil {
		return fmt.Errorf("count pictures: %w", err)
	}
	return addRefs(ctx, tx, session, digests)
}
