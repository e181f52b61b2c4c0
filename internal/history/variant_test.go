package history_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/history"
)

func variant(i int) content.Blob {
	return content.Blob{Digest: contenttest.Digest(byte(i)), MIME: "image/jpeg", Size: int64(1000 + i), Width: 640, Height: 480 + i}
}

// What was cut is known after a restart, by original and bounds.
func TestVariants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	a, b := contenttest.Digest(1), contenttest.Digest(2)
	must(t, db.SaveVariant(t.Context(), a, "1000", variant(10)))
	must(t, db.SaveVariant(t.Context(), a, "500", variant(11)))
	must(t, db.SaveVariant(t.Context(), b, "500", variant(12)))
	must(t, db.SaveVariant(t.Context(), a, "500", variant(13)))
	again := openAt(t, path)
	for _, tt := range []struct {
		original content.Digest
		key      string
		want     content.Blob
	}{{a, "1000", variant(10)}, {a, "500", variant(13)}, {b, "500", variant(12)}, {b, "1000", content.Blob{}}, {a, "", content.Blob{}}} {
		got, found, err := again.Variant(t.Context(), tt.original, tt.key)
		if diff := cmp.Diff(tt.want, got); diff != "" || found != (tt.want != content.Blob{}) || err != nil {
			t.Errorf("%s of %s: %v, %v (-want +got):\n%s", tt.key, tt.original.Short(), found, err, diff)
		}
	}
	if err := db.SaveVariant(t.Context(), a, "k", content.Blob{}); err == nil {
		t.Error("a variant without a digest was saved")
	}
	if err := db.SaveVariant(t.Context(), content.Digest{}, "k", variant(1)); err == nil {
		t.Error("a variant of nothing was saved")
	}
	if refs := references(t, db); len(refs) != 0 {
		t.Errorf("a cached variant keeps blobs alive: %v", refs)
	}
}

