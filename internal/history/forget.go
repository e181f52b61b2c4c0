package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tote/internal/content"
)

// forgottenDetail and forgottenText stand where something was forgotten.
const (
	forgottenDetail = "forgotten"
	forgottenText   = "[forgotten]"
)

// ForgetHandle takes the bytes of a block out of a session, of its children and
// of its forks, and theirs. In the session it is the block with that handle; in
// the others the block with that handle and the same bytes or text, which was
// handed over or inherited. Wherever one of these sessions holds the same bytes
// under another handle, that block is forgotten too; a text is known by its
// handle alone. Undone turns are no exception.
//
// The blobs of such a block become missing ones; its envelope goes, its ledger
// rows with the descriptions in them, the digest in its receipts, a title that
// was made of its text, and the summaries that stand for its turn. The body of a
// text is replaced; a link carries no bytes and stays. What models said of the
// bytes when asked to describe them goes for every session.
//
// It returns the digests that no session refers to any more, with those of what
// was cut from them: the caller deletes these blobs. A file that a checkpoint
// keeps stays a reference, because it may be the user's only copy. The words of
// others about the block, in answers and reports, are left alone.
func (db *DB) ForgetHandle(ctx context.Context, session string, h content.Handle) ([]content.Digest, error) {
	var gone []content.Digest
	err := db.durable(ctx, fmt.Sprintf("forget %s in session %s", h, session), func(tx *sql.Tx) error {
		f := forgetter{tx: tx, handle: h, digests: map[content.Digest]bool{}, words: map[string]bool{}, all: map[content.Digest]bool{}}
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		if h == "" { // what models say has no handle
			return ErrNotFound
		}
		if err := f.identify(ctx, s); err != nil {
			return err
		}
		family, err := descendants(ctx, tx, session)
		if err != nil {
			return err
		}
		before := map[content.Digest]bool{}
		for _, s := range family {
			if err := f.inSession(ctx, s, before); err != nil {
				return err
			}
		}
		gone, err = f.drop(ctx, before)
		return err
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	return gone, db.scrub(ctx)
}

// descendants numbers a session and all that were made from it, theirs included.
func descendants(ctx context.Context, tx *sql.Tx, session string) ([]int64, error) {
	var out []int64
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var num int64
		err := rows.Scan(&num)
		out = append(out, num)
		return err
	}, `WITH RECURSIVE family (num, id) AS (SELECT num, id FROM session WHERE id = ?
		UNION SELECT s.num, s.id FROM session s JOIN family f ON s.parent = f.id) SELECT num FROM family ORDER BY num`, session)
	return out, err
}

// forgetter forgets one block in several sessions.
type forgetter struct {
	tx     *sql.Tx
	handle content.Handle
	// digests are the bytes that were handed over as the block; words are what
	// one without bytes is known by, beside its handle.
	digests map[content.Digest]bool
	words   map[string]bool
	// all are the digests of everything that was made of it, too.
	all map[content.Digest]bool
}

