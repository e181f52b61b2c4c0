package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tote/internal/delivery"
)

// hint says what the user can do about e, "" for nothing better than trying
// again.
func (c *Client) hint(e *Error) string {
	switch e.Failure.Kind {
	case delivery.FailAuth:
		return c.authHint()
	case delivery.FailBilling:
		return "the account behind " + c.keyWords() + " has no credit left; top it up or choose another model"
	case delivery.FailPermission:
		if c.keyless() {
			return c.authHint()
		}
		return "this key may not use the model; choose another model or check " + c.keyWords()
	case delivery.FailRateLimit:
		if e.RetryAfter > 0 {
			return "try again after " + c.moment(e.RetryAfter) + ", or choose another model"
		}
		return "wait a while, or choose another model"
	case delivery.FailSchema:
		return "the backend does not take the form of this request; check kind and base_url of the provider"
	case delivery.FailTooLarge:
		return "the request is too large for this backend: send less text, or fewer or smaller attachments"
	case delivery.FailUpload:
		return "the connection broke while the request was sent, which may be too large: send less text, or fewer or smaller attachments"
	case delivery.FailOverflow:
		return "start a new session, or attach less"
	case delivery.FailNetwork:
		return c.opts.networkHint(e.Err, c.base)
	case delivery.FailProtocol:
		return "check " + c.opts.baseWords()
	case delivery.FailRefused:
		if e.Failure.Status == http.StatusNotFound && e.Failure.Class == delivery.ClassUnknown {
			return "check the model's name and " + c.opts.baseWords()
		}
		return ""
	case delivery.FailServer:
		return c.serverHint(e)
	case delivery.FailNone, delivery.FailCancelled, delivery.FailStream, delivery.FailDropped:
		return ""
	}
	return ""
}

// serverHint is about a backend in trouble. A proxy before plain http answers
// with the same statuses.
func (c *Client) serverHint(e *Error) string {
	switch {
	case e.RetryAfter > 0:
		return "try again after " + c.moment(e.RetryAfter) + ", or choose another model"
	case e.Failure.Status == http.StatusNotImplemented:
		return "the server does not know this kind of request; check kind and base_url of the provider"
	case c.base.Scheme == "http" && c.opts.proxyFor(c.base) != nil:
		return "the backend, or " + c.opts.proxyWords(c.base) + ", has a problem of its own; try again later, or choose another model"
	}
	return "the backend has a problem of its own; try again later, or choose another model"
}

// moment names the time after a wait, with its date where it is not today.
func (c *Client) moment(wait time.Duration) string {
	now := c.now()
	then := now.Add(wait)
	if now.Format(time.DateOnly) == then.Format(time.DateOnly) {
		return then.Format(time.TimeOnly)
	}
	return then.Format(time.DateTime)
}

// authHint is about a key that was not taken, or not sent at all.
func (c *Client) authHint() string {
	if c.keyless() {
		return "no key was sent: set " + c.keyPlaces()
	}
	return "check " + c.keyWords()
}

// keyless reports whether requests carry nothing that says who sends them.
func (c *Client) keyless() bool {
	if key, err := c.key(); err != nil || key != "" || c.opts.Sign != nil {
		return false
	}
	for name := range c.opts.Headers {
		if containsAny(strings.ToLower(name), "auth", "key", "token", "cookie", "secret") {
			return false
		}
	}
	return true
}

// keyPlaces says where a key may be put.
func (c *Client) keyPlaces() string {
	if name, ok := strings.CutPrefix(c.opts.KeyFrom, "$"); ok {
		return name + ", or " + c.setting("api_key")
	}
	return c.setting("api_key")
}

// keyWords says where the key comes from.
func (c *Client) keyWords() string {
	s := "the API key"
	if c.opts.KeyFrom != "" {
		s += " in " + c.opts.KeyFrom
	}
	if c.opts.Name != "" {
		s += " (" + c.setting("api_key") + ")"
	}
	return s
}

func (c *Client) setting(field string) string { return c.opts.setting(field) }

// setting is the name of a setting of the provider.
func (o Options) setting(field string) string {
	if o.Name == "" {
		return field
	}
	return "providers." + o.Name + "." + field
}

// baseWords says where the address of the server comes from.
func (o Options) baseWords() string {
	if o.BaseFrom != "" {
		return o.BaseFrom
	}
	return o.setting("base_url")
}

// NetworkHint says what the user can do about an error of an HTTP client that
// goes the way of the options, for an adapter that asks another server than that
// of BaseURL: BaseFrom says where that one's address comes from. It tells the server from the proxy before it where the client's
// transport has passed through [Options.SetProxy].
func NetworkHint(o Options, err error) string {
	target := &url.URL{}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		if u, perr := url.Parse(ue.URL); perr == nil {
			target = u
		}
	}
	return o.networkHint(proxied(err), target)
}

// networkHint is about an error on the way to target.
func (o Options) networkHint(err error, target *url.URL) string {
	var proxy *proxyError
	var dns *net.DNSError
	base := o.baseWords()
	switch {
	case errors.As(err, &proxy):
		return o.proxyHint(proxy, target)
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host " + dns.Name + " is not known; check " + base + " and the network"
	case errors.As(err, &dns):
		return "the host " + dns.Name + " cannot be looked up; check the network and " + base
	case err == nil:
	case certificate(err):
		return o.certificateHint(err, target)
	case strings.Contains(err.Error(), "refused"):
		return "nothing answers at " + target.Host + "; is the server running?"
	case strings.Contains(err.Error(), "HTTP response to HTTPS"):
		return "the server does not speak TLS; let " + base + " begin with http://"
	case strings.Contains(err.Error(), "invalid header"):
		return "a character in the key or in headers cannot be sent; check " + o.setting("api_key") + " and " + o.setting("headers")
	}
	return "check the network and " + base
}

// certificate reports whether err is about a certificate that is not trusted.
func certificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &verify) || errors.As(err, &unknown)
}

func (o Options) certificateHint(err error, target *url.URL) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "the server's certificate is not for " + target.Hostname() + "; check " + o.baseWords()
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate is not valid now; check the clock of this machine, and tell who runs the server"
	}
	return "the server's certificate is not trusted: " + o.authority()
}

// authority says how certificates come to be trusted.
func (o Options) authority() string {
	if len(o.CA) > 0 {
		return "its authority is not among those of " + o.setting("ca_file") + ", nor of this system"
	}
	return "set " + o.setting("ca_file") + " to your authority's certificates"
}
