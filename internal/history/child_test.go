package history_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/history"
)

func ids(list []history.Session) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.ID)
	}
	return out
}

func TestChildren(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	_, err := db.TakeHandles(ctx, s, counts(3, 7))
	must(t, err)
	must(t, db.CreateChild(ctx, history.Session{ID: "task", Kind: "task", Cwd: "/w"}, s))
	must(t, db.CreateChild(ctx, history.Session{ID: "job", Kind: "job", Cwd: "/w"}, s))
	must(t, db.CreateChild(ctx, history.Session{ID: "deep", Kind: "escalation", Cwd: "/w"}, "task"))
	must(t, db.ForkSession(ctx, s, "fork", ""))
	must(t, db.ForkSession(ctx, "task", "of-task", ""))
	got, err := db.Children(ctx, s)
	if diff := cmp.Diff([]string{"task", "job"}, ids(got)); diff != "" || err != nil {
		t.Errorf("children, error %v (-want +got):\n%s", err, diff)
	}
	if got[0].Parent != s || got[0].Kind != "task" {
		t.Errorf("a child is %+v", got[0])
	}
	for _, tt := range []struct {
		children bool
		want     []string
	}{{false, []string{"of-task", "fork", "s"}}, {true, []string{"of-task", "fork", "deep", "job", "task", "s"}}} {
		list, _, err := db.Sessions(ctx, history.Filter{Children: tt.children})
		if diff := cmp.Diff(tt.want, ids(list)); diff != "" || err != nil {
			t.Errorf("list with children %v, error %v (-want +got):\n%s", tt.children, err, diff)
		}
	}
	// Numbers of the child never meet those that it was given.
	for _, id := range []string{"task", "deep"} {
		first, err := db.TakeHandles(ctx, id, counts(1, 1))
		if err != nil || first[content.KindImage] != 4 || first[content.KindText] != 8 {
			t.Errorf("first handles of %s: %v, %v", id, first, err)
		}
	}
	for what, err := range map[string]error{
		"exists": db.CreateChild(ctx, history.Session{ID: "task", Kind: "task"}, s),
		"orphan": db.CreateChild(ctx, history.Session{ID: "o", Kind: "task"}, "nobody"),
		"kind":   db.CreateChild(ctx, history.Session{ID: "k"}, s),
	} {
		if err == nil {
			t.Errorf("%s: a child was made", what)
		}
	}
	begin(t, db, "task", "t", user(picture(1)))
	if latest, err := db.Latest(ctx, "/w"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("Latest = %+v, %v, want no child", latest, err)
	}
	must(t, db.DeleteSession(ctx, s))
	list, _, err := db.Sessions(ctx, history.Filter{Children: true})
	if diff := cmp.Diff([]string{"of-task", "fork"}, ids(list)); diff != "" || err != nil {
		t.Errorf("left, error %v (-want +got):\n%s", err, diff)
	}
}

func TestJobs(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	job := func(id, state, owner string) history.Job {
		return history.Job{ID: id, Parent: s, Session: "c-" + id, Agent: "a", Title: "look", State: state, Owner: owner, Started: start}
	}
	one, two, three := job("1", history.JobRunning, "p1"), job("2", history.JobRunning, "p2"), job("3", history.JobDone, "p1")
	three.Ended, three.Report, three.Reported = start.Add(1), "found it", true
	for _, j := range []history.Job{one, two, three} {
		must(t, db.SaveJob(ctx, j))
	}
	got, err := db.Jobs(ctx, s)
	if diff := cmp.Diff([]history.Job{one, two, three}, got); diff != "" || err != nil {
		t.Errorf("jobs, error %v (-want +got):\n%s", err, diff)
	}
	two.State, two.Report, two.Ended = history.JobFailed, "no", start.Add(2)
	must(t, db.SaveJob(ctx, two))
	if j, err := db.Job(ctx, "2"); err != nil || !cmp.Equal(j, two) {
		t.Errorf("Job = %+v, %v", j, err)
	}
	if owners, err := db.JobOwners(ctx); err != nil || !cmp.Equal(owners, []string{"p1"}) {
		t.Errorf("owners: %v, %v", owners, err)
	}
	if list, err := db.InterruptJobs(ctx, "p2"); err != nil || len(list) != 0 {
		t.Errorf("interrupted of p2: %+v, %v", list, err)
	}
	list, err := db.InterruptJobs(ctx, "p1")
	if err != nil || len(list) != 1 || list[0].ID != "1" || list[0].State != history.JobInterrupted || list[0].Ended.IsZero() {
		t.Errorf("interrupted of p1: %+v, %v", list, err)
	}
	if j, err := db.Job(ctx, "1"); err != nil || !cmp.Equal(j, list[0]) {
		t.Errorf("the interrupted job is %+v, %v", j, err)
	}
	for what, j := range map[string]history.Job{
		"state": {ID: "x", Parent: s, State: "sleeping"}, "id": {Parent: s, State: history.JobDone}, "parent": {ID: "x", Parent: "nobody", State: history.JobDone},
	} {
		if err := db.SaveJob(ctx, j); err == nil {
			t.Errorf("%s: a job was saved", what)
		}
	}
	must(t, db.DeleteSession(ctx, s))
	if _, err := db.Job(ctx, "1"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("job of a deleted session: %v", err)
	}
}

