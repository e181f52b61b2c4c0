package history_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/history"
)

func TestLedger(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	lane := history.Lane{Endpoint: "e1", Generation: 1}
	want := map[content.Handle]delivery.LedgerEntry{}
	for i, d := range delivery.Dispositions() {
		want[content.NewHandle(content.KindImage, i+1, ".png")] = delivery.LedgerEntry{
			Disposition: d, Reason: delivery.Reasons()[i], Variant: picture(i).Prepared, Note: "look at @x <y>",
			Detail: "truncated after 1.2 MB",
		}
	}
	for _, e := range want {
		for i := range reflect.TypeOf(e).NumField() {
			if reflect.ValueOf(e).Field(i).IsZero() {
				t.Fatalf("the sample leaves %s empty: losing it would go unseen", reflect.TypeOf(e).Field(i).Name)
			}
		}
	}
	for _, r := range delivery.Reasons() {
		want[content.Handle("r-"+r.String())] = delivery.LedgerEntry{Disposition: delivery.Inline, Reason: r}
	}
	must(t, db.SaveLedger(ctx, s, lane, want))
	check := func(l history.Lane, want map[content.Handle]delivery.LedgerEntry) {
		t.Helper()
		got, err := db.Ledger(ctx, s, l)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ledger of %+v, error %v (-want +got):\n%s", l, err, diff)
		}
	}
	check(lane, want)
	change := map[content.Handle]delivery.LedgerEntry{"image-1.png": {Disposition: delivery.Stripped, Reason: delivery.ReasonTurnRefused}}
	must(t, db.SaveLedger(ctx, s, lane, change))
	want["image-1.png"] = change["image-1.png"]
	check(lane, want)
	none := map[content.Handle]delivery.LedgerEntry{}
	check(history.Lane{Endpoint: "e2", Generation: 1}, none)

	must(t, db.SaveLedger(ctx, s, history.Lane{Endpoint: "e2", Generation: 1}, change))
	must(t, db.SaveLedger(ctx, s, history.Lane{Endpoint: "e1", Generation: 2}, change))
	check(history.Lane{Endpoint: "e1", Generation: 2}, change)
	check(lane, none)
	check(history.Lane{Endpoint: "e2", Generation: 1}, change)
	bad := map[content.Handle]delivery.LedgerEntry{"x": {Disposition: 99}}
	if err := db.SaveLedger(ctx, s, lane, bad); err == nil {
		t.Error("a disposition that does not exist was stored")
	}
}

func receipt(n int, d delivery.Disposition, route delivery.Route) delivery.Receipt {
	p := picture(n)
	return delivery.Receipt{
		Handle: p.Handle, Name: p.Name, Kind: content.KindImage, Origin: p.Origin, Disposition: d, Reason: delivery.ReasonFits,
		Detail: "3024×1964 to 2000×1299", Route: route, Path: "openai-chat", Model: "gpt-99", Blob: p.Prepared, Tokens: 1234, Partial: true,
	}
}

