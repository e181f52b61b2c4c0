package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// collect reads a stream to its end and checks the contract on the way.
func collect(seq iter.Seq2[provider.Event, error]) ([]provider.Event, error) {
	var out []provider.Event
	var failed error
	for ev, err := range seq {
		if failed != nil {
			return out, errors.New("an event after the error")
		}
		if err != nil {
			if _, ok := errors.AsType[*provider.Error](err); !ok {
				return out, fmt.Errorf("not an *Error: %w", err)
			}
			failed = err
			continue
		}
		out = append(out, ev)
	}
	return out, failed
}

// readNothing takes any answer for a good one.
func readNothing(a *provider.Answer, emit func(provider.Event) bool) error {
	if _, err := io.Copy(io.Discard, a); err != nil {
		return err
	}
	emit(provider.Finish{Stop: content.StopEndTurn})
	return nil
}

func literal(s string) provider.Body {
	return provider.NewBody([]delivery.Segment{delivery.Literal(s)}, nil)
}

// inMemory serves a handler to a client without a network, so that a synctest
// bubble can hold both.
func inMemory(h http.Handler) http.RoundTripper {
	return &http.Transport{
		DisableKeepAlives: true, ExpectContinueTimeout: 100 * time.Millisecond,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() { _ = (&http.Server{Handler: h}).Serve(&one{conn: server}) }() // ends at the second Accept
			return client, nil
		},
	}
}

// after reads the request before it answers, as a server does.
func after(reply providertest.Reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		reply(w, r, nil)
	})
}

type one struct{ conn net.Conn }

func (o *one) Accept() (net.Conn, error) {
	c := o.conn
	o.conn = nil
	if c == nil {
		return nil, io.EOF
	}
	return c, nil
}
func (o *one) Close() error   { return nil }
func (o *one) Addr() net.Addr { return &net.TCPAddr{} }

func options(url string) provider.Options {
	return provider.Options{
		Name: "acme", BaseURL: url, KeyFrom: "$ACME_KEY", UserAgent: "tote/test",
		Key:    func() (string, error) { return "sekret-key", nil },
		Jitter: func() float64 { return 0.5 },
	}
}

func TestRequestHead(t *testing.T) {
	var got http.Header
	var path, query string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, path, query = r.Header.Clone(), r.URL.Path, r.URL.RawQuery
		got.Set("Length", fmt.Sprint(r.ContentLength))
	}))
	defer s.Close()
	o := options(s.URL + "/v1/?api-version=7")
	o.Headers = map[string]string{"X-Extra": "yes", "User-Agent": "other/1"}
	if _, err := collect(provider.NewClient(o).Stream(t.Context(), "chat/completions", literal("{}"), readNothing)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Authorization": "Bearer sekret-key", "X-Extra": "yes", "User-Agent": "other/1", "Content-Type": "application/json", "Length": "2",
	}
	for k, v := range want {
		if got.Get(k) != v {
			t.Errorf("%s = %q, want %q", k, got.Get(k), v)
		}
	}
	if path != "/v1/chat/completions" || query != "api-version=7" {
		t.Errorf("path %s query %s", path, query)
	}
	o.KeyHeader = "x-api-key"
	if _, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing)); err != nil {
		t.Fatal(err)
	}
	if got.Get("X-Api-Key") != "sekret-key" || got.Get("Authorization") != "" {
		t.Errorf("key headers: %v", got)
	}
}

func TestRetries(t *testing.T) {
	for _, status := range []int{408, 429, 500, 502, 503, 504, 529} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int64
			o := options("http://h")
			o.Transport = inMemory(after(func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				if n.Add(1) < 4 {
					w.WriteHeader(status)
				}
			}))
			start := time.Now()
			events, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
			if err != nil || n.Load() != 4 {
				t.Fatalf("%d: %d requests, %v", status, n.Load(), err)
			}
			if took := time.Since(start); took != 3500*time.Millisecond {
				t.Errorf("%d: waited %s in all, want 3.5s", status, took)
			}
			var waits []float64
			for _, ev := range events {
				if r, ok := ev.(provider.Retry); ok {
					waits = append(waits, r.Seconds)
					if r.Attempt != len(waits) || !strings.HasPrefix(r.Why, fmt.Sprint(status)) {
						t.Errorf("%d: %+v", status, r)
					}
				}
			}
			if d := cmp.Diff([]float64{0.5, 1, 2}, waits); d != "" {
				t.Errorf("%d: waits %s", status, d)
			}
		})
	}
}

func TestNoRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.FailureKind
	}{
		"400":         {providertest.Status(400, "no"), delivery.FailRefused},
		"401":         {providertest.Status(401, "no"), delivery.FailAuth},
		"501":         {providertest.Status(501, "no"), delivery.FailServer},
		"quota":       {providertest.Status(429, `{"error":{"code":"insufficient_quota"}}`), delivery.FailBilling},
		"blind 500":   {providertest.Status(500, "image input is not supported"), delivery.FailRefused},
		"wait longer": {providertest.Status(429, "{}", "Retry-After", "61"), delivery.FailRateLimit},
	} {
		rec := providertest.NewRecorder(t, tc.reply)
		events, err := collect(provider.NewClient(options(rec.URL)).Stream(t.Context(), "x", literal("{}"), readNothing))
		var e *provider.Error
		if !errors.As(err, &e) || e.Failure.Kind != tc.want || len(events) != 0 || len(rec.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests and %d events", name, err, len(rec.Requests()), len(events))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		headers []string
		want    time.Duration
	}{
		"seconds":      {[]string{"Retry-After", "7"}, 7 * time.Second},
		"date":         {[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:42 GMT"}, 42 * time.Second},
		"milliseconds": {[]string{"Retry-After-Ms", "1500", "Retry-After", "9"}, 1500 * time.Millisecond},
		"past date":    {[]string{"Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT"}, 500 * time.Millisecond},
		"nonsense":     {[]string{"Retry-After", "soon"}, 500 * time.Millisecond},
		"negative":     {[]string{"Retry-After", "-5"}, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) { // time begins at 2000-01-01 UTC
			var n int
			o := options("http://h")
			o.Transport = inMemory(after(func(w http.ResponseWriter, r *http.Request, _ []byte) {
				if n++; n == 1 {
					providertest.Status(503, "{}", tc.headers...)(w, r, nil)
				}
			}))
			start := time.Now()
			if _, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != tc.want {
				t.Errorf("%s: waited %s, want %s", name, took, tc.want)
			}
		})
	}
}

func TestLongRetryAfterSaysWhen(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.Status(429, "{}", "Retry-After", "3600"))
	o := options(rec.URL)
	o.Now = func() time.Time { return time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC) }
	_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || e.RetryAfter != time.Hour || e.Hint != "try again after 15:00:00, or choose another model" {
		t.Errorf("error = %+v", e)
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options("http://h")
		o.Transport = inMemory(after(providertest.Status(503, "{}", "Retry-After", "50")))
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(3*time.Second, cancel)
		events, err := collect(provider.NewClient(o).Stream(ctx, "x", literal("{}"), readNothing))
		var e *provider.Error
		if !errors.As(err, &e) || e.Failure.Kind != delivery.FailCancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		if len(events) != 1 || time.Since(start) != 3*time.Second {
			t.Errorf("%d events after %s", len(events), time.Since(start))
		}
	})
}

