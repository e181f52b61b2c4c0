package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"tote/internal/content"
)

// Load returns the turns of a session, oldest first, without envelopes and
// without those that were undone. A turn that a crash cut off has StopNone, and
// its draft is its last message.
func (db *DB) Load(ctx context.Context, session string) ([]content.Turn, error) {
	return db.LoadTail(ctx, session, math.MaxInt32)
}

// LoadTail returns the last turns of a session, at most n, as Load does.
func (db *DB) LoadTail(ctx context.Context, session string, n int) ([]content.Turn, error) {
	var l loader
	err := db.read(ctx, "load session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		return l.load(ctx, tx, `t.undone = 0 AND t.seq >=
			(SELECT min(seq) FROM (SELECT seq FROM turn WHERE session = ?1 AND undone = 0 ORDER BY seq DESC LIMIT ?2))`, s, max(n, 0))
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	l.finish()
	return l.turns, nil
}

// loader gathers turns from rows of one message each.
type loader struct {
	turns []content.Turn
	num   int64
	draft string
}

// load reads the turns of session ?1 for which where holds.
func (l *loader) load(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	return each(ctx, tx, l.row, `SELECT t.num, t.id, t.stop, t.usage, coalesce(m.role, ''), coalesce(m.parts, ''), coalesce(d.body, '')
		FROM turn t LEFT JOIN message m ON m.turn = t.num LEFT JOIN draft d ON d.turn = t.num
		WHERE t.session = ?1 AND `+where+" ORDER BY t.seq, m.seq", args...)
}

func (l *loader) row(rows *sql.Rows) error {
	var num int64
	var id, stop, usage, role, draft string
	var parts sql.RawBytes
	if err := rows.Scan(&num, &id, &stop, &usage, &role, &parts, &draft); err != nil {
		return err
	}
	if num != l.num {
		l.finish()
		t, err := decodeTurn(id, stop, usage)
		if err != nil {
			return fmt.Errorf("turn %s: %w", id, err)
		}
		l.turns, l.num, l.draft = append(l.turns, t), num, draft
	}
	if role == "" { // a turn without messages
		return nil
	}
	m, err := decodeMessage(role, parts)
	if err != nil {
		return fmt.Errorf("turn %s: %w", id, err)
	}
	last := &l.turns[len(l.turns)-1]
	last.Messages = append(last.Messages, m)
	return nil
}

// finish turns the draft of the newest turn into a message.
func (l *loader) finish() {
	if l.draft == "" {
		return
	}
	last := &l.turns[len(l.turns)-1]
	last.Messages = append(last.Messages, content.Message{
		Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: l.draft}},
	})
	l.draft = ""
}

func decodeTurn(id, stop, usage string) (content.Turn, error) {
	reason, err := unword[content.StopReason]("stop reason", stop)
	if err != nil {
		return content.Turn{}, err
	}
	u, err := decodeUsage(usage)
	return content.Turn{ID: id, Stop: reason, Usage: u}, err
}

func decodeMessage(role string, parts []byte) (content.Message, error) {
	r, err := unword[content.Role]("role", role)
	if err != nil {
		return content.Message{}, err
	}
	ps, err := decodeParts(parts)
	return content.Message{Role: r, Parts: ps}, err
}

// inSession names the session in an error about an unknown word.
func inSession(err error, session string) error {
	if unknown, ok := errors.AsType[*UnknownKindError](err); ok {
		unknown.Session = session
	}
	return err
}

// envelopePage is how many turns are read at once for a replay.
const envelopePage = 32

// Envelopes calls fn for every part of every user message of a session but
// those of undone turns, in order, with its envelope, which is zero where the block did not come from a
// client. block counts the parts of a message from 0. fn may use the history.
func (db *DB) Envelopes(ctx context.Context, session string, fn func(turnID string, block int, part content.Part, env content.Envelope) error) error {
	for after, more := 0, true; more; after += envelopePage {
		var page []userMessage
		err := db.read(ctx, "replay session "+session, func(tx *sql.Tx) (err error) {
			page, more, err = userMessages(ctx, tx, session, after)
			return err
		})
		if err != nil {
			return inSession(err, session)
		}
		for _, m := range page {
			for i, p := range m.parts {
				if err := fn(m.turn, i, p, m.envelopes[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type userMessage struct {
	num       int64
	turn      string
	parts     []content.Part
	envelopes map[int]content.Envelope
}

// userMessages reads the user's messages of one page of turns; more is false
// after the last page.
func userMessages(ctx context.Context, tx *sql.Tx, session string, after int) (page []userMessage, more bool, err error) {
	s, err := sessionNum(ctx, tx, session)
	if err != nil {
		return nil, false, err
	}
	var last int
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM turn WHERE session = ?", s).Scan(&last); err != nil {
		return nil, false, err
	}
	user, err := word(content.RoleUser)
	if err != nil {
		return nil, false, err
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var num int64
		var id string
		var parts sql.RawBytes
		var env envelopeRow
		if err := rows.Scan(&num, &id, &parts, &env.part, &env.json, &env.hole, &env.payload, &env.spelling); err != nil {
			return err
		}
		if len(page) == 0 || page[len(page)-1].num != num {
			ps, err := decodeParts(parts)
			if err != nil {
				return fmt.Errorf("turn %s: %w", id, err)
			}
			page = append(page, userMessage{num: num, turn: id, parts: ps, envelopes: map[int]content.Envelope{}})
		}
		if !env.part.Valid {
			return nil
		}
		e, err := env.envelope()
		page[len(page)-1].envelopes[int(env.part.Int64)] = e
		return err
	}, `SELECT m.num, t.id, m.parts, e.part, e.json, e.hole, e.payload, e.spelling
		FROM turn t JOIN message m ON m.turn = t.num AND m.role = ? LEFT JOIN envelope e ON e.message = m.num
		WHERE t.session = ? AND t.undone = 0 AND t.seq > ? AND t.seq <= ? ORDER BY t.seq, m.seq, e.part`, user, s, after, after+envelopePage)
	return page, after+envelopePage < last, err
}

type envelopeRow struct {
	part, hole, spelling sql.NullInt64
	json, payload        []byte
}

func (r envelopeRow) envelope() (content.Envelope, error) {
	d, err := fromDigestColumn(r.payload)
	if err != nil {
		return content.Envelope{}, fmt.Errorf("envelope of part %d: %w", r.part.Int64, err)
	}
	e := content.Envelope{Hole: int(r.hole.Int64), Payload: d, Spelling: content.Spelling(r.spelling.Int64)}
	if len(r.json) > 0 {
		e.JSON = r.json
	}
	return e, nil
}
