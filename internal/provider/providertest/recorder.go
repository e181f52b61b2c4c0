package providertest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Request is what a server was sent.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// A Reply answers one request, whose body was read already.
type Reply func(w http.ResponseWriter, r *http.Request, body []byte)

// Recorder is a server on loopback that keeps every request and answers from a
// script. When the script is used up its last reply is given again. What is not
// posted is a question to the server about itself: it knows no such thing, and
// does not count it.
type Recorder struct {
	// URL is the base URL for a provider.
	URL string

	mu       sync.Mutex
	requests []Request
	script   []Reply
	// checks are what bodies must pass, by the end of the path.
	checks map[string]func([]byte) error
	tb     testing.TB
}

// NewRecorder starts a server that ends with the test. Bodies sent to
// /chat/completions must pass [CheckChat], else the test fails.
func NewRecorder(tb testing.TB, script ...Reply) *Recorder {
	tb.Helper()
	r := &Recorder{script: script, checks: map[string]func([]byte) error{"/chat/completions": CheckChat}, tb: tb}
	s := httptest.NewServer(r)
	tb.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	r.URL = s.URL
	return r
}

// ServeHTTP implements [http.Handler].
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client went away
	}
	if req.Method != http.MethodPost {
		http.NotFound(w, req)
		return
	}
	r.mu.Lock()
	r.requests = append(r.requests, Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body})
	n := len(r.requests) - 1
	script := r.script
	r.mu.Unlock()
	for end, check := range r.checks {
		if !strings.HasSuffix(req.URL.Path, end) {
			continue
		}
		if err := check(body); err != nil {
			r.tb.Errorf("request %d: %v", n, err)
		}
	}
	if len(script) == 0 {
		Text("ok")(w, req, body)
		return
	}
	script[min(n, len(script)-1)](w, req, body)
}

// Then adds replies to the script.
func (r *Recorder) Then(more ...Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = append(r.script, more...)
}

// Check has every body that is sent to a path with this end pass check. It is
// called before the first request.
func (r *Recorder) Check(end string, check func(body []byte) error) *Recorder {
	r.checks[end] = check
	return r
}

// Unchecked lets every body pass.
func (r *Recorder) Unchecked() *Recorder {
	r.checks = nil
	return r
}

// Requests returns what came so far.
func (r *Recorder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Bodies returns the bodies that came so far.
func (r *Recorder) Bodies() [][]byte {
	var out [][]byte
	for _, req := range r.Requests() {
		out = append(out, req.Body)
	}
	return out
}

// Last returns the last request and fails the test when there is none.
func (r *Recorder) Last() Request {
	r.tb.Helper()
	all := r.Requests()
	if len(all) == 0 {
		r.tb.Fatal("no request came")
	}
	return all[len(all)-1]
}

// Events answers with server-sent events, each argument the data of one.
func Events(data ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", d) // a client that left sees nothing
			flush(w)
		}
	}
}

// Raw answers with a body as it stands.
func Raw(contentType, body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body) // a client that left sees nothing
	}
}

// Status answers with an error. Headers come in pairs of name and value.
func Status(code int, body string, headers ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // a client that left sees nothing
	}
}

// Hang answers nothing until the client goes away.
func Hang() Reply {
	return func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }
}

// HangAfter sends events and then nothing more until the client goes away.
func HangAfter(data ...string) Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		Events(data...)(w, r, body)
		<-r.Context().Done()
	}
}

// Cut sends what reply sends up to n bytes and then breaks the connection.
func Cut(n int, reply Reply) Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		rec := httptest.NewRecorder()
		reply(rec, r, body)
		maps.Copy(w.Header(), rec.Header())
		data := rec.Body.Bytes()
		_, _ = w.Write(data[:min(n, len(data))]) // the connection is broken next
		flush(w)
		panic(http.ErrAbortHandler)
	}
}

// RefuseImages answers a request that holds a picture with an error, any other
// one as otherwise.
func RefuseImages(code int, message string, otherwise Reply) Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		if pics, err := Pictures(body); err == nil && len(pics) > 0 {
			Status(code, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message))(w, r, body)
			return
		}
		otherwise(w, r, body)
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
