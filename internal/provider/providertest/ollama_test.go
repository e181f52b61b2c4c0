package providertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

const ollamaHead = `"model":"m","stream":true,"truncate":false,"shift":false`

func TestReadOllama(t *testing.T) {
	got, err := providertest.ReadOllama([]byte(`{` + ollamaHead + `,"keep_alive":"5m","tools":[{"type":"function","function":{"name":"n","description":"d","parameters":{"type":"object","properties":{},"additionalProperties":false}}}],"messages":[
		{"role":"system","content":"s"},{"role":"user","content":"x","images":["AAAA","SUQz"]},
		{"role":"assistant","content":"","thinking":"t","tool_calls":[{"id":"a","function":{"index":0,"name":"n","arguments":{}}}]},
		{"role":"tool","content":"y","images":["AAAA"],"tool_name":"n","tool_call_id":"a"}],"options":{"num_ctx":1,"num_predict":2,"seed":3},"think":"low"}`))
	want := providertest.Sent{Model: "m", System: "s", Tools: []string{"n"}, Messages: []providertest.SentMessage{
		{Role: "user", Parts: []providertest.SentPart{{Text: "x"}, {Kind: content.KindImage, Data: []byte{0, 0, 0}}, {Kind: content.KindAudio, Data: []byte("ID3")}}},
		{Role: "assistant", Parts: []providertest.SentPart{{Thought: "t"}, {Call: &content.ToolCall{ID: "a", Name: "n", Arguments: "{}"}}}},
		{Role: "tool", Parts: []providertest.SentPart{{Result: &providertest.SentResult{CallID: "a", Name: "n", Parts: []providertest.SentPart{
			{Text: "y"}, {Kind: content.KindImage, Data: []byte{0, 0, 0}},
		}}}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestReadOllamaRefuses(t *testing.T) {
	const user = `{"role":"user","content":"x"}`
	call := `{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"n","arguments":{}}}]}`
	for body, want := range map[string]string{
		ollamaHead + `,"messages":[` + user + `]`:                                                                   "",
		ollamaHead + `,"messages":[]`:                                                                               "no messages",
		`"model":"m","shift":false,"messages":[` + user + `]`:                                                       "leave out messages",
		`"model":"m","truncate":true,"shift":false,"messages":[` + user + `]`:                                       "leave out messages",
		`"model":"m","truncate":false,"messages":[` + user + `]`:                                                    "leave out messages",
		`"model":"","messages":[]`:                                                                                  "model is required",
		ollamaHead + `,"messages":[` + user + `],"options":{"num_context":1}`:                                       "unknown field",
		ollamaHead + `,"messages":[` + user + `],"options":{"seed":4294967296}`:                                     "seed",
		ollamaHead + `,"messages":[` + user + `],"think":"hard"`:                                                    "invalid think value",
		ollamaHead + `,"messages":[` + user + `],"think":1`:                                                         "must be a boolean",
		ollamaHead + `,"messages":[` + user + `],"tools":[{"type":"function","function":{"name":"n"}}]`:             "no function of an object",
		ollamaHead + `,"messages":[{"role":"user","content":""}]`:                                                   "it is empty",
		ollamaHead + `,"messages":[{"role":"alien","content":"x"}]`:                                                 "unknown role",
		ollamaHead + `,"messages":[{"role":"user","content":["x"]}]`:                                                "cannot unmarshal",
		ollamaHead + `,"messages":[{"role":"user","content":"x","images":["data:image/png;base64,AAAA"]}]`:          "illegal base64",
		ollamaHead + `,"messages":[{"role":"user","content":"x","images":[""]}]`:                                    "image 0: it is empty",
		ollamaHead + `,"messages":[{"role":"user","content":"see [img-0]","images":["AAAA"]}]`:                      "names the place",
		ollamaHead + `,"messages":[` + user + `,` + call + `]`:                                                      "1 calls at the end",
		ollamaHead + `,"messages":[` + user + `,` + call + `,` + user + `]`:                                         "1 calls before it",
		ollamaHead + `,"messages":[` + user + `,{"role":"tool","content":"x","tool_name":"n"}]`:                     "answers no open call",
		ollamaHead + `,"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"n","arguments":"{}"}}]}]`: "no object",
	} {
		_, err := providertest.ReadOllama([]byte(`{` + body + `}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func post(t *testing.T, s *providertest.OllamaServer, path, body string) (int, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	got, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Code, string(got)
}

// The stand-in loses what the real server loses, and says as little about it.
func TestOllamaServerLoses(t *testing.T) {
	picture := `{"role":"user","content":"%s","images":["%s"]}`
	old, newer := fmt.Sprintf(picture, "old", "T0xE"), fmt.Sprintf(picture, "new", "TkVX")
	system, said := `{"role":"system","content":"s"}`, `{"role":"assistant","content":"ok"}`
	ask := func(more string, messages ...string) string {
		return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]` + more + `}`
	}
	all := []string{system, old, said, newer}
	for name, tc := range map[string]struct {
		sees, body string
		code       int
		want       providertest.OllamaSight
		words      string
	}{
		"all fits":      {"vision", ask("", all...), 200, providertest.OllamaSight{Prompt: "s\n[img-0]old\nok\n[img-1]new\n", Pictures: [][]byte{[]byte("OLD"), []byte("NEW")}}, "I was shown 2 pictures."},
		"dropped":       {"vision", ask(`,"options":{"num_ctx":1000}`, all...), 200, providertest.OllamaSight{Prompt: "s\nok\n[img-0]new\n", Pictures: [][]byte{[]byte("NEW")}, Dropped: 1}, "I was shown 1 pictures."},
		"last stays":    {"vision", ask(`,"options":{"num_ctx":10}`, all...), 200, providertest.OllamaSight{Prompt: "s\n[img-0]new\n", Pictures: [][]byte{[]byte("NEW")}, Dropped: 2}, "I was shown 1 pictures."},
		"refused":       {"vision", ask(`,"options":{"num_ctx":1000},"truncate":false`, all...), 400, providertest.OllamaSight{}, `{"error":"request (1540 tokens) exceeds the available context size (1000 tokens), try increasing it"}`},
		"blind":         {"", ask(`,"truncate":false`, all...), 200, providertest.OllamaSight{Prompt: "s\nold\nok\nnew\n", Ignored: 2}, "I was shown 0 pictures."},
		"place by name": {"vision", ask("", `{"role":"user","content":"a [img] b","images":["T0xE"]}`), 200, providertest.OllamaSight{Prompt: "a [img-0] b\n", Pictures: [][]byte{[]byte("OLD")}}, ""},
		"place taken":   {"vision", ask("", `{"role":"user","content":"[img-0]","images":["T0xE"]}`), 200, providertest.OllamaSight{Prompt: "[img-0]\n", Ignored: 1}, "I was shown 0 pictures."},
		"no tools":      {"vision", ask(`,"tools":[{"type":"function"}]`, all...), 400, providertest.OllamaSight{}, "does not support tools"},
		"no thinking":   {"vision", ask(`,"think":"low"`, all...), 400, providertest.OllamaSight{}, "does not support thinking"},
		"no JSON":       {"vision", `{`, 400, providertest.OllamaSight{}, "error"},
		"bad picture":   {"vision", ask("", `{"role":"user","content":"x","images":["A"]}`), 500, providertest.OllamaSight{}, "failed to load"},
	} {
		seen := -1
		s := &providertest.OllamaServer{Capabilities: []string{"completion", tc.sees}, Sees: func(n int) { seen = n }}
		code, body := post(t, s, "/api/chat", tc.body)
		if code != tc.code || !strings.Contains(body, tc.words) {
			t.Errorf("%s: status %d, body %s", name, code, body)
		}
		var got providertest.OllamaSight
		if sights := s.Sights(); len(sights) > 0 {
			got = sights[0]
			if seen != len(got.Pictures) {
				t.Errorf("%s: told of %d pictures", name, seen)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

func TestOllamaServerTellsOfItself(t *testing.T) {
	s := &providertest.OllamaServer{Capabilities: []string{"completion", "vision"}}
	if code, body := post(t, s, "/api/show", `{"model":"m"}`); code != 200 || !strings.Contains(body, `"capabilities":["completion","vision"]`) {
		t.Errorf("show: %d %s", code, body)
	}
	if code, _ := post(t, s, "/api/pull", ``); code != 404 {
		t.Errorf("pull: %d", code)
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/version", http.NoBody))
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "version") {
		t.Errorf("version: %d %s", rec.Code, rec.Body)
	}
}
