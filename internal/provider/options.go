package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Options is how an endpoint is reached. Only BaseURL is required.
type Options struct {
	// Name is the provider's name in the configuration, for hints.
	Name string
	// BaseURL is what an adapter puts its path behind. A query stays.
	BaseURL string
	// BaseFrom says where BaseURL comes from, for hints, "" for the setting
	// base_url.
	BaseFrom string
	// Key returns the API key, "" for none. It is asked for each request. Its
	// error says what was read, and is shown as it is.
	Key func() (string, error)
	// KeyFrom says where the key comes from, for hints: "$OPENAI_API_KEY".
	KeyFrom string
	// KeyHeader is the header that carries the key alone, for example
	// "x-api-key"; "" sends "Authorization: Bearer KEY".
	KeyHeader string
	// Headers are sent with every request, over what the client sets itself.
	Headers map[string]string
	// Sign changes a request right before it is sent, for backends that want
	// it signed; nil for none. It may read the body, which is never whole in
	// memory, as often as it likes.
	Sign func(ctx context.Context, r *http.Request, body Body) error
	// CA holds certificates in PEM form that are trusted besides the
	// system's, nil for none. It has no effect on another Transport.
	CA []byte
	// Proxy is the address of the proxy, "" for what the environment says,
	// "direct" for none. It has no effect on another Transport.
	Proxy string
	// UserAgent names the program: "tote/1.0".
	UserAgent string
	// Transport replaces the network, nil for the real one.
	Transport http.RoundTripper
	// Now is the clock for dates in Retry-After and in hints, nil for the
	// system's.
	Now func() time.Time
	// Jitter returns a number in [0,1) that spreads retries, nil for random.
	Jitter func() float64
	// MaxRetries is how often a request is sent again, 0 for
	// DefaultRetries, negative for never.
	MaxRetries int
	// ConnectTimeout bounds dialing, 0 for DefaultConnectTimeout. It has no
	// effect on another Transport.
	ConnectTimeout time.Duration
	// FirstByteTimeout bounds the silence while a request is sent and until
	// it is answered, 0 for DefaultFirstByteTimeout.
	FirstByteTimeout time.Duration
	// IdleTimeout bounds the silence inside an answer, 0 for
	// DefaultIdleTimeout.
	IdleTimeout time.Duration
}

// The defaults of Options. A reasoning model may think for minutes before its
// first byte.
const (
	DefaultRetries          = 3
	DefaultConnectTimeout   = 20 * time.Second
	DefaultFirstByteTimeout = 10 * time.Minute
	DefaultIdleTimeout      = 5 * time.Minute
)

// expectTimeout is how long a body waits for "100 Continue" from a server that
// says nothing.
const expectTimeout = 100 * time.Millisecond

// newTransport makes the transport for the network: proxies and certificates as
// the environment and the options say, TLS as the standard library does it.
func (o Options) newTransport() (*http.Transport, error) {
	connect := o.ConnectTimeout
	if connect <= 0 {
		connect = DefaultConnectTimeout
	}
	d := net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		DialContext:           d.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   connect,
		ExpectContinueTimeout: expectTimeout,
		// A compressed answer may be held back until a block is full.
		DisableCompression: true,
	}
	if err := o.SetProxy(t); err != nil {
		return t, err
	}
	if len(o.CA) == 0 {
		return t, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without any trusts what is named
	}
	if !pool.AppendCertsFromPEM(o.CA) {
		return t, errors.New("read the certificates to trust: no certificate in PEM form is among them")
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// proxyNone is the Proxy that stands for none.
const proxyNone = "direct"

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	switch {
	case o.MaxRetries == 0:
		o.MaxRetries = DefaultRetries
	case o.MaxRetries < 0:
		o.MaxRetries = 0
	}
	if o.FirstByteTimeout <= 0 {
		o.FirstByteTimeout = DefaultFirstByteTimeout
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	return o
}
