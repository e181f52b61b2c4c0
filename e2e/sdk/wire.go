package sdk

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// Sent is one request as it went out.
type Sent struct {
	Method string
	// URL is the address that was meant, with the path as it is escaped.
	URL    string
	Header http.Header
	Body   []byte
}

// Wire stands between a client and the network: it keeps what the client sends to
// whatever address, and has a server on loopback answer it.
type Wire struct {
	server *httptest.Server

	mu       sync.Mutex
	sent     []Sent
	answered int
}

var _ http.RoundTripper = (*Wire)(nil)

// NewWire starts a server that gives one answer after the other, the last one
// again and again. It ends with the test.
func NewWire(tb testing.TB, contentType string, answers ...[]byte) *Wire {
	tb.Helper()
	w := &Wire{}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client's end of it counts
		w.mu.Lock()
		n := w.answered
		w.answered++
		w.mu.Unlock()
		rw.Header().Set("Content-Type", contentType)
		_, _ = rw.Write(answers[min(n, len(answers)-1)]) // a client that left sees nothing
	}))
	tb.Cleanup(w.server.Close)
	return w
}

// Client is an HTTP client on the wire.
func (w *Wire) Client() *http.Client { return &http.Client{Transport: w} }

// RoundTrip implements [http.RoundTripper].
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	s := Sent{Method: r.Method, URL: r.URL.Scheme + "://" + r.URL.Host + r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	w.mu.Lock()
	w.sent = append(w.sent, s)
	w.mu.Unlock()
	loop, err := url.Parse(w.server.URL)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = loop.Scheme, loop.Host, loop.Host
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return w.server.Client().Transport.RoundTrip(out)
}

// Last is the newest request. It fails the test when there is none.
func (w *Wire) Last(tb testing.TB) Sent {
	tb.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sent) == 0 {
		tb.Fatal("no request came")
	}
	return w.sent[len(w.sent)-1]
}

// Heads reports where method, address and the headers with these names differ.
func Heads(tb testing.TB, ours, theirs Sent, names ...string) {
	tb.Helper()
	if ours.Method != theirs.Method || ours.URL != theirs.URL {
		tb.Errorf("tote sends %s %s, the SDK %s %s", ours.Method, ours.URL, theirs.Method, theirs.URL)
	}
	for _, n := range names {
		if a, b := ours.Header.Get(n), theirs.Header.Get(n); a != b {
			tb.Errorf("tote sends %s %q, the SDK %q", n, a, b)
		}
	}
}

// Events spells server-sent events. Each has a name, "" for none, and data.
func Events(events ...[2]string) []byte {
	var b bytes.Buffer
	for _, e := range events {
		if e[0] != "" {
			b.WriteString("event: " + e[0] + "\n")
		}
		b.WriteString("data: " + e[1] + "\n\n")
	}
	return b.Bytes()
}
