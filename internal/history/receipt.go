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

// StoredReceipt is a receipt as it stands in the history.
type StoredReceipt struct {
	// ID names the receipt for as long as the session lives.
	ID string
	// Turn, Request and Attempt are those that it was stored for, which may
	// lie before the request that was asked about.
	Turn             string
	Request, Attempt int
	delivery.Receipt
}

// Query selects receipts.
type Query struct {
	// Turn selects those that were stored for one turn, "" those of any.
	Turn string
	// Request rebuilds the full list of one request, 0 for every receipt
	// that was stored.
	Request int
}

type wireReceipt struct {
	Name        string     `json:"n,omitempty"`
	Kind        string     `json:"k"`
	Origin      wireOrigin `json:"o"`
	Disposition string     `json:"d"`
	Reason      string     `json:"r"`
	Detail      string     `json:"t,omitempty"`
	Path        string     `json:"p,omitempty"`
	Model       string     `json:"m,omitempty"`
	Blob        *wireBlob  `json:"b,omitempty"`
	Tokens      int        `json:"c,omitempty"`
	Partial     bool       `json:"q,omitempty"`
}

// encodeReceipt returns the body and the route. The route is apart because it
// changes with the turn and alone makes no receipt a changed one.
func encodeReceipt(r delivery.Receipt) (body, route string, err error) {
	w := wireReceipt{
		Name: r.Name, Detail: r.Detail, Path: r.Path, Model: r.Model, Blob: toWireBlob(r.Blob), Tokens: r.Tokens,
		Partial: r.Partial,
	}
	if w.Kind, err = word(r.Kind); err != nil {
		return "", "", err
	}
	if w.Origin, err = toWireOrigin(r.Origin); err != nil {
		return "", "", err
	}
	if w.Disposition, err = word(r.Disposition); err != nil {
		return "", "", err
	}
	if w.Reason, err = word(r.Reason); err != nil {
		return "", "", err
	}
	if route, err = word(r.Route); err != nil {
		return "", "", err
	}
	body, err = compactJSON(w)
	return body, route, err
}

func decodeReceipt(handle, body, route string) (delivery.Receipt, error) {
	var w wireReceipt
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		return delivery.Receipt{}, fmt.Errorf("decode receipt: %w", err)
	}
	r := delivery.Receipt{
		Handle: content.Handle(handle), Name: w.Name, Detail: w.Detail, Path: w.Path, Model: w.Model,
		Blob: fromWireBlob(w.Blob), Tokens: w.Tokens, Partial: w.Partial,
	}
	var err error
	if r.Kind, err = unword[content.Kind]("kind", w.Kind); err != nil {
		return delivery.Receipt{}, err
	}
	if r.Origin, err = fromWireOrigin(w.Origin); err != nil {
		return delivery.Receipt{}, err
	}
	if r.Disposition, err = unword[delivery.Disposition]("disposition", w.Disposition); err != nil {
		return delivery.Receipt{}, err
	}
	if r.Reason, err = unword[delivery.Reason]("reason", w.Reason); err != nil {
		return delivery.Receipt{}, err
	}
	r.Route, err = unword[delivery.Route]("route", route)
	return r, err
}

