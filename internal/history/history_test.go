package history_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/history"
)

// start is when the clock of the tests begins.
var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// clock goes on by one second with each look at it.
type clock struct{ t time.Time }

func (c *clock) now() time.Time {
	c.t = c.t.Add(time.Second)
	return c.t
}

func openAt(tb testing.TB, path string) *history.DB {
	tb.Helper()
	c := &clock{t: start}
	db, err := history.Open(tb.Context(), path, history.Options{Now: c.now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func open(tb testing.TB) *history.DB {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "history.db"))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// newSession makes a session "s" to work in.
func newSession(tb testing.TB, db *history.DB) string {
	tb.Helper()
	must(tb, db.CreateSession(tb.Context(), history.Session{ID: "s", Cwd: "/w", Agent: "a"}))
	return "s"
}

func user(parts ...content.Part) content.Message {
	return content.Message{Role: content.RoleUser, Parts: parts}
}

func assistant(text string) content.Message {
	return content.Message{Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: text}}}
}

func begin(tb testing.TB, db *history.DB, session, id string, m content.Message) {
	tb.Helper()
	must(tb, db.BeginTurn(tb.Context(), session, content.Turn{ID: id, Messages: []content.Message{m}}))
}

// counts says how many pictures and texts to take handles for.
func counts(pictures, texts int) map[content.Kind]int {
	m := make(map[content.Kind]int)
	m[content.KindImage], m[content.KindText] = pictures, texts
	return m
}

// picture makes the n-th picture of a session.
func picture(n int) content.Image {
	sum := func(b byte) content.Digest {
		d := contenttest.Digest(b)
		d[0], d[1] = byte(n), byte(n>>8)
		return d
	}
	return content.Image{Frames: 1, Attachment: content.Attachment{
		Handle: content.NewHandle(content.KindImage, n, ".png"), Name: fmt.Sprintf("Screenshot 2026-11-20 at %d.png", n), Declared: "image/png",
		Origin:   content.Origin{Inlet: content.InletACP, Path: fmt.Sprintf("/home/someone/Pictures/Screenshot %d.png", n), Chooser: content.ChosenByUser},
		Original: content.Blob{Digest: sum(1), MIME: "image/png", Size: 1_234_567, Width: 3024, Height: 1964},
		Prepared: content.Blob{Digest: sum(2), MIME: "image/png", Size: 345_678, Width: 2000, Height: 1299}, Changes: content.ChangeShrunk,
	}}
}

func TestSessions(t *testing.T) {
	db, ctx := open(t), t.Context()
	want := history.Session{
		ID: "one", Title: "a title", Cwd: "/w/ü", Agent: "opus", Parent: "zero", Generation: 3,
		Dirs: []string{"/a", "/b c"}, Created: start.Add(-time.Hour), Updated: start.Add(-time.Minute),
	}
	must(t, db.CreateSession(ctx, want))
	if err := db.CreateSession(ctx, want); !errors.Is(err, history.ErrExists) {
		t.Errorf("CreateSession again: %v, want ErrExists", err)
	}
	if err := db.CreateSession(ctx, history.Session{}); err == nil {
		t.Error("a session without an identifier was made")
	}
	got, err := db.Session(ctx, "one")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Session, error %v (-want +got):\n%s", err, diff)
	}
	want.Title, want.Agent, want.Generation, want.Dirs = "other", "haiku", 4, nil
	must(t, db.UpdateSession(ctx, want))
	got, err = db.Session(ctx, "one")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("after UpdateSession, error %v (-want +got):\n%s", err, diff)
	}
	must(t, db.DeleteSession(ctx, "one"))
	for what, err := range map[string]error{
		"Session": func() error { _, err := db.Session(ctx, "one"); return err }(),
		"Update":  db.UpdateSession(ctx, want),
		"Delete":  db.DeleteSession(ctx, "one"),
		"Latest":  func() error { _, err := db.Latest(ctx, "/w/ü"); return err }(),
		"Load":    func() error { _, err := db.Load(ctx, "one"); return err }(),
		"Begin":   db.BeginTurn(ctx, "one", content.Turn{ID: "t", Messages: []content.Message{user()}}),
		"Append":  db.AppendMessage(ctx, "one", "t", assistant("x")),
		"Request": func() error { _, err := db.NextRequest(ctx, "one"); return err }(),
		"Handles": func() error { _, err := db.TakeHandles(ctx, "one", nil); return err }(),
		"Fork":    db.ForkSession(ctx, "one", "two", ""),
	} {
		if !errors.Is(err, history.ErrNotFound) {
			t.Errorf("%s of a session that is gone: %v, want ErrNotFound", what, err)
		}
	}
}