func TestCancelBeforeAndInsideAnAnswer(t *testing.T) {
	for name, reply := range map[string]providertest.Reply{
		"before": providertest.Hang(), "inside": providertest.HangAfter(providertest.Delta(`{"content":"a"}`)),
	} {
		synctest.Test(t, func(t *testing.T) {
			o := options("http://h")
			o.Transport = inMemory(after(reply))
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := collect(provider.NewClient(o).Stream(ctx, "x", literal("{}"), readNothing))
			var e *provider.Error
			if !errors.As(err, &e) || e.Failure.Kind != delivery.FailCancelled {
				t.Errorf("%s: error = %v", name, err)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	for name, tc := range map[string]struct {
		reply providertest.Reply
		after time.Duration
	}{
		"before the answer": {providertest.Hang(), provider.DefaultFirstByteTimeout},
		"inside the answer": {providertest.HangAfter(providertest.Delta(`{"content":"a"}`)), provider.DefaultIdleTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := options("http://h")
			o.Transport = inMemory(after(tc.reply))
			start := time.Now()
			_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
			var e *provider.Error
			if !errors.As(err, &e) || e.Failure.Kind != delivery.FailStream || !strings.Contains(err.Error(), "no byte for "+tc.after.String()) {
				t.Errorf("%s: error = %v", name, err)
			}
			if took := time.Since(start); took != tc.after {
				t.Errorf("%s: gave up after %s, want %s", name, took, tc.after)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	other := providertest.NewRecorder(t).Unchecked()
	for name, tc := range map[string]struct {
		code int
		to   string
		ok   bool
	}{
		"same host 307":  {307, "/moved", true},
		"same host 308":  {308, "/moved", true},
		"same host 302":  {302, "/moved", false},
		"other host 307": {307, other.URL + "/x", false},
	} {
		var body string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				b, err := io.ReadAll(r.Body)
				body = r.Method + string(b)
				if err != nil || r.Header.Get("Authorization") == "" {
					t.Errorf("%s: after the redirect: %v, %v", name, err, r.Header)
				}
				return
			}
			w.Header().Set("Location", tc.to)
			w.WriteHeader(tc.code)
		}))
		_, err := collect(provider.NewClient(options(s.URL)).Stream(t.Context(), "x", literal("payload"), readNothing))
		s.Close()
		if tc.ok != (err == nil) || tc.ok && body != "POSTpayload" {
			t.Errorf("%s: %v, body %q", name, err, body)
		}
		var e *provider.Error
		if !tc.ok && (!errors.As(err, &e) || e.Failure.Kind != delivery.FailProtocol) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("another host got %d requests", n)
	}
}

func TestKeysStayInside(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.Status(401, `{"error":{"message":"the key sekret-key is wrong"}}`))
	_, err := collect(provider.NewClient(options(rec.URL)).Stream(t.Context(), "x", literal("{}"), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) || strings.Contains(err.Error()+e.Hint, "sekret") {
		t.Errorf("error = %v", err)
	}
	if want := "check the API key in $ACME_KEY (providers.acme.api_key)"; e != nil && e.Hint != want {
		t.Errorf("hint = %q, want %q", e.Hint, want)
	}
	o := options("http://127.0.0.1:1/?key=sekret-key")
	o.MaxRetries = -1
	_, err = collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	if err == nil || strings.Contains(err.Error(), "sekret") {
		t.Errorf("error = %v", err)
	}
	o = options("http://127.0.0.1:1")
	o.Key = func() (string, error) { return "", errors.New("$ACME_KEY is not set") }
	_, err = collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailAuth {
		t.Errorf("error = %v", err)
	}
}

func TestBadBaseURL(t *testing.T) {
	for _, u := range []string{"", "ftp://x", "not a url", "http://", "http://[::1"} {
		_, err := collect(provider.NewClient(provider.Options{BaseURL: u}).Stream(t.Context(), "x", literal("{}"), readNothing))
		var e *provider.Error
		if !errors.As(err, &e) || e.Failure.Kind != delivery.FailNetwork || e.Hint != "check base_url" {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestAnswerWithoutFinish(t *testing.T) {
	rec := providertest.NewRecorder(t)
	_, err := collect(provider.NewClient(options(rec.URL)).Stream(t.Context(), "x", literal("{}"),
		func(*provider.Answer, func(provider.Event) bool) error { return nil }))
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure.Kind != delivery.FailStream {
		t.Errorf("error = %v", err)
	}
}

func TestConsumerStops(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.Status(503, "{}"))
	for ev, err := range provider.NewClient(options(rec.URL)).Stream(t.Context(), "x", literal("{}"), readNothing) {
		if _, ok := ev.(provider.Retry); !ok || err != nil {
			t.Errorf("%T, %v", ev, err)
		}
		break
	}
	if n := len(rec.Requests()); n != 1 {
		t.Errorf("%d requests after the consumer stopped", n)
	}
}

func TestErrorBodyIsBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("long words ", 1000)); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	_, err := collect(provider.NewClient(options(s.URL)).Stream(t.Context(), "x", literal("{}"), readNothing))
	if err == nil || len(err.Error()) > 1500 {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
}