func TestPermits(t *testing.T) {
	db, ctx := open(t), t.Context()
	must(t, db.Allow(ctx, "/b", "run go test *"))
	must(t, db.Allow(ctx, "/a", "edit *"))
	must(t, db.Allow(ctx, "/b", "edit *"))
	must(t, db.Allow(ctx, "/b", "run go test *"))
	if got, err := db.Allowed(ctx, "/b"); err != nil || !cmp.Equal(got, []string{"run go test *", "edit *"}) {
		t.Errorf("Allowed = %q, %v", got, err)
	}
	all, err := db.Permits(ctx)
	if err != nil || len(all) != 3 || all[0].Folder != "/a" || all[0].Created.IsZero() {
		t.Errorf("Permits = %+v, %v", all, err)
	}
	for _, want := range []bool{true, false} {
		if ok, err := db.Disallow(ctx, "/b", "edit *"); ok != want || err != nil {
			t.Errorf("Disallow = %v, %v, want %v", ok, err, want)
		}
	}
	if got, err := db.Allowed(ctx, "/c"); err != nil || len(got) != 0 {
		t.Errorf("Allowed elsewhere = %q, %v", got, err)
	}
	if db.Allow(ctx, "", "x") == nil || db.Allow(ctx, "/a", "") == nil {
		t.Error("half a rule was allowed")
	}
}

func TestCosts(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	for _, id := range []string{"t1", "t2", "t3"} {
		begin(t, db, s, id, user(picture(1)))
	}
	must(t, db.CreateChild(ctx, history.Session{ID: "c", Kind: "task"}, s))
	must(t, db.CreateChild(ctx, history.Session{ID: "cc", Kind: "task"}, "c"))
	begin(t, db, "c", "t", user(picture(1)))
	begin(t, db, "cc", "t", user(picture(1)))
	must(t, db.SaveCost(ctx, s, "t1", 0.5))
	must(t, db.SaveCost(ctx, s, "t1", 0.25))
	must(t, db.SaveCost(ctx, s, "t3", 0))
	must(t, db.SaveCost(ctx, "c", "t", 1))
	must(t, db.SaveCost(ctx, "cc", "t", 2))
	must(t, db.UndoTurns(ctx, s, "t3"))
	must(t, db.ForkSession(ctx, s, "fork", ""))
	want := history.Costs{Turns: map[string]float64{"t1": 0.25, "t3": 0}, Own: 0.25, Children: 3}
	got, err := db.Costs(ctx, s)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("costs, error %v (-want +got):\n%s", err, diff)
	}
	if got, err := db.Costs(ctx, "fork"); err != nil || len(got.Turns) != 0 || got.Own+got.Children != 0 {
		t.Errorf("costs of a fork: %+v, %v", got, err)
	}
	if err := db.SaveCost(ctx, s, "t1", -1); err == nil {
		t.Error("a negative cost was saved")
	}
	if err := db.SaveCost(ctx, s, "t9", 1); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("cost of no turn: %v", err)
	}
}
