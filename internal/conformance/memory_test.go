package conformance_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/gemini"
	"tote/internal/provider/ollama"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
	"tote/internal/store"
)

// The request of these tests: a full history of pictures as they are prepared,
// and how much it may cost, in bytes.
const (
	albumPictures = 61
	albumEach     = 500_000
	albumMost     = 20 << 20
)

// album is pictures in a store on the disk.
type album struct {
	store  *store.Store
	blocks []content.Block
}

func newAlbum(tb testing.TB) *album {
	tb.Helper()
	st, err := store.Open(filepath.Join(tb.TempDir(), "attachments"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := st.Close(); err != nil {
			tb.Error(err)
		}
	})
	a := &album{store: st}
	data := make([]byte, albumEach)
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range albumPictures {
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		d, err := st.PutBytes(tb.Context(), data)
		if err != nil {
			tb.Fatal(err)
		}
		h := content.NewHandle(content.KindImage, i+1, ".png")
		a.blocks = append(a.blocks, providertest.Picture(h, content.Blob{Digest: d, MIME: "image/png", Size: albumEach}, 900, 700))
	}
	return a
}

// request is the album as a prompt for a path.
func (a *album) request(tb testing.TB, path string) provider.Request {
	tb.Helper()
	p := providertest.Profile(path)
	p.Placement = delivery.Placement{}
	prompt := providertest.Settle(tb, p, nil, providertest.User(append(a.blocks, content.Text{Body: "look"})...))
	return provider.Request{Prompt: prompt, Blobs: a.store, System: "Look.", Seed: 7}
}

// heap is how many bytes are in use on the heap, garbage included.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// gauge reads a request in small pieces and looks at the heap at each.
type gauge struct {
	answer providertest.Reply
	// peak is the most that was seen, taken how much came. The client has its
	// answer after both.
	peak  uint64
	taken int64
}

func (g *gauge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Body.Read(buffer)
		g.taken += int64(n)
		g.peak = max(g.peak, heap())
		if errors.Is(err, io.EOF) {
			g.answer(w, r, nil)
			return
		}
		if err != nil {
			return // the client went away
		}
	}
}

// path is a way to a model of which the memory is measured.
type path struct {
	name  string
	model provider.Provider
	gauge *gauge
	// calls are those of a program in the place of a server.
	calls func() []clitest.Call
}

func paths(tb testing.TB) []path {
	tb.Helper()
	env := func(k string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": key.ID, "AWS_SECRET_ACCESS_KEY": key.Secret, "AWS_REGION": key.Region}[k]
	}
	dial := map[string]func(provider.Options) provider.Provider{
		"openai-chat": func(o provider.Options) provider.Provider { return openai.New(o, openai.Config{Model: "m"}) },
		"openai-responses": func(o provider.Options) provider.Provider {
			return openai.NewResponses(o, openai.ResponsesConfig{Model: "m"})
		},
		"anthropic": func(o provider.Options) provider.Provider { return anthropic.New(o, anthropic.Config{Model: "m"}) },
		"gemini":    func(o provider.Options) provider.Provider { return gemini.New(o, gemini.Config{Model: "m"}) },
		"ollama":    func(o provider.Options) provider.Provider { return ollama.New(o, ollama.Config{Model: "m"}) },
		"bedrock-converse": func(o provider.Options) provider.Provider {
			return bedrock.New(o, bedrock.Config{Model: "m", Env: env})
		},
	}
	var out []path
	for _, g := range tongues() {
		meter := &gauge{answer: g.said(plenty(), "ok")}
		s := httptest.NewServer(meter)
		tb.Cleanup(s.Close)
		out = append(out, path{name: g.kind, model: dial[g.kind](provider.Options{BaseURL: s.URL + g.base, MaxRetries: -1}), gauge: meter})
	}
	command, calls := clitest.Fake(tb, "claude", clitest.OK)
	r, err := cli.New(cli.Options{Runner: "claude", Command: command, Dir: tb.TempDir(), Scratch: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	return append(out, path{name: cli.Path("claude"), model: r, gauge: &gauge{}, calls: calls})
}

// watched looks at the heap whenever a picture is opened.
type watched struct {
	provider.Blobs
	gauge *gauge
}

func (w watched) Open(d content.Digest) (io.ReadCloser, error) {
	w.gauge.peak = max(w.gauge.peak, heap())
	return w.Blobs.Open(d)
}

// send spells the request and has it answered. It returns the length of the body.
func (p *path) send(tb testing.TB, r provider.Request) int64 {
	tb.Helper()
	if p.calls != nil {
		r.Blobs = watched{r.Blobs, p.gauge}
	}
	body, err := p.model.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	for _, err := range p.model.Stream(tb.Context(), body) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return body.Len()
}

// TestThirtyMegabytes sends 30 MB of pictures over every path: they are in memory
// only while they pass.
func TestThirtyMegabytes(t *testing.T) {
	a := newAlbum(t)
	for _, p := range paths(t) {
		t.Run(p.name, func(t *testing.T) {
			r := a.request(t, p.name)
			runtime.GC()
			runtime.GC() // what pools hold goes at the second
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			idle := heap()
			n := p.send(t, r)
			runtime.ReadMemStats(&after)
			grown, allocated := int64(p.gauge.peak)-int64(idle), after.TotalAlloc-before.TotalAlloc
			t.Logf("%d KiB sent, heap grew by %d KiB over %d KiB, %d KiB allocated in all", n>>10, grown>>10, idle>>10, allocated>>10)
			if grown > albumMost || allocated > albumMost {
				t.Errorf("the heap grew by %d bytes, %d were allocated, want at most %d", grown, allocated, albumMost)
			}
			if least := int64(albumPictures * albumEach / 3 * 4); n < least {
				t.Errorf("a body of %d bytes cannot hold the pictures", n)
			}
			if p.calls == nil {
				if p.gauge.taken != n {
					t.Errorf("%d of %d bytes arrived", p.gauge.taken, n)
				}
				return
			}
			if list := p.calls(); len(list) != 1 || int64(len(list[0].Stdin)) != n {
				t.Errorf("%d calls", len(list))
			}
		})
	}
}

// BenchmarkThirtyMegabytes is the same for its time.
func BenchmarkThirtyMegabytes(b *testing.B) {
	a := newAlbum(b)
	for _, p := range paths(b) {
		b.Run(p.name, func(b *testing.B) {
			r := a.request(b, p.name)
			b.SetBytes(albumPictures * albumEach)
			b.ReportAllocs()
			for b.Loop() {
				p.send(b, r)
			}
			b.ReportMetric(float64(p.gauge.peak)/(1<<20), "MiB-peak")
		})
	}
}
