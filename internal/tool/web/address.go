package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
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

// reach is how near the other end of a connection is.
type reach uint8

const (
	reachPublic reach = iota
	// reachPrivate is a network that others cannot reach.
	reachPrivate
	// reachSelf is this machine, its link, or what a cloud tells its machines.
	reachSelf
)

func reachOf(addr net.Addr) reach {
	t, ok := addr.(*net.TCPAddr)
	if !ok {
		return reachSelf // such as a socket in a folder
	}
	ip, ok := netip.AddrFromSlice(t.IP)
	if !ok {
		return reachSelf
	}
	ip = carried(ip.Unmap())
	switch {
	case ip.IsLoopback(), ip.IsLinkLocalUnicast(), ip.IsUnspecified(), ip.IsMulticast(), within(ip, selfRanges()):
		return reachSelf
	case ip.IsPrivate(), within(ip, privateRanges()):
		return reachPrivate
	}
	return reachPublic
}

func within(ip netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(ip) })
}

// selfRanges are "this network" (RFC 791), and the address at which Azure answers its
// machines (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16,
// read 2026-11-30). Other clouds answer at a link-local address, but for AWS over IPv6,
// which is a private one.
func selfRanges() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("168.63.129.16/32")}
}

// privateRanges are the inside of a provider's network (RFC 6598), of devices under
// test (RFC 2544), and of a site as it was once (RFC 3879).
func privateRanges() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("fec0::/10")}
}

// carried is the IPv4 address that an IPv6 one leads to (RFC 6052 and 3056), or ip.
func carried(ip netip.Addr) netip.Addr {
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:]))
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

// saysWhere reports whether a host shows by itself that it may be near: an address, or
// a name that nobody can register.
func saysWhere(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	top := host[strings.LastIndexByte(host, '.')+1:]
	if top == host { // from the file of hosts, or below the network's own domain
		return host != "" && (host[0] >= 'a' && host[0] <= 'z')
	}
	return slices.Contains([]string{"localhost", "local", "test", "internal", "home", "lan", "localdomain", "example", "invalid"}, top) || host == "home.arpa" || strings.HasSuffix(host, ".home.arpa")
}

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
