package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tote/internal/content"
)

// MaxEnvelope is the largest JSON of an envelope in bytes; a larger one is kept
// as a blob by whoever made it.
const MaxEnvelope = 4096

// BeginTurn records a new turn and its first message, the user's, with its
// envelopes. When it returns, they are on the disk.
func (db *DB) BeginTurn(ctx context.Context, session string, turn content.Turn) error {
	what := "begin turn " + turn.ID + " of session " + session
	if turn.ID == "" || len(turn.Messages) != 1 || turn.Messages[0].Role != content.RoleUser {
		return fmt.Errorf("%s: a turn begins with an identifier and one message of the user", what)
	}
	msg, err := encodeMessage(turn.Messages[0])
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return db.durable(ctx, what, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		_, err = turnNum(ctx, tx, session, turn.ID)
		if err == nil {
			return ErrExists
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		now := nanos(db.now())
		res, err := tx.ExecContext(ctx, `INSERT INTO turn (session, seq, id, created)
			SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3 FROM turn WHERE session = ?1`, s, turn.ID, now)
		if err != nil {
			return err
		}
		t, err := res.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE session SET updated = ?, turns = turns + 1 WHERE num = ?", now, s); err != nil {
			return err
		}
		return insertMessage(ctx, tx, s, t, msg)
	})
}

// AppendMessage records a message of the assistant or of tools after those
// that the turn has. It takes the place of the turn's draft.
func (db *DB) AppendMessage(ctx context.Context, session, turnID string, m content.Message) error {
	what := "append to turn " + turnID + " of session " + session
	msg, err := encodeMessage(m)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return db.inTurn(ctx, what, session, turnID, func(tx *sql.Tx, s, t int64) error {
		if err := insertMessage(ctx, tx, s, t, msg); err != nil {
			return err
		}
		return dropDraft(ctx, tx, t)
	})
}

// SaveDraft keeps the text that has been streamed so far and is no message yet.
// It replaces the draft before it; an empty text takes it away. If the program
// dies, Load returns it as the answer.
func (db *DB) SaveDraft(ctx context.Context, session, turnID, text string) error {
	what := "save draft of turn " + turnID + " of session " + session
	return db.inTurn(ctx, what, session, turnID, func(tx *sql.Tx, _, t int64) error {
		if text == "" {
			return dropDraft(ctx, tx, t)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO draft (turn, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body", t, text)
		return err
	})
}

// EndTurn records why a turn ended and what it cost. A draft goes: what is to
// stay has been appended.
func (db *DB) EndTurn(ctx context.Context, session, turnID string, stop content.StopReason, usage content.Usage) error {
	what := "end turn " + turnID + " of session " + session
	reason, err := word(stop)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	cost, err := encodeUsage(usage)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return db.inTurn(ctx, what, session, turnID, func(tx *sql.Tx, s, t int64) error {
		if _, err := tx.ExecContext(ctx, "UPDATE turn SET stop = ?, usage = ? WHERE num = ?", reason, cost, t); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE session SET updated = ? WHERE num = ?", nanos(db.now()), s); err != nil {
			return err
		}
		return dropDraft(ctx, tx, t)
	})
}

// inTurn runs fn durably with the numbers of a session and a turn of it.
func (db *DB) inTurn(ctx context.Context, what, session, turnID string, fn func(tx *sql.Tx, s, t int64) error) error {
	return db.durable(ctx, what, func(tx *sql.Tx) error { return withTurn(ctx, tx, session, turnID, fn) })
}

// withTurn fails for a turn that was undone: it takes nothing more.
func withTurn(ctx context.Context, tx *sql.Tx, session, turnID string, fn func(tx *sql.Tx, s, t int64) error) error {
	var s, t, undone int64
	err := tx.QueryRowContext(ctx, `SELECT session.num, turn.num, turn.undone FROM session JOIN turn ON turn.session = session.num
		WHERE session.id = ? AND turn.id = ?`, session, turnID).Scan(&s, &t, &undone)
	if err != nil {
		return notFound(err)
	}
	if undone != 0 {
		return ErrUndone
	}
	return fn(tx, s, t)
}

func turnNum(ctx context.Context, tx *sql.Tx, session, turnID string) (int64, error) {
	var num int64
	err := tx.QueryRowContext(ctx, "SELECT turn.num FROM turn JOIN session ON session.num = turn.session WHERE session.id = ? AND turn.id = ?",
		session, turnID).Scan(&num)
	return num, notFound(err)
}

func dropDraft(ctx context.Context, tx *sql.Tx, turn int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM draft WHERE turn = ?", turn)
	return err
}

// message is a message ready to be stored.
type message struct {
	role, parts string
	envelopes   []content.Envelope
	digests     []content.Digest
	pictures    int
}

// encodeMessage does the work that needs no lock.
func encodeMessage(m content.Message) (message, error) {
	role, err := word(m.Role)
	if err != nil || role == "" {
		return message{}, errors.New("a message needs a role")
	}
	if len(m.Envelopes) != 0 && len(m.Envelopes) != len(m.Parts) {
		return message{}, fmt.Errorf("%d envelopes for %d parts", len(m.Envelopes), len(m.Parts))
	}
	for i, e := range m.Envelopes {
		if len(e.JSON) > MaxEnvelope {
			return message{}, fmt.Errorf("envelope %d has %d bytes, at most %d are kept here", i, len(e.JSON), MaxEnvelope)
		}
	}
	parts, err := encodeParts(m.Parts)
	if err != nil {
		return message{}, err
	}
	out := message{role: role, parts: parts, envelopes: m.Envelopes}
	out.digests, out.pictures = census(m)
	return out, nil
}

// census lists the digests that a message refers to and counts its pictures.
func census(m content.Message) (digests []content.Digest, pictures int) {
	for _, b := range m.Blocks() {
		for _, blob := range content.Blobs(b) {
			digests = append(digests, blob.Digest)
		}
		if b.Kind() == content.KindImage {
			pictures++
		}
	}
	for _, e := range m.Envelopes {
		if !e.Payload.IsZero() {
			digests = append(digests, e.Payload)
		}
	}
	return digests, pictures
}

func insertMessage(ctx context.Context, tx *sql.Tx, session, turn int64, m message) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO message (turn, seq, role, parts)
		SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3 FROM message WHERE turn = ?1`, turn, m.role, m.parts)
	if err != nil {
		return err
	}
	num, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for i, e := range m.envelopes {
		if e.IsZero() {
			continue
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO envelope (message, part, json, hole, payload, spelling) VALUES (?,?,?,?,?,?)",
			num, i, nonNil(e.JSON), e.Hole, digestColumn(e.Payload), int64(e.Spelling))
		if err != nil {
			return err
		}
	}
	if m.pictures > 0 {
		if _, err := tx.ExecContext(ctx, "UPDATE session SET pictures = pictures + ? WHERE num = ?", m.pictures, session); err != nil {
			return err
		}
	}
	return addRefs(ctx, tx, session, m.digests)
}

// nonNil keeps an empty blob from becoming NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// digestColumn stores a digest; none is empty.
func digestColumn(d content.Digest) []byte {
	if d.IsZero() {
		return []byte{}
	}
	return d[:]
}

func fromDigestColumn(b []byte) (content.Digest, error) {
	var d content.Digest
	if len(b) == 0 {
		return d, nil
	}
	if len(b) != len(d) {
		return d, fmt.Errorf("a digest of %d bytes", len(b))
	}
	copy(d[:], b)
	return d, nil
}
