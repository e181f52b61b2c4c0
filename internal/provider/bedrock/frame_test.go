package bedrock_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"tote/internal/provider"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

// prelude spells the head of a frame with a right checksum.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, total), headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// canned answers each request with the same bytes, without a network.
type canned []byte

// RoundTrip implements [http.RoundTripper].
func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body) // what was sent is not looked at
		_ = r.Body.Close()
	}
	w := httptest.NewRecorder()
	_, _ = w.Write(c) // it writes to memory
	return w.Result(), nil
}

func FuzzAnswer(f *testing.F) {
	ev := providertest.ConverseFrame
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	f.Add(join(ev("messageStart", `{}`), ev("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"x"}}`), ev("messageStop", `{"stopReason":"end_turn"}`), ev("metadata", `{"usage":{"inputTokens":1}}`)))
	f.Add(join(ev("contentBlockStart", `{"start":{"toolUse":{"toolUseId":"a","name":"b"}}}`), ev("contentBlockDelta", `{"delta":{"toolUse":{"input":"{"}}}`), ev("messageStop", `{"stopReason":"max_tokens"}`)))
	f.Add(join(ev("contentBlockDelta", `{"delta":{"reasoningContent":{"text":"x","signature":"s","redactedContent":"AA=="}}}`), ev("contentBlockStop", `{}`)))
	f.Add(providertest.ConverseFault("throttlingException", `{"message":"x"}`))
	for _, lengths := range [][2]uint32{{0, 0}, {15, 0}, {16, 0}, {16, 1}, {20, 4}, {math.MaxUint32, 0}, {100, math.MaxUint32}, {provider.MaxLine + 1, 0}, {provider.MaxLine, 0}} {
		f.Add(append(prelude(lengths[0], lengths[1]), 1, 2, 3, 4, 5, 6, 7, 8))
	}
	f.Add([]byte("<html>"))
	f.Add([]byte(`{"message":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := keyed("http://h")
		o.Transport = canned(data)
		c := model(o, bedrock.Config{})
		listen(t.Context(), t, c, hello(t, c)) // ends with a finish or an error, and never panics
	})
}

// Lengths that a frame states cost nothing until that many bytes are there.
func TestLengthsAreNotTrusted(t *testing.T) {
	o := keyed("http://h")
	o.Transport = canned(prelude(provider.MaxLine, 0))
	c := model(o, bedrock.Config{})
	body := hello(t, c)
	if n := allocated(func() { listen(t.Context(), t, c, body) }); n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

func BenchmarkAnswer(b *testing.B) {
	frames := [][]byte{providertest.ConverseFrame("messageStart", `{}`)}
	for range 1000 {
		frames = append(frames, providertest.ConverseFrame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"some words of an answer"}}`))
	}
	frames = append(frames, providertest.ConverseFrame("messageStop", `{"stopReason":"end_turn"}`))
	o := keyed("http://h")
	o.Transport = canned(bytes.Join(frames, nil))
	c := model(o, bedrock.Config{})
	body := hello(b, c)
	b.SetBytes(int64(len(bytes.Join(frames, nil))))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range c.Stream(b.Context(), body) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
