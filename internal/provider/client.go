package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tote/internal/delivery"
)

const (
	// maxErrorBody is how much of an error's body is read, in bytes.
	maxErrorBody = 64 << 10
	// maxRedirects is how often one request may be sent elsewhere.
	maxRedirects = 3
	// resend is the largest body that is sent again after the connection
	// broke when all of it had been handed over, in bytes. A kept connection
	// that the server had closed looks so. A larger body may have been cut
	// off for its size.
	resend = 64 << 10
)

// Client sends requests to one endpoint.
type Client struct {
	opts Options
	http *http.Client
	base *url.URL
	err  error // of what the options say
	// fault names the option that err is about.
	fault string
}

// NewClient makes a client. It dials nothing; a base URL that cannot be used
// is an error of the first request.
func NewClient(o Options) *Client {
	c := &Client{opts: o.withDefaults()}
	c.base, c.err = url.Parse(strings.TrimSpace(o.BaseURL))
	if c.err == nil && (c.base.Host == "" || c.base.Scheme != "http" && c.base.Scheme != "https") {
		c.err = errors.New("it is no http or https address")
	}
	if c.err != nil {
		c.base, c.err, c.fault = &url.URL{}, fmt.Errorf("read base URL: %w", withoutURL(c.err)), "base_url"
	}
	if c.opts.Transport == nil {
		t, err := c.opts.newTransport()
		if err != nil && c.err == nil {
			c.err, c.fault = err, "ca_file and proxy"
		}
		c.opts.Transport = t
	}
	c.http = &http.Client{Transport: c.opts.Transport, CheckRedirect: checkRedirect}
	return c
}

func (c *Client) now() time.Time { return c.opts.Now() }

// checkRedirect lets a request with its key and body go on within the host
// only, and never as another method.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.Method != first.Method || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// Answer is a response with a good status.
type Answer struct {
	// Header is the response's.
	Header http.Header
	body   io.ReadCloser
	watch  *watch
	cancel context.CancelCauseFunc
}

// Read implements io.Reader. Silence for longer than the idle timeout is an
// error.
func (a *Answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if n > 0 {
		a.watch.progress()
	}
	return n, err
}

// Close ends the answer, also in its middle.
func (a *Answer) Close() error {
	a.watch.stop()
	a.cancel(nil)
	return a.body.Close()
}

// send posts a body to a path and returns the answer. It sends again by the
// transport's rules and reports each time to emit, which returns false to stop.
func (c *Client) send(ctx context.Context, path string, body Body, emit func(Event) bool) (*Answer, error) {
	for retries := 0; ; {
		a, err := c.post(ctx, path, body)
		if err == nil {
			return a, nil
		}
		var e *Error
		if !errors.As(err, &e) || ctx.Err() != nil {
			return nil, err
		}
		if body.Expect && e.Failure.Status == http.StatusExpectationFailed {
			body.Expect = false // the server, or a proxy, does not know the header
			continue
		}
		wait, again := c.wait(e, retries)
		if !again {
			return nil, err
		}
		retries++
		if !emit(Retry{Attempt: retries, Seconds: wait.Seconds(), Why: why(e)}) {
			return nil, errStopped
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// errStopped is returned when nobody wants further events.
var errStopped = errors.New("stopped by the consumer")

// post sends a body once.
func (c *Client) post(ctx context.Context, path string, body Body) (*Answer, error) {
	if c.err != nil {
		return nil, &Error{
			Failure: delivery.Failure{Kind: delivery.FailNetwork}, Hint: "check " + c.setting(c.fault), Err: c.err, Local: true,
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := newWatch(cancel, c.opts.FirstByteTimeout)
	up := &upload{body: body, watch: w}
	req, err := c.request(ctx, path, up)
	if err != nil {
		w.stop()
		cancel(nil)
		return nil, err
	}
	resp, err := c.http.Do(req) //nolint:bodyclose // the Answer closes it
	if err != nil {
		err = c.transportError(ctx, err, up)
		w.stop()
		cancel(nil)
		return nil, err
	}
	a := &Answer{Header: resp.Header, body: resp.Body, watch: w, cancel: cancel}
	w.reset(c.opts.IdleTimeout)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return a, nil
	}
	defer func() { _ = a.Close() }() // what was read counts
	return nil, c.statusError(resp, a)
}

// request spells the head of a request and signs it.
func (c *Client) request(ctx context.Context, path string, up *upload) (*http.Request, error) {
	u, err := c.address(path)
	if err != nil {
		return nil, &Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Hint: "check the model's name", Err: err, Local: true}
	}
	rd := up.open()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), rd)
	if err != nil {
		return nil, &Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Err: fmt.Errorf("make request: %w", withoutURL(err))}
	}
	req.ContentLength = up.body.Len()
	req.GetBody = func() (io.ReadCloser, error) { return up.open(), nil }
	if up.body.Expect {
		req.Header.Set("Expect", "100-continue")
	}
	if err := c.head(req, up.body.Header); err != nil {
		return nil, err
	}
	if c.opts.Sign == nil {
		return req, nil
	}
	if err := c.opts.Sign(ctx, req, up.body); err != nil {
		return nil, c.signError(ctx, err)
	}
	return req, nil
}

