package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Session describes a session.
type Session struct {
	// ID is given by the caller: random, and sortable by time.
	ID, Title string
	// Cwd is the full path of the folder that it works in.
	Cwd string
	// Agent is the chosen agent's name.
	Agent string
	// Parent is the session that it was made from, "" for none. Kind says what
	// for: "" for a user's session and a fork, else the kind of a child, which
	// works for its parent and goes with it: "task", "job" or "escalation".
	Parent, Kind string
	// Created and Updated are in UTC. Updated is when a turn last began or
	// ended.
	Created, Updated time.Time
	// Generation is the generation of its lanes.
	Generation int
	// Dirs are additional folders that it may work in.
	Dirs []string
	// Turns and Pictures are counted by the history, without undone turns.
	Turns, Pictures int
	// Mode is the permission mode that the user chose for it, in the words of the
	// caller, "" for none.
	Mode string
}

// Filter selects and pages sessions.
type Filter struct {
	// Cwd selects those of one folder, "" all.
	Cwd string
	// Limit is how many to return; 0 takes DefaultPage.
	Limit int
	// Cursor is what the page before returned, "" for the first.
	Cursor string
	// Children lists children too.
	Children bool
}

// DefaultPage is how many sessions a page has.
const DefaultPage = 50

const sessionColumns = "id, title, cwd, agent, parent, kind, created, updated, generation, dirs, turns, pictures, mode"

func scanSession(scan func(...any) error) (Session, error) {
	var s Session
	var created, updated int64
	var dirs []byte
	err := scan(&s.ID, &s.Title, &s.Cwd, &s.Agent, &s.Parent, &s.Kind, &created, &updated, &s.Generation, &dirs, &s.Turns, &s.Pictures, &s.Mode)
	if err != nil {
		return Session{}, err
	}
	s.Created, s.Updated = fromNanos(created), fromNanos(updated)
	if err := json.Unmarshal(dirs, &s.Dirs); err != nil {
		return Session{}, fmt.Errorf("decode folders of session %s: %w", s.ID, err)
	}
	return s, nil
}

// CreateSession records a new session. Its times are now where they are zero.
func (db *DB) CreateSession(ctx context.Context, s Session) error {
	return db.durable(ctx, "create session "+s.ID, func(tx *sql.Tx) error {
		_, err := db.insertSession(ctx, tx, s)
		return err
	})
}

func (db *DB) insertSession(ctx context.Context, tx *sql.Tx, s Session) (int64, error) {
	if s.ID == "" {
		return 0, errors.New("a session needs an identifier")
	}
	_, err := sessionNum(ctx, tx, s.ID)
	if err == nil {
		return 0, ErrExists
	}
	if !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	now := db.now()
	if s.Created.IsZero() {
		s.Created = now
	}
	if s.Updated.IsZero() {
		s.Updated = now
	}
	dirs, err := compactJSON(s.Dirs)
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx,
		"INSERT INTO session (id, parent, kind, title, cwd, agent, dirs, created, updated, generation, mode) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
		s.ID, s.Parent, s.Kind, s.Title, s.Cwd, s.Agent, dirs, nanos(s.Created), nanos(s.Updated), s.Generation, s.Mode)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Session returns one session; the error wraps ErrNotFound when there is none.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	return db.oneSession(ctx, "read session "+id, "WHERE id = ?", id)
}

// used says of a session that there is something in it to go on with: turns, also
// those that were undone, jobs, or a mode that was chosen.
const used = "(turns > 0 OR mode <> '' OR EXISTS (SELECT 1 FROM turn t WHERE t.session = session.num) OR EXISTS (SELECT 1 FROM job j WHERE j.parent = session.num))"

// Latest returns the session of a folder that was last worked in. One that was
// never used is nothing to go on with, and a child is not the user's.
func (db *DB) Latest(ctx context.Context, cwd string) (Session, error) {
	return db.oneSession(ctx, "find the latest session of "+cwd,
		"WHERE cwd = ? AND kind = '' AND "+used+" ORDER BY max(updated, touched) DESC, id DESC LIMIT 1", cwd)
}

