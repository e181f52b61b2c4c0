package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tote/internal/delivery"
)

// proxyError is a proxy that does not let a request through. Its words never
// hold the proxy's address, which may hold a password.
type proxyError struct {
	// status is what the proxy answered, 0 for no answer of HTTP.
	status int
	// err is the cause below, nil for a status.
	err error
}

func (e *proxyError) Error() string {
	if e.err != nil {
		return "reach the proxy: " + e.err.Error()
	}
	s := "the proxy answers " + strconv.Itoa(e.status)
	if text := http.StatusText(e.status); text != "" {
		s += " (" + strings.ToLower(text) + ")"
	}
	return s
}

func (e *proxyError) Unwrap() error { return e.err }

// hopeless reports whether the proxy says the same the next time.
func (e *proxyError) hopeless() bool {
	if e.err != nil {
		return e.wantsLogin() || strings.Contains(e.err.Error(), "not allowed by ruleset")
	}
	return e.status < 500 && e.status != http.StatusRequestTimeout && e.status != http.StatusTooManyRequests
}

// wantsLogin reports whether the proxy asks who is there, in HTTP or SOCKS.
func (e *proxyError) wantsLogin() bool {
	if e.err == nil {
		return e.status == http.StatusProxyAuthRequired
	}
	var op *net.OpError
	if !errors.As(e.err, &op) || !strings.HasPrefix(op.Op, socksOp) {
		return false
	}
	words := e.err.Error()
	return strings.Contains(words, "authentication") || strings.Contains(words, "username/password")
}

// proxyRefusal is a proxy before plain http that asks for a password: no server
// that is asked itself answers so.
func proxyRefusal() *Error {
	return &Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Err: &proxyError{status: http.StatusProxyAuthRequired}}
}

// The operations under which net/http reports that a proxy was not reached, and
// that one of SOCKS went no further.
const (
	connectOp = "proxyconnect"
	socksOp   = "socks"
)

// proxied tells the errors of a proxy from those of the server behind it.
func proxied(err error) error {
	var e *proxyError
	var op *net.OpError
	switch {
	case errors.As(err, &e):
		return e
	case !errors.As(err, &op):
	case op.Op == connectOp:
		return &proxyError{err: op.Err}
	case strings.HasPrefix(op.Op, socksOp):
		return &proxyError{err: op}
	}
	return err
}

// SetProxy has a transport go by the proxy of the options, and name the proxy
// where that is why a request fails; see [NetworkHint]. The error is of a proxy
// that cannot be used, and does not repeat its address.
func (o Options) SetProxy(t *http.Transport) error {
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
		if r.StatusCode == http.StatusOK {
			return nil
		}
		return &proxyError{status: r.StatusCode}
	}
	t.Proxy = http.ProxyFromEnvironment
	switch o.Proxy {
	case "":
	case proxyNone:
		t.Proxy = nil
	default:
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Host == "" {
			return errors.New("read the proxy's address: it is no URL")
		}
		t.Proxy = http.ProxyURL(u)
	}
	return nil
}

// proxyFor is the proxy on the way to target, nil for none.
func (o Options) proxyFor(target *url.URL) *url.URL {
	var u *url.URL
	var err error
	switch o.Proxy {
	case "":
		u, err = http.ProxyFromEnvironment(&http.Request{URL: target})
	case proxyNone:
	default:
		u, err = url.Parse(o.Proxy)
	}
	if err != nil {
		return nil
	}
	return u
}

// proxyWords names the proxy on the way to target, and where it comes from.
func (o Options) proxyWords(target *url.URL) string {
	s := "the proxy"
	u := o.proxyFor(target)
	if u != nil {
		s += " " + u.Host // without the password
	}
	switch {
	case o.Proxy != "" && o.Proxy != proxyNone:
		return s + " of " + o.setting("proxy")
	case u == nil && o.Proxy == proxyNone:
		return "a proxy on the way"
	case target.Scheme == "http":
		return s + " that the environment names (HTTP_PROXY)"
	}
	return s + " that the environment names (HTTPS_PROXY)"
}

// proxyHint says what the user can do about a proxy.
func (o Options) proxyHint(e *proxyError, target *url.URL) string {
	proxy := o.proxyWords(target)
	u := o.proxyFor(target)
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case e.wantsLogin() && u != nil && u.User != nil:
		return proxy + " does not take the user and password in its address; check them"
	case e.wantsLogin():
		return fmt.Sprintf(`%s asks for a user and password: name it as http://USER:PASSWORD@HOST:PORT, or set %s to "$NAME", a variable that holds this`,
			proxy, o.setting("proxy"))
	case e.err == nil && e.hopeless():
		return fmt.Sprintf(`%s does not let requests through to %s; ask who runs it, or set %s to "direct" to go without`, proxy, target.Host, o.setting("proxy"))
	case e.err == nil, errors.As(e.err, &op) && strings.HasPrefix(op.Op, socksOp):
		return fmt.Sprintf("%s does not get through to %s; check it and %s", proxy, target.Host, o.baseWords())
	case errors.As(e.err, &dns):
		return "the host of " + proxy + " is not known; check its name and the network"
	case certificate(e.err):
		return "the certificate of " + proxy + " is not trusted: " + o.authority()
	case strings.Contains(e.err.Error(), "tls: "):
		return proxy + " does not speak TLS; let its address begin with http://"
	}
	return "nothing answers at " + proxy + "; is it running?"
}
