package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Verdict is what an endpoint said about a picture or a media type.
type Verdict struct {
	// Endpoint is the hash under which the endpoint is known.
	Endpoint string
	// Digest is the blob that was sent, zero for a verdict about a type.
	Digest content.Digest
	// MIME is the media type, or "image/*".
	MIME string
	// Accepted: the endpoint has answered a request with it.
	Accepted bool
	// Reason is the endpoint's wording, for people.
	Reason string
	// Until is when it expires, zero for never.
	Until time.Time
	// Created is now where it is zero.
	Created time.Time
}

// Evidence is what is known about whether an endpoint takes a kind of block,
// from one source.
type Evidence struct {
	Endpoint string
	Kind     content.Kind
	Answer   delivery.Answer
	// Evidence is the source; a newer answer of it replaces the older.
	Evidence delivery.Evidence
	// Detail is for people.
	Detail string
	// At is now where it is zero.
	At time.Time
}

func makeEndpoint(ctx context.Context, tx *sql.Tx, name string) (int64, error) {
	if name == "" {
		return 0, errors.New("an endpoint needs a name")
	}
	num, err := endpointNum(ctx, tx, name)
	if !errors.Is(err, sql.ErrNoRows) {
		return num, err
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO endpoint (name) VALUES (?)", name)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func endpointNum(ctx context.Context, tx *sql.Tx, name string) (int64, error) {
	var num int64
	err := tx.QueryRowContext(ctx, "SELECT num FROM endpoint WHERE name = ?", name).Scan(&num)
	return num, err
}

// onEndpoint runs fn with the number of an endpoint.
func (db *DB) onEndpoint(ctx context.Context, what, name string, fn func(tx *sql.Tx, num int64) error) error {
	return db.relaxed(ctx, what, func(tx *sql.Tx) error {
		num, err := makeEndpoint(ctx, tx, name)
		if err != nil {
			return err
		}
		return fn(tx, num)
	})
}

// SaveVerdict stores v in place of the verdict on the same picture and type,
// and drops what has expired at that endpoint.
func (db *DB) SaveVerdict(ctx context.Context, v Verdict) error {
	return db.onEndpoint(ctx, "save verdict", v.Endpoint, func(tx *sql.Tx, ep int64) error {
		now := nanos(db.now())
		if v.Created.IsZero() {
			v.Created = db.now()
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM verdict WHERE endpoint = ? AND until <> 0 AND until <= ?", ep, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO verdict (endpoint, digest, mime, accepted, reason, until, created) VALUES (?,?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET accepted = excluded.accepted, reason = excluded.reason, until = excluded.until, created = excluded.created`,
			ep, digestColumn(v.Digest), v.MIME, v.Accepted, v.Reason, nanos(v.Until), nanos(v.Created))
		return err
	})
}

// Verdicts returns the verdicts of an endpoint that hold at now, oldest first.
func (db *DB) Verdicts(ctx context.Context, endpoint string, now time.Time) ([]Verdict, error) {
	var out []Verdict
	err := db.read(ctx, "read verdicts", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			v := Verdict{Endpoint: endpoint}
			var digest sql.RawBytes
			var until, created int64
			if err := rows.Scan(&digest, &v.MIME, &v.Accepted, &v.Reason, &until, &created); err != nil {
				return err
			}
			var err error
			v.Digest, err = fromDigestColumn(digest)
			v.Until, v.Created = fromNanos(until), fromNanos(created)
			out = append(out, v)
			return err
		}, `SELECT v.digest, v.mime, v.accepted, v.reason, v.until, v.created FROM endpoint e JOIN verdict v ON v.endpoint = e.num
			WHERE e.name = ? AND (v.until = 0 OR v.until > ?) ORDER BY v.created, v.digest, v.mime`, endpoint, nanos(now))
	})
	return out, err
}

// ForgetEndpoint drops all that was learned of an endpoint: verdicts, evidence and
// limits.
func (db *DB) ForgetEndpoint(ctx context.Context, endpoint string) error {
	return db.onEndpoint(ctx, "forget an endpoint", endpoint, func(tx *sql.Tx, ep int64) error {
		for _, q := range []string{
			"DELETE FROM verdict WHERE endpoint = ?", "DELETE FROM evidence WHERE endpoint = ?", "DELETE FROM learned WHERE endpoint = ?",
			"DELETE FROM said WHERE endpoint = ?",
		} {
			if _, err := tx.ExecContext(ctx, q, ep); err != nil {
				return err
			}
		}
		return nil
	})
}

