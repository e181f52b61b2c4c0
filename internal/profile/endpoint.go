package profile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"strings"
)

// Endpoint is the name under which evidence and verdicts about one model at one
// address are kept: the SHA-256 of kind, address and model, hexadecimal. Two
// spellings of one address (case of scheme and host, the default port, slashes
// at the end) are one endpoint. User, query and fragment do not count: they may
// hold a key, and changing a key changes no model.
//
// Where kind is that of a runner, the program stands for the address: its command
// and whatever tells one version of it from another. It counts as it is written.
func Endpoint(kind, baseURL, model string) string {
	h := sha256.New()
	var size [8]byte
	where := baseURL
	if !isRunner(kind) {
		where = address(baseURL)
	}
	for _, part := range [...]string{kind, where, model} {
		// The length before each part keeps ("a", "bc") and ("ab", "c") apart.
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isRunner reports whether a kind is that of a runner.
func isRunner(kind string) bool { return strings.HasPrefix(kind, "cli-") }

// address is a base URL in its one spelling, without what may hold a key.
func address(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		// No URL: only its own bytes identify it. What may be a key is cut
		// off by the same marks.
		raw, _, _ = strings.Cut(strings.TrimSpace(raw), "#")
		raw, _, _ = strings.Cut(raw, "?")
		if scheme, rest, ok := strings.Cut(raw, "://"); ok {
			authority, path, _ := strings.Cut(rest, "/")
			raw = scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + "/" + path
		}
		return strings.TrimRight(raw, "/")
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
}

// hostOf is the host of a base URL in lower case, without its port.
func hostOf(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// secure reports whether a base URL is spoken to over TLS, so that its host is
// who the name says.
func secure(raw string) bool {
	return len(raw) >= len("https://") && strings.EqualFold(raw[:len("https://")], "https://")
}