// The cache is bounded: the oldest go.
func TestVariantsAreBounded(t *testing.T) {
	db := open(t)
	must(t, history.Exec(t.Context(), db, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20500)
		INSERT INTO variant SELECT unhex(printf('%%064x', i)), 'k', unhex(printf('%%064x', i)), 'image/png', 1, 1, 1, %d + i FROM n`, start.UnixNano())))
	must(t, db.SaveVariant(t.Context(), contenttest.Digest(7), "k", variant(7)))
	if n := history.Count(t, db, "variant"); n != 20_000 {
		t.Errorf("%d variants are kept", n)
	}
	if _, found, err := db.Variant(t.Context(), contenttest.Digest(7), "k"); !found || err != nil {
		t.Errorf("the newest was dropped: %v, %v", found, err)
	}
	var oldest content.Digest
	oldest[31] = 1
	if _, found, err := db.Variant(t.Context(), oldest, "k"); found || err != nil {
		t.Errorf("the oldest was kept: %v, %v", found, err)
	}
}

// What was cut from a forgotten picture is forgotten with it.
func TestForgetTakesVariants(t *testing.T) {
	db := open(t)
	s := newSession(t, db)
	p, other := picture(1), picture(2)
	begin(t, db, s, "t", user(p, other))
	must(t, db.SaveVariant(t.Context(), p.Original.Digest, "k", variant(50)))
	must(t, db.SaveVariant(t.Context(), p.Original.Digest, "same", other.Prepared))
	must(t, db.SaveVariant(t.Context(), other.Original.Digest, "k", variant(51)))
	gone, err := db.ForgetHandle(t.Context(), s, p.Handle)
	must(t, err)
	got := map[content.Digest]bool{}
	for _, d := range gone {
		got[d] = true
	}
	if !got[variant(50).Digest] || got[other.Prepared.Digest] || got[variant(51).Digest] {
		t.Errorf("gone: %v", gone)
	}
	if _, found, _ := db.Variant(t.Context(), p.Original.Digest, "k"); found {
		t.Error("the variant is still remembered")
	}
	if _, found, _ := db.Variant(t.Context(), other.Original.Digest, "k"); !found {
		t.Error("the variant of another picture was forgotten")
	}
}

// Limits run out, those of a loaded model first. What was kept before they had a
// time has run out.
func TestLimitsRunOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	at := func(after time.Duration) *history.DB {
		db, err := history.Open(t.Context(), path, history.Options{Now: func() time.Time { return start.Add(after) }})
		must(t, err)
		t.Cleanup(func() { must(t, db.Close()) })
		return db
	}
	db := at(0)
	for _, n := range []string{delivery.LimitRequest, delivery.LimitBytes, delivery.LimitEdge, delivery.LimitCount, delivery.LimitContext, "hoist_results"} {
		must(t, db.SaveLimit(t.Context(), "e", n, 9))
	}
	const day = 24 * time.Hour
	for days, want := range map[int]int{0: 6, 6: 6, 8: 4, 29: 4, 31: 0, -6: 6, -40: 0} {
		if got, err := at(time.Duration(days)*day).Limits(t.Context(), "e"); len(got) != want || err != nil {
			t.Errorf("after %d days: %v, %v", days, got, err)
		}
	}
	must(t, at(31*day).SaveLimit(t.Context(), "e", delivery.LimitEdge, 8))
	if got, err := at(32*day).Limits(t.Context(), "e"); got[delivery.LimitEdge] != 8 || err != nil {
		t.Errorf("learned anew: %v, %v", got, err)
	}
	must(t, history.Exec(t.Context(), db, "UPDATE learned SET at = 0"))
	if got, err := at(31*day).Limits(t.Context(), "e"); len(got) != 0 || err != nil {
		t.Errorf("of before: %v, %v", got, err)
	}
}

// What an endpoint refused and said outlives the process.
func TestWhatWasLearnedOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	v := history.Verdict{Endpoint: "e", Digest: contenttest.Digest(1), MIME: "image/png", Reason: "refused", Until: start.Add(time.Hour), Created: start}
	e := history.Evidence{Endpoint: "e", Kind: content.KindImage, Answer: delivery.No, Evidence: delivery.EvidenceServer, Detail: "the server said so", At: start}
	must(t, db.SaveVerdict(t.Context(), v))
	must(t, db.SaveEvidence(t.Context(), e))
	must(t, db.SaveLimit(t.Context(), "e", delivery.LimitContext, 8192))
	again := openAt(t, path)
	vs, err := again.Verdicts(t.Context(), "e", start)
	if diff := cmp.Diff([]history.Verdict{v}, vs); diff != "" || err != nil {
		t.Errorf("verdicts, error %v (-want +got):\n%s", err, diff)
	}
	es, err := again.Evidence(t.Context(), "e")
	if diff := cmp.Diff([]history.Evidence{e}, es); diff != "" || err != nil {
		t.Errorf("evidence, error %v (-want +got):\n%s", err, diff)
	}
	if got, err := again.Limits(t.Context(), "e"); got[delivery.LimitContext] != 8192 || err != nil {
		t.Errorf("limits: %v, %v", got, err)
	}
}

// A database of the first version keeps everything but the limits, which had no
// time.
func TestUpgradeFromTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	must(t, history.MakeVersion(t.Context(), path, 1, picture(1)))
	db := openAt(t, path)
	s, err := db.Session(t.Context(), "s")
	if s.Title != "old" || err != nil {
		t.Errorf("session %+v, %v", s, err)
	}
	if got, err := db.Limits(t.Context(), "e"); len(got) != 0 || err != nil {
		t.Errorf("limits: %v, %v", got, err)
	}
	must(t, db.SaveLimit(t.Context(), "e", delivery.LimitRequest, 800_000))
	if got, err := db.Limits(t.Context(), "e"); got[delivery.LimitRequest] != 800_000 || err != nil {
		t.Errorf("limits: %v, %v", got, err)
	}
	must(t, db.SaveVariant(t.Context(), contenttest.Digest(1), "k", variant(2)))
	fill(t, db, "s", 2)
}

// What a server said of itself outlives the process, and goes with its endpoint.
func TestSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	must(t, db.SaveSaid(t.Context(), "e", []byte(`{"old":1}`)))
	must(t, db.SaveSaid(t.Context(), "e", []byte(`{"new":1}`)))
	again := openAt(t, path)
	if got, err := again.Said(t.Context(), "e"); string(got) != `{"new":1}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := again.Said(t.Context(), "f"); got != nil || err != nil {
		t.Errorf("of another: %s, %v", got, err)
	}
	must(t, again.ForgetEndpoint(t.Context(), "e"))
	if got, err := db.Said(t.Context(), "e"); got != nil || err != nil {
		t.Errorf("of one that was forgotten: %s, %v", got, err)
	}
}
