package openai_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"

	"tote/internal/content"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// counting is a transport that reads a body without keeping it.
type counting struct {
	answer []byte
	sent   int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := io.Copy(io.Discard, r.Body)
	c.sent = n
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c.answer)), Request: r}, err
}

// A request holds its pictures only while they pass.
func TestMemoryDoesNotGrowWithPictures(t *testing.T) {
	const pictures, each, most = 10, 3 << 20, 20 << 20
	var blobs providertest.Blobs
	var blocks []content.Block
	for i := range pictures {
		data := bytes.Repeat([]byte{byte(i)}, each)
		blocks = append(blocks, picture(&blobs, content.Handle(fmt.Sprintf("image-%d.png", i+1)), string(data)))
	}
	prompt := providertest.Settle(t, flatProfile(), &blobs, providertest.User(blocks...))
	chatAnswer := []byte("data: " + providertest.Delta(`{"content":"x"}`) + "\n\ndata: [DONE]\n\n")
	for name, dial := range map[string]func(http.RoundTripper) provider.Provider{
		"chat": func(rt http.RoundTripper) provider.Provider {
			return openai.New(provider.Options{BaseURL: "http://h", Transport: rt}, openai.Config{Model: "m"})
		},
		"responses": func(rt http.RoundTripper) provider.Provider {
			return openai.NewResponses(provider.Options{BaseURL: "http://h", Transport: rt}, openai.ResponsesConfig{Model: "m"})
		},
	} {
		c := &counting{answer: chatAnswer}
		if name == "responses" {
			c.answer = []byte("data: " + completed("") + "\n\n")
		}
		p := dial(c)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body, err := p.Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
		if err != nil {
			t.Fatal(err)
		}
		h := listen(t.Context(), t, p, body)
		runtime.ReadMemStats(&after)
		if h.Err != nil || c.sent != body.Len() || c.sent < pictures*each*4/3 {
			t.Errorf("%s: %d of %d bytes sent, %v", name, c.sent, body.Len(), h.Err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: %d bytes were allocated for %d", name, got, c.sent)
		} else {
			t.Logf("%s: %d KiB allocated for %d KiB sent", name, got>>10, c.sent>>10)
		}
	}
}
