package provider_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"tote/internal/delivery"
	"tote/internal/provider"
)

func packed(t *testing.T, w io.WriteCloser, out *bytes.Buffer, text string) []byte {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	return packed(t, gzip.NewWriter(&out), &out, text)
}

func deflated(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	return packed(t, zlib.NewWriter(&out), &out, text)
}

// noise is what a body looks like in a compression that is not known here.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// A compressed error is read like any other.
func TestCompressedErrors(t *testing.T) {
	said := invalid("Could not process image")
	for name, body := range map[string][]byte{"gzip": gzipped(t, said), "deflate": deflated(t, said)} {
		e := provider.Rejection(400, body)
		if e.Failure != refused(400, delivery.ClassDecode) || e.Message != "Could not process image" {
			t.Errorf("%s: %+v, %q", name, e.Failure, e.Message)
		}
	}
}

// What cannot be unpacked is said in words; its bytes are shown to nobody.
func TestUnreadableErrors(t *testing.T) {
	whole := gzipped(t, strings.Repeat("words and more words. ", 4000)+string(noise(40_000)))
	zstd := append([]byte("\x28\xb5\x2f\xfd"), noise(300)...)
	for name, body := range map[string][]byte{
		"brotli": noise(200), "zstd": zstd, "short noise": noise(9), "gzip of nothing": []byte("\x1f\x8b"),
		"gzip of noise": gzipped(t, string(noise(5000))), "damaged gzip": append([]byte("\x1f\x8b\x08"), noise(50)...),
		"damaged deflate": append([]byte("\x78\x9c"), noise(50)...), "NUL": make([]byte, 64),
	} {
		if got := provider.Rejection(400, body); got.Message != "a compressed answer" || got.Failure != failure(delivery.FailRefused, 400) {
			t.Errorf("%s: %+v, %q", name, got.Failure, got.Message)
		}
	}
	// Cut off in its middle: what came out counts.
	if got := provider.Rejection(400, whole[:len(whole)/2]).Message; !strings.HasPrefix(got, "words and more words") {
		t.Errorf("cut off: %q", got)
	}
	// A bomb costs no more than any other error.
	if got := provider.Rejection(400, gzipped(t, strings.Repeat("a b ", 50<<20/4))).Message; len([]rune(got)) > 300 {
		t.Errorf("a bomb: %d runes", len([]rune(got)))
	}
	for _, text := range []string{"Das Bild gef\xe4llt mir nicht", "画像を処理できません", "x", "\x01", "x\tcompressed"} {
		if got := provider.Rejection(400, []byte(text)).Message; got == "a compressed answer" {
			t.Errorf("%q is taken for a compressed answer", text)
		}
	}
}
