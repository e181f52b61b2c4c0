package provider_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// resetting accepts connections, reads n bytes of each and then resets it.
func resetting(t *testing.T, n int64) (url string, count *atomic.Int64) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nothing is lost
	count = new(atomic.Int64)
	go func() { // ends when the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = io.CopyN(io.Discard, c, n) // the connection is thrown away
			if tc, ok := c.(*net.TCPConn); ok {
				_ = tc.SetLinger(0) // so that Close resets
			}
			_ = c.Close() // nothing is lost
		}
	}()
	return "http://" + l.Addr().String(), count
}

func TestResetWhileUploading(t *testing.T) {
	url, count := resetting(t, 4096)
	_, err := collect(provider.NewClient(options(url)).Stream(t.Context(), "x", pictures(60), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailUpload || count.Load() != 1 {
		t.Errorf("error = %v after %d connections", err, count.Load())
	}
	if e != nil && e.Hint == "" {
		t.Error("no hint")
	}
}

func TestResetBeforeUploadIsRetried(t *testing.T) {
	url, count := resetting(t, 1)
	o := options(url)
	o.MaxRetries = 1
	o.Jitter = func() float64 { return 0 }
	_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailNetwork || count.Load() != 2 {
		t.Errorf("error = %v after %d connections", err, count.Load())
	}
}

func TestNothingListens(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o := options("http://" + addr)
	o.MaxRetries = -1
	_, err = collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailNetwork || !strings.Contains(e.Hint, addr) {
		t.Errorf("error = %v, hint %q", err, e.Hint)
	}
}

func TestBrokenBlobIsOurFault(t *testing.T) {
	rec := providertest.NewRecorder(t)
	blob := content.Blob{Digest: content.Digest{1}, Size: 1 << 20}
	body := provider.NewBody([]delivery.Segment{delivery.Literal("x"), delivery.Hole(blob)}, failing{errors.New("gone")})
	_, err := collect(provider.NewClient(options(rec.URL)).Stream(t.Context(), "x", body, readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailSchema || !strings.Contains(err.Error(), "open blob 010000000000: gone") {
		t.Errorf("error = %v", err)
	}
}

func TestExpect(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Expect"))
		switch {
		case len(seen) == 1:
			w.WriteHeader(http.StatusRequestEntityTooLarge) // before the body
		case r.Header.Get("Expect") != "":
			w.WriteHeader(http.StatusExpectationFailed)
		default:
			_, _ = io.Copy(io.Discard, r.Body) // the length is not checked here
		}
	}))
	defer s.Close()
	body := pictures(4)
	body.Expect = true
	c := provider.NewClient(options(s.URL))
	_, err := collect(c.Stream(t.Context(), "x", body, readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailTooLarge {
		t.Errorf("early refusal: %v", err)
	}
	if _, err := collect(c.Stream(t.Context(), "x", body, readNothing)); err != nil {
		t.Errorf("expectation failed: %v", err)
	}
	if want := []string{"100-continue", "100-continue", ""}; !slices.Equal(seen, want) {
		t.Errorf("expected %q, want %q", seen, want)
	}
}