// The full list of any request can be made again although only what changed is
// stored.
func TestReceipts(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	const in, out, past = delivery.Inline, delivery.Stripped, delivery.RouteHistory
	now := delivery.RoutePrompt
	type sending struct {
		turn    string
		attempt int
		list    []delivery.Receipt
		stored  int
	}
	// Request 2 is sent twice: its new picture is refused. Request 5 is in
	// another generation, without the oldest picture.
	requests := [][]sending{
		{{"t1", 1, []delivery.Receipt{receipt(2, in, now), receipt(1, in, now)}, 2}},
		{
			{"t2", 1, []delivery.Receipt{receipt(2, in, past), receipt(1, in, past), receipt(3, in, now)}, 1},
			{"t2", 2, []delivery.Receipt{receipt(2, in, past), receipt(1, in, past), receipt(3, out, now)}, 1},
		},
		{{"t2", 1, []delivery.Receipt{receipt(2, in, past), receipt(1, in, past), receipt(3, out, now)}, 0}},
		{{"t3", 1, []delivery.Receipt{receipt(2, out, past), receipt(1, in, past), receipt(3, in, past), receipt(4, in, now)}, 3}},
		{{"t4", 1, []delivery.Receipt{receipt(1, in, past), receipt(3, in, past), receipt(4, in, past)}, 3}},
	}
	begun := map[string]bool{}
	total := 0
	for i, sendings := range requests {
		n, err := db.NextRequest(ctx, s)
		if err != nil || n != i+1 {
			t.Fatalf("NextRequest = %d, %v", n, err)
		}
		if n == 5 {
			must(t, db.UpdateSession(ctx, history.Session{ID: s, Generation: 1}))
		}
		for _, snd := range sendings {
			if !begun[snd.turn] {
				begin(t, db, s, snd.turn, user())
				begun[snd.turn] = true
			}
			must(t, db.SaveReceipts(ctx, s, snd.turn, n, snd.attempt, snd.list))
			total += snd.stored
			all, err := db.Receipts(ctx, s, history.Query{})
			if err != nil || len(all) != total {
				t.Errorf("after request %d attempt %d: %d stored, %v, want %d", n, snd.attempt, len(all), err, total)
			}
		}
	}
	for i, sendings := range requests {
		got, err := db.Receipts(ctx, s, history.Query{Request: i + 1})
		must(t, err)
		var list []delivery.Receipt
		for _, r := range got {
			list = append(list, r.Receipt)
			if want := delivery.ReceiptID(r.Request, r.Handle); r.ID != want || r.Request > i+1 {
				t.Errorf("request %d: receipt %q of request %d, want %q", i+1, r.ID, r.Request, want)
			}
		}
		if diff := cmp.Diff(sendings[len(sendings)-1].list, list); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i+1, diff)
		}
	}
	got, err := db.Receipts(ctx, s, history.Query{Turn: "t2"})
	if err != nil || len(got) != 2 || got[0].Attempt != 1 || got[1].Attempt != 2 || got[1].Disposition != out {
		t.Errorf("receipts of turn t2 = %+v, %v", got, err)
	}
	for _, n := range []int{6, 99, -1} {
		if _, err := db.Receipts(ctx, s, history.Query{Request: n}); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("request %d: %v, want ErrNotFound", n, err)
		}
	}
	if err := db.SaveReceipts(ctx, s, "t9", 6, 1, nil); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("receipts of no turn: %v, want ErrNotFound", err)
	}
}

func TestReceiptsKeepEveryWord(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	begin(t, db, s, "t", user())
	var want []delivery.Receipt
	for i, r := range delivery.Reasons() {
		for j, b := range contenttest.Blocks() {
			d := delivery.Dispositions()[(i+j)%len(delivery.Dispositions())]
			want = append(want, delivery.Receipt{
				Handle: content.NewHandle(b.Kind(), i+1, ""), Kind: b.Kind(), Disposition: d, Reason: r,
				Route: delivery.Route(1 + (i+j)%3),
			})
		}
	}
	if _, err := db.NextRequest(ctx, s); err != nil {
		t.Fatal(err)
	}
	must(t, db.SaveReceipts(ctx, s, "t", 1, 1, want))
	got, err := db.Receipts(ctx, s, history.Query{Request: 1})
	must(t, err)
	var list []delivery.Receipt
	for _, r := range got {
		list = append(list, r.Receipt)
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	if err := db.SaveReceipts(ctx, s, "t", 1, 1, []delivery.Receipt{{Kind: 99}}); err == nil {
		t.Error("a receipt of a kind that does not exist was stored")
	}
}

func TestVerdicts(t *testing.T) {
	db, ctx := open(t), t.Context()
	at := start.Add(-time.Hour)
	want := []history.Verdict{
		{Endpoint: "e", Digest: contenttest.Digest(1), MIME: "image/png", Accepted: true, Created: at},
		{Endpoint: "e", MIME: "image/*", Reason: "no pictures here", Until: start.Add(24 * time.Hour), Created: at.Add(time.Second)},
	}
	for _, v := range want {
		must(t, db.SaveVerdict(ctx, v))
	}
	other := want[0]
	other.Endpoint = "f"
	must(t, db.SaveVerdict(ctx, other))
	check := func(now time.Time, want ...history.Verdict) {
		t.Helper()
		got, err := db.Verdicts(ctx, "e", now)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("verdicts at %v, error %v (-want +got):\n%s", now, err, diff)
		}
	}
	check(start, want...)
	check(start.Add(24*time.Hour), want[0])
	want[0].Accepted, want[0].Reason, want[0].Created = false, "changed its mind", at.Add(time.Minute)
	must(t, db.SaveVerdict(ctx, want[0]))
	check(start, want[1], want[0])
	must(t, db.ForgetEndpoint(ctx, "e"))
	check(start)
	if got, err := db.Verdicts(ctx, "f", start); err != nil || len(got) != 1 {
		t.Errorf("verdicts of the other endpoint: %+v, %v", got, err)
	}
	must(t, db.ForgetEndpoint(ctx, "never seen"))
	if err := db.SaveVerdict(ctx, history.Verdict{}); err == nil {
		t.Error("a verdict without an endpoint was stored")
	}
}

