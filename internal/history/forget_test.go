package history_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/history"
)

func described(text string) delivery.Description {
	return delivery.Description{Model: "seer", Text: text}
}

func TestDescriptions(t *testing.T) {
	db, ctx := open(t), t.Context()
	a, b := contenttest.Digest(1), contenttest.Digest(2)
	long := strings.Repeat("ü", 5000)
	must(t, db.SaveDescription(ctx, a, "", described("old")))
	must(t, db.SaveDescription(ctx, a, "", described("general")))
	must(t, db.SaveDescription(ctx, a, long+"1", described("first")))
	must(t, db.SaveDescription(ctx, a, long+"2", described(strings.Repeat("ä", delivery.MaxDescription))))
	for _, tt := range []struct {
		picture  content.Digest
		question string
		want     string
	}{{a, "", "general"}, {a, long + "1", "first"}, {a, long, ""}, {b, "", ""}} {
		got, found, err := db.Description(ctx, tt.picture, tt.question)
		if got.Text != tt.want || found != (tt.want != "") || err != nil {
			t.Errorf("%q of %s: %+v, %v, %v", tt.question, tt.picture.Short(), got, found, err)
		}
	}
	got, _, err := db.Description(ctx, a, long+"2")
	if n := len(got.Text); err != nil || n <= delivery.MaxDescription || n > delivery.MaxDescription+4 || strings.ToValidUTF8(got.Text, "") != got.Text {
		t.Errorf("a long text has %d bytes, %v", n, err)
	}
	if db.SaveDescription(ctx, content.Digest{}, "", described("x")) == nil || db.SaveDescription(ctx, a, "", described("")) == nil {
		t.Error("half a description was saved")
	}
	if refs := references(t, db); len(refs) != 0 {
		t.Errorf("a description keeps blobs alive: %v", refs)
	}
}

