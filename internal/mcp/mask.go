package mcp

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tote/internal/content"
)

// Bounds of texts about servers.
const (
	// tailBytes is how much of a server's standard error is kept, in bytes.
	tailBytes = 4 << 10
	// wordsBytes bounds what a server says in an error, in bytes.
	wordsBytes = 2 << 10
	// tailLines is how many of the last lines are told.
	tailLines = 5
	// minSecret is the length from which a configured value is cut out of
	// texts: shorter ones are words like "1" and "true", in bytes.
	minSecret = 6
)

// secretForm finds what looks like a key in a text.
var secretForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(bearer\s+|[a-z_-]*(?:token|api[_-]?key|secret|passw(?:or)?d|authorization)["']?\s*[:=]\s*["']?)[^\s"']{4,}`)
})

// masker cuts a server's secrets out of texts.
type masker struct{ secrets []string }

func newMasker(s Server) masker {
	var m masker
	add := func(v string) {
		if len(v) >= minSecret {
			m.secrets = append(m.secrets, v)
		}
	}
	for _, v := range s.Env {
		add(v)
	}
	for _, v := range s.Headers {
		add(v)
		if _, rest, ok := strings.Cut(v, " "); ok {
			add(rest) // "Bearer KEY"
		}
	}
	slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return m
}

// words makes what a server said safe to show: without secrets, in bounds, on
// lines without control characters.
func (m masker) words(s string) string {
	for _, secret := range m.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	s = secretForm().ReplaceAllString(s, "${1}***")
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return cut(strings.TrimSpace(s), wordsBytes)
}

// cut shortens a text to n bytes on a rune boundary and says so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " […]"
}

// oneLine is a text for titles and lists.
func oneLine(s string) string { return content.Clean(strings.Join(strings.Fields(s), " ")) }

// tail keeps the end of what is written to it. All methods may be called from
// several goroutines.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write implements io.Writer. It takes everything.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, n-tailBytes):]
	t.buf = append(t.buf[max(0, min(len(t.buf), len(t.buf)+len(p)-tailBytes)):], p...)
	return n, nil
}

// last returns the last lines.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := strings.Split(strings.TrimSpace(string(t.buf)), "\n")
	return strings.Join(all[max(0, len(all)-tailLines):], "\n")
}
