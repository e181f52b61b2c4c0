package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
)

func turnIDs(turns []content.Turn) []string {
	out := []string{}
	for _, t := range turns {
		out = append(out, t.ID)
	}
	return out
}

func TestUndo(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	fill(t, db, s, 5)
	before := replay(t, db, s)
	refs := references(t, db)
	must(t, db.UndoTurns(ctx, s, "t4"))
	turns, err := db.Load(ctx, s)
	if diff := cmp.Diff([]string{"t1", "t2", "t3"}, turnIDs(turns)); diff != "" || err != nil {
		t.Errorf("turns, error %v (-want +got):\n%s", err, diff)
	}
	if got := replay(t, db, s); len(got) != 6 || got[5].Turn != "t3" {
		t.Errorf("replayed: %d, the last %+v", len(got), got[len(got)-1])
	}
	if tail, err := db.LoadTail(ctx, s, 2); err != nil || !slices.Equal(turnIDs(tail), []string{"t2", "t3"}) {
		t.Errorf("tail: %v, %v", turnIDs(tail), err)
	}
	got, err := db.Session(ctx, s)
	if err != nil || got.Turns != 3 || got.Pictures != 3 {
		t.Errorf("session %+v, %v", got, err)
	}
	if diff := cmp.Diff(refs, references(t, db)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if rs, err := db.Receipts(ctx, s, history.Query{Turn: "t5"}); err != nil || len(rs) != 2 {
		t.Errorf("receipts of an undone turn: %d, %v", len(rs), err)
	}
	undone, err := db.Undone(ctx, s)
	if err != nil || !slices.Equal(turnIDs(undone), []string{"t4", "t5"}) || len(undone[1].Messages) != 2 {
		t.Fatalf("undone: %v, %v", undone, err)
	}
	for i, turn := range undone {
		for j, p := range turn.Messages[0].Parts {
			want := before[6+2*i+j]
			if diff := cmp.Diff(want, replayed{turn.ID, p, turn.Messages[0].Envelopes[j]}); diff != "" {
				t.Errorf("undone part (-want +got):\n%s", diff)
			}
		}
	}
	for what, err := range map[string]error{
		"append": db.AppendMessage(ctx, s, "t4", assistant("late")), "end": db.EndTurn(ctx, s, "t4", content.StopEndTurn, content.Usage{}),
		"draft": db.SaveDraft(ctx, s, "t4", "late"),
	} {
		if !errors.Is(err, history.ErrUndone) {
			t.Errorf("%s of an undone turn: %v", what, err)
		}
	}
	if err := db.UndoTurns(ctx, s, "t4"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("undone twice: %v", err)
	}
	// The conversation goes on, with new numbers.
	fill(t, db, s, 1)
	turns, err = db.Load(ctx, s)
	if err != nil || !slices.Equal(turnIDs(turns), []string{"t1", "t2", "t3", "t6"}) {
		t.Errorf("turns: %v, %v", turnIDs(turns), err)
	}
	must(t, db.UndoTurns(ctx, s, "t3"))
	if undone, err := db.Undone(ctx, s); err != nil || !slices.Equal(turnIDs(undone), []string{"t3", "t6"}) {
		t.Errorf("undone: %v, %v", turnIDs(undone), err)
	}
}

// A fork has what its parent shows, and goes on with numbers that neither has
// given.
func TestForkOfUndone(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	fill(t, db, s, 4)
	must(t, db.SetDetached(ctx, s, []content.Handle{"image-1.png", "image-2.png"}, true))
	must(t, db.SetDetached(ctx, s, []content.Handle{"image-2.png"}, false))
	must(t, db.UndoTurns(ctx, s, "t3"))
	fill(t, db, s, 1)
	must(t, db.ForkSession(ctx, s, "fork", ""))
	turns, err := db.Load(ctx, s)
	must(t, err)
	forked, err := db.Load(ctx, "fork")
	if diff := cmp.Diff(turns, forked); diff != "" || err != nil || len(forked) != 3 {
		t.Errorf("fork, error %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(replay(t, db, s), replay(t, db, "fork")); diff != "" {
		t.Errorf("envelopes (-want +got):\n%s", diff)
	}
	if got, err := db.Session(ctx, "fork"); err != nil || got.Turns != 3 || got.Pictures != 3 {
		t.Errorf("fork: %+v, %v", got, err)
	}
	if ok, err := db.HasDigest(ctx, "fork", picture(3).Original.Digest); ok || err != nil {
		t.Errorf("the fork names what was undone: %v, %v", ok, err)
	}
	if undone, err := db.Undone(ctx, "fork"); len(undone) != 0 || err != nil {
		t.Errorf("undone in the fork: %v, %v", turnIDs(undone), err)
	}
	if off, err := db.Detached(ctx, "fork"); err != nil || !cmp.Equal(off, map[content.Handle]bool{"image-1.png": true}) {
		t.Errorf("detached in the fork: %v, %v", off, err)
	}
	first, err := db.TakeHandles(ctx, "fork", counts(1, 0))
	if err != nil || first[content.KindImage] != 6 {
		t.Errorf("handles: %v, %v", first, err)
	}
	if err := db.ForkSession(ctx, s, "other", "t3"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("fork up to an undone turn: %v", err)
	}
	for _, id := range []string{s, "fork"} {
		rs, err := db.Receipts(ctx, id, history.Query{Request: 5})
		var handles []content.Handle
		for _, r := range rs {
			handles = append(handles, r.Handle)
		}
		want := []content.Handle{"text-1", picture(1).Handle, "text-2", picture(2).Handle, "text-5", picture(5).Handle}
		if diff := cmp.Diff(want, handles); diff != "" || err != nil {
			t.Errorf("receipts of %s, error %v (-want +got):\n%s", id, err, diff)
		}
		if rs, err := db.Receipts(ctx, id, history.Query{Request: 4}); err != nil || len(rs) != 8 {
			t.Errorf("receipts of an undone request in %s: %d, %v", id, len(rs), err)
		}
	}
	must(t, db.UndoTurns(ctx, "fork", "t2"))
	if undone, err := db.Undone(ctx, "fork"); err != nil || !slices.Equal(turnIDs(undone), []string{"t2", "t5"}) {
		t.Errorf("undone in the fork: %v, %v", turnIDs(undone), err)
	}
}

// What a receipt of an undone turn said is no reason to leave one out, and none
// to say it of a later request.
func TestReceiptsAcrossAnUndo(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	say := func(turn string, disposition delivery.Disposition) int {
		t.Helper()
		begin(t, db, s, turn, user(picture(1)))
		n, err := db.NextRequest(ctx, s)
		must(t, err)
		must(t, db.SaveReceipts(ctx, s, turn, n, 1, []delivery.Receipt{receipt(1, disposition, delivery.RoutePrompt)}))
		return n
	}
	var want []delivery.Disposition
	for i, d := range []delivery.Disposition{delivery.Inline, delivery.Placeholder, delivery.Inline} {
		say(fmt.Sprint("t", i), d)
		want = append(want, d)
		if i == 1 {
			must(t, db.UndoTurns(ctx, s, "t1"))
		}
	}
	must(t, db.ForkSession(ctx, s, "fork", ""))
	for _, id := range []string{s, "fork"} {
		for i, d := range want {
			if rs, err := db.Receipts(ctx, id, history.Query{Request: i + 1}); err != nil || len(rs) != 1 || rs[0].Disposition != d {
				t.Errorf("request %d of %s: %+v, %v, want %v", i+1, id, rs, err, d)
			}
		}
	}
}

func TestSummaries(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	summary := func(id string) history.Summary {
		t.Helper()
		got, err := db.Summary(ctx, id)
		must(t, err)
		return got
	}
	if got := summary(s); got.Turns != 0 {
		t.Errorf("a summary of nothing: %+v", got)
	}
	fill(t, db, s, 6)
	two := history.Summary{Turns: 2, Text: "two", Model: "m", Created: start}
	four := history.Summary{Turns: 4, Text: "four", Model: "m", Created: start}
	must(t, db.SaveSummary(ctx, s, two))
	must(t, db.SaveSummary(ctx, s, four))
	for _, n := range []int{0, -1, 7} {
		if err := db.SaveSummary(ctx, s, history.Summary{Turns: n}); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("a summary of %d turns: %v", n, err)
		}
	}
	must(t, db.ForkSession(ctx, s, "short", "t3"))
	must(t, db.ForkSession(ctx, s, "long", "t4"))
	must(t, db.UndoTurns(ctx, s, "t5"))
	for id, want := range map[string]history.Summary{s: four, "short": two, "long": four} {
		if diff := cmp.Diff(want, summary(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	must(t, db.UndoTurns(ctx, s, "t4"))
	if diff := cmp.Diff(two, summary(s)); diff != "" {
		t.Errorf("after an undo (-want +got):\n%s", diff)
	}
	// Undone turns do not count: the third is now that after the gap.
	fill(t, db, s, 1)
	must(t, db.SaveSummary(ctx, s, history.Summary{Turns: 4, Text: "over the gap"}))
	must(t, db.UndoTurns(ctx, s, "t7"))
	if diff := cmp.Diff(two, summary(s)); diff != "" {
		t.Errorf("after the second undo (-want +got):\n%s", diff)
	}
	for range 40 {
		must(t, db.SaveSummary(ctx, s, two))
	}
	if n := history.Count(t, db, "summary"); n > 16+3 {
		t.Errorf("%d summaries are kept", n)
	}
}

// Random histories of turns, undos and forks hold what a simple model holds.
func TestUndoModel(t *testing.T) {
	db, ctx := open(t), t.Context()
	must(t, history.Unsynced(ctx, db))
	r := rand.New(rand.NewPCG(1, 2))
	live := map[string][]string{newSession(t, db): {}}
	names, undone := []string{"s"}, map[string][]string{}
	for i := range 300 {
		id := names[r.IntN(len(names))]
		turns := live[id]
		switch n := r.IntN(10); {
		case n < 6:
			turn := fmt.Sprint("t", i)
			begin(t, db, id, turn, user(picture(i)))
			live[id] = append(slices.Clone(turns), turn)
		case n < 8 && len(turns) > 0:
			at := r.IntN(len(turns))
			must(t, db.UndoTurns(ctx, id, turns[at]))
			live[id], undone[id] = slices.Clone(turns[:at]), turns[at:]
		case len(turns) > 0 && len(names) < 8:
			at, name := r.IntN(len(turns)), fmt.Sprint("f", i)
			must(t, db.ForkSession(ctx, id, name, turns[at]))
			live[name] = slices.Clone(turns[:at+1])
			names = append(names, name)
		}
	}
	for id, want := range live {
		turns, err := db.Load(ctx, id)
		if diff := cmp.Diff(want, turnIDs(turns)); diff != "" || err != nil {
			t.Errorf("%s, error %v (-want +got):\n%s", id, err, diff)
		}
		if s, err := db.Session(ctx, id); err != nil || s.Turns != len(want) || s.Pictures != len(want) {
			t.Errorf("%s: %+v, %v, want %d turns", id, s, err, len(want))
		}
		if got := replay(t, db, id); len(got) != len(want) {
			t.Errorf("%s: %d blocks, want %d", id, len(got), len(want))
		}
		last, err := db.Undone(ctx, id)
		if err != nil || !slices.Equal(turnIDs(last), undone[id]) && len(last)+len(undone[id]) > 0 {
			t.Errorf("%s: undone %v, %v, want %v", id, turnIDs(last), err, undone[id])
		}
	}
}
