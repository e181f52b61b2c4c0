package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/front/headless"
	"tote/internal/history"
)

// recorded is what a record of b gives back: the text of a resource is a blob.
func recorded(b content.Block) content.Block {
	if r, ok := b.(content.ResourceText); ok {
		r.Body = ""
		return r
	}
	return b
}

func envelopes(n int) []content.Envelope {
	out := make([]content.Envelope, n)
	for i := range out {
		switch i % 3 {
		case 0:
			out[i] = content.Envelope{JSON: []byte(`{"type":"text" , "text":""}`), Hole: 25, Payload: contenttest.Digest(0x70), Spelling: content.SpellingText}
		case 1:
			out[i] = content.Envelope{Payload: contenttest.Digest(0x71), Spelling: content.SpellingStored}
		}
	}
	return out
}

// TestHistoryKeepsEveryPart writes every part to a database, opens it anew and
// compares field by field.
func TestHistoryKeepsEveryPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := history.Open(t.Context(), path, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	user := content.Message{Role: content.RoleUser}
	result := content.ToolResult{CallID: "mark-all", Name: "read"}
	for _, b := range append(contenttest.Blocks(), contenttest.Sound()...) {
		user.Parts, result.Blocks = append(user.Parts, b), append(result.Blocks, b)
	}
	user.Envelopes = envelopes(len(user.Parts))
	said := content.Message{Role: content.RoleAssistant, Parts: contenttest.Parts()}
	tools := content.Message{Role: content.RoleTool, Parts: []content.Part{result}}
	for _, step := range []error{
		db.CreateSession(t.Context(), history.Session{ID: "s", Cwd: "/", Agent: "a", Generation: 1}),
		db.BeginTurn(t.Context(), "s", content.Turn{ID: "t", Messages: []content.Message{user}}),
		db.AppendMessage(t.Context(), "s", "t", said), db.AppendMessage(t.Context(), "s", "t", tools),
		db.EndTurn(t.Context(), "s", "t", content.StopEndTurn, content.Usage{Image: content.Reported(0)}),
		db.Close(),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if db, err = history.Open(t.Context(), path, history.Options{}); err != nil {
		t.Fatal(err)
	}
	turns, err := db.Load(t.Context(), "s")
	if err != nil || len(turns) != 1 {
		t.Fatalf("load: %d turns, %v", len(turns), err)
	}
	for i, b := range result.Blocks {
		user.Parts[i], result.Blocks[i] = recorded(b), recorded(b)
	}
	keepsEnvelopes(t, db, user.Envelopes)
	user.Envelopes = nil // Load leaves them on the disk
	want := content.Turn{ID: "t", Messages: []content.Message{user, said, tools}, Stop: content.StopEndTurn, Usage: content.Usage{Image: content.Reported(0)}}
	if !reflect.DeepEqual(turns[0], want) {
		t.Errorf("what was written and what was read differ:\n%s", cmp.Diff(want, turns[0]))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	noPayload(t, path, "mark-body")
}

func keepsEnvelopes(t *testing.T, db *history.DB, want []content.Envelope) {
	t.Helper()
	n := 0
	err := db.Envelopes(t.Context(), "s", func(_ string, i int, _ content.Part, env content.Envelope) error {
		if diff := cmp.Diff(want[i], env); diff != "" {
			t.Errorf("envelope %d:\n%s", i, diff)
		}
		n++
		return nil
	})
	if err != nil || n != len(want) {
		t.Errorf("%d envelopes of %d, %v", n, len(want), err)
	}
}

// noPayload looks for words, and for what no text is made of, in a database and
// in its journals.
func noPayload(t *testing.T, path string, words ...string) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s*: %v", path, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				t.Errorf("%s holds %q", filepath.Base(name), w)
			}
		}
		if n := longestRun(string(data)); n > maxRun {
			t.Errorf("%s holds %d characters of base64", filepath.Base(name), n)
		}
	}
}

func TestEveryKindCosts(t *testing.T) {
	for _, m := range []delivery.TokenModel{
		{},
		{Rule: delivery.TokensFlat, Flat: 85},
		{Rule: delivery.TokensPatch, Size: 28, Percent: 120, Cap: 1500},
		{Rule: delivery.TokensTile, Base: 85, PerTile: 170},
	} {
		for _, list := range [][]content.Block{contenttest.Blocks(), contenttest.Sound()} {
			for _, b := range list {
				if n := delivery.Estimate(b, m); n <= 0 {
					t.Errorf("%v costs %d tokens under %+v", b.Kind(), n, m)
				}
			}
		}
	}
}