// SaveEvidence stores e in place of what the same source said before about the
// same kind.
func (db *DB) SaveEvidence(ctx context.Context, e Evidence) error {
	return db.onEndpoint(ctx, "save evidence", e.Endpoint, func(tx *sql.Tx, ep int64) error {
		kind, err := word(e.Kind)
		if err != nil {
			return err
		}
		source, err := word(e.Evidence)
		if err != nil {
			return err
		}
		answer, err := word(e.Answer)
		if err != nil {
			return err
		}
		if e.At.IsZero() {
			e.At = db.now()
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO evidence (endpoint, kind, source, answer, detail, at) VALUES (?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET answer = excluded.answer, detail = excluded.detail, at = excluded.at`,
			ep, kind, source, answer, e.Detail, nanos(e.At))
		return err
	})
}

// Evidence returns what is known about an endpoint, oldest first.
func (db *DB) Evidence(ctx context.Context, endpoint string) ([]Evidence, error) {
	var out []Evidence
	err := db.read(ctx, "read evidence", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var kind, source, answer, detail string
			var at int64
			if err := rows.Scan(&kind, &source, &answer, &detail, &at); err != nil {
				return err
			}
			e, err := decodeEvidence(kind, source, answer)
			e.Endpoint, e.Detail, e.At = endpoint, detail, fromNanos(at)
			out = append(out, e)
			return err
		}, `SELECT v.kind, v.source, v.answer, v.detail, v.at FROM endpoint e JOIN evidence v ON v.endpoint = e.num
			WHERE e.name = ? ORDER BY v.at, v.kind, v.source`, endpoint)
	})
	return out, err
}

func decodeEvidence(kind, source, answer string) (Evidence, error) {
	k, err := unword[content.Kind]("kind", kind)
	if err != nil {
		return Evidence{}, err
	}
	s, err := unword[delivery.Evidence]("evidence", source)
	if err != nil {
		return Evidence{}, err
	}
	a, err := unword[delivery.Answer]("answer", answer)
	return Evidence{Kind: k, Evidence: s, Answer: a}, err
}

// How long a learned limit counts. A limit is a property of a backend, which is
// replaced without notice; learning one anew costs one request that is sent twice.
const (
	lifeLimit = 30 * 24 * time.Hour
	// lifeLoaded is for what a local server was started with: it is started
	// otherwise soon.
	lifeLoaded = 7 * 24 * time.Hour
	// lifeDoubted is for what may have had another cause.
	lifeDoubted = time.Hour
)

// life is how long a limit counts.
func life(name string) time.Duration {
	switch name {
	case delivery.LimitContext, delivery.LimitCount:
		return lifeLoaded
	case delivery.LimitDoubted:
		return lifeDoubted
	}
	return lifeLimit
}

// SaveLimit stores a number that an endpoint taught us, by its name.
func (db *DB) SaveLimit(ctx context.Context, endpoint, name string, value int64) error {
	if name == "" {
		return fmt.Errorf("save limit: %w", errors.New("a limit needs a name"))
	}
	return db.onEndpoint(ctx, "save limit "+name, endpoint, func(tx *sql.Tx, ep int64) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO learned (endpoint, name, value, at) VALUES (?,?,?,?)
			ON CONFLICT DO UPDATE SET value = excluded.value, at = excluded.at`, ep, name, value, nanos(db.now()))
		return err
	})
}

// Limits returns the numbers that an endpoint taught us, by name, as far as they
// still count. One of the future counts only by the same distance: the clock may
// have been wrong then.
func (db *DB) Limits(ctx context.Context, endpoint string) (map[string]int64, error) {
	now := db.now()
	out := map[string]int64{}
	err := db.read(ctx, "read limits", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var name string
			var value, at int64
			err := rows.Scan(&name, &value, &at)
			if now.Sub(fromNanos(at)).Abs() < life(name) {
				out[name] = value
			}
			return err
		}, "SELECT l.name, l.value, l.at FROM endpoint e JOIN learned l ON l.endpoint = e.num WHERE e.name = ?", endpoint)
	})
	return out, err
}
