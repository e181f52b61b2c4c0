package provider_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

func pseudo(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestBodyIsItsSegments(t *testing.T) {
	var blobs providertest.Blobs
	var want []byte
	var segs []delivery.Segment
	for _, n := range []int{0, 1, 2, 3, 767, 768, 769, 49151, 49152, 49153, 200_000} {
		data := pseudo(n)
		segs = append(segs, delivery.Literal("<"), delivery.Hole(blobs.Put(data, "image/png")), delivery.Literal(">"))
		want = append(want, '<')
		want = base64.StdEncoding.AppendEncode(want, data)
		want = append(want, '>')
	}
	b := provider.NewBody(segs, &blobs)
	if b.Len() != int64(len(want)) {
		t.Errorf("Len = %d, want %d", b.Len(), len(want))
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":  func(r io.Reader) io.Reader { return r },
		"byte":   iotest.OneByteReader,
		"half":   iotest.HalfReader,
		"chunks": func(r io.Reader) io.Reader { return &odd{r: r} },
	}
	for name, wrap := range readers {
		rc := b.Open()
		got, err := io.ReadAll(wrap(rc))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: read %d bytes, %v; want %d", name, len(got), err, len(want))
		}
		if err := rc.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

// odd reads in lengths around the limits of the reader.
type odd struct {
	r io.Reader
	n int
}

func (o *odd) Read(p []byte) (int, error) {
	sizes := []int{1, 1023, 1024, 1025, 3, 4097, 65536, 7}
	o.n++
	return o.r.Read(p[:min(len(p), sizes[o.n%len(sizes)])])
}

type failing struct{ err error }

func (f failing) Open(content.Digest) (io.ReadCloser, error) { return nil, f.err }

type fixed struct{ data []byte }

func (f fixed) Open(content.Digest) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(f.data)), nil
}

func TestBodyErrors(t *testing.T) {
	blob := content.Blob{Digest: content.Digest{1, 2}, Size: 1000}
	broken := errors.New("disk on fire")
	for name, tc := range map[string]struct {
		blobs provider.Blobs
		want  string
	}{
		"missing": {failing{broken}, "open blob 010200000000: disk on fire"},
		"short":   {fixed{pseudo(999)}, "read blob 010200000000: it ends after 999 of 1000 bytes"},
		"long":    {fixed{pseudo(1001)}, "read blob 010200000000: it is longer than 1000 bytes"},
		"none":    {nil, "open blob 010200000000: no store to read from"},
	} {
		_, err := io.ReadAll(provider.NewBody([]delivery.Segment{delivery.Hole(blob)}, tc.blobs).Open())
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: error = %v, want %s", name, err, tc.want)
		}
	}
	rc := provider.NewBody([]delivery.Segment{delivery.Literal("x")}, nil).Open()
	if err := rc.Close(); err != nil {
		t.Error(err)
	}
	if _, err := rc.Read(make([]byte, 1)); err == nil {
		t.Error("a closed body can be read")
	}
}

// endless makes blobs of zeros without holding them.
type endless struct{ size int64 }

func (e endless) Open(content.Digest) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(zeros{}, e.size)), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// pictures is a body with n pictures of 500 KB.
func pictures(n int) provider.Body {
	const size = 500_000
	var segs []delivery.Segment
	for i := range n {
		d := content.Digest(sha256.Sum256([]byte{byte(i)}))
		segs = append(segs, delivery.Literal(`{"image":"`), delivery.Hole(content.Blob{Digest: d, Size: size}), delivery.Literal(`"}`))
	}
	return provider.NewBody(segs, endless{size})
}

// A request with 30 MB of pictures may cost 20 MB at most.
func TestBodyStreamsThroughTheClient(t *testing.T) {
	var got, peak int64
	idle := heap()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := make([]byte, 64<<10)
		for next := int64(0); ; {
			n, err := r.Body.Read(buf)
			got += int64(n)
			if got >= next {
				peak = max(peak, heap()-idle)
				next += 4 << 20
			}
			if err != nil {
				break
			}
		}
		providertest.Events(providertest.End("stop"), providertest.Done)(w, r, nil)
	}))
	defer s.Close()
	body := pictures(60)
	c := provider.NewClient(provider.Options{BaseURL: s.URL})
	_, err := collect(c.Stream(t.Context(), "x", body, readNothing))
	if err != nil {
		t.Fatal(err)
	}
	if got != body.Len() {
		t.Errorf("the server got %d bytes, want %d", got, body.Len())
	}
	if limit := int64(20_000_000); peak > limit {
		t.Errorf("sending cost %d bytes of heap, want at most %d", peak, limit)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkBody(b *testing.B) {
	body := pictures(60)
	b.SetBytes(body.Len())
	b.ReportAllocs()
	for b.Loop() {
		rc := body.Open()
		if _, err := io.Copy(struct{ io.Writer }{io.Discard}, rc); err != nil {
			b.Fatal(err)
		}
		if err := rc.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                       `""`,
		"a<b>&c":                 `"a<b>&c"`,
		"\"\\\n\r\t\x00\x1f/":    `"\"\\\n\r\t\u0000\u001f/"`,
		"é\u2028漢\U0001F600\x7f": "\"é\u2028漢\U0001F600\x7f\"",
		"a\xffb\xc3":             "\"a\uFFFDb\uFFFD\"",
		"\uFFFD":                 "\"\uFFFD\"",
	} {
		if got := string(provider.AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSpellingKeepsOrder(t *testing.T) {
	var blobs providertest.Blobs
	var inner, s provider.Spelling
	inner.Raw("[")
	inner.Base64(blobs.Put([]byte("abc"), ""))
	inner.Raw("]")
	s.Raw("a")
	s.String("b\n")
	s.Append(inner.Segments())
	s.Bytes([]byte("z"))
	got, err := io.ReadAll(provider.NewBody(s.Segments(), &blobs).Open())
	if want := `a"b\n"[YWJj]z`; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if len(s.Segments()) != 0 || strings.Contains(string(got), "\x00") {
		t.Error("a spelling is not empty after Segments")
	}
}
