package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"tote/internal/content"
)

// forgottenDetail and forgottenText stand where something was forgotten.
const (
	forgottenDetail = "forgotten"
	forgottenText   = "[forgotten]"
)

// ForgetHandle takes the bytes of a block out of a session: its blobs become
// missing ones, its envelope goes, and so do its ledger rows and the digest in
// its receipts. The body of a text is replaced; a link carries no bytes and
// stays. It returns the digests that no session refers to any more, with those
// of what was cut from them. Forks and
// the words of others about the block are left alone.
func (db *DB) ForgetHandle(ctx context.Context, session string, h content.Handle) ([]content.Digest, error) {
	var gone []content.Digest
	err := db.durable(ctx, fmt.Sprintf("forget %s in session %s", h, session), func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		before, err := sessionRefs(ctx, tx, s)
		if err != nil {
			return err
		}
		if err := forgetBlocks(ctx, tx, s, h); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM ledger WHERE handle = ? AND lane IN (SELECT num FROM lane WHERE session = ?)", string(h), s)
		if err != nil {
			return err
		}
		if err := forgetReceipts(ctx, tx, s, h); err != nil {
			return err
		}
		if err := recount(ctx, tx, s); err != nil {
			return err
		}
		if gone, err = unreferenced(ctx, tx, before); err != nil {
			return err
		}
		gone, err = forgetVariants(ctx, tx, gone)
		return err
	})
	if err != nil {
		return nil, inSession(err, session)
	}
	return gone, db.scrub(ctx)
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

// forgetBlocks rewrites the messages that hold the block.
func forgetBlocks(ctx context.Context, tx *sql.Tx, session int64, h content.Handle) error {
	found := map[int64][]content.Part{}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var num int64
		var parts sql.RawBytes
		if err := rows.Scan(&num, &parts); err != nil {
			return err
		}
		ps, err := decodeParts(parts)
		if err == nil && holds(ps, h) {
			found[num] = ps
		}
		return err
	}, "SELECT m.num, m.parts FROM turn t JOIN message m ON m.turn = t.num WHERE t.session = ?", session)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return ErrNotFound
	}
	for num, parts := range found {
		if err := forgetInMessage(ctx, tx, num, parts, h); err != nil {
			return err
		}
	}
	return nil
}

func forgetInMessage(ctx context.Context, tx *sql.Tx, num int64, parts []content.Part, h content.Handle) error {
	for i, p := range parts {
		after, err := content.VisitPart(p, content.PartVisitor[content.Part](partForgetter{h}))
		if err != nil {
			return err
		}
		parts[i] = after
		if b, ok := p.(content.Block); !ok || b.BlockHandle() != h {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM envelope WHERE message = ? AND part = ?", num, i); err != nil {
			return err
		}
	}
	text, err := encodeParts(parts)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE message SET parts = ? WHERE num = ?", text, num)
	return err
}

func holds(parts []content.Part, h content.Handle) bool {
	return slices.ContainsFunc(content.Message{Parts: parts}.Blocks(), func(b content.Block) bool { return b.BlockHandle() == h })
}

// partForgetter returns a part without the bytes of one block.
type partForgetter struct{ handle content.Handle }

var _ content.PartVisitor[content.Part] = partForgetter{}

// forgetAttachment keeps what is known about the bytes and takes their names.
func forgetAttachment(a content.Attachment) content.Attachment {
	a.Original.Digest = content.Digest{}
	a.Prepared = content.Blob{}
	a.Fault, a.Detail = content.FaultMissing, forgottenDetail
	return a
}

func (f partForgetter) Text(b content.Text) (content.Part, error) {
	if b.Handle == f.handle {
		b.Body = forgottenText
	}
	return b, nil
}

func (f partForgetter) Image(b content.Image) (content.Part, error) {
	if b.Handle == f.handle {
		b.Attachment = forgetAttachment(b.Attachment)
	}
	return b, nil
}

func (f partForgetter) Audio(b content.Audio) (content.Part, error) {
	if b.Handle == f.handle {
		b.Attachment = forgetAttachment(b.Attachment)
	}
	return b, nil
}

func (f partForgetter) Document(b content.Document) (content.Part, error) {
	if b.Handle == f.handle {
		b.Attachment, b.Text = forgetAttachment(b.Attachment), content.Blob{}
	}
	return b, nil
}

func (f partForgetter) ResourceText(b content.ResourceText) (content.Part, error) {
	if b.Handle == f.handle {
		b.Attachment, b.Body = forgetAttachment(b.Attachment), ""
	}
	return b, nil
}

// ResourceLink has no bytes to forget.
func (f partForgetter) ResourceLink(b content.ResourceLink) (content.Part, error) { return b, nil }

func (f partForgetter) Opaque(b content.Opaque) (content.Part, error) {
	if b.Handle == f.handle {
		b.Raw.Digest = content.Digest{}
	}
	return b, nil
}

func (partForgetter) Reasoning(p content.Reasoning) (content.Part, error) { return p, nil }

func (partForgetter) ToolCall(p content.ToolCall) (content.Part, error) { return p, nil }

func (f partForgetter) ToolResult(p content.ToolResult) (content.Part, error) {
	blocks := make([]content.Block, len(p.Blocks))
	for i, b := range p.Blocks {
		after, err := content.VisitPart(b, content.PartVisitor[content.Part](f))
		if err != nil {
			return nil, err
		}
		block, ok := after.(content.Block)
		if !ok {
			return nil, fmt.Errorf("block %d of a result became a %T", i, after)
		}
		blocks[i] = block
	}
	p.Blocks = blocks
	return p, nil
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
