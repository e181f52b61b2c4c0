package history_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
)

// maxGrowth is how many bytes the database may grow by for a turn with a
// picture, over 1,000 turns.
const maxGrowth = 4000

func size(t *testing.T, paths ...string) int64 {
	t.Helper()
	var n int64
	for _, p := range paths {
		info, err := os.Stat(p)
		must(t, err)
		n += info.Size()
	}
	return n
}

func TestGrowth(t *testing.T) {
	const turns = 1000
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	must(t, history.Unsynced(t.Context(), db))
	s := newSession(t, db)
	must(t, history.Flush(t.Context(), db))
	before := size(t, path, path+"-wal")
	fill(t, db, s, turns)
	must(t, history.Flush(t.Context(), db))
	per := (size(t, path, path+"-wal") - before) / turns
	t.Logf("%d bytes a turn", per)
	if per > maxGrowth {
		t.Errorf("a turn with a picture costs %d bytes, want at most %d", per, maxGrowth)
	}
}

// No payload gets into the file, whatever way a picture went.
func TestNoPayloadInTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	s := newSession(t, db)
	fill(t, db, s, 20)
	for i, p := range samples() {
		begin(t, db, s, fmt.Sprintf("sample%d", i), user(p))
	}
	must(t, db.ForkSession(t.Context(), s, "fork", ""))
	must(t, db.Close())
	raw, err := os.ReadFile(path)
	must(t, err)
	long := regexp.MustCompile(`[A-Za-z0-9+/_-]{200,}`)
	if found := long.Find(raw); found != nil {
		t.Errorf("%d characters that look like base64", len(found))
	}
	// The search would find one.
	sample := make([]byte, 300)
	_, _ = rand.NewChaCha8([32]byte{}).Read(sample) // never fails
	if long.FindString(base64.StdEncoding.EncodeToString(sample)) == "" {
		t.Error("the search does not see base64")
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "history.db")
	db := openAt(b, path)
	must(b, history.Unsynced(b.Context(), db))
	fill(b, db, newSession(b, db), 500)
	b.ReportAllocs()
	for b.Loop() {
		db, err := history.Open(b.Context(), path, history.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// heap is how many bytes live objects take.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkResume500Pictures is what opening a session of 500 pictures reads,
// and how many bytes of heap it keeps.
func BenchmarkResume500Pictures(b *testing.B) {
	db := open(b)
	must(b, history.Unsynced(b.Context(), db))
	s := newSession(b, db)
	fill(b, db, s, 500)
	lane := history.Lane{Endpoint: fmt.Sprintf("%064d", 7)}
	read := func() ([]content.Turn, map[content.Handle]delivery.LedgerEntry) {
		turns, err := db.Load(b.Context(), s)
		if err != nil || len(turns) != 500 {
			b.Fatal(len(turns), err)
		}
		rows, err := db.Ledger(b.Context(), s, lane)
		if err != nil || len(rows) != 1000 {
			b.Fatal(len(rows), err)
		}
		return turns, rows
	}
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
	before := heap()
	turns, rows := read()
	b.ReportMetric(heap()-before, "heap-B/session")
	runtime.KeepAlive(turns)
	runtime.KeepAlive(rows)
}

func BenchmarkReplay500Pictures(b *testing.B) {
	db := open(b)
	must(b, history.Unsynced(b.Context(), db))
	s := newSession(b, db)
	fill(b, db, s, 500)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := db.Envelopes(b.Context(), s, func(string, int, content.Part, content.Envelope) error { n++; return nil })
		if err != nil || n != 1000 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkLoadTail shows that the time depends on what is shown.
func BenchmarkLoadTail(b *testing.B) {
	db := open(b)
	must(b, history.Unsynced(b.Context(), db))
	s := newSession(b, db)
	for i := range 10_000 {
		begin(b, db, s, fmt.Sprintf("t%d", i), user(picture(i)))
	}
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d of 10000", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if turns, err := db.LoadTail(b.Context(), s, n); err != nil || len(turns) != n {
					b.Fatal(len(turns), err)
				}
			}
		})
	}
}

func BenchmarkBeginTurn(b *testing.B) {
	db := open(b)
	s := newSession(b, db)
	m := user(content.Text{Handle: "text-1", Body: "what is this?"}, picture(1))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		begin(b, db, s, fmt.Sprintf("t%d", i), m)
	}
}

// BenchmarkWholeTurn is all that is written for a turn with a picture: handles,
// the turn, the request's number, receipts, ledger, verdict, draft and answer.
func BenchmarkWholeTurn(b *testing.B) {
	db := open(b)
	s := newSession(b, db)
	b.ReportAllocs()
	for b.Loop() {
		fill(b, db, s, 1)
	}
}
