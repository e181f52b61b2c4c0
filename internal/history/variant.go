package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"tote/internal/content"
)

const (
	// maxVariants is how many variants are remembered.
	maxVariants = 20_000
	// pruneEvery is how many further ones a process may save before it looks
	// for the oldest to drop.
	pruneEvery = 256
)

// Variant returns the variant of an original that was cut for a key, which
// names the bounds. found is false where none is remembered. Its blob may be
// gone meanwhile: it is no reference, and the caller cuts it again.
func (db *DB) Variant(ctx context.Context, original content.Digest, key string) (v content.Blob, found bool, err error) {
	err = db.read(ctx, "look up a variant of "+original.Short(), func(tx *sql.Tx) error {
		var digest []byte
		row := tx.QueryRowContext(ctx, "SELECT digest, mime, size, width, height FROM variant WHERE original = ? AND bounds = ?", original[:], key)
		err := row.Scan(&digest, &v.MIME, &v.Size, &v.Width, &v.Height)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		v.Digest, err = fromDigestColumn(digest)
		found = err == nil
		return err
	})
	if err != nil || !found {
		return content.Blob{}, false, err
	}
	return v, true, nil
}

// SaveVariant remembers the variant of an original for a key, in place of what
// was remembered for them. Beyond maxVariants the oldest are dropped.
func (db *DB) SaveVariant(ctx context.Context, original content.Digest, key string, v content.Blob) error {
	what := "save a variant of " + original.Short()
	if original.IsZero() || v.Digest.IsZero() {
		return fmt.Errorf("%s: %w", what, errors.New("it has no digest"))
	}
	return db.relaxed(ctx, what, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO variant (original, bounds, digest, mime, size, width, height, at) VALUES (?,?,?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET digest = excluded.digest, mime = excluded.mime, size = excluded.size, width = excluded.width,
			height = excluded.height, at = excluded.at`,
			original[:], key, v.Digest[:], v.MIME, v.Size, v.Width, v.Height, nanos(db.now()))
		if err != nil || (db.variants.Add(1)-1)%pruneEvery != 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM variant WHERE (original, bounds) IN
			(SELECT original, bounds FROM variant ORDER BY at DESC LIMIT -1 OFFSET ?)`, maxVariants)
		return err
	})
}

// forgetVariants drops what was cut from originals that are gone, and returns
// them with the blobs that went with them.
func forgetVariants(ctx context.Context, tx *sql.Tx, gone []content.Digest) ([]content.Digest, error) {
	cut, err := cutFrom(ctx, tx, gone)
	if err != nil {
		return nil, err
	}
	if err := deleteByDigest(ctx, tx, "DELETE FROM variant WHERE original = ?", gone); err != nil {
		return nil, err
	}
	cut, err = unreferenced(ctx, tx, cut)
	for _, d := range cut {
		if !slices.Contains(gone, d) {
			gone = append(gone, d)
		}
	}
	return gone, err
}

// cutFrom lists the blobs that are remembered as cut from originals.
func cutFrom(ctx context.Context, tx *sql.Tx, originals []content.Digest) ([]content.Digest, error) {
	var out []content.Digest
	for _, d := range originals {
		err := each(ctx, tx, func(rows *sql.Rows) error {
			v, err := scanDigest(rows)
			out = append(out, v)
			return err
		}, "SELECT digest FROM variant WHERE original = ?", d[:])
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