func TestEvidenceAndLimits(t *testing.T) {
	db, ctx := open(t), t.Context()
	want := []history.Evidence{
		{Endpoint: "e", Kind: content.KindImage, Answer: delivery.Yes, Evidence: delivery.EvidenceProbe, Detail: "saw 7Q4", At: start},
		{Endpoint: "e", Kind: content.KindImage, Answer: delivery.Unknown, Evidence: delivery.EvidenceServer, At: start.Add(time.Second)},
		{Endpoint: "e", Kind: content.KindAudio, Answer: delivery.No, Evidence: delivery.EvidenceAnswered, At: start.Add(time.Minute)},
	}
	for _, e := range want {
		must(t, db.SaveEvidence(ctx, e))
	}
	want[0].Answer, want[0].At = delivery.No, start.Add(time.Hour)
	must(t, db.SaveEvidence(ctx, want[0]))
	got, err := db.Evidence(ctx, "e")
	if diff := cmp.Diff([]history.Evidence{want[1], want[2], want[0]}, got); diff != "" || err != nil {
		t.Errorf("Evidence, error %v (-want +got):\n%s", err, diff)
	}
	must(t, db.SaveLimit(ctx, "e", "max_request", 900_000))
	must(t, db.SaveLimit(ctx, "e", "max_request", 450_000))
	must(t, db.SaveLimit(ctx, "e", "max_edge", 2000))
	limits, err := db.Limits(ctx, "e")
	if diff := cmp.Diff(map[string]int64{"max_request": 450_000, "max_edge": 2000}, limits); diff != "" || err != nil {
		t.Errorf("Limits, error %v (-want +got):\n%s", err, diff)
	}
	if limits, err := db.Limits(ctx, "unknown"); err != nil || len(limits) != 0 {
		t.Errorf("Limits of an unknown endpoint: %v, %v", limits, err)
	}
	if err := db.SaveLimit(ctx, "e", "", 1); err == nil {
		t.Error("a limit without a name was stored")
	}
	must(t, db.ForgetEndpoint(ctx, "e"))
	if got, err := db.Evidence(ctx, "e"); err != nil || len(got) != 0 {
		t.Errorf("evidence of a forgotten endpoint: %+v, %v", got, err)
	}
	if got, err := db.Limits(ctx, "e"); err != nil || len(got) != 0 {
		t.Errorf("limits of a forgotten endpoint: %v, %v", got, err)
	}
}

// references returns the digests that the history names, as a set.
func references(t *testing.T, db *history.DB) map[content.Digest]bool {
	t.Helper()
	out := map[content.Digest]bool{}
	must(t, db.References(t.Context(), func(d content.Digest) {
		if out[d] {
			t.Errorf("%v was named twice", d.Short())
		}
		out[d] = true
	}))
	return out
}

