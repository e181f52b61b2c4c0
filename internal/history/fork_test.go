package history_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/history"
)

type replayed struct {
	Turn string
	Part content.Part
	Env  content.Envelope
}

func replay(t *testing.T, db *history.DB, s string) []replayed {
	t.Helper()
	var out []replayed
	must(t, db.Envelopes(t.Context(), s, func(turn string, _ int, p content.Part, e content.Envelope) error {
		out = append(out, replayed{turn, p, e})
		return nil
	}))
	return out
}

func TestFork(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	must(t, db.UpdateSession(ctx, history.Session{ID: s, Title: "title", Agent: "a", Generation: 2, Dirs: []string{"/d"}}))
	fill(t, db, s, 5)
	must(t, db.SaveDraft(ctx, s, "t5", "half"))
	before, err := db.Session(ctx, s)
	must(t, err)
	turns, err := db.Load(ctx, s)
	must(t, err)
	lane := history.Lane{Endpoint: strings.Repeat("0", 63) + "7"}
	ledger, err := db.Ledger(ctx, s, lane)
	must(t, err)
	for _, tc := range []struct {
		id, upTo string
		n        int
	}{{"whole", "", 5}, {"last", "t5", 5}, {"part", "t3", 3}} {
		t.Run(tc.id, func(t *testing.T) {
			must(t, db.ForkSession(ctx, s, tc.id, tc.upTo))
			got, err := db.Session(ctx, tc.id)
			must(t, err)
			want := before
			want.ID, want.Parent, want.Turns, want.Pictures = tc.id, s, tc.n, tc.n
			want.Created, want.Updated = got.Created, got.Updated
			if diff := cmp.Diff(want, got); diff != "" || !got.Created.After(before.Updated) {
				t.Errorf("session (-want +got):\n%s", diff)
			}
			forked, err := db.Load(ctx, tc.id)
			if diff := cmp.Diff(turns[:tc.n], forked); diff != "" || err != nil {
				t.Errorf("turns, error %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(replay(t, db, s)[:2*tc.n], replay(t, db, tc.id)); diff != "" {
				t.Errorf("envelopes (-want +got):\n%s", diff)
			}
			rows, err := db.Ledger(ctx, tc.id, lane)
			if diff := cmp.Diff(ledger, rows); diff != "" || err != nil {
				t.Errorf("ledger, error %v (-want +got):\n%s", err, diff)
			}
			old, err := db.Receipts(ctx, s, history.Query{Request: tc.n})
			must(t, err)
			receipts, err := db.Receipts(ctx, tc.id, history.Query{Request: tc.n})
			if diff := cmp.Diff(old, receipts); diff != "" || err != nil {
				t.Errorf("receipts, error %v (-want +got):\n%s", err, diff)
			}
			if n, err := db.NextRequest(ctx, tc.id); err != nil || n != 6 {
				t.Errorf("NextRequest = %d, %v, want 6", n, err)
			}
			first, err := db.TakeHandles(ctx, tc.id, counts(1, 0))
			if err != nil || first[content.KindImage] != 6 {
				t.Errorf("TakeHandles = %v, %v, want 6", first, err)
			}
			if ok, err := db.HasDigest(ctx, tc.id, picture(1).Original.Digest); err != nil || !ok {
				t.Errorf("HasDigest = %v, %v, want true", ok, err)
			}
		})
	}
	if ok, err := db.HasDigest(ctx, "part", picture(5).Original.Digest); err != nil || ok {
		t.Errorf("a fork has what came after it: %v, %v", ok, err)
	}
	if err := db.ForkSession(ctx, s, "whole", ""); !errors.Is(err, history.ErrExists) {
		t.Errorf("fork onto a session: %v, want ErrExists", err)
	}
	if err := db.ForkSession(ctx, s, "new", "t99"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("fork up to no turn: %v, want ErrNotFound", err)
	}
	// The first goes, the forks stay.
	must(t, db.DeleteSession(ctx, s))
	if forked, err := db.Load(ctx, "whole"); err != nil || len(forked) != 5 {
		t.Errorf("the fork of a deleted session: %d turns, %v", len(forked), err)
	}
}

func TestForgetEveryKind(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	var parts []content.Part
	for _, b := range contenttest.Sound() {
		parts = append(parts, b)
	}
	m := user(parts...)
	m.Envelopes = make([]content.Envelope, len(parts))
	for i := range m.Envelopes {
		m.Envelopes[i] = content.Envelope{JSON: []byte("{}"), Payload: contenttest.Digest(byte(0xa0 + i)), Spelling: content.SpellingBase64}
	}
	begin(t, db, s, "t", m)
	for i, b := range contenttest.Sound() {
		want := []content.Digest{m.Envelopes[i].Payload}
		for _, blob := range content.Blobs(b) {
			want = append(want, blob.Digest)
		}
		gone, err := db.ForgetHandle(ctx, s, b.BlockHandle())
		must(t, err)
		order := func(a, b content.Digest) int { return bytes.Compare(a[:], b[:]) }
		slices.SortFunc(want, order)
		slices.SortFunc(gone, order)
		if diff := cmp.Diff(want, gone); diff != "" {
			t.Errorf("forgotten with %s (-want +got):\n%s", b.BlockHandle(), diff)
		}
		turns, err := db.Load(ctx, s)
		must(t, err)
		after := turns[0].Messages[0].Parts[i].(content.Block)
		if blobs := content.Blobs(after); len(blobs) != 0 || after.BlockHandle() != b.BlockHandle() || after.Kind() != b.Kind() {
			t.Errorf("%s is now %+v", b.BlockHandle(), after)
		}
		if a, ok := content.AttachmentOf(after); ok && a.Fault != content.FaultMissing {
			t.Errorf("%s has fault %v, want missing", b.BlockHandle(), a.Fault)
		}
	}
	if got := references(t, db); len(got) != 0 {
		t.Errorf("still named: %v", got)
	}
	for _, r := range replay(t, db, s) {
		if !r.Env.IsZero() {
			t.Errorf("an envelope is left: %+v", r.Env)
		}
	}
	if _, err := db.ForgetHandle(ctx, s, "image-99.png"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("forget an unknown handle: %v, want ErrNotFound", err)
	}
}

func TestForgetSparesWhatOthersName(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "history.db"), t.Context()
	db := openAt(t, path)
	s := newSession(t, db)
	fill(t, db, s, 2)
	one, two := picture(1), picture(2)
	must(t, db.AppendMessage(ctx, s, "t2", content.Message{Role: content.RoleTool, Parts: []content.Part{
		content.ToolResult{CallID: "1", Blocks: []content.Block{content.Text{Handle: "text-9", Body: "SECRETWORDS"}, two}},
		content.ToolCall{ID: "2"},
	}}))
	must(t, db.ForkSession(ctx, s, "fork", "t1"))
	gone, err := db.ForgetHandle(ctx, s, one.Handle)
	if diff := cmp.Diff([]content.Digest{one.Prepared.Digest}, gone); diff != "" || err != nil {
		t.Errorf("forgotten, error %v (-want +got):\n%s", err, diff)
	}
	for _, id := range []string{s, "fork"} {
		if ok, err := db.HasDigest(ctx, id, one.Prepared.Digest); err != nil || ok {
			t.Errorf("%s still names it: %v, %v", id, ok, err)
		}
	}
	// Its text is in an envelope with the same payload, and that stays.
	if ok, err := db.HasDigest(ctx, s, one.Original.Digest); err != nil || !ok {
		t.Errorf("another envelope lost its payload: %v, %v", ok, err)
	}
	rs, err := db.Receipts(ctx, s, history.Query{Turn: "t1"})
	must(t, err)
	for _, r := range rs {
		if r.Handle == one.Handle && (!r.Blob.Digest.IsZero() || r.Disposition != delivery.Inline || r.Blob.MIME != "image/png") {
			t.Errorf("receipt = %+v, want the record without the digest", r)
		}
	}
	ledger, err := db.Ledger(ctx, s, history.Lane{Endpoint: strings.Repeat("0", 63) + "7"})
	if _, ok := ledger[one.Handle]; ok || err != nil || len(ledger) != 3 {
		t.Errorf("ledger = %+v, %v", ledger, err)
	}
	_, err = db.ForgetHandle(ctx, s, two.Handle)
	must(t, err)
	_, err = db.ForgetHandle(ctx, s, "text-9")
	must(t, err)
	turns, err := db.Load(ctx, s)
	must(t, err)
	tool := turns[1].Messages[2].Parts[0].(content.ToolResult)
	if body := tool.Blocks[0].(content.Text).Body; body != "[forgotten]" {
		t.Errorf("text in a result is %q", body)
	}
	if !tool.Blocks[1].(content.Image).Original.IsZero() {
		t.Error("the picture in a result is not forgotten")
	}
	must(t, db.Close())
	raw, err := os.ReadFile(path)
	must(t, err)
	if bytes.Contains(raw, []byte("SECRETWORDS")) {
		t.Error("forgotten words are still in the file")
	}
}
