package openai_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// idWire is a wire with the identifiers that it takes.
type idWire struct {
	speaks provider.Provider
	read   func([]byte) (providertest.Sent, error)
	legal  *regexp.Regexp
	path   string
}

func idWires() map[string]idWire {
	o := provider.Options{BaseURL: "http://h"}
	chat := func(rule openai.CallIDs, legal string) idWire {
		return idWire{openai.New(o, openai.Config{Model: "m", CallIDs: rule}), providertest.ReadChat, regexp.MustCompile(legal), openai.ChatPath}
	}
	return map[string]idWire{
		"chat":    chat(openai.CallIDsShort, `^[a-zA-Z0-9_-]{1,40}$`),
		"unknown": chat("else", `^[a-zA-Z0-9_-]{1,40}$`),
		"mistral": chat(openai.CallIDsNine, `^[a-zA-Z0-9]{9}$`),
		// The strict reader's limit is OpenAI's, so only the form is free here.
		"any":       chat(openai.CallIDsAny, `^[^\x00-\x1f\x7f-\x9f]{1,256}$`),
		"responses": {openai.NewResponses(o, openai.ResponsesConfig{Model: "m"}), providertest.ReadResponses, regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), openai.ResponsesPath},
	}
}

// spelled makes a request in which each batch of identifiers is called and
// answered, each answer with the number of its call.
func (w idWire) spelled(t *testing.T, batches [][]string) []byte {
	t.Helper()
	messages := []content.Message{providertest.User(text("text-1", "go"))}
	n := 0
	for _, batch := range batches {
		calls, results := []content.Part{}, []content.ToolResult{}
		for _, id := range batch {
			n++
			calls = append(calls, content.ToolCall{ID: id, Name: fmt.Sprintf("f%d", n), Arguments: "{}"})
			results = append(results, content.ToolResult{CallID: id, Name: fmt.Sprintf("f%d", n), Blocks: []content.Block{text("text-2", fmt.Sprintf("f%d", n))}})
		}
		messages = append(messages, providertest.Say(calls...), providertest.Results(results...))
	}
	p := flatProfile()
	p.Path = w.path
	return spell(t, w.speaks, provider.Request{Prompt: providertest.Settle(t, p, nil, messages...)})
}

// sentIDs returns the identifiers of the calls and checks that each is answered
// by its own result.
func sentIDs(t *testing.T, sent providertest.Sent) []string {
	t.Helper()
	var ids []string
	names := map[string]string{}
	for _, m := range sent.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				ids = append(ids, p.Call.ID)
				names[p.Call.ID] = p.Call.Name
			}
			if p.Result != nil && (len(p.Result.Parts) != 1 || !strings.HasSuffix(p.Result.Parts[0].Text, names[p.Result.CallID])) {
				t.Errorf("%s was answered with %+v", names[p.Result.CallID], p.Result.Parts)
			}
		}
	}
	return ids
}

func (w idWire) sent(t *testing.T, batches [][]string) []string {
	t.Helper()
	body := w.spelled(t, batches)
	sent, err := w.read(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return sentIDs(t, sent)
}

// Identifiers that a server takes go as they came, also those of old sessions.
func TestLegalCallIDsStay(t *testing.T) {
	long := strings.Repeat("a", 40)
	for name, ids := range map[string][]string{
		"chat": {"call_0123456789abcdef", long, "toolu_01A-b", "x"}, "mistral": {"D681PevKs", "000000000"},
		"any": {"functions.read_file:0", "functions.read_file:1", long}, "responses": {"call_1", long + "_-bcdefgh"},
	} {
		if diff := cmp.Diff(ids, idWires()[name].sent(t, [][]string{ids[:1], ids[1:]})); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

// What a server would refuse, or has had before, is replaced by something that
// stays the same from then on: a change would spoil the prompt cache.
func TestOddCallIDsAreReplaced(t *testing.T) {
	odd := "functions.list:0|" + strings.Repeat("x", 80)
	batches := [][]string{{"same", odd}, {"same"}, {"same", "same", odd}, {"D681PevKs"}}
	for name, want := range map[string][]string{
		"chat":      {"same", "call_d3bb1815d7ec044a", "call_097b5e18bf93ef5b", "", "", "", "D681PevKs"},
		"mistral":   {"", "", "", "", "", "", "D681PevKs"},
		"responses": {"same", "call_d3bb1815d7ec044a", "call_097b5e18bf93ef5b", "", "", "", "D681PevKs"},
	} {
		got := idWires()[name].sent(t, batches)
		if len(got) != len(want) {
			t.Fatalf("%s: %q", name, got)
		}
		for i, id := range got {
			if want[i] != "" && id != want[i] || want[i] == "" && slices.Contains(want, id) {
				t.Errorf("%s: call %d is %q, want %q", name, i, id, want[i])
			}
		}
	}
}

// A made identifier that a later call has by itself is not sent twice.
func TestMadeCallIDIsTaken(t *testing.T) {
	for name, w := range idWires() {
		first := w.sent(t, [][]string{{"same"}, {"same"}})
		w.sent(t, [][]string{{"same"}, {"same"}, {first[1]}, {first[0], first[1]}}) // the strict reader judges
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// Whatever the identifiers are, each call has a legal one of its own, its result
// has the same, and a longer conversation begins with the shorter one's bytes.
func FuzzCallIDs(f *testing.F) {
	for _, s := range []string{"a|a|b", "functions.f:0||functions.f:0", strings.Repeat("n", 65) + "|\x00|\xff|é", "D681PevKs|D681PevKs|D681PevK_", "call_097b5e18bf93ef5b|same|same|call_097b5e18bf93ef5b"} {
		f.Add(s, uint8(1))
		f.Add(s, uint8(2))
	}
	wires := idWires()
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		ids := strings.Split(s, "|")
		if len(ids) > 50 {
			return
		}
		batches := slices.Collect(slices.Chunk(ids, int(size%4)+1))
		for name, w := range wires {
			body := w.spelled(t, batches)
			sent, err := w.read(body)
			if err != nil {
				if name == "any" && strings.Contains(err.Error(), "too long") {
					continue
				}
				t.Fatalf("%s: %v\n%s", name, err, body)
			}
			for i, id := range sentIDs(t, sent) {
				if !w.legal.MatchString(id) {
					t.Errorf("%s: call %d is %q", name, i, id)
				}
				if !slices.Contains(ids[:i], ids[i]) && w.legal.MatchString(ids[i]) && utf8.ValidString(ids[i]) && id != ids[i] && !strings.HasPrefix(ids[i], "call_") {
					t.Errorf("%s: call %d is %q, and was %q", name, i, id, ids[i])
				}
			}
			shorter := w.spelled(t, batches[:len(batches)-1])
			if at := strings.LastIndexByte(string(shorter), ']'); !strings.HasPrefix(string(body), string(shorter[:at])) {
				t.Errorf("%s: the earlier part changes\n%s\n%s", name, shorter, body)
			}
		}
	})
}
