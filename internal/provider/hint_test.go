package provider_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// A wait that ends on another day is told with its date.
func TestRetryAfterOfDays(t *testing.T) {
	for after, want := range map[string]string{
		"3600":                          "try again after 15:00:00, or choose another model",
		"43200":                         "try again after 2026-01-03 02:00:00, or choose another model",
		"259200":                        "try again after 2026-01-05 14:00:00, or choose another model",
		"Mon, 05 Jan 2026 14:00:00 GMT": "try again after 2026-01-05 14:00:00, or choose another model",
	} {
		rec := providertest.NewRecorder(t, providertest.Status(429, "{}", "Retry-After", after))
		o := options(rec.URL)
		o.Now = func() time.Time { return time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC) }
		_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
		var e *provider.Error
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("Retry-After %s: %+v", after, e)
		}
	}
}

// What the user reads of a key that was not sent, or could not be read.
func TestNoKey(t *testing.T) {
	none := func() (string, error) { return "", nil }
	for name, tt := range map[string]struct {
		status int
		change func(*provider.Options)
		want   string
	}{
		"sent":        {401, func(*provider.Options) {}, "check the API key in $ACME_KEY (providers.acme.api_key)"},
		"sent, 403":   {403, func(*provider.Options) {}, "this key may not use the model; choose another model or check the API key in $ACME_KEY (providers.acme.api_key)"},
		"empty":       {401, func(o *provider.Options) { o.Key, o.KeyFrom = none, "" }, "no key was sent: set providers.acme.api_key"},
		"empty, 403":  {403, func(o *provider.Options) { o.Key, o.KeyFrom = none, "" }, "no key was sent: set providers.acme.api_key"},
		"empty, from": {401, func(o *provider.Options) { o.Key = none }, "no key was sent: set ACME_KEY, or providers.acme.api_key"},
		"none":        {401, func(o *provider.Options) { o.Key, o.KeyFrom = nil, "" }, "no key was sent: set providers.acme.api_key"},
		"header": {401, func(o *provider.Options) {
			o.Key, o.KeyFrom, o.Headers = nil, "", map[string]string{"Api-Key": "k"}
		}, "check the API key (providers.acme.api_key)"},
		"another header": {401, func(o *provider.Options) {
			o.Key, o.KeyFrom, o.Headers = nil, "", map[string]string{"X-Title": "t"}
		}, "no key was sent: set providers.acme.api_key"},
	} {
		rec := providertest.NewRecorder(t, providertest.Status(tt.status, "{}"))
		o := options(rec.URL)
		tt.change(&o)
		if e := failed(t, o); e.Hint != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, e, e.Hint, tt.want)
		}
	}
	o := options("http://127.0.0.1:1")
	o.Key = func() (string, error) { return "", errors.New("read the key of acme: ACME_KEY is not set") }
	if e := failed(t, o); e.Error() != "read the key of acme: ACME_KEY is not set" || e.Hint != "set ACME_KEY, or providers.acme.api_key" || e.Failure.Kind != delivery.FailAuth {
		t.Errorf("%v: %s", e, e.Hint)
	}
}

// Hints that name the host, or say whose the trouble is.
func TestHints(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		want   string
	}{
		"413": {413, "the request is too large for this backend: send less text, or fewer or smaller attachments"},
		"500": {500, "the backend has a problem of its own; try again later, or choose another model"},
		"501": {501, "the server does not know this kind of request; check kind and base_url of the provider"},
		"503": {503, "the backend has a problem of its own; try again later, or choose another model"},
		"529": {529, "the backend has a problem of its own; try again later, or choose another model"},
	} {
		rec := providertest.NewRecorder(t, providertest.Status(tt.status, "{}"))
		if e := failed(t, options(rec.URL)); e.Hint != tt.want {
			t.Errorf("%s: %v: %s", name, e, e.Hint)
		}
	}
	plain := strings.Replace(providertest.NewRecorder(t).URL, "http:", "https:", 1)
	odd := options(plain)
	odd.Key = func() (string, error) { return "a\nb", nil }
	for name, tt := range map[string]struct {
		o    provider.Options
		want string
	}{
		"plain http": {options(plain), "the server does not speak TLS; let providers.acme.base_url begin with http://"},
		"odd key":    {odd, "a character in the key or in headers cannot be sent; check providers.acme.api_key and providers.acme.headers"},
	} {
		if e := failed(t, tt.o); e.Hint != tt.want {
			t.Errorf("%s: %v: %s", name, e, e.Hint)
		}
	}
	o := options("http://api")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{Err: "no such host", Name: "api", IsNotFound: true}, "the host api is not known; check providers.acme.base_url and the network"},
		{
			&net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "proxy", IsNotFound: true}}},
			"the host of the proxy h:1 of providers.acme.proxy is not known; check its name and the network",
		},
		{&net.DNSError{Err: "server misbehaving", Name: "api", IsTemporary: true}, "the host api cannot be looked up; check the network and providers.acme.base_url"},
		{errors.New("network is unreachable"), "check the network and providers.acme.base_url"},
	} {
		o.Proxy = "http://u:sekret@h:1" // which another transport does not use
		o.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, tt.err })
		if e := failed(t, o); e.Hint != tt.want {
			t.Errorf("%v: %s", e, e.Hint)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Words about settings begin with what is wrong.
func TestLocal(t *testing.T) {
	for want, e := range map[string]*provider.Error{
		"auth: no":            {Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: errors.New("no")},
		"no":                  {Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: errors.New("no"), Local: true},
		"well: no":            {Failure: delivery.Failure{Kind: delivery.FailAuth}, Message: "well", Err: errors.New("no"), Local: true},
		"auth":                {Failure: delivery.Failure{Kind: delivery.FailAuth}, Local: true},
		"auth (HTTP 401): no": {Failure: delivery.Failure{Kind: delivery.FailAuth, Status: 401}, Message: "no"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
	o := options("https://u:sekret@[::1")
	if e := failed(t, o); !strings.HasPrefix(e.Error(), "read base URL: ") || strings.Contains(e.Error(), "sekret") {
		t.Error(e)
	}
}