func TestSessionListIsPagedNewestFirst(t *testing.T) {
	db, ctx := open(t), t.Context()
	var want []string
	for i := range 23 {
		id := fmt.Sprintf("s%02d.x", i)
		// Three share one time, so that the identifier has to decide.
		at := start.Add(time.Duration(i/3) * time.Minute)
		must(t, db.CreateSession(ctx, history.Session{ID: id, Cwd: "/w", Created: at, Updated: at}))
		must(t, db.CreateSession(ctx, history.Session{ID: "other" + id, Cwd: "/elsewhere", Created: at, Updated: at}))
		want = append([]string{id}, want...)
	}
	var got []string
	for cursor := ""; ; {
		page, next, err := db.Sessions(ctx, history.Filter{Cwd: "/w", Limit: 5, Cursor: cursor})
		must(t, err)
		for _, s := range page {
			got = append(got, s.ID)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	all, next, err := db.Sessions(ctx, history.Filter{})
	if err != nil || len(all) != 46 || next != "" {
		t.Errorf("Sessions without a filter: %d, next %q, %v, want all 46", len(all), next, err)
	}
	for _, bad := range []string{"x", "1.", ".x", "1e3.x", "';--.x"} {
		if _, _, err := db.Sessions(ctx, history.Filter{Cursor: bad}); !errors.Is(err, history.ErrCursor) {
			t.Errorf("cursor %q: %v, want ErrCursor", bad, err)
		}
	}
}

func TestLatest(t *testing.T) {
	db, ctx := open(t), t.Context()
	for _, id := range []string{"a", "b", "empty"} {
		must(t, db.CreateSession(ctx, history.Session{ID: id, Cwd: "/w"}))
	}
	begin(t, db, "b", "t1", user())
	begin(t, db, "a", "t1", user())
	if s, err := db.Latest(ctx, "/w"); err != nil || s.ID != "a" {
		t.Errorf("Latest = %q, %v, want a", s.ID, err)
	}
	must(t, db.EndTurn(ctx, "b", "t1", content.StopEndTurn, content.Usage{}))
	if s, err := db.Latest(ctx, "/w"); err != nil || s.ID != "b" {
		t.Errorf("Latest = %q, %v, want b", s.ID, err)
	}
}

// A conversation comes back as it was, also after the program ended.
func TestTurns(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "history.db"), t.Context()
	db := openAt(t, path)
	s := newSession(t, db)
	usage := content.Usage{Input: content.Reported(10), Image: content.Reported(0)}
	want := []content.Turn{
		{ID: "t1", Messages: []content.Message{
			user(content.Text{Handle: "text-1", Body: "look"}, picture(1)),
			{Role: content.RoleAssistant, Parts: []content.Part{
				content.Reasoning{Text: "hm", Signature: "s", Path: "p"}, content.ToolCall{ID: "1", Name: "read", Arguments: "{}"},
			}},
			{Role: content.RoleTool, Parts: []content.Part{content.ToolResult{CallID: "1", Name: "read", Blocks: []content.Block{picture(2)}}}},
			assistant("a cat"),
		}, Stop: content.StopEndTurn, Usage: usage},
		{ID: "t2", Messages: []content.Message{user(content.Text{Body: "and?"})}, Stop: content.StopCancelled},
	}
	for _, turn := range want {
		begin(t, db, s, turn.ID, turn.Messages[0])
		for _, m := range turn.Messages[1:] {
			must(t, db.AppendMessage(ctx, s, turn.ID, m))
		}
		must(t, db.EndTurn(ctx, s, turn.ID, turn.Stop, turn.Usage))
	}
	again := openAt(t, path)
	got, err := again.Load(ctx, s)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Load, error %v (-want +got):\n%s", err, diff)
	}
	for n, want := range map[int][]content.Turn{0: nil, 1: want[1:], 2: want, 9: want} {
		got, err := again.LoadTail(ctx, s, n)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("LoadTail %d, error %v (-want +got):\n%s", n, err, diff)
		}
	}
	info, err := again.Session(ctx, s)
	if err != nil || info.Turns != 2 || info.Pictures != 2 || !info.Updated.After(info.Created) {
		t.Errorf("Session = %+v, %v, want 2 turns, 2 pictures", info, err)
	}
	if err := db.BeginTurn(ctx, s, want[0]); err == nil {
		t.Error("a turn began with an answer")
	}
	if err := db.BeginTurn(ctx, s, content.Turn{ID: "t1", Messages: want[0].Messages[:1]}); !errors.Is(err, history.ErrExists) {
		t.Errorf("BeginTurn again: %v, want ErrExists", err)
	}
	if err := db.AppendMessage(ctx, s, "t9", assistant("x")); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("append to no turn: %v, want ErrNotFound", err)
	}
}