// The compact text stands in titles, summaries and lists.
func TestEveryKindHasACompactForm(t *testing.T) {
	var s shelf
	for _, b := range s.crowd(t) {
		got := content.Compact([]content.Block{b})
		if text, ok := b.(content.Text); ok {
			if got != text.Body {
				t.Errorf("%s: %q", b.BlockHandle(), got)
			}
			continue
		}
		if strings.TrimSpace(got) == "" || strings.ContainsAny(got, "\n\x1b\u202e") {
			t.Errorf("%s: %q is no line", b.BlockHandle(), got)
		}
		if link, ok := b.(content.ResourceLink); ok {
			if !strings.Contains(got, link.URI) {
				t.Errorf("%s: %q does not name it", b.BlockHandle(), got)
			}
		} else if !strings.Contains(got, string(b.BlockHandle())) {
			t.Errorf("%s: %q does not name it", b.BlockHandle(), got)
		}
		for _, data := range s.payloads(t, b) {
			if strings.Contains(got, string(data)) || strings.Contains(got, string(data[:min(12, len(data))])) {
				t.Errorf("%s: %q holds its payload", b.BlockHandle(), got)
			}
		}
	}
}

// receiptsOf are receipts of a block with every disposition.
func receiptsOf(b content.Block) []delivery.Receipt {
	r := delivery.Receipt{
		Handle: b.BlockHandle(), Name: hostile, Kind: b.Kind(), Reason: delivery.ReasonDamaged, Detail: "first\nsecond\x1b[2J",
		Route: delivery.RoutePrompt, Path: "openai-chat", Model: "m", Tokens: 5,
	}
	if list := content.Blobs(b); len(list) > 0 {
		r.Blob = list[0]
	}
	var out []delivery.Receipt
	for _, d := range delivery.Dispositions() {
		r.Disposition = d
		out = append(out, r)
	}
	return out
}

// A receipt is one line of words in a terminal and one object for scripts,
// whatever it is about.
func TestEveryReceiptIsShown(t *testing.T) {
	for _, b := range contenttest.Sound() {
		lines := map[string]delivery.Disposition{}
		for _, r := range receiptsOf(b) {
			line := headless.ReceiptLine(r)
			if !strings.Contains(line, string(r.Handle)) || !strings.Contains(line, r.Reason.User()) || strings.ContainsAny(line, "\n\x1b\u202e") {
				t.Errorf("%v %v: %q", r.Kind, r.Disposition, line)
			}
			if other, ok := lines[line]; ok {
				t.Errorf("%v reads the same %v and %v: %q", r.Kind, r.Disposition, other, line)
			}
			lines[line] = r.Disposition
			var out bytes.Buffer
			err := headless.PrintReceipts([]headless.Sent{{Request: 3, Attempt: 2, Receipt: r}}, headless.Streams{Out: &out, Format: headless.JSON})
			var got struct{ Type, Label, Kind, Disposition, Reason, SHA256 string }
			if err != nil || json.Unmarshal(out.Bytes(), &got) != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
				t.Errorf("%v %v: %q, %v", r.Kind, r.Disposition, out.String(), err)
			}
			sha := ""
			if !r.Blob.IsZero() {
				sha = r.Blob.Digest.String()
			}
			if want := fmt.Sprintf("{receipt %s %v %v %v %s}", r.Handle, r.Kind, r.Disposition, r.Reason, sha); fmt.Sprint(got) != want {
				t.Errorf("for scripts: %v, want %v", got, want)
			}
			if n := r.Notice(); n.Title == "" || n.Detail == "" {
				t.Errorf("%v %v: notice %+v", r.Kind, r.Disposition, n)
			}
		}
	}
}

// Every receipt survives the record of what was sent.
func TestHistoryKeepsEveryReceipt(t *testing.T) {
	db, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it is thrown away
	user := content.Message{Role: content.RoleUser, Parts: []content.Part{content.Text{Handle: "text-1", Body: "x"}}}
	for _, step := range []error{
		db.CreateSession(t.Context(), history.Session{ID: "s", Cwd: "/", Agent: "a", Generation: 1}),
		db.BeginTurn(t.Context(), "s", content.Turn{ID: "t", Messages: []content.Message{user}}),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	var want []delivery.Receipt
	for _, b := range contenttest.Sound() {
		for i, r := range receiptsOf(b) {
			r.Handle = content.NewHandle(b.Kind(), i+1, "")
			want = append(want, r)
		}
	}
	request, err := db.NextRequest(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SaveReceipts(t.Context(), "s", "t", request, 1, want); err != nil {
		t.Fatal(err)
	}
	list, err := db.Receipts(t.Context(), "s", history.Query{Request: request})
	if err != nil {
		t.Fatal(err)
	}
	var got []delivery.Receipt
	for _, r := range list {
		got = append(got, r.Receipt)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("receipts (-written +read):\n%s", diff)
	}
}
