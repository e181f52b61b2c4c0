package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxAddress bounds an address in bytes.
const maxAddress = 8 << 10

// address reads what a model wrote and returns the address that is fetched, as
// it is shown, asked for and sent. It never repeats a password.
func address(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil, errors.New("the argument \"url\" is missing")
	case len(s) > maxAddress:
		return nil, fmt.Errorf("the address has %d bytes; the most are %d", len(s), maxAddress)
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("the address cannot be read; write it like https://example.com/page")
	}
	if err := scheme(u.Scheme); err != nil {
		return nil, err
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the address holds a user name or password, and none is ever sent; leave them out")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("the address names no host; write it like https://example.com/page")
	}
	// People have to see which host is asked, so letters that look like others
	// are spelt out.
	if u.Host, err = hostOf(u); err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func scheme(s string) error {
	switch s {
	case "http", "https":
		return nil
	case "":
		return errors.New("the address has no scheme; write it like https://example.com/page")
	case "file":
		return errors.New("only http and https are fetched; for a file use the read tool with its path")
	case "data":
		return errors.New("only http and https are fetched; a data address holds its content itself")
	}
	return fmt.Errorf("only http and https are fetched, not %s; for that use bash, where there is a program for it", s)
}

func hostOf(u *url.URL) (string, error) {
	host := u.Hostname()
	if net.ParseIP(host) == nil && !strings.Contains(host, ":") {
		ascii, err := idna.Lookup.ToASCII(host)
		switch {
		case err == nil:
			host = ascii
		case strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }):
			return "", errors.New("the host of the address is no valid name")
		default: // such as one with an underscore, which resolvers take
			host = strings.ToLower(host)
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, nil
}

// sameHost reports whether a redirect stays where the user allowed it to go.
func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// private reports whether an address of the network is not a public one.
func private(addr net.Addr) bool {
	t, ok := addr.(*net.TCPAddr)
	if !ok {
		return true
	}
	ip := t.IP
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || sharedRange.Contains(ip)
}

// sharedRange is for the inside of a provider's network (RFC 6598).
var sharedRange = net.IPNet{IP: net.IPv4(100, 64, 0, 0).To4(), Mask: net.CIDRMask(10, 32)}

// fileName is the name of what an address leads to: its last element. The query
// is left out, since it may hold a key.
func fileName(u *url.URL) string {
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == '/' || r == '\\' || unicode.IsControl(r) || !unicode.IsGraphic(r) {
			return '_'
		}
		return r
	}, name)
	for len(name) > 100 {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name
}
