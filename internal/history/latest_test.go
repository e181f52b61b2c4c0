package history_test

import (
	"errors"
	"testing"

	"tote/internal/history"
)

// A session that was emptied, that only gave jobs, or of which only the mode was
// chosen is gone on with; one that was never used is not, and can be dropped.
func TestLatestOfUsed(t *testing.T) {
	db, ctx := open(t), t.Context()
	latest := func(want string) {
		t.Helper()
		if s, err := db.Latest(ctx, "/w"); err != nil || s.ID != want {
			t.Errorf("Latest = %q, %v, want %s", s.ID, err, want)
		}
	}
	for _, id := range []string{"other", "undone", "jobs", "mode", "unused"} {
		must(t, db.CreateSession(ctx, history.Session{ID: id, Cwd: "/w"}))
	}
	begin(t, db, "undone", "t1", user())
	begin(t, db, "other", "t1", user())
	must(t, db.UndoTurns(ctx, "undone", "t1"))
	latest("undone")
	must(t, db.SaveJob(ctx, history.Job{ID: "j", Parent: "jobs", State: history.JobDone}))
	latest("jobs")
	s, err := db.Session(ctx, "mode")
	must(t, err)
	s.Mode = "plan"
	must(t, db.UpdateSession(ctx, s))
	latest("mode")
	must(t, db.TouchSession(ctx, "undone"))
	latest("undone")
	if err := db.TouchSession(ctx, "nobody"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("touch of no session: %v", err)
	}
	if got, err := db.Session(ctx, "mode"); err != nil || got.Mode != "plan" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"other", "undone", "jobs", "mode", "unused"} {
		must(t, db.DropUnused(ctx, id))
		if _, err := db.Session(ctx, id); (err != nil) != (id == "unused") {
			t.Errorf("after DropUnused(%s): %v", id, err)
		}
	}
}
