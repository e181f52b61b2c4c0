package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Lane is a session on one endpoint in one generation.
type Lane struct {
	// Endpoint is the hash under which the endpoint is known.
	Endpoint   string
	Generation int
}

type wireEntry struct {
	Disposition string    `json:"d"`
	Reason      string    `json:"r"`
	Variant     *wireBlob `json:"v,omitempty"`
	Note        string    `json:"n,omitempty"`
	Detail      string    `json:"t,omitempty"`
}

func encodeEntry(e delivery.LedgerEntry) (string, error) {
	d, err := word(e.Disposition)
	if err != nil {
		return "", err
	}
	r, err := word(e.Reason)
	if err != nil {
		return "", err
	}
	return compactJSON(wireEntry{Disposition: d, Reason: r, Variant: toWireBlob(e.Variant), Note: e.Note, Detail: e.Detail})
}

func decodeEntry(data []byte) (delivery.LedgerEntry, error) {
	var w wireEntry
	if err := json.Unmarshal(data, &w); err != nil {
		return delivery.LedgerEntry{}, fmt.Errorf("decode ledger entry: %w", err)
	}
	d, err := unword[delivery.Disposition]("disposition", w.Disposition)
	if err != nil {
		return delivery.LedgerEntry{}, err
	}
	r, err := unword[delivery.Reason]("reason", w.Reason)
	return delivery.LedgerEntry{Disposition: d, Reason: r, Variant: fromWireBlob(w.Variant), Note: w.Note, Detail: w.Detail}, err
}

// SaveLedger stores the rows of a lane that are new or changed. The session's
// lanes on the same endpoint of older generations go.
func (db *DB) SaveLedger(ctx context.Context, session string, lane Lane, rows map[content.Handle]delivery.LedgerEntry) error {
	return db.relaxed(ctx, "save ledger of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		l, err := makeLane(ctx, tx, s, lane)
		if err != nil {
			return err
		}
		put, err := tx.PrepareContext(ctx, "INSERT INTO ledger (lane, handle, entry) VALUES (?,?,?) ON CONFLICT DO UPDATE SET entry = excluded.entry")
		if err != nil {
			return err
		}
		defer func() { _ = put.Close() }() // ends with the transaction anyway
		var variants []content.Digest
		for h, e := range rows {
			text, err := encodeEntry(e)
			if err != nil {
				return fmt.Errorf("entry of %s: %w", h, err)
			}
			if _, err := put.ExecContext(ctx, l, string(h), text); err != nil {
				return err
			}
			if !e.Variant.IsZero() {
				variants = append(variants, e.Variant.Digest)
			}
		}
		return addRefs(ctx, tx, s, variants)
	})
}

func makeLane(ctx context.Context, tx *sql.Tx, session int64, lane Lane) (int64, error) {
	ep, err := makeEndpoint(ctx, tx, lane.Endpoint)
	if err != nil {
		return 0, err
	}
	var num int64
	err = tx.QueryRowContext(ctx, "SELECT num FROM lane WHERE session = ? AND endpoint = ? AND generation = ?",
		session, ep, lane.Generation).Scan(&num)
	if !errors.Is(err, sql.ErrNoRows) {
		return num, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM lane WHERE session = ? AND endpoint = ? AND generation < ?", session, ep, lane.Generation)
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO lane (session, endpoint, generation) VALUES (?,?,?)", session, ep, lane.Generation)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Ledger returns the rows of a lane; a new lane has none.
func (db *DB) Ledger(ctx context.Context, session string, lane Lane) (map[content.Handle]delivery.LedgerEntry, error) {
	out := map[content.Handle]delivery.LedgerEntry{}
	err := db.read(ctx, "read ledger of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			var handle string
			var entry sql.RawBytes
			if err := rows.Scan(&handle, &entry); err != nil {
				return err
			}
			e, err := decodeEntry(entry)
			if err != nil {
				return fmt.Errorf("entry of %s: %w", handle, err)
			}
			out[content.Handle(handle)] = e
			return nil
		}, `SELECT ledger.handle, ledger.entry FROM endpoint JOIN lane ON lane.endpoint = endpoint.num JOIN ledger ON ledger.lane = lane.num
			WHERE endpoint.name = ? AND lane.session = ? AND lane.generation = ?`, lane.Endpoint, s, lane.Generation)
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	return out, nil
}