// signError is why a request could not be signed: mostly that there is nothing
// to sign with.
func (c *Client) signError(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return cancelled(context.Cause(ctx))
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: fmt.Errorf("sign request: %w", withoutURL(err))}
}

// address puts path, which is escaped and may have a query, behind the base.
func (c *Client) address(path string) (*url.URL, error) {
	path, query, _ := strings.Cut(path, "?")
	u := c.base.JoinPath(path)
	if u.Path == "" || !strings.HasSuffix(u.EscapedPath(), strings.TrimPrefix(path, "/")) {
		return nil, errors.New("make request: its path cannot be put behind base_url")
	}
	switch {
	case query == "":
	case u.RawQuery == "":
		u.RawQuery = query
	default:
		u.RawQuery += "&" + query
	}
	return u, nil
}

// head sets the headers of a request: the client's, the key, the options', and
// those of the body.
func (c *Client) head(req *http.Request, more map[string]string) error {
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	if c.opts.UserAgent != "" {
		h.Set("User-Agent", c.opts.UserAgent)
	}
	key, err := c.key()
	if err != nil {
		return &Error{Failure: delivery.Failure{Kind: delivery.FailAuth}, Hint: "set " + c.keyPlaces(), Err: err, Local: true}
	}
	switch {
	case key == "":
	case c.opts.KeyHeader != "":
		h.Set(c.opts.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	for k, v := range c.opts.Headers {
		h.Set(k, v)
	}
	for k, v := range more {
		h.Set(k, v)
	}
	return nil
}

func (c *Client) key() (string, error) {
	if c.opts.Key == nil {
		return "", nil
	}
	k, err := c.opts.Key()
	if err != nil {
		return "", err // it says what was read
	}
	return strings.TrimSpace(k), nil
}

// awsError is the header in which AWS names an error that its body may not name
// (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html, read 2026-11-30).
const awsError = "X-Amzn-Errortype"

// statusError reads an answer that says no.
func (c *Client) statusError(resp *http.Response, a *Answer) *Error {
	body, err := io.ReadAll(io.LimitReader(a, maxErrorBody))
	if err != nil && len(body) == 0 {
		body = nil // the status alone says enough
	}
	if resp.StatusCode == http.StatusProxyAuthRequired {
		return proxyRefusal()
	}
	e := rejection(resp.StatusCode, body, resp.Header.Get(awsError))
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Failure.Kind = delivery.FailProtocol
		e.Failure.Class = delivery.ClassUnknown
		e.Message = "the server sends the request elsewhere"
		if to, err := resp.Location(); err == nil {
			e.Message += ", to " + to.Scheme + "://" + to.Host + to.Path
		}
	}
	e.RetryAfter = retryAfter(resp.Header, c.now())
	return e
}
