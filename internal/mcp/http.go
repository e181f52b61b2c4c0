package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of HTTP.
const (
	// streamWait is how long a server has to open the stream of its own
	// messages, which it need not offer.
	streamWait = 5 * time.Second
	// errorBytes bounds the body of an answer that is an error, in bytes.
	errorBytes = 64 << 10
)

// web is the http.RoundTripper of one server. It adds the headers, and filters
// what comes back before the SDK reads it.
type web struct {
	base   http.RoundTripper
	filter *filter
	limit  int
	// origin is where the headers and the token go, and nowhere else: neither a
	// redirection nor an address that the server names takes them away.
	origin  *url.URL
	headers map[string]string
	// token gives the access token, "" for none; nil where there is none.
	token func(context.Context) (string, error)
	// refusedToken is called when the server did not take the token.
	refusedToken func()
	// life ends every request.
	life context.Context //nolint:containedctx // requests outlive the calls that made them; this is what ends them
	// streams: a GET asks for a stream that the server need not offer.
	streams bool
	// login is set when the server wants one.
	login atomic.Bool
	// refused is the last status of the server that was an error.
	refused atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(w.life, cancel)
	done := func() { stop(); cancel() }
	out := req.Clone(ctx)
	if err := w.authorise(ctx, out); err != nil {
		done()
		return nil, err
	}
	id, err := w.asked(req)
	if err != nil {
		done()
		return nil, err
	}
	if w.streams && req.Method == http.MethodGet {
		late := time.AfterFunc(streamWait, cancel)
		resp, err := w.base.RoundTrip(out)
		if !late.Stop() || err != nil && req.Context().Err() == nil && w.life.Err() == nil {
			done()
			return noStream(req, resp), nil
		}
		return w.answer(resp, err, id, done)
	}
	resp, err := w.base.RoundTrip(out)
	return w.answer(resp, err, id, done)
}

// authorise adds the headers and the token where they belong.
func (w *web) authorise(ctx context.Context, req *http.Request) error {
	if req.URL.Scheme != w.origin.Scheme || req.URL.Host != w.origin.Host {
		return nil
	}
	for name, v := range w.headers {
		req.Header.Set(name, v)
	}
	if w.token == nil || req.Header.Get("Authorization") != "" {
		return nil
	}
	token, err := w.token(ctx)
	if err != nil {
		w.login.Store(true)
		return fmt.Errorf("get the access token: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// asked notes the message that a request carries and returns its id.
func (w *web) asked(req *http.Request) (string, error) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return "", nil
	}
	body, err := req.GetBody()
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }() // read from memory
	line, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	return string(w.filter.sending(req.Context(), line)), nil
}

// noStream stands for a server that does not offer the stream.
func noStream(req *http.Request, resp *http.Response) *http.Response {
	if resp != nil {
		_ = resp.Body.Close() // its stream came too late
	}
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

func (w *web) answer(resp *http.Response, err error, id string, done func()) (*http.Response, error) {
	if err != nil {
		done()
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		w.login.Store(true)
		w.refusedToken()
	case resp.StatusCode < 300:
		w.login.Store(false)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		w.refused.Store(int32(resp.StatusCode))
		resp.Body = &closing{Reader: io.LimitReader(resp.Body, errorBytes), body: resp.Body, done: done}
		return resp, nil
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	resp.ContentLength = -1
	switch kind {
	case "text/event-stream":
		resp.Body = &closing{Reader: newEvents(resp.Body, w.filter, w.limit, id), body: resp.Body, done: done}
	case "application/json":
		body, err := w.whole(resp.Body, id)
		_ = resp.Body.Close() // read to its end, or given up
		done()
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
	default:
		resp.Body = &closing{Reader: io.LimitReader(resp.Body, errorBytes), body: resp.Body, done: done}
	}
	return resp, nil
}

// whole reads a body that is one message. It always gives the SDK a message where
// one was asked for: anything else would end the connection.
func (w *web) whole(body io.Reader, id string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, int64(w.limit)+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	var msgs [][]byte
	if len(b) > w.limit {
		msgs = w.filter.failed(tooLarge(w.limit), id)
	} else {
		msgs = w.filter.in(b)
	}
	if len(msgs) == 0 && id != "" {
		msgs = w.filter.failed("it answered with something else", id)
	}
	if len(msgs) == 0 {
		return nil, nil
	}
	return msgs[0], nil
}

// closing is a body that ends its request.
type closing struct {
	io.Reader
	body io.Closer
	done func()
	once sync.Once
}

// Close implements io.Closer.
func (c *closing) Close() error {
	err := c.body.Close()
	c.once.Do(c.done)
	return err
}

// events filters a stream of server-sent events. What it gives has one line of
// data for each event.
type events struct {
	in     *lines
	filter *filter
	limit  int
	// id is that of the request which the stream answers, "" for none.
	id  string
	out bytes.Buffer
	err error
}

func newEvents(r io.Reader, f *filter, limit int, id string) *events {
	return &events{in: newLines(r, limit), filter: f, limit: limit, id: id}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.err = e.event()
	}
	return e.out.Read(p)
}

// event reads one event and writes what the SDK is to see of it.
func (e *events) event() error {
	var head bytes.Buffer
	var data [][]byte
	var name string
	total, long := 0, false
	for {
		line, err := e.in.next()
		var le *longError
		switch {
		case errors.As(err, &le):
			long = true
			continue
		case errors.Is(err, errFlood):
			e.filter.count(func(n *counts) { n.flood = e.limit })
			return err
		case err != nil:
			return err // what is left is no event
		case len(line) == 0:
			e.emit(name, &head, data, long)
			return nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if total += len(value); total > e.limit {
				data, long = nil, true
				continue
			}
			data = append(data, value)
		case "event":
			name = string(value)
		case "id", "retry":
			if head.Len() < keptOfLong {
				fmt.Fprintf(&head, "%s: %s\n", field, value)
			}
		}
	}
}

func (e *events) emit(name string, head *bytes.Buffer, data [][]byte, long bool) {
	var msgs [][]byte
	switch body := bytes.Join(data, []byte(" ")); {
	case long && e.id != "":
		msgs = e.filter.failed(tooLarge(e.limit), e.id)
	case long:
		msgs = e.filter.failed(tooLarge(e.limit))
	case name != "" && name != "message":
		if len(data) > 0 {
			msgs = [][]byte{body}
		}
	default:
		msgs = e.filter.in(body)
	}
	if len(msgs) == 0 {
		if head.Len() > 0 {
			e.out.Write(head.Bytes())
			e.out.WriteByte('\n')
		}
		return
	}
	for i, m := range msgs {
		if i == len(msgs)-1 {
			e.out.Write(head.Bytes()) // a stream is resumed after the last of them
		}
		if name != "" {
			fmt.Fprintf(&e.out, "event: %s\n", name)
		}
		e.out.WriteString("data: ")
		e.out.Write(bytes.ReplaceAll(m, []byte("\n"), []byte(" ")))
		e.out.WriteString("\n\n")
	}
}