func TestEveryPartSurvives(t *testing.T) {
	db := open(t)
	s := newSession(t, db)
	var want []content.Part
	for _, p := range samples() {
		want = append(want, stored(p))
	}
	begin(t, db, s, "t", user(samples()...))
	got, err := db.Load(t.Context(), s)
	must(t, err)
	if diff := cmp.Diff(want, got[0].Messages[0].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestDrafts(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	begin(t, db, s, "t", user(content.Text{Body: "q"}))
	texts := func() []string {
		turns, err := db.Load(ctx, s)
		must(t, err)
		var out []string
		for _, m := range turns[0].Messages {
			out = append(out, m.Role.String()+": "+m.Parts[0].(content.Text).Body)
		}
		return out
	}
	must(t, db.SaveDraft(ctx, s, "t", "ha"))
	must(t, db.SaveDraft(ctx, s, "t", "half\x00 \xff"))
	if diff := cmp.Diff([]string{"user: q", "assistant: half\x00 \xff"}, texts()); diff != "" {
		t.Errorf("after two drafts (-want +got):\n%s", diff)
	}
	must(t, db.SaveDraft(ctx, s, "t", ""))
	if diff := cmp.Diff([]string{"user: q"}, texts()); diff != "" {
		t.Errorf("after the draft was withdrawn (-want +got):\n%s", diff)
	}
	must(t, db.SaveDraft(ctx, s, "t", "half"))
	must(t, db.AppendMessage(ctx, s, "t", assistant("whole")))
	if diff := cmp.Diff([]string{"user: q", "assistant: whole"}, texts()); diff != "" {
		t.Errorf("after the message (-want +got):\n%s", diff)
	}
	must(t, db.SaveDraft(ctx, s, "t", "voided"))
	must(t, db.EndTurn(ctx, s, "t", content.StopFailed, content.Usage{}))
	if diff := cmp.Diff([]string{"user: q", "assistant: whole"}, texts()); diff != "" {
		t.Errorf("after the end (-want +got):\n%s", diff)
	}
}

func TestEnvelopes(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	type call struct {
		Turn  string
		Block int
		Part  content.Part
		Env   content.Envelope
	}
	var want []call
	for i := range 70 { // more than two pages
		id := fmt.Sprintf("t%d", i)
		envs := []content.Envelope{
			{JSON: []byte("{\"type\":\"text\",\"x\":\"\xff\x00\"}"), Hole: 3, Spelling: content.SpellingText},
			{},
			{Payload: contenttest.Digest(byte(i + 1)), Spelling: content.SpellingStored},
			{JSON: []byte(strings.Repeat("x", history.MaxEnvelope)), Hole: history.MaxEnvelope, Payload: contenttest.Digest(7), Spelling: content.SpellingBase64RawURL},
		}
		m := user(content.Text{Body: id}, content.Text{Body: "plain"}, picture(i+1), content.Text{})
		m.Envelopes = envs
		begin(t, db, s, id, m)
		must(t, db.AppendMessage(ctx, s, id, assistant("answer")))
		for j, p := range m.Parts {
			want = append(want, call{id, j, p, envs[j]})
		}
	}
	var got []call
	err := db.Envelopes(ctx, s, func(turn string, block int, p content.Part, e content.Envelope) error {
		got = append(got, call{turn, block, p, e})
		_, err := db.NextRequest(ctx, s) // the history is free while fn runs
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	stop := errors.New("enough")
	if err := db.Envelopes(ctx, s, func(string, int, content.Part, content.Envelope) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Envelopes: %v, want the error of fn", err)
	}
	turns, err := db.Load(ctx, s)
	if err != nil || turns[0].Messages[0].Envelopes != nil {
		t.Errorf("Load brought envelopes, %v", err)
	}
	m := user(content.Text{})
	m.Envelopes = []content.Envelope{{JSON: make([]byte, history.MaxEnvelope+1)}}
	if err := db.BeginTurn(ctx, s, content.Turn{ID: "big", Messages: []content.Message{m}}); err == nil {
		t.Error("an envelope over the limit was stored")
	}
	m.Envelopes = make([]content.Envelope, 2)
	if err := db.BeginTurn(ctx, s, content.Turn{ID: "odd", Messages: []content.Message{m}}); err == nil {
		t.Error("two envelopes for one part were stored")
	}
}

func TestHandlesAreNeverReused(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	next := make(map[content.Kind]int)
	for i := range 20 {
		take := counts(i%3, 1)
		take[content.KindOpaque] = i % 2
		first, err := db.TakeHandles(ctx, s, take)
		must(t, err)
		for k, n := range take {
			if n == 0 {
				continue
			}
			if first[k] != next[k]+1 {
				t.Errorf("first %v is %d, want %d", k, first[k], next[k]+1)
			}
			next[k] += n
		}
	}
	got, err := db.Counters(ctx, s)
	if diff := cmp.Diff(next, got); diff != "" || err != nil {
		t.Errorf("Counters, error %v (-want +got):\n%s", err, diff)
	}
	if _, err := db.TakeHandles(ctx, s, counts(-1, 1)); err == nil {
		t.Error("a negative number of handles was given")
	}
	if got, err := db.Counters(ctx, s); err != nil || got[content.KindText] != next[content.KindText] {
		t.Errorf("a refused call took handles: %v, %v", got, err)
	}
	for want := 1; want < 4; want++ {
		if n, err := db.NextRequest(ctx, s); err != nil || n != want {
			t.Errorf("NextRequest = %d, %v, want %d", n, err, want)
		}
	}
}

func TestCancelledCallsChangeNothing(t *testing.T) {
	db := open(t)
	s := newSession(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := db.BeginTurn(ctx, s, content.Turn{ID: "t", Messages: []content.Message{user()}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("BeginTurn: %v, want Canceled", err)
	}
	if _, err := db.Load(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v, want Canceled", err)
	}
	if turns, err := db.Load(t.Context(), s); err != nil || len(turns) != 0 {
		t.Errorf("after a cancelled BeginTurn: %d turns, %v", len(turns), err)
	}
}

func TestFileIsThePersonsOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has access lists, not modes")
	}
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "history.db")
	must(t, os.WriteFile(path, nil, 0o644))
	db := openAt(t, path)
	newSession(t, db)
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) < 2 {
		t.Errorf("%d files, want the journal too", len(entries))
	}
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s is %o, want 600", e.Name(), info.Mode().Perm())
		}
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "100%41", "q?x=1&_pragma=user_version(9)", "h#f", "画像", "a+b", "x;y"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?") {
			continue
		}
		dir := filepath.Join(t.TempDir(), name)
		newSession(t, openAt(t, filepath.Join(dir, name+".db")))
		if _, err := os.Stat(filepath.Join(dir, name+".db")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := openAt(t, filepath.Join(dir, name+".db")).Session(t.Context(), "s"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	must(t, history.Exec(t.Context(), openAt(t, newer), "PRAGMA user_version = 99"))
	_, err := history.Open(t.Context(), newer, history.Options{})
	var ve *history.VersionError
	if !errors.As(err, &ve) || ve.Found != 99 || !strings.Contains(err.Error(), newer) || !strings.Contains(err.Error(), "99") {
		t.Errorf("a newer database: %v, want a VersionError that names file and version", err)
	}
	junk := filepath.Join(dir, "junk.db")
	must(t, os.WriteFile(junk, []byte(strings.Repeat("this is no database. ", 100)), 0o600))
	if _, err := history.Open(t.Context(), junk, history.Options{}); err == nil || !strings.Contains(err.Error(), "junk.db: it is damaged") {
		t.Errorf("a file that is no database: %v", err)
	}
	if _, err := history.Open(t.Context(), dir, history.Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := history.Open(t.Context(), filepath.Join(junk, "x.db"), history.Options{}); err == nil {
		t.Error("a path below a file was opened")
	}
}

func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("root may write read-only files, and windows has no such mode")
	}
	path := filepath.Join(t.TempDir(), "history.db")
	db := openAt(t, path)
	newSession(t, db)
	must(t, db.Close())
	must(t, os.Chmod(path, 0o400))
	ro, err := history.Open(t.Context(), path, history.Options{})
	if err == nil {
		err = ro.CreateSession(t.Context(), history.Session{ID: "x"})
		must(t, ro.Close())
	}
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("writing a read-only file: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	must(t, history.Exec(ctx, db, "PRAGMA max_page_count = 60"))
	big := user(content.Text{Body: strings.Repeat("x", 1_000_000)})
	err := db.BeginTurn(ctx, s, content.Turn{ID: "big", Messages: []content.Message{big}})
	if err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "begin turn big of session s") {
		t.Errorf("BeginTurn on a full disk: %v", err)
	}
	begin(t, db, s, "small", user(content.Text{Body: "x"}))
	if turns, err := db.Load(ctx, s); err != nil || len(turns) != 1 || turns[0].ID != "small" {
		t.Errorf("after a full disk: %+v, %v", turns, err)
	}
}

// A kind that a newer program stored is an error that says so, and the other
// sessions stay usable.
func TestUnknownKindNamesTheSession(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	begin(t, db, s, "t", user(content.Text{Body: "x"}))
	must(t, history.Exec(ctx, db, `UPDATE message SET parts = '[{"k":"hologram","v":{}}]'`))
	_, loadErr := db.Load(ctx, s)
	envErr := db.Envelopes(ctx, s, func(string, int, content.Part, content.Envelope) error { return nil })
	for what, err := range map[string]error{"Load": loadErr, "Envelopes": envErr} {
		var unknown *history.UnknownKindError
		if !errors.As(err, &unknown) || unknown.Session != s || unknown.Kind != "hologram" || !strings.Contains(err.Error(), "newer tote") {
			t.Errorf("%s: %v, want an UnknownKindError that names the session", what, err)
		}
	}
	must(t, db.References(ctx, func(content.Digest) {}))
}