// SaveReceipts stores the receipts of one attempt of a request. One that says
// what the newest of its block in this generation says is left out, so that a
// turn costs what it changes. It is quickest when the caller leaves these out.
func (db *DB) SaveReceipts(ctx context.Context, session, turnID string, request, attempt int, rs []delivery.Receipt) error {
	return db.relaxed(ctx, fmt.Sprintf("save receipts of request %d of session %s", request, session), func(tx *sql.Tx) error {
		w := receiptWriter{tx: tx, request: request, attempt: attempt}
		err := tx.QueryRowContext(ctx, `SELECT s.num, s.generation, t.num FROM session s JOIN turn t ON t.session = s.num
			WHERE s.id = ? AND t.id = ?`, session, turnID).Scan(&w.session, &w.generation, &w.turn)
		if err != nil {
			return notFound(err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE turn SET request = ? WHERE num = ? AND request = 0", request, w.turn); err != nil {
			return err
		}
		return w.save(ctx, rs)
	})
}

type receiptWriter struct {
	tx                        *sql.Tx
	session, generation, turn int64
	request, attempt          int
}

func (w receiptWriter) save(ctx context.Context, rs []delivery.Receipt) error {
	newest, err := w.tx.PrepareContext(ctx, `SELECT generation, body FROM receipt WHERE session = ? AND handle = ?
		ORDER BY request DESC, attempt DESC, pos DESC LIMIT 1`)
	if err != nil {
		return err
	}
	defer func() { _ = newest.Close() }() // ends with the transaction anyway
	put, err := w.tx.PrepareContext(ctx, `INSERT INTO receipt (session, handle, request, attempt, pos, turn, generation, route, body)
		VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET route = excluded.route, body = excluded.body`)
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }() // ends with the transaction anyway
	for pos, r := range rs {
		body, route, err := encodeReceipt(r)
		if err != nil {
			return fmt.Errorf("receipt of %s: %w", r.Handle, err)
		}
		var generation int64
		var old string
		err = newest.QueryRowContext(ctx, w.session, string(r.Handle)).Scan(&generation, &old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && generation == w.generation && old == body && r.Handle != "" {
			continue
		}
		_, err = put.ExecContext(ctx, w.session, string(r.Handle), w.request, w.attempt, pos, w.turn, w.generation, route, body)
		if err != nil {
			return err
		}
	}
	return nil
}

// Receipts returns receipts of a session in the order in which they were
// stored. With Query.Request it returns one receipt for each block of that
// request, as its last attempt left it; the error wraps ErrNotFound when there
// was no such request.
func (db *DB) Receipts(ctx context.Context, session string, q Query) ([]StoredReceipt, error) {
	var out []StoredReceipt
	err := db.read(ctx, "read receipts of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		if q.Request == 0 {
			out, err = storedReceipts(ctx, tx, "r.session = ?1", s)
		} else {
			out, err = requestReceipts(ctx, tx, s, q.Request)
		}
		return err
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	if q.Turn == "" {
		return out, nil
	}
	kept := out[:0]
	for _, r := range out {
		if r.Turn == q.Turn {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

func storedReceipts(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]StoredReceipt, error) {
	var out []StoredReceipt
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var r StoredReceipt
		var handle, route, body string
		if err := rows.Scan(&r.Turn, &r.Request, &r.Attempt, &handle, &route, &body); err != nil {
			return err
		}
		var err error
		if r.Receipt, err = decodeReceipt(handle, body, route); err != nil {
			return fmt.Errorf("receipt of %s in request %d: %w", handle, r.Request, err)
		}
		r.ID = delivery.ReceiptID(r.Request, r.Handle)
		out = append(out, r)
		return nil
	}, "SELECT t.id, r.request, r.attempt, r.handle, r.route, r.body FROM receipt r JOIN turn t ON t.num = r.turn WHERE "+where+
		" ORDER BY r.request, r.attempt, r.pos", args...)
	return out, err
}

// requestReceipts takes for each block the newest receipt up to the request,
// within the generation that the request was made in. A block counts when one of
// its receipts is of a turn that the conversation held at the time: that of the
// request, or one that was undone with it, later or never.
func requestReceipts(ctx context.Context, tx *sql.Tx, session int64, request int) ([]StoredReceipt, error) {
	var turn string
	var last, undone int
	err := tx.QueryRowContext(ctx, `SELECT t.id, abs(t.undone), s.requests FROM session s JOIN turn t ON t.session = s.num
		WHERE s.num = ? AND t.request BETWEEN 1 AND ? ORDER BY t.seq DESC LIMIT 1`, session, request).Scan(&turn, &undone, &last)
	if err != nil {
		return nil, notFound(err)
	}
	if request > last {
		return nil, ErrNotFound
	}
	all, err := storedReceipts(ctx, tx, `r.session = ?1 AND r.request <= ?2 AND r.generation =
		(SELECT max(generation) FROM receipt WHERE session = ?1 AND request <= ?2)
		AND (r.handle = '' OR r.handle IN (SELECT h.handle FROM receipt h JOIN turn ht ON ht.num = h.turn WHERE h.session = ?1
			AND h.request <= ?2 AND (ht.undone = 0 OR ?3 > 0 AND abs(ht.undone) >= ?3)))`, session, request, undone)
	if err != nil {
		return nil, err
	}
	var out []StoredReceipt
	at := map[content.Handle]int{}
	for _, r := range all {
		if r.Turn != turn {
			r.Route = delivery.RouteHistory
		}
		i, seen := at[r.Handle]
		switch {
		case seen && r.Handle != "":
			out[i] = r
		case r.Handle != "" || r.Request == request:
			at[r.Handle] = len(out)
			out = append(out, r)
		}
	}
	return out, nil
}
