package permission

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// userInfo is what becomes of an address that names a user in front of its host.
type userInfo uint8

const (
	noUser userInfo = iota // such an address is not matched
	orUser                 // it is matched without that name
)

const domainPrefix = "domain:"

func isAddressPattern(pattern string) bool {
	for _, p := range []string{domainPrefix, "https://", "http://"} {
		if strings.HasPrefix(pattern, p) {
			return true
		}
	}
	return false
}

// place is an address or the pattern of one, taken apart.
type place struct {
	// scheme is "" where http and https are meant, port "" for the usual one.
	scheme, host, port string
	// rest is the path and the query.
	rest string
}

// readPattern takes the pattern of an address apart.
func readPattern(pattern string) place {
	if host, ok := strings.CutPrefix(pattern, domainPrefix); ok {
		p := place{rest: "*"}
		p.host, p.port = splitPort(host)
		return p
	}
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		scheme, rest = "https", pattern
	}
	p := place{scheme: strings.ToLower(scheme)}
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		i = len(rest)
	}
	p.host, p.port = splitPort(rest[:i])
	if p.rest = rest[i:]; p.rest == "" {
		p.rest = "/"
	}
	if p.port == usualPort(p.scheme) {
		p.port = ""
	}
	return p
}

// splitPort cuts the port off. A number in brackets keeps its colons.
func splitPort(s string) (host, port string) {
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') && (strings.Count(s, ":") == 1 || strings.HasPrefix(s, "[")) {
		s, port = s[:i], s[i+1:]
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	return strings.ToLower(strings.TrimSuffix(s, ".")), port
}

func usualPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// badAddress says what is wrong with the pattern of an address.
func badAddress(pattern string) string {
	p := readPattern(pattern)
	stars := strings.Count(p.host, "*")
	switch {
	case p.host == "":
		return "it names no host"
	case strings.ContainsAny(p.host, "@ \t\r\n\\/?#"):
		return "its host holds a sign that no host has"
	case p.scheme != "" && p.scheme != "http" && p.scheme != "https":
		return "an address begins with https:// or http://"
	case stars > 1, stars == 1 && p.host != "*" && !strings.HasPrefix(p.host, "*."):
		return "a star in a host stands for its first labels only, as in *.example.com; put a slash behind the host"
	case p.port != "" && p.port != "*" && !isNumber(p.port):
		return "its port is no number"
	}
	return ""
}

// readAddress takes an address apart; ok is false for what is none of http or
// https.
func readAddress(s string, user userInfo) (p place, ok bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Opaque != "" || u.User != nil && user == noUser {
		return place{}, false
	}
	p = place{scheme: strings.ToLower(u.Scheme), port: u.Port()}
	p.host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if p.scheme != "http" && p.scheme != "https" {
		return place{}, false
	}
	if p.port == usualPort(p.scheme) {
		p.port = ""
	}
	p.rest = cleanPath(u.EscapedPath())
	if u.RawQuery != "" {
		p.rest += "?" + u.RawQuery
	}
	return p, true
}

// cleanPath resolves "." and "..", however they are spelt: a server does it too.
func cleanPath(escaped string) string {
	elems := strings.Split(escaped, "/")
	for i, e := range elems {
		if plain, err := url.PathUnescape(e); err == nil && (plain == "." || plain == "..") {
			elems[i] = plain
		}
	}
	out := path.Clean("/" + strings.Join(elems, "/"))
	if strings.HasSuffix(escaped, "/") && out != "/" {
		out += "/"
	}
	return out
}

// matchAddress matches the pattern of an address. What is no address of the web,
// such as the name of a model, is matched as it stands.
func matchAddress(pattern, detail string, user userInfo) bool {
	a, ok := readAddress(detail, user)
	if !ok {
		return !strings.Contains(detail, ":") && !isAddressPattern(pattern) && glob(pattern, detail)
	}
	if badAddress(pattern) != "" {
		return pattern == "*"
	}
	p := readPattern(pattern)
	return (p.scheme == "" || p.scheme == a.scheme) && matchHost(p.host, a.host) &&
		slices.Contains([]string{"*", a.port}, p.port) && glob(p.rest, a.rest)
}

func matchHost(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	if under, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(host) > len(under) && strings.HasSuffix(host, under)
	}
	return pattern == host
}
