package provider

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxMessageRunes is how much of a backend's sentence is kept.
	maxMessageRunes = 300
	// maxRun is the longest run of base64 characters that is taken for
	// words, in bytes.
	maxRun = 200
)

// CleanMessage makes a sentence of a backend or program fit for people: one line, no control
// characters, no payload, at most maxMessageRunes runes.
func CleanMessage(s string) string {
	s = dropKeys(dropPayloads(strings.ToValidUTF8(s, "\uFFFD")))
	var sb strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = sb.Len() > 0
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			continue
		}
		if n >= maxMessageRunes-2 {
			sb.WriteRune('…')
			break
		}
		if space {
			sb.WriteByte(' ')
			n++
			space = false
		}
		sb.WriteRune(r)
		n++
	}
	return strings.TrimRight(sb.String(), ". ")
}

// dropPayloads replaces data URIs and long runs of base64.
func dropPayloads(s string) string {
	var sb strings.Builder
	for len(s) > 0 {
		i := strings.IndexFunc(s, isBase64)
		if i < 0 {
			break
		}
		end := i + base64Run(s[i:])
		if uri := dataURIHead(s[:i], s[i:]); uri >= 0 {
			end = i + uri + base64Run(s[i+uri:])
			sb.WriteString(s[:i])
			sb.WriteRune('…')
		} else if end-i >= maxRun {
			sb.WriteString(s[:i])
			sb.WriteRune('…')
		} else {
			sb.WriteString(s[:end])
		}
		s = s[end:]
	}
	sb.WriteString(s)
	return sb.String()
}

// dataURIHead returns the length of "data:TYPE;base64," at the start of s, -1
// when s does not start so. before is what stands in front of it.
func dataURIHead(before, s string) int {
	const scheme = "data:"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return -1
	}
	if r, _ := utf8.DecodeLastRuneInString(before); unicode.IsLetter(r) {
		return -1
	}
	comma := strings.IndexByte(s[:min(len(s), 120)], ',')
	if comma < 0 || strings.ContainsAny(s[:comma], " \t\r\n") {
		return -1
	}
	return comma + 1
}

func isBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r == '+' || r == '/' || r == '-' || r == '_' || r == '='
}

func base64Run(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isBase64(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// keyPrefixes start the keys of well-known services.
var keyPrefixes = [...]string{"sk-", "sk_", "gsk_", "xai-", "AIza", "Bearer "}

// dropKeys replaces what looks like an API key. Servers quote them in parts.
func dropKeys(s string) string {
	for _, p := range keyPrefixes {
		for at := 0; ; {
			i := strings.Index(s[at:], p)
			if i < 0 {
				break
			}
			i += at
			body := s[i+len(p):]
			n := strings.IndexFunc(body, func(r rune) bool { return !isBase64(r) && r != '*' && r != '.' && r != '…' })
			if n < 0 {
				n = len(body)
			}
			at = i + len(p)
			startsWord := i == 0 || !isBase64(rune(s[i-1]))
			if n >= 6 && startsWord {
				s = s[:i] + "…" + body[n:]
				at = i + len("…")
			}
		}
	}
	return s
}

// isHTML tells a page from words.
func isHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html")) ||
		bytes.HasPrefix(head, []byte("<head")) || bytes.HasPrefix(head, []byte("<!--"))
}

// htmlTitle reduces a page to its title.
func htmlTitle(body []byte) string {
	low := lowerASCII(body)
	i := bytes.Index(low, []byte("<title"))
	if i >= 0 {
		if j := bytes.IndexByte(low[i:], '>'); j >= 0 {
			rest := body[i+j+1:]
			if k := bytes.Index(low[i+j+1:], []byte("</title")); k >= 0 && k <= len(rest) {
				if t := strings.TrimSpace(html.UnescapeString(string(rest[:k]))); t != "" {
					return "an HTML page: " + t
				}
			}
		}
	}
	return "an HTML page"
}

// lowerASCII is b in lower case as far as it is ASCII. It keeps every byte at its
// place, which the rules of Unicode do not.
func lowerASCII(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}
