package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// maxTime is how long a fetch may take, redirects and body included.
	maxTime = 30 * time.Second
	// maxHops is how many redirects on one host are followed.
	maxHops = 5
	// maxText is how much of a page is read, maxMedia how large a picture, a
	// document or a sound may be, both unpacked.
	maxText  = 10 << 20
	maxMedia = 32 << 20
	// maxHeader bounds the header of an answer.
	maxHeader = 128 << 10
)

var (
	errTime    = fmt.Errorf("no whole answer within %v", maxTime)
	errPrivate = errors.New("the server redirects to an address that now leads into a private network, which was not followed")
)

// answer is what a server sent. body is to be closed.
type answer struct {
	url *url.URL
	*http.Response
}

// redirect is an answer that leads where the user was not asked about.
type redirect struct {
	to     string
	status int
}

func (r *redirect) Error() string {
	return fmt.Sprintf("the server redirects (%d) to %s, which was not followed, since it is another scheme, host or port; to go there, call fetch with that address", r.status, r.to)
}

// get fetches u and follows redirects that stay on its host.
func get(ctx context.Context, rt http.RoundTripper, agent string, u *url.URL) (*answer, error) {
	watch := crossing{u: u}
	for hop := 0; ; hop++ {
		resp, err := once(ctx, rt, agent, u, &watch)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode >= 400 || location == "" || resp.StatusCode == http.StatusNotModified {
			return &answer{url: u, Response: resp}, nil
		}
		_ = resp.Body.Close() // what a redirect says is not wanted
		next, err := follow(u, location, resp.StatusCode)
		switch {
		case err != nil:
			return nil, err
		case hop >= maxHops:
			return nil, fmt.Errorf("the server redirects more than %d times", maxHops)
		}
		u = next
	}
}

// follow is where a redirect leads, or an error that tells the model.
func follow(from *url.URL, location string, status int) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil {
		return nil, errors.New("the server redirects to an address that cannot be read")
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	if to.Host == "" || scheme(to.Scheme) != nil {
		return nil, fmt.Errorf("the server redirects to an address of the kind %q, which is not fetched", to.Scheme)
	}
	clean, err := address(to.String())
	if err != nil {
		return nil, fmt.Errorf("the server redirects to an address that is not fetched: %w", err)
	}
	if !sameHost(from, clean) {
		return nil, &redirect{to: clean.String(), status: status}
	}
	return clean, nil
}

// crossing judges where the connections of a fetch lead once names are looked up, since
// permission was given for a name: nobody saw that it leads to this machine or into a
// private network.
type crossing struct {
	u  *url.URL
	mu sync.Mutex
	// seen: a connection was made, public: the first one was.
	seen, public bool
}

// entered notes a connection, and says why it may not be used.
//
// In a private network a server that proves its name by a certificate is taken for it:
// many companies have such names. Nothing else there is meant by a public name.
func (c *crossing) entered(addr net.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	where := reachOf(addr)
	if c.seen && c.public && where != reachPublic {
		return errPrivate
	}
	if !c.seen {
		c.seen, c.public = true, where == reachPublic
	}
	if saysWhere(c.u.Hostname()) || where == reachPublic || where == reachPrivate && c.u.Scheme == "https" {
		return nil
	}
	what := "this machine, or what is right beside it"
	if where == reachPrivate {
		what = "a private network"
	}
	return fmt.Errorf("the name leads to %s, which is in %s, so nothing was sent; if that is meant, call fetch with that address in the place of the name", hostIn(addr), what)
}

// hostIn is the host of an address of the network, for people.
func hostIn(addr net.Addr) string {
	if host, _, err := net.SplitHostPort(addr.String()); err == nil {
		return host
	}
	return addr.String()
}

// proxied reports whether a proxy makes the connection to the server: then it is the
// proxy that looks names up, and nothing is known of them here.
func proxied(rt http.RoundTripper, req *http.Request) bool {
	t, ok := rt.(*http.Transport)
	if !ok || t.Proxy == nil {
		return false
	}
	by, err := t.Proxy(req)
	return err == nil && by != nil
}

func once(ctx context.Context, rt http.RoundTripper, agent string, u *url.URL, watch *crossing) (*http.Response, error) {
	ctx, give := context.WithCancelCause(ctx)
	// Called before anything is sent over the connection.
	direct := true
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !direct {
			return
		}
		if err := watch.entered(info.Conn.RemoteAddr()); err != nil {
			give(err)
		}
	}}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		give(nil)
		return nil, errors.New("the address cannot be sent")
	}
	direct = !proxied(rt, req)
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json, image/*, application/pdf, */*;q=0.5")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		defer give(nil)
		return nil, cause(ctx, err)
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, ctx: func(err error) error { return cause(ctx, err) }, done: func() { give(nil) }}
	return resp, nil
}

// watchedBody says why a body broke off, and ends its request when closed.
type watchedBody struct {
	io.ReadCloser
	ctx  func(error) error
	done func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.ctx(err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// cause says in plain words why a request failed, without the address.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if plain := tlsCause(err); plain != "" {
		return errors.New(plain)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return errors.New("there is no such host")
		}
		return errors.New("the name of the host could not be looked up")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return fmt.Errorf("no connection: %w", op.Err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the server broke the answer off")
	}
	return err
}

func tlsCause(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		header    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is signed by nobody whom this machine trusts"
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.As(err, &header) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS there; try http://"
	}
	return ""
}
