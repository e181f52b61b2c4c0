package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxID and maxName are the longest identifier of a call and the longest name of
// a tool that are sent. The API's patterns are [a-zA-Z0-9_-]+ and
// [a-zA-Z0-9_-]{1,128}
// (https://platform.claude.com/docs/en/api/messages, read 2026-11-30).
const (
	maxID   = 64
	maxName = 128
)

// madePrefix begins the identifiers that stand for others.
const madePrefix = "tote_"

// identifiers gives each call of a conversation an identifier that the API
// takes, and the result the one of its call. The earlier part of a conversation
// decides alone, so a longer one gives the same.
type identifiers struct {
	// seen counts the calls so far that had an identifier.
	seen map[string]int
	// open holds what the calls without a result are called on the wire, by
	// their own identifiers.
	open map[string][]string
}

// call names a call on the wire.
func (m *identifiers) call(id string) string {
	n := m.seen[id]
	m.seen[id]++
	wire := id
	if n > 0 || !legal(id, maxID) || strings.HasPrefix(id, madePrefix) {
		sum := sha256.Sum256([]byte(strconv.Itoa(n) + ":" + id))
		wire = madePrefix + hex.EncodeToString(sum[:16])
	}
	m.open[id] = append(m.open[id], wire)
	return wire
}

// result returns the name of the call that a result answers.
func (m *identifiers) result(id string) (string, bool) {
	waiting := m.open[id]
	if len(waiting) == 0 {
		return "", false
	}
	m.open[id] = waiting[1:]
	return waiting[0], true
}

func legal(s string, longest int) bool {
	if s == "" || len(s) > longest {
		return false
	}
	for i := range len(s) {
		if !legalByte(s[i]) {
			return false
		}
	}
	return true
}

func legalByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// toolName makes a name that the API takes back. What is no name of a tool is
// none afterwards either.
func toolName(name string) string {
	if legal(name, maxName) {
		return name
	}
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && legalByte(byte(r)) {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}

// object is what the API takes as the input of a call: an object. A model's own
// broken JSON becomes an empty one; the call's result says what was wrong.
func object(args string) string {
	var v map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &v) != nil || v == nil {
		return "{}"
	}
	return wholeEscapes(strings.ToValidUTF8(args, "\uFFFD"))
}

// wholeEscapes replaces escapes of half a character in JSON. They stand there
// where an answer was cut in the middle of one, and the API refuses a body with
// one (https://github.com/anthropics/claude-code/issues/60394, read 2026-11-30).
func wholeEscapes(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		unit := escaped(s[i:])
		switch {
		case unit < 0xD800 || unit > 0xDFFF:
			b.WriteString(s[i : i+2])
			i += 2
		case unit < 0xDC00 && escaped(s[i+6:]) >= 0xDC00 && escaped(s[i+6:]) <= 0xDFFF:
			b.WriteString(s[i : i+12])
			i += 12
		default:
			b.WriteString(`\ufffd`)
			i += 6
		}
	}
	return b.String()
}

// escaped returns the number of the escape that s begins with, -1 for none.
func escaped(s string) int {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}
