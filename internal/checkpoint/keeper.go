package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"tote/internal/content"
	"tote/internal/store"
)

// DefaultLimit is the largest file that is kept, in bytes.
const DefaultLimit = 64 << 20

// ErrNotKept is wrapped by errors about a file that a turn says to have written
// and did not keep before.
var ErrNotKept = errors.New("it was not kept before")

// LimitError says that a file is too large to be kept.
type LimitError struct {
	Path string
	// Size and Limit are in bytes.
	Size, Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s has %d bytes; files over %d bytes are not kept, so a change of it could not be undone", e.Path, e.Size, e.Limit)
}

// Row is a file as a turn found it, and as the turn left it.
type Row struct {
	// Turn and N name the row; N counts from 1 in the turn and is given when
	// the row is stored.
	Turn string
	N    int
	// Path is how the file was named, Target where it lay behind all links.
	Path, Target string
	// Before is the file's blob, zero where there was no file; Mode and Size
	// are of that file.
	Before content.Digest
	Mode   fs.FileMode
	Size   int64
	// Noted: After and AfterMode are what the turn left; After is zero where
	// it left no file. There is no blob for it.
	Noted     bool
	After     content.Digest
	AfterMode fs.FileMode
	// Expecting: Expected is what the turn was about to leave, zero for no file,
	// and nobody has said since what it did leave.
	Expecting bool
	Expected  content.Digest
}

// leaves reports whether the turn left the file like that, or was about to.
func (r Row) leaves(d content.Digest) bool {
	return r.Noted && d == r.After || r.Expecting && d == r.Expected
}

// Rows keeps the rows.
type Rows interface {
	// SaveCheckpoint stores a row, durably, and keeps its blob from being
	// collected.
	SaveCheckpoint(ctx context.Context, session, turn string, r Row) error
	// SaveAfter notes what the turn left in its row n.
	SaveAfter(ctx context.Context, session, turn string, n int, after content.Digest, mode fs.FileMode) error
	// SaveExpected notes what the turn is about to leave in its row n, until
	// SaveAfter says what it left.
	SaveExpected(ctx context.Context, session, turn string, n int, expected content.Digest) error
	// Checkpoints returns the rows of turns, undone or not, in the order in
	// which they were stored.
	Checkpoints(ctx context.Context, session string, turns []string) ([]Row, error)
}

// Blobs keeps the bytes.
type Blobs interface {
	// Put fails with a *store.LimitError where r has more than limit bytes.
	Put(ctx context.Context, r io.Reader, limit int64) (content.Digest, int64, error)
	// Open gives bytes that were checked.
	Open(d content.Digest) (io.ReadCloser, error)
}

// Options are what a keeper may be told.
type Options struct {
	// Limit is the largest file that is kept, in bytes; 0 takes DefaultLimit.
	Limit int64
}

// Keeper keeps files and puts them back. It is safe for use by several
// goroutines: it does one thing at a time.
type Keeper struct {
	blobs Blobs
	rows  Rows
	limit int64
	gate  chan struct{}
}

// New returns a keeper.
func New(b Blobs, r Rows, o Options) *Keeper {
	k := &Keeper{blobs: b, rows: r, limit: o.Limit, gate: make(chan struct{}, 1)}
	if k.limit <= 0 {
		k.limit = DefaultLimit
	}
	return k
}

// enter waits for its turn; the caller calls leave when there was no error.
func (k *Keeper) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case k.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) leave() { <-k.gate }

// Keep stores the file at an absolute path as it is now, before a turn changes
// it. It does nothing where the turn has kept the file already and nobody else
// has changed it since. After an error the file must not be changed.
func (k *Keeper) Keep(ctx context.Context, session, turn, path string) error {
	if err := k.keep(ctx, session, turn, path); err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	return nil
}

func (k *Keeper) keep(ctx context.Context, session, turn, path string) error {
	target, err := resolve(path)
	if err != nil {
		return err
	}
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	old, found, err := k.newest(ctx, session, turn, path, target)
	if err != nil || found && !old.Noted {
		return err // the turn is writing to it
	}
	if found {
		now, err := look(ctx, target)
		if err != nil || now.digest == old.After {
			return err
		}
	}
	now, err := k.store(ctx, path, target)
	if err != nil {
		return err
	}
	return k.rows.SaveCheckpoint(ctx, session, turn, Row{
		Path: path, Target: target, Before: now.digest, Mode: now.mode, Size: now.size,
	})
}

