package bedrock_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

// A picture that is gone from the store is a fault of the store.
func TestDamagedStore(t *testing.T) {
	var blobs providertest.Blobs
	c := model(options("http://127.0.0.1:1"), bedrock.Config{Env: keys()})
	body, err := c.Encode(provider.Request{
		Prompt: providertest.Settle(t, profile(native), &blobs, providertest.User(picture(&blobs, "image-1.png", "PNG one"))), Blobs: &providertest.Blobs{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if h := listen(t.Context(), t, c, body); h.Err == nil || h.Err.Failure.Kind != delivery.FailSchema || !strings.Contains(h.Err.Hint, "tote store verify") {
		t.Errorf("%v", h.Err)
	}
}

// noise is a store of large blobs that are made while they are read.
type noise map[content.Digest]int64

// Open implements [provider.Blobs].
func (n noise) Open(d content.Digest) (io.ReadCloser, error) {
	size, ok := n[d]
	if !ok {
		return nil, fmt.Errorf("no blob %s", d.Short())
	}
	return io.NopCloser(io.LimitReader(&stream{seed: d[0]}, size)), nil
}

type stream struct{ seed byte }

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for i := range p {
		s.seed = s.seed*5 + 3
		p[i] = s.seed
	}
	return len(p), nil
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// 30 MB of pictures are hashed and sent without being in memory, the same bytes
// each time.
func TestPicturesAreStreamed(t *testing.T) {
	store := noise{}
	var blocks []content.Block
	for i := range 10 {
		var d content.Digest
		d[0] = byte(i + 1)
		b := content.Blob{Digest: d, MIME: "image/png", Size: 3 << 20}
		store[d] = b.Size
		blocks = append(blocks, providertest.Picture(content.Handle(fmt.Sprintf("image-%d.png", i+1)), b, 3000, 2000))
	}
	sums := map[string]int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		n, err := io.Copy(hashOnly{h}, r.Body)
		if err != nil {
			t.Error(err)
		}
		sums[hex.EncodeToString(h.Sum(nil))] += n
		providertest.ConverseText("ok")(w, r, nil)
	}))
	t.Cleanup(s.Close)
	c := model(options(s.URL), bedrock.Config{Env: keys()})
	prompt := providertest.Settle(t, profile(native), nil, providertest.User(blocks...))
	var size int64
	got := allocated(func() {
		for range 2 {
			body, err := c.Encode(provider.Request{Prompt: prompt, Blobs: store})
			if err != nil {
				t.Fatal(err)
			}
			size += body.Len()
			if h := listen(t.Context(), t, c, body); h.Err != nil {
				t.Fatal(h.Err)
			}
		}
	})
	if got > 20<<20 {
		t.Errorf("%d bytes allocated", got)
	}
	if len(sums) != 1 || size < 2*30<<20 {
		t.Errorf("%d different bodies, %d bytes", len(sums), size)
	}
	for n := range maps.Values(sums) {
		if n != size {
			t.Errorf("%d of %d bytes arrived", n, size)
		}
	}
}

// hashOnly hides that a hash could read by itself.
type hashOnly struct{ hash.Hash }

func BenchmarkSign(b *testing.B) {
	store := noise{}
	var blocks []content.Block
	for i := range 4 {
		var d content.Digest
		d[0] = byte(i + 1)
		blob := content.Blob{Digest: d, MIME: "image/png", Size: 1 << 20}
		store[d] = blob.Size
		blocks = append(blocks, providertest.Picture(content.Handle(fmt.Sprintf("image-%d.png", i+1)), blob, 3000, 2000))
	}
	o := options("http://h")
	o.Transport = canned(providertest.ConverseFrame("messageStop", `{"stopReason":"end_turn"}`))
	c := model(o, bedrock.Config{Env: keys()})
	prompt := providertest.Settle(b, profile(native), nil, providertest.User(blocks...))
	b.SetBytes(4 << 20)
	b.ReportAllocs()
	for b.Loop() {
		body, err := c.Encode(provider.Request{Prompt: prompt, Blobs: store})
		if err != nil {
			b.Fatal(err)
		}
		listen(b.Context(), b, c, body)
	}
}