func TestDescriptionsAreBounded(t *testing.T) {
	db, ctx := open(t), t.Context()
	must(t, history.Exec(ctx, db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 10500)
		INSERT INTO description SELECT unhex(printf('%064x', i)), x'00', '', 'm', 'x', i FROM n`))
	must(t, db.SaveDescription(ctx, contenttest.Digest(7), "q", described("newest")))
	if n := history.Count(t, db, "description"); n != 10_000 {
		t.Errorf("%d descriptions are kept", n)
	}
	if _, found, err := db.Description(ctx, contenttest.Digest(7), "q"); !found || err != nil {
		t.Errorf("the newest was dropped: %v, %v", found, err)
	}
}

// What was said about a picture goes with the last session that has it.
func TestDescriptionsGoWithTheirPictures(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	begin(t, db, s, "t", user(picture(1), picture(2)))
	must(t, db.CreateSession(ctx, history.Session{ID: "other"}))
	begin(t, db, "other", "t", user(picture(2)))
	for i := 1; i <= 2; i++ {
		must(t, db.SaveDescription(ctx, picture(i).Original.Digest, "q", described("x")))
	}
	must(t, db.DeleteSession(ctx, s))
	for i, want := range []bool{false, true} {
		if _, found, err := db.Description(ctx, picture(i+1).Original.Digest, "q"); found != want || err != nil {
			t.Errorf("description of picture %d: %v, %v", i+1, found, err)
		}
	}
}

// forgetBench is a session with a secret picture and text that went everywhere.
func forgetBench(t *testing.T, db *history.DB) (s string, secret content.Image) {
	t.Helper()
	ctx := t.Context()
	s, secret = newSession(t, db), picture(1)
	must(t, db.UpdateSession(ctx, history.Session{ID: s, Title: "SECRETWORDS in"}))
	_, err := db.TakeHandles(ctx, s, counts(5, 5))
	must(t, err)
	begin(t, db, s, "t1", user(content.Text{Handle: "text-1", Body: "SECRETWORDS\x01 in a text"}, secret, picture(2)))
	again := secret
	again.Handle = "image-3.png"
	must(t, db.AppendMessage(ctx, s, "t1", content.Message{Role: content.RoleTool, Parts: []content.Part{
		content.ToolResult{CallID: "1", Blocks: []content.Block{again}},
	}}))
	must(t, db.SaveSummary(ctx, s, history.Summary{Turns: 1, Text: "SECRETSUMMARY"}))
	must(t, db.SaveDescription(ctx, secret.Original.Digest, "q", described("SECRETDESCRIPTION")))
	must(t, db.SaveDescription(ctx, variant(50).Digest, "q", described("SECRETDESCRIPTION")))
	must(t, db.SaveDescription(ctx, picture(2).Original.Digest, "q", described("other")))
	must(t, db.SaveVariant(ctx, secret.Original.Digest, "k", variant(50)))
	lane := history.Lane{Endpoint: "e"}
	must(t, db.SaveLedger(ctx, s, lane, map[content.Handle]delivery.LedgerEntry{
		secret.Handle: {Disposition: delivery.Described, Reason: delivery.ReasonFits, Note: "SECRETNOTE"},
		again.Handle:  {Disposition: delivery.Inline, Reason: delivery.ReasonFits, Variant: variant(50)},
	}))
	must(t, db.SaveVerdict(ctx, history.Verdict{Endpoint: "e", Digest: secret.Prepared.Digest, MIME: "image/png", Accepted: true}))
	must(t, db.ForkSession(ctx, s, "fork", ""))
	must(t, db.ForkSession(ctx, "fork", "fork2", ""))
	must(t, db.UndoTurns(ctx, "fork", "t1"))
	must(t, db.CreateChild(ctx, history.Session{ID: "child", Kind: "task"}, s))
	begin(t, db, "child", "c1", user(content.Text{Handle: "text-6", Body: "look"}, secret))
	// Numbers of before a fork stand for the same block, later ones do not.
	begin(t, db, "fork2", "t2", user(content.Text{Handle: "text-1", Body: "not the same"}))
	return s, secret
}

func TestForgetEverywhere(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "history.db"), t.Context()
	db := openAt(t, path)
	s, secret := forgetBench(t, db)
	gone, err := db.ForgetHandle(ctx, s, secret.Handle)
	must(t, err)
	got := map[content.Digest]bool{}
	for _, d := range gone {
		got[d] = true
	}
	want := map[content.Digest]bool{secret.Original.Digest: true, secret.Prepared.Digest: true, variant(50).Digest: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	for d := range references(t, db) {
		if want[d] {
			t.Errorf("still referenced: %s", d.Short())
		}
	}
	if vs, err := db.Verdicts(ctx, "e", start); err != nil || len(vs) != 0 {
		t.Errorf("verdicts: %+v, %v", vs, err)
	}
	if d, found, err := db.Description(ctx, picture(2).Original.Digest, "q"); !found || d.Text != "other" || err != nil {
		t.Errorf("the description of another picture: %+v, %v", d, err)
	}
	if _, err := db.ForgetHandle(ctx, s, "text-1"); err != nil {
		t.Error(err)
	}
	for _, id := range []string{s, "fork", "fork2"} {
		if got, err := db.Session(ctx, id); err != nil || got.Title != "[forgotten]" {
			t.Errorf("title of %s: %q, %v", id, got.Title, err)
		}
	}
	turns, err := db.Load(ctx, "fork2")
	if err != nil || turns[1].Messages[0].Parts[0].(content.Text).Body != "not the same" {
		t.Errorf("another block with that handle: %+v, %v", turns, err)
	}
	child, err := db.Load(ctx, "child")
	if img := child[0].Messages[0].Parts[1].(content.Image); err != nil || !img.Original.IsZero() || img.Fault != content.FaultMissing {
		t.Errorf("the child has %+v, %v", img, err)
	}
	must(t, db.Close())
	raw, err := os.ReadFile(path)
	must(t, err)
	for _, word := range []string{"SECRETWORDS", "SECRETSUMMARY", "SECRETDESCRIPTION", "SECRETNOTE", secret.Original.Digest.String(), string(secret.Original.Digest[:])} {
		if bytes.Contains(raw, []byte(word)) {
			t.Errorf("%q is still in the file", word)
		}
	}
}

// Forgetting in a fork leaves the session alone that it was made from.
func TestForgetGoesDownOnly(t *testing.T) {
	db, ctx := open(t), t.Context()
	s, secret := forgetBench(t, db)
	gone, err := db.ForgetHandle(ctx, "fork2", secret.Handle)
	if err != nil || len(gone) != 0 {
		t.Errorf("gone: %v, %v", gone, err)
	}
	if ok, err := db.HasDigest(ctx, s, secret.Original.Digest); !ok || err != nil {
		t.Errorf("the first session: %v, %v", ok, err)
	}
	if ok, err := db.HasDigest(ctx, "fork2", secret.Original.Digest); ok || err != nil {
		t.Errorf("the fork: %v, %v", ok, err)
	}
	for _, h := range []content.Handle{"", "image-9.png"} {
		if _, err := db.ForgetHandle(ctx, s, h); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("forget %q: %v", h, err)
		}
	}
}

// A checkpoint may be a user's only copy of a file: it keeps its blob.
func TestCheckpoints(t *testing.T) {
	db, ctx := open(t), t.Context()
	s, p := newSession(t, db), picture(1)
	begin(t, db, s, "t1", user(p))
	begin(t, db, s, "t2", user(picture(2)))
	one := history.Checkpoint{Turn: "t1", N: 1, Path: "/l/a", Target: "/w/a", Before: p.Original.Digest, Mode: 0o755, Size: 7}
	two := history.Checkpoint{Turn: "t1", N: 2, Path: "/w/b", Target: "/w/b"}
	three := history.Checkpoint{Turn: "t2", N: 1, Path: "/w/a", Target: "/w/a", Before: contenttest.Digest(9), Mode: 0o644}
	for _, c := range []history.Checkpoint{one, two, three} {
		must(t, db.SaveCheckpoint(ctx, s, c.Turn, c))
	}
	must(t, db.SaveAfter(ctx, s, "t1", 2, contenttest.Digest(3), 0o600))
	two.Noted, two.After, two.AfterMode = true, contenttest.Digest(3), 0o600
	must(t, db.SaveAfter(ctx, s, "t2", 1, content.Digest{}, 0))
	three.Noted = true
	must(t, db.SaveExpected(ctx, s, "t1", 1, contenttest.Digest(4)))
	one.Expecting, one.Expected = true, contenttest.Digest(4)
	must(t, db.SaveExpected(ctx, s, "t2", 1, content.Digest{}))
	three.Expecting = true
	must(t, db.SaveExpected(ctx, s, "t1", 2, contenttest.Digest(5)))
	must(t, db.SaveAfter(ctx, s, "t1", 2, two.After, two.AfterMode)) // what was expected has come
	if err := db.SaveExpected(ctx, s, "t2", 5, content.Digest{}); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("what is expected of no checkpoint: %v", err)
	}
	if err := db.SaveAfter(ctx, s, "t2", 5, content.Digest{}, 0); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("what was left of no checkpoint: %v", err)
	}
	must(t, db.ForkSession(ctx, s, "fork", ""))
	must(t, db.UndoTurns(ctx, s, "t1"))
	for _, id := range []string{s, "fork"} {
		got, err := db.Checkpoints(ctx, id, []string{"t2", "t1", "t9"})
		if diff := cmp.Diff([]history.Checkpoint{one, two, three}, got); diff != "" || err != nil {
			t.Errorf("checkpoints of %s, error %v (-want +got):\n%s", id, err, diff)
		}
		if got, err := db.Checkpoints(ctx, id, []string{"t2"}); err != nil || len(got) != 1 {
			t.Errorf("checkpoints of one turn of %s: %+v, %v", id, got, err)
		}
		if got, err := db.Checkpoints(ctx, id, nil); err != nil || len(got) != 0 {
			t.Errorf("checkpoints of no turn of %s: %+v, %v", id, got, err)
		}
	}
	gone, err := db.ForgetHandle(ctx, s, p.Handle)
	if diff := cmp.Diff([]content.Digest{p.Prepared.Digest}, gone); diff != "" || err != nil {
		t.Errorf("gone, error %v (-want +got):\n%s", err, diff)
	}
	refs := references(t, db)
	if !refs[p.Original.Digest] || !refs[contenttest.Digest(9)] || refs[contenttest.Digest(3)] {
		t.Errorf("references: %v", refs)
	}
	must(t, db.DeleteSession(ctx, s))
	must(t, db.DeleteSession(ctx, "fork"))
	if n := history.Count(t, db, "checkpoint"); n != 0 || len(references(t, db)) != 0 {
		t.Errorf("%d checkpoints are left, and %v", n, references(t, db))
	}
}