// newest is the turn's newest row of a file, by where it lies or else by name: a
// link may have become the file since.
func (k *Keeper) newest(ctx context.Context, session, turn, path, target string) (Row, bool, error) {
	rows, err := k.rows.Checkpoints(ctx, session, []string{turn})
	if err != nil {
		return Row{}, false, err
	}
	var named Row
	for _, r := range slices.Backward(rows) {
		if r.Target == target {
			return r, true, nil
		}
		if r.Path == path && named.N == 0 {
			named = r
		}
	}
	return named, named.N != 0, nil
}

// store makes a blob of the file, if there is one.
func (k *Keeper) store(ctx context.Context, path, target string) (state, error) {
	f, info, err := openFile(target)
	if err != nil || f == nil {
		return state{}, err
	}
	defer func() { _ = f.Close() }() // read only
	if info.Size() > k.limit {
		return state{}, &LimitError{Path: path, Size: info.Size(), Limit: k.limit}
	}
	d, n, err := k.blobs.Put(ctx, f, k.limit)
	if _, ok := errors.AsType[*store.LimitError](err); ok { // it grows
		return state{}, &LimitError{Path: path, Size: max(info.Size(), k.limit+1), Limit: k.limit}
	}
	if err != nil {
		return state{}, err
	}
	if again, err := resolve(target); err != nil || again != target {
		return state{}, errors.Join(errMoved, err)
	}
	return state{digest: d, size: n, mode: modeOf(info), info: info}, nil
}

// Expect notes what a turn is about to write to a file that it has kept, by the
// SHA-256 of all of it; zero is no file. A program that dies between the write and
// Wrote has said whose the write was.
func (k *Keeper) Expect(ctx context.Context, session, turn, path string, after content.Digest) error {
	err := k.noted(ctx, session, turn, path, func(row Row) error {
		return k.rows.SaveExpected(ctx, session, turn, row.N, after)
	})
	if err != nil {
		return fmt.Errorf("note what will be written to %s: %w", path, err)
	}
	return nil
}

// Wrote notes what a turn has left of a file that it kept before. It belongs
// after every write, also after one that failed, and also when the turn has been
// cancelled: the context must not have ended then.
func (k *Keeper) Wrote(ctx context.Context, session, turn, path string) error {
	err := k.noted(ctx, session, turn, path, func(row Row) error {
		now, err := look(ctx, row.Target)
		if err != nil {
			return err
		}
		return k.rows.SaveAfter(ctx, session, turn, row.N, now.digest, now.mode)
	})
	if err != nil {
		return fmt.Errorf("note what was written to %s: %w", path, err)
	}
	return nil
}

// noted gives save the turn's newest row of a file.
func (k *Keeper) noted(ctx context.Context, session, turn, path string, save func(Row) error) error {
	target, err := resolve(path)
	if err != nil {
		return err
	}
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	row, found, err := k.newest(ctx, session, turn, path, target)
	if err != nil {
		return err
	}
	if !found {
		return ErrNotKept
	}
	return save(row)
}

// Change is a file that a turn changed.
type Change struct {
	Turn, Path string
	// Created: there was no such file before.
	Created bool
}

// Changed lists what turns changed, the newest turn first, and the files of a
// turn in the order in which it changed them. A file that a turn left as it was
// is left out.
func (k *Keeper) Changed(ctx context.Context, session string, turns []string) ([]Change, error) {
	rows, err := k.rows.Checkpoints(ctx, session, turns)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	type file struct{ turn, target string }
	at := map[file][]Row{}
	var order []file
	for _, r := range rows {
		f := file{r.Turn, r.Target}
		if at[f] == nil {
			order = append(order, f)
		}
		at[f] = append(at[f], r)
	}
	var out []Change
	for end := len(order); end > 0; {
		start := end - 1
		for start > 0 && order[start-1].turn == order[end-1].turn {
			start--
		}
		for _, f := range order[start:end] {
			first, last := at[f][0], at[f][len(at[f])-1]
			if last.Noted && last.After == first.Before && (last.After.IsZero() || last.AfterMode == first.Mode) {
				continue
			}
			out = append(out, Change{Turn: f.turn, Path: first.Path, Created: first.Before.IsZero()})
		}
		end = start
	}
	return out, nil
}
