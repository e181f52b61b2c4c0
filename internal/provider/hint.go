package provider

import (
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"

	"tote/internal/delivery"
)

// hint says what the user can do about e, "" for nothing better than trying
// again.
func (c *Client) hint(e *Error) string {
	switch e.Failure.Kind {
	case delivery.FailAuth:
		return "check " + c.keyWords()
	case delivery.FailBilling:
		return "the account behind " + c.keyWords() + " has no credit left; top it up or choose another model"
	case delivery.FailPermission:
		return "this key may not use the model; choose another model or check " + c.keyWords()
	case delivery.FailRateLimit:
		if e.RetryAfter > 0 {
			return "try again after " + c.moment(e.RetryAfter) + ", or choose another model"
		}
		return "wait a while, or choose another model"
	case delivery.FailSchema:
		return "the backend does not take the form of this request; check kind and base_url of the provider"
	case delivery.FailTooLarge, delivery.FailUpload:
		return "send fewer or smaller attachments"
	case delivery.FailOverflow:
		return "start a new session, or attach less"
	case delivery.FailNetwork:
		return c.networkHint(e.Err)
	case delivery.FailProtocol:
		return "check " + c.setting("base_url")
	case delivery.FailRefused:
		if e.Failure.Status == 404 && e.Failure.Class == delivery.ClassUnknown {
			return "check the model's name and " + c.setting("base_url")
		}
		return ""
	case delivery.FailServer:
		if e.RetryAfter > 0 {
			return "try again after " + c.moment(e.RetryAfter)
		}
		return ""
	case delivery.FailNone, delivery.FailCancelled, delivery.FailStream, delivery.FailDropped:
		return ""
	}
	return ""
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

func (c *Client) setting(field string) string {
	if c.opts.Name == "" {
		return field
	}
	return "providers." + c.opts.Name + "." + field
}

func (c *Client) networkHint(err error) string {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &dns):
		return "the host of " + c.setting("base_url") + " is not known; check it and the network"
	case errors.As(err, &unknown):
		return "the server's certificate is not trusted; name your authority's file in SSL_CERT_FILE"
	case err != nil && strings.Contains(err.Error(), "refused"):
		return "nothing answers at " + c.host() + "; is the server running?"
	}
	return "check the network and " + c.setting("base_url")
}
