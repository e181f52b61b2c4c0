package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tote/internal/delivery"
)

const (
	// firstDelay is the wait before the first retry; it doubles each time.
	firstDelay = 500 * time.Millisecond
	// maxDelay bounds a wait that the client chose itself.
	maxDelay = 30 * time.Second
	// MaxRetryAfter is the longest wait that a server may ask for. A longer
	// one is an error that says when.
	MaxRetryAfter = 60 * time.Second
)

// silentError is the cause of a request that was given up for silence.
type silentError struct{ after time.Duration }

func (e *silentError) Error() string { return "no byte for " + e.after.String() }

// watch gives a request up when nothing moves for a time.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer
	after time.Duration
	give  context.CancelCauseFunc
	done  bool
	fired bool
}

func newWatch(give context.CancelCauseFunc, after time.Duration) *watch {
	w := &watch{give: give, after: after}
	w.timer = time.AfterFunc(after, w.expire)
	return w
}

func (w *watch) expire() {
	w.mu.Lock()
	after, done := w.after, w.done
	w.fired = !done
	w.mu.Unlock()
	if !done {
		w.give(&silentError{after: after})
	}
}

// cause is the error of a request that was given up, nil for another one.
func (w *watch) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		return &silentError{after: w.after}
	}
	return nil
}

// progress starts the time anew.
func (w *watch) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.timer.Reset(w.after)
	}
}

// reset starts anew with another time.
func (w *watch) reset(after time.Duration) {
	w.mu.Lock()
	w.after = after
	w.mu.Unlock()
	w.progress()
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.timer.Stop()
}

// upload hands the body out and knows how far it got.
type upload struct {
	body  Body
	watch *watch
	sent  atomic.Int64
	fault atomic.Pointer[error]
}

// open starts the body from its beginning, as after a redirect.
func (u *upload) open() io.ReadCloser {
	u.sent.Store(0)
	return &uploadReader{u: u, r: u.body.Open()}
}

type uploadReader struct {
	u *upload
	r io.ReadCloser
}

func (r *uploadReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.u.sent.Add(int64(n))
	r.u.watch.progress()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errClosed) {
		r.u.fault.CompareAndSwap(nil, &err)
	}
	return n, err
}

func (r *uploadReader) Close() error { return r.r.Close() }

// transportError says why a request got no answer.
func (c *Client) transportError(ctx context.Context, err error, up *upload) *Error {
	if fault := up.fault.Load(); fault != nil {
		return &Error{Failure: delivery.Failure{Kind: delivery.FailSchema}, Hint: "a stored file is gone or damaged; tote store verify finds which", Err: fmt.Errorf("build request: %w", *fault), Local: true}
	}
	err = proxied(withoutURL(err))
	cause := context.Cause(ctx)
	var silent *silentError
	switch {
	case errors.As(cause, &silent):
		return &Error{Failure: delivery.Failure{Kind: delivery.FailStream}, Hint: "check the network, or choose another model", Err: silent}
	case ctx.Err() != nil:
		return cancelled(cause)
	}
	sent := up.sent.Load()
	kind := delivery.FailNetwork
	var ne net.Error
	timeout := errors.As(err, &ne) && ne.Timeout()
	if !timeout && sent > 0 && (sent < up.body.Len() || up.body.Len() > resend) {
		kind = delivery.FailUpload
	}
	return &Error{Failure: delivery.Failure{Kind: kind, Reached: kind == delivery.FailNetwork && sent > 0}, Err: err}
}

func cancelled(cause error) *Error {
	return &Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: cause}
}

// withoutURL takes the address out of an error: it may hold a key.
func withoutURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// wait says how long to wait before the next sending, and whether there is one.
func (c *Client) wait(e *Error, retries int) (time.Duration, bool) {
	if retries >= c.opts.MaxRetries || e.RetryAfter > MaxRetryAfter {
		return 0, false
	}
	switch {
	case e.Failure.Kind == delivery.FailNetwork && e.Failure.Status == 0 && c.err == nil && !hopeless(e.Err):
	case e.Failure.Kind == delivery.FailRateLimit:
	case e.Failure.Kind == delivery.FailServer && retryStatus(e.Failure.Status):
	default:
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	d := min(firstDelay<<min(retries, 10), maxDelay)
	return time.Duration(float64(d) * (0.75 + c.opts.Jitter()/2)), true
}

// hopeless tells the network errors that the next sending meets again.
func hopeless(err error) bool {
	var proxy *proxyError
	if errors.As(err, &proxy) && proxy.hopeless() {
		return true
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return true
	}
	return err != nil && (strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), "invalid header") || strings.Contains(err.Error(), "HTTP response to HTTPS"))
}

// statusOverloaded is Anthropic's status for an overloaded service
// (https://docs.claude.com/en/api/errors, read 2026-11-30).
const statusOverloaded = 529

func retryStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	}
	return false
}

// retryAfter reads how long a server asks to wait: seconds, a date, or
// OpenAI's milliseconds. 0 is nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if s > 0 && s < 1e9 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// why is a retry's cause in a few words.
func why(e *Error) string {
	words := strings.ReplaceAll(e.Failure.Kind.String(), "_", " ")
	if e.Failure.Status != 0 {
		return strconv.Itoa(e.Failure.Status) + " " + words
	}
	var proxy *proxyError
	switch {
	case e.Err == nil:
	case errors.As(e.Err, &proxy) && proxy.err == nil:
		return proxy.Error()
	case proxy != nil:
		return "no way through the proxy"
	case strings.Contains(e.Err.Error(), "refused"):
		return "connection refused"
	}
	return words
}

// sleep waits, or returns the error of a cancelled context.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return cancelled(context.Cause(ctx))
	}
}
