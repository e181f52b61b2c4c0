package history_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/history"
)

// A database of every older version becomes one of today, with what it held.
func TestMigrateFromEveryVersion(t *testing.T) {
	newest, err := history.Versions()
	must(t, err)
	for v := 1; v < newest; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			ctx := t.Context()
			path := filepath.Join(t.TempDir(), "history.db")
			must(t, history.MakeVersion(ctx, path, v, picture(1)))
			db := openAt(t, path)
			turns, err := db.Load(ctx, "s")
			want := []content.Turn{{ID: "old", Stop: content.StopEndTurn, Messages: []content.Message{user(picture(1))}}}
			if diff := cmp.Diff(want, turns); diff != "" || err != nil {
				t.Fatalf("turns, error %v (-want +got):\n%s", err, diff)
			}
			list, _, err := db.Sessions(ctx, history.Filter{})
			if err != nil || len(list) != 1 || list[0].Kind != "" || list[0].Turns != 1 {
				t.Fatalf("Sessions = %+v, %v", list, err)
			}
			everything(t, db, "s")
		})
	}
}

// everything uses each table once.
func everything(t *testing.T, db *history.DB, s string) {
	t.Helper()
	ctx := t.Context()
	begin(t, db, s, "new", user(picture(2)))
	must(t, db.SaveCost(ctx, s, "new", 0.25))
	must(t, db.SaveSummary(ctx, s, history.Summary{Turns: 1, Text: "x"}))
	must(t, db.SetDetached(ctx, s, []content.Handle{"image-1.png"}, true))
	must(t, db.SaveCheckpoint(ctx, s, "new", history.Checkpoint{Path: "/w/f", Target: "/w/f"}))
	must(t, db.CreateChild(ctx, history.Session{ID: "child", Kind: "job"}, s))
	must(t, db.SaveJob(ctx, history.Job{ID: "job-1", Parent: s, Session: "child", State: history.JobRunning}))
	must(t, db.Allow(ctx, "/w", "rule"))
	must(t, db.SaveDescription(ctx, picture(2).Original.Digest, "q", described("d")))
	must(t, db.ForkSession(ctx, s, "fork", ""))
	must(t, db.UndoTurns(ctx, s, "new"))
	_, err := db.ForgetHandle(ctx, s, "image-1.png")
	must(t, err)
	must(t, db.DeleteSession(ctx, s))
}