// DropUnused removes a session that was never used, and is no error for another.
func (db *DB) DropUnused(ctx context.Context, id string) error {
	return db.durable(ctx, "remove session "+id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM session WHERE id = ? AND NOT "+used+
			" AND NOT EXISTS (SELECT 1 FROM session c WHERE c.parent = session.id)", id)
		return err
	})
}

func (db *DB) oneSession(ctx context.Context, what, where string, arg any) (Session, error) {
	var s Session
	err := db.read(ctx, what, func(tx *sql.Tx) (err error) {
		s, err = scanSession(tx.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM session "+where, arg).Scan)
		return notFound(err)
	})
	return s, err
}

// Sessions lists sessions, the last updated first, and returns the cursor of
// the next page, "" after the last.
func (db *DB) Sessions(ctx context.Context, f Filter) ([]Session, string, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultPage
	}
	where, args := "WHERE 1", []any{}
	if f.Cwd != "" {
		where += " AND cwd = ?"
		args = append(args, f.Cwd)
	}
	if !f.Children {
		where += " AND kind = ''"
	}
	if f.Cursor != "" {
		updated, id, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, "", fmt.Errorf("list sessions: %w", err)
		}
		where += " AND (updated, id) < (?, ?)"
		args = append(args, updated, id)
	}
	var out []Session
	err := db.read(ctx, "list sessions", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			s, err := scanSession(rows.Scan)
			out = append(out, s)
			return err
		}, "SELECT "+sessionColumns+" FROM session "+where+" ORDER BY updated DESC, id DESC LIMIT ?", append(args, limit+1)...)
	})
	if err != nil || len(out) <= limit {
		return out, "", err
	}
	out = out[:limit]
	last := out[limit-1]
	return out, strconv.FormatInt(nanos(last.Updated), 10) + "." + last.ID, nil
}

func parseCursor(c string) (updated int64, id string, err error) {
	at, id, ok := strings.Cut(c, ".")
	if !ok || id == "" {
		return 0, "", ErrCursor
	}
	updated, err = strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0, "", ErrCursor
	}
	return updated, id, nil
}

// UpdateSession stores the title, agent, generation, folders and mode of s.
func (db *DB) UpdateSession(ctx context.Context, s Session) error {
	return db.durable(ctx, "update session "+s.ID, func(tx *sql.Tx) error {
		dirs, err := compactJSON(s.Dirs)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE session SET title = ?1, agent = ?2, generation = ?3, dirs = ?4,
			touched = CASE WHEN mode = ?5 THEN touched ELSE ?6 END, mode = ?5 WHERE id = ?7`,
			s.Title, s.Agent, s.Generation, dirs, s.Mode, nanos(db.now()), s.ID)
		return affected(res, err)
	})
}

// TouchSession notes that a session is worked in now. It tells, before something is
// done that has to be recorded, that the database cannot be written.
func (db *DB) TouchSession(ctx context.Context, id string) error {
	return db.durable(ctx, "write to session "+id, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, "UPDATE session SET touched = ? WHERE id = ?", nanos(db.now()), id))
	})
}

// DeleteSession removes a session with its children and all that belongs to
// them, and the descriptions of pictures that nobody has any more. Its blobs go
// with the next collection of the store. Its forks stay.
func (db *DB) DeleteSession(ctx context.Context, id string) error {
	err := db.durable(ctx, "delete session "+id, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "WITH RECURSIVE "+childrenOf+" DELETE FROM session WHERE id IN (SELECT id FROM family)", id)
		if err := affected(res, err); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM description WHERE picture NOT IN (SELECT digest FROM blob_ref)")
		return err
	})
	if err != nil {
		return err
	}
	return db.scrub(ctx)
}

// scrub moves the journal into the database, so that removed text is not kept
// there. While another process reads, SQLite does it later by itself.
func (db *DB) scrub(ctx context.Context) error {
	var busy, frames, moved int
	err := db.full.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", explain(err, db.path))
	}
	return nil
}

func sessionNum(ctx context.Context, tx *sql.Tx, id string) (int64, error) {
	var num int64
	err := tx.QueryRowContext(ctx, "SELECT num FROM session WHERE id = ?", id).Scan(&num)
	return num, notFound(err)
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// affected tells a change that met no row.
func affected(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