// identify learns what the block with the handle holds in its session.
func (f *forgetter) identify(ctx context.Context, session int64) error {
	found := false
	err := f.messages(ctx, session, func(_, _ int64, parts []content.Part) error {
		for _, b := range (content.Message{Parts: parts}).Blocks() {
			if b.BlockHandle() == f.handle {
				found = true
				f.learn(b)
			}
		}
		return nil
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return err
}

func (f *forgetter) learn(b content.Block) {
	if d := handedOver(b); !d.IsZero() {
		f.digests[d] = true
	} else {
		f.words[wordsOf(b)] = true
	}
	for _, blob := range content.Blobs(b) {
		f.all[blob.Digest] = true
	}
}

// handedOver is the digest of what a block came as.
func handedOver(b content.Block) content.Digest {
	if a, ok := content.AttachmentOf(b); ok {
		return a.Original.Digest
	}
	if o, ok := b.(content.Opaque); ok {
		return o.Raw.Digest
	}
	return content.Digest{}
}

// wordsOf is what a block without bytes is known by.
func wordsOf(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return b.Body
	case content.ResourceLink:
		return b.URI
	case content.Image, content.Audio, content.Document, content.ResourceText, content.Opaque:
	}
	return b.Kind().String() // its bytes are missing
}

// is reports whether b is the block, or has its bytes.
func (f *forgetter) is(b content.Block) bool {
	if d := handedOver(b); !d.IsZero() {
		return f.digests[d]
	}
	return b.BlockHandle() == f.handle && f.words[wordsOf(b)]
}

// messages calls fn for every message of a session, undone ones too, with its
// number and its turn's seq.
func (f *forgetter) messages(ctx context.Context, session int64, fn func(num, seq int64, parts []content.Part) error) error {
	return each(ctx, f.tx, func(rows *sql.Rows) error {
		var num, seq int64
		var parts sql.RawBytes
		if err := rows.Scan(&num, &seq, &parts); err != nil {
			return err
		}
		ps, err := decodeParts(parts)
		if err != nil {
			return err
		}
		return fn(num, seq, ps)
	}, "SELECT m.num, t.seq, m.parts FROM turn t JOIN message m ON m.turn = t.num WHERE t.session = ? ORDER BY t.seq, m.seq", session)
}

// inSession forgets the block in one session and adds to before what the session
// referred to until now.
func (f *forgetter) inSession(ctx context.Context, session int64, before map[content.Digest]bool) error {
	handles, first, err := f.blocks(ctx, session)
	if err != nil || len(handles) == 0 {
		return err
	}
	refs, err := sessionRefs(ctx, f.tx, session)
	if err != nil {
		return err
	}
	for _, d := range refs {
		before[d] = true
	}
	for h := range handles {
		_, err = f.tx.ExecContext(ctx, "DELETE FROM ledger WHERE handle = ? AND lane IN (SELECT num FROM lane WHERE session = ?)", string(h), session)
		if err != nil {
			return err
		}
		if err := forgetReceipts(ctx, f.tx, session, h); err != nil {
			return err
		}
	}
	if err := f.title(ctx, session); err != nil {
		return err
	}
	if err := dropSummaries(ctx, f.tx, session, first); err != nil {
		return err
	}
	return recount(ctx, f.tx, session)
}

// blocks rewrites the messages that hold the block. It returns the handles that
// it had there, and the seq of the first turn that held it.
func (f *forgetter) blocks(ctx context.Context, session int64) (handles map[content.Handle]bool, first int64, err error) {
	handles, found := map[content.Handle]bool{}, map[int64][]content.Part{}
	err = f.messages(ctx, session, func(num, seq int64, parts []content.Part) error {
		for _, b := range (content.Message{Parts: parts}).Blocks() {
			if !f.is(b) {
				continue
			}
			if handles[b.BlockHandle()] = true; len(found) == 0 {
				first = seq
			}
			found[num] = parts
			f.learn(b)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for num, parts := range found {
		if err := f.inMessage(ctx, num, parts); err != nil {
			return nil, 0, err
		}
	}
	return handles, first, nil
}

// title takes away a title that was made of a forgotten text.
func (f *forgetter) title(ctx context.Context, session int64) error {
	var title string
	if err := f.tx.QueryRowContext(ctx, "SELECT title FROM session WHERE num = ?", session).Scan(&title); err != nil {
		return err
	}
	for body := range f.words {
		printed := strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, body)
		if title == "" || !strings.HasPrefix(printed, title) {
			continue
		}
		_, err := f.tx.ExecContext(ctx, "UPDATE session SET title = ? WHERE num = ?", forgottenText, session)
		return err
	}
	return nil
}

// drop takes away what is known of the bytes outside of sessions, and returns
// those of before that no session names, with what was cut from them.
func (f *forgetter) drop(ctx context.Context, before map[content.Digest]bool) ([]content.Digest, error) {
	described, err := cutFrom(ctx, f.tx, slices.Collect(maps.Keys(f.all)))
	if err != nil {
		return nil, err
	}
	for d := range f.all {
		described = append(described, d)
	}
	if err := deleteByDigest(ctx, f.tx, "DELETE FROM description WHERE picture = ?", described); err != nil {
		return nil, err
	}
	gone, err := unreferenced(ctx, f.tx, slices.Collect(maps.Keys(before)))
	if err != nil {
		return nil, err
	}
	if gone, err = forgetVariants(ctx, f.tx, gone); err != nil {
		return nil, err
	}
	return gone, deleteByDigest(ctx, f.tx, "DELETE FROM verdict WHERE digest = ?", gone)
}

func deleteByDigest(ctx context.Context, tx *sql.Tx, statement string, digests []content.Digest) error {
	for _, d := range digests {
		if _, err := tx.ExecContext(ctx, statement, d[:]); err != nil {
			return err
		}
	}
	return nil
}

func sessionRefs(ctx context.Context, tx *sql.Tx, session int64) ([]content.Digest, error) {
	var out []content.Digest
	err := each(ctx, tx, func(rows *sql.Rows) error {
		d, err := scanDigest(rows)
		out = append(out, d)
		return err
	}, "SELECT digest FROM blob_ref WHERE session = ?", session)
	return out, err
}

// unreferenced returns those of digests that no session names.
func unreferenced(ctx context.Context, tx *sql.Tx, digests []content.Digest) ([]content.Digest, error) {
	named := map[content.Digest]bool{}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		d, err := scanDigest(rows)
		named[d] = true
		return err
	}, "SELECT DISTINCT digest FROM blob_ref")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(digests, func(d content.Digest) bool { return named[d] }), nil
}

func (f *forgetter) inMessage(ctx context.Context, num int64, parts []content.Part) error {
	for i, p := range parts {
		after, err := content.VisitPart(p, content.PartVisitor[content.Part](partForgetter{f.is}))
		if err != nil {
			return err
		}
		parts[i] = after
		if b, ok := p.(content.Block); !ok || !f.is(b) {
			continue
		}
		if _, err := f.tx.ExecContext(ctx, "DELETE FROM envelope WHERE message = ? AND part = ?", num, i); err != nil {
			return err
		}
	}
	text, err := encodeParts(parts)
	if err != nil {
		return err
	}
	_, err = f.tx.ExecContext(ctx, "UPDATE message SET parts = ? WHERE num = ?", text, num)
	return err
}

// forgetReceipts takes the digest out of a block's receipts. What was done with
// it stays on record.
func forgetReceipts(ctx context.Context, tx *sql.Tx, session int64, h content.Handle) error {
	type row struct {
		request, attempt, pos int
		body                  wireReceipt
	}
	var found []row
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var r row
		var body sql.RawBytes
		if err := rows.Scan(&r.request, &r.attempt, &r.pos, &body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &r.body); err != nil {
			return fmt.Errorf("decode receipt: %w", err)
		}
		if r.body.Blob != nil {
			found = append(found, r)
		}
		return nil
	}, "SELECT request, attempt, pos, body FROM receipt WHERE session = ? AND handle = ?", session, string(h))
	if err != nil {
		return err
	}
	for _, r := range found {
		r.body.Blob.Digest = content.Digest{}
		body, err := compactJSON(r.body)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE receipt SET body = ? WHERE session = ? AND handle = ? AND request = ? AND attempt = ? AND pos = ?",
			body, session, string(h), r.request, r.attempt, r.pos)
		if err != nil {
			return err
		}
	}
	return nil
}