func TestReferences(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	want := map[content.Digest]bool{contenttest.Digest(0xe0): true, contenttest.Digest(0xe1): true}
	var parts []content.Part
	for _, b := range contenttest.Blocks() {
		parts = append(parts, b)
		for _, blob := range content.Blobs(b) {
			want[blob.Digest] = true
		}
	}
	m := user(parts...)
	m.Envelopes = make([]content.Envelope, len(parts))
	m.Envelopes[1] = content.Envelope{Payload: contenttest.Digest(0xe0), Spelling: content.SpellingStored}
	begin(t, db, s, "t", m)
	inResult := picture(9)
	must(t, db.AppendMessage(ctx, s, "t", content.Message{Role: content.RoleTool, Parts: []content.Part{
		content.ToolResult{CallID: "1", Blocks: []content.Block{inResult}},
	}}))
	want[inResult.Original.Digest], want[inResult.Prepared.Digest] = true, true
	must(t, db.SaveLedger(ctx, s, history.Lane{Endpoint: "e"}, map[content.Handle]delivery.LedgerEntry{
		"image-9.png": {Disposition: delivery.Shrunk, Reason: delivery.ReasonPathLimit, Variant: content.Blob{Digest: contenttest.Digest(0xe1)}},
	}))
	if diff := cmp.Diff(want, references(t, db)); diff != "" {
		t.Errorf("References (-want +got):\n%s", diff)
	}
	must(t, db.CreateSession(ctx, history.Session{ID: "other"}))
	for d := range want {
		if ok, err := db.HasDigest(ctx, s, d); err != nil || !ok {
			t.Errorf("HasDigest(%s) = %v, %v, want true", d.Short(), ok, err)
		}
		if ok, err := db.HasDigest(ctx, "other", d); err != nil || ok {
			t.Errorf("HasDigest(%s) of the other session = %v, %v, want false", d.Short(), ok, err)
		}
	}
	must(t, db.DeleteSession(ctx, s))
	if got := references(t, db); len(got) != 0 {
		t.Errorf("a deleted session is referred from: %v", got)
	}
}

// Nothing that has a foreign key outlives its session.
func TestDeleteSessionTakesEverything(t *testing.T) {
	db, ctx := open(t), t.Context()
	s := newSession(t, db)
	fill(t, db, s, 5)
	must(t, db.SaveDraft(ctx, s, "t5", "x"))
	must(t, db.DeleteSession(ctx, s))
	for _, table := range []string{"session", "turn", "message", "envelope", "draft", "counter", "blob_ref", "lane", "ledger", "receipt"} {
		if n := history.Count(t, db, table); n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
}

// fill records n turns with a picture each, as the agent does.
func fill(tb testing.TB, db *history.DB, s string, n int) {
	tb.Helper()
	ctx := tb.Context()
	lane := history.Lane{Endpoint: fmt.Sprintf("%064d", 7)}
	for range n {
		first, err := db.TakeHandles(ctx, s, counts(1, 1))
		must(tb, err)
		i := first[content.KindImage]
		id := fmt.Sprintf("t%d", i)
		p := picture(i)
		text := content.Text{Handle: content.NewHandle(content.KindText, i, ""), Body: "What is wrong with the button in this screenshot?"}
		m := user(text, p)
		m.Envelopes = []content.Envelope{
			{JSON: []byte(`{"type":"text","text":""}`), Hole: 23, Payload: p.Original.Digest, Spelling: content.SpellingText},
			{JSON: []byte(`{"type":"image","mimeType":"image/png","data":"","uri":"file:///home/someone/Pictures/Screenshot.png"}`), Hole: 46, Payload: p.Original.Digest, Spelling: content.SpellingBase64},
		}
		begin(tb, db, s, id, m)
		req, err := db.NextRequest(ctx, s)
		must(tb, err)
		textReceipt := delivery.Receipt{Handle: text.Handle, Kind: content.KindText, Disposition: delivery.Inline, Reason: delivery.ReasonFits, Route: delivery.RoutePrompt, Path: "openai-chat", Model: "gpt-99", Tokens: 12}
		must(tb, db.SaveReceipts(ctx, s, id, req, 1, []delivery.Receipt{textReceipt, receipt(i, delivery.Inline, delivery.RoutePrompt)}))
		must(tb, db.SaveLedger(ctx, s, lane, map[content.Handle]delivery.LedgerEntry{
			text.Handle: {Disposition: delivery.Inline, Reason: delivery.ReasonFits},
			p.Handle:    {Disposition: delivery.Inline, Reason: delivery.ReasonPrepared, Variant: p.Prepared},
		}))
		must(tb, db.SaveVerdict(ctx, history.Verdict{Endpoint: lane.Endpoint, Digest: p.Prepared.Digest, MIME: "image/png", Accepted: true}))
		must(tb, db.SaveDraft(ctx, s, id, "The button is"))
		must(tb, db.AppendMessage(ctx, s, id, assistant("The button is two pixels too low, because the label's line height is set twice. Remove the second rule.")))
		must(tb, db.EndTurn(ctx, s, id, content.StopEndTurn, content.Usage{Input: content.Reported(5000), Output: content.Reported(40), Cached: content.Reported(0)}))
	}
}
