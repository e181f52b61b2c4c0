package anthropic_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/providertest"
)

const mark = `,"cache_control":{"type":"ephemeral"}`

// points returns the breakpoints of a body: what stands before each, without
// the breakpoints themselves.
func points(body []byte) []string {
	var out []string
	parts := strings.Split(string(body), mark)
	for i := range parts[:len(parts)-1] {
		out = append(out, strings.Join(parts[:i+1], ""))
	}
	return out
}

func grow(t *testing.T, all []content.Message, request func(n int) provider.Request) {
	t.Helper()
	m := model(anthropic.Config{})
	var plain []byte
	var last string
	for n := 1; n <= len(all); n++ {
		if all[n-1].Role == content.RoleAssistant {
			continue // a request ends with a user's or a tool's message
		}
		body := spell(t, m, request(n))
		readSent(t, body)
		got := bytes.ReplaceAll(body, []byte(mark), nil)
		if !bytes.HasPrefix(got, plain) {
			t.Errorf("request with %d messages does not begin with the one before it", n)
		}
		at := points(body)
		found := last == ""
		for _, p := range at {
			found = found || p == last
		}
		if !found {
			t.Errorf("request with %d messages does not ask for what the one before it wrote", n)
		}
		if len(at) == 0 || len(at) > 4 || !strings.HasPrefix(string(got), at[len(at)-1]+"}]}]}") {
			t.Errorf("request with %d messages: %d breakpoints, the last is not at its end", n, len(at))
		}
		plain, last = bytes.TrimSuffix(got, []byte("]}]}")), at[len(at)-1]
	}
}

// In a conversation that grows the bytes of a request begin with those of the
// one before it, and its last breakpoint is one of the next.
func TestCacheHolds(t *testing.T) {
	var blobs providertest.Blobs
	tools := []provider.ToolSpec{{Name: "list"}, {Name: "view"}}
	var all []content.Message
	for turn := range 3 {
		name := func(kind string) content.Handle { return content.Handle(fmt.Sprintf("%s-%d", kind, turn)) }
		call := func(n int) string { return fmt.Sprintf("toolu_%d_%d", turn, n) }
		all = append(
			all, providertest.User(text(name("text"), "look"), picture(&blobs, name("image")+".png", fmt.Sprint("PNG", turn))),
			providertest.Say(thought("hm", "SIG"), content.ToolCall{ID: call(1), Name: "view"}, content.ToolCall{ID: call(2), Name: "list"}),
			providertest.Results(
				content.ToolResult{CallID: call(1), Blocks: []content.Block{picture(&blobs, name("shot")+".png", fmt.Sprint("SHOT", turn))}},
				content.ToolResult{CallID: call(2), IsError: true, Blocks: []content.Block{picture(&blobs, name("bad")+".png", fmt.Sprint("BAD", turn))}},
			),
			providertest.Say(content.ToolCall{ID: "again", Name: "list"}),
			providertest.Results(content.ToolResult{CallID: "again", Blocks: []content.Block{text(name("out"), "a\nb")}}),
			providertest.Say(content.Text{Body: "Done."}),
		)
	}
	all = append(all, providertest.User(text("text-9", "thanks")))
	grow(t, all, func(n int) provider.Request {
		return provider.Request{Prompt: providertest.Settle(t, profile(native), &blobs, all[:n]...), Blobs: &blobs, System: "s", Tools: tools, Seed: int64(n)}
	})
	grow(t, all, func(n int) provider.Request {
		return provider.Request{Prompt: providertest.Settle(t, profile(hoisting), &blobs, all[:n]...), Blobs: &blobs}
	})
}

// Where nothing was answered the user's next words join the last ones; the bytes
// hold all the same.
func TestCacheHoldsWithoutAnswers(t *testing.T) {
	all := []content.Message{
		providertest.User(text("text-1", "one")), providertest.User(text("text-2", "two")),
		providertest.Say(content.ToolCall{ID: "a", Name: "n"}), providertest.Results(content.ToolResult{CallID: "a"}), providertest.User(text("text-3", "three")),
	}
	var last []byte
	for _, n := range []int{1, 2, 4, 5} {
		body := spell(t, model(anthropic.Config{}), provider.Request{Prompt: providertest.Settle(t, profile(native), nil, all[:n]...), System: "s"})
		readSent(t, body)
		got := bytes.ReplaceAll(body, []byte(mark), nil)
		if !bytes.HasPrefix(got, last) {
			t.Errorf("request with %d messages does not begin with the one before it", n)
		}
		last = bytes.TrimSuffix(got, []byte("]}]}"))
	}
}

// endless are blobs that cost no memory.
type endless int64

func (n endless) Open(content.Digest) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(zeros{}, int64(n))), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// swallow is a server that keeps nothing.
type swallow struct{ got int64 }

func (s *swallow) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := io.Copy(io.Discard, r.Body)
	s.got += n
	if err != nil {
		return nil, err
	}
	wire := providertest.AnthropicWire(providertest.AnthropicEnd("end_turn", providertest.AnthropicUsage{})...)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(wire)), Request: r}, nil
}

// Memory does not grow with the pictures of a request.
func TestPicturesAreNotHeld(t *testing.T) {
	const each, count = 3 << 20, 10
	var messages []content.Message
	for i := range count {
		b := content.Blob{Digest: content.Digest{byte(i + 1)}, MIME: "image/png", Size: each}
		messages = append(messages, providertest.User(providertest.Picture(content.Handle(fmt.Sprintf("image-%d.png", i)), b, 30, 20)), providertest.Say(content.Text{Body: "ok"}))
	}
	messages = append(messages, providertest.User(text("text-1", "?")))
	var server swallow
	m := anthropic.New(provider.Options{BaseURL: "http://h", Transport: &server}, anthropic.Config{Model: "m"})
	req := provider.Request{Prompt: providertest.Settle(t, profile(native), nil, messages...), Blobs: endless(each)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := m.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	if h := listen(t.Context(), t, m, body); h.Err != nil {
		t.Fatal(h.Err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("%d bytes of memory for %d bytes of pictures", used, count*each)
	}
	if server.got != body.Len() || server.got < count*each {
		t.Errorf("the server got %d of %d bytes", server.got, body.Len())
	}
}
