package provider

import (
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
	// Key returns the API key, "" for none. It is asked for each request.
	Key func() (string, error)
	// KeyFrom says where the key comes from, for hints: "$OPENAI_API_KEY".
	KeyFrom string
	// KeyHeader is the header that carries the key alone, for example
	// "x-api-key"; "" sends "Authorization: Bearer KEY".
	KeyHeader string
	// Headers are sent with every request, over what the client sets itself.
	Headers map[string]string
	// UserAgent names the program: "tote/1.0".
	UserAgent string
	// Transport replaces the network, nil for NewTransport.
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

// NewTransport makes the transport for the network: proxies and certificate
// files as the environment says, TLS as the standard library does it.
func NewTransport(connect time.Duration) *http.Transport {
	if connect <= 0 {
		connect = DefaultConnectTimeout
	}
	d := net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           d.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   connect,
		ExpectContinueTimeout: expectTimeout,
		// A compressed answer may be held back until a block is full.
		DisableCompression: true,
	}
}

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
	if o.Transport == nil {
		o.Transport = NewTransport(o.ConnectTimeout)
	}
	if o.FirstByteTimeout <= 0 {
		o.FirstByteTimeout = DefaultFirstByteTimeout
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	return o
}
