package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a writer waits for one of another process, in
// milliseconds.
const busyTimeout = 5000

// maxConns bounds the open connections for reading and durable writing.
const maxConns = 4

// Options are what a history needs besides its file.
type Options struct {
	// Now is the clock for the times of records; nil takes time.Now.
	Now func() time.Time
}

// DB is the history of one home. It is safe for use by several goroutines.
type DB struct {
	path string
	now  func() time.Time
	// full reads, and writes what has to survive a power cut.
	full *sql.DB
	// lazy writes what need not be synced by itself. It connects at first
	// use.
	lazy *sql.DB
	// gate is held by the one writer of this process: SQLite lets waiting
	// connections sleep and try again, a channel wakes them.
	gate chan struct{}
	// variants and descriptions count those that this process has saved.
	variants, descriptions atomic.Int64
}

// Open opens the history in the file path, and makes or upgrades it where
// needed. A file that a newer program wrote is a *VersionError.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	db, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open history: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, path string, o Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeFile(abs); err != nil {
		return nil, err
	}
	db := &DB{path: abs, now: o.Now, gate: make(chan struct{}, 1)}
	if db.now == nil {
		db.now = time.Now
	}
	if db.full, err = sql.Open("sqlite", dsn(abs, "FULL")); err != nil {
		return nil, err
	}
	db.full.SetMaxOpenConns(maxConns)
	if db.lazy, err = sql.Open("sqlite", dsn(abs, "NORMAL")); err != nil {
		return nil, errors.Join(err, db.full.Close())
	}
	db.lazy.SetMaxOpenConns(1)
	if err := db.migrateWhenFree(ctx); err != nil {
		return nil, errors.Join(explain(err, abs), db.close())
	}
	return db, nil
}

// Close waits for running calls and closes the file.
func (db *DB) Close() error {
	if err := db.close(); err != nil {
		return fmt.Errorf("close history: %w", err)
	}
	return nil
}

func (db *DB) close() error { return errors.Join(db.lazy.Close(), db.full.Close()) }

// makeFile makes the file before SQLite does, which would give it the mode
// that the process's umask leaves. Its journals take over the mode.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// dsn names the file as a URI, because a plain path would end at "?".
func dsn(path, synchronous string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	u := url.URL{Scheme: "file", Path: slashed}
	return fmt.Sprintf("%s?_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(%s)"+
		"&_pragma=foreign_keys(1)&_pragma=secure_delete(1)", u.String(), busyTimeout, synchronous)
}

// durable runs fn in a transaction that is on the disk when durable returns.
func (db *DB) durable(ctx context.Context, what string, fn func(tx *sql.Tx) error) error {
	return db.write(ctx, db.full, what, fn)
}

// relaxed runs fn in a transaction that the next durable one takes to the disk.
func (db *DB) relaxed(ctx context.Context, what string, fn func(tx *sql.Tx) error) error {
	return db.write(ctx, db.lazy, what, fn)
}

func (db *DB) write(ctx context.Context, pool *sql.DB, what string, fn func(tx *sql.Tx) error) error {
	select {
	case db.gate <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	defer func() { <-db.gate }()
	if err := inTx(ctx, pool, nil, fn); err != nil {
		return fmt.Errorf("%s: %w", what, explain(err, db.path))
	}
	return nil
}

// read runs fn on one state of the database.
func (db *DB) read(ctx context.Context, what string, fn func(tx *sql.Tx) error) error {
	if err := inTx(ctx, db.full, &sql.TxOptions{ReadOnly: true}, fn); err != nil {
		return fmt.Errorf("%s: %w", what, explain(err, db.path))
	}
	return nil
}

func inTx(ctx context.Context, pool *sql.DB, o *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		rollback := tx.Rollback()
		if errors.Is(rollback, sql.ErrTxDone) { // the context ended it
			rollback = nil
		}
		return errors.Join(err, rollback)
	}
	return tx.Commit()
}

// explain names the file in an error of SQLite, and puts the frequent ones in
// words that help.
func explain(err error, path string) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	hint := ""
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		hint = "another tote kept it busy: "
	case sqlite3.SQLITE_FULL:
		hint = "no space left: "
	case sqlite3.SQLITE_READONLY:
		hint = "it cannot be written: "
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		hint = "it is damaged or no history of tote: "
	}
	return fmt.Errorf("%s: %s%w", path, hint, err)
}

// each runs a query and calls scan for each of its rows.
func each(ctx context.Context, tx *sql.Tx, scan func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// nanos stores a time; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// fromNanos reads what nanos stored, in UTC.
func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
