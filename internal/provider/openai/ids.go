package openai

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tote/internal/provider"
)

// CallIDs is which identifiers of calls a server takes back. One that it would
// not take, or that an earlier call of the conversation has, is replaced on the
// wire; all others go as they came. A rule that is not known here is
// CallIDsShort.
type CallIDs string

// The rules.
const (
	// CallIDsShort is up to 40 characters of a-z, A-Z, 0-9, "_" and "-". The
	// length is OpenAI's ("Expected a string with maximum length 40",
	// https://github.com/pydantic/pydantic-ai/issues/4389), the characters are
	// those of its own identifiers and of what gateways hand on to Claude
	// (https://github.com/maximhq/bifrost/issues/5097, both read 2026-11-30).
	CallIDsShort CallIDs = ""
	// CallIDsNine is exactly nine of a-z, A-Z and 0-9, as Mistral wants it
	// (https://github.com/anomalyco/opencode/issues/1680, read 2026-11-30).
	CallIDsNine CallIDs = "nine"
	// CallIDsAny is whatever a server gives, up to 256 bytes. Kimi K2 reads the
	// name of the function out of "functions.name:0", and falls silent when it
	// does not find that again
	// (https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md,
	// read 2026-11-30).
	CallIDsAny CallIDs = "any"
)

// callIDsFlat is what Responses takes: as CallIDsShort, but up to 64 characters
// (https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-30).
const callIDsFlat CallIDs = "flat"

// nineLong is the length of the identifiers of CallIDsNine.
const nineLong = 9

// legal reports whether a server takes an identifier.
func (c CallIDs) legal(id string) bool {
	if id == "" {
		return false
	}
	switch c {
	case CallIDsNine:
		return len(id) == nineLong && strings.IndexFunc(id, oddInID) < 0 && !strings.ContainsAny(id, "_-")
	case CallIDsAny:
		return len(id) <= provider.MaxCallID && utf8.ValidString(id) && strings.IndexFunc(id, unicode.IsControl) < 0
	case callIDsFlat:
		return len(id) <= 64 && strings.IndexFunc(id, oddInID) < 0
	case CallIDsShort:
	}
	return len(id) <= 40 && strings.IndexFunc(id, oddInID) < 0
}

// oddInID tells a character that is not in the identifiers that OpenAI gives.
func oddInID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// made is a legal identifier that stands for id. Other numbers give others.
func (c CallIDs) made(id string, n int) string {
	h := fnv.New64a()
	h.Write([]byte(id))
	if n > 0 {
		h.Write([]byte("\x00" + strconv.Itoa(n)))
	}
	if c == CallIDsNine {
		digits := fmt.Sprintf("%0*s", nineLong, strconv.FormatUint(h.Sum64(), 36))
		return digits[len(digits)-nineLong:]
	}
	return fmt.Sprintf("call_%016x", h.Sum64())
}

// callNames gives each call of a conversation an identifier of its own that the
// server takes, and a result the one of its call. What came earlier decides
// alone, so a longer conversation begins with the same identifiers.
type callNames struct {
	rule CallIDs
	// used holds the identifiers on the wire so far.
	used map[string]bool
	// open holds what the calls without a result are called on the wire, by
	// their own identifiers.
	open map[string][]string
	// again counts the replacements that were made for an identifier.
	again map[string]int
}

func newCallNames(rule CallIDs) *callNames {
	return &callNames{rule: rule, used: map[string]bool{}, open: map[string][]string{}, again: map[string]int{}}
}

// call names a call on the wire.
func (m *callNames) call(id string) string {
	wire := id
	for !m.rule.legal(wire) || m.used[wire] {
		wire = m.rule.made(id, m.again[id])
		m.again[id]++
	}
	m.used[wire] = true
	m.open[id] = append(m.open[id], wire)
	return wire
}

// result returns the name of the call that a result answers.
func (m *callNames) result(id string) (string, error) {
	waiting := m.open[id]
	if len(waiting) == 0 {
		return "", fmt.Errorf("the result of %.40q answers no call that waits for one", id)
	}
	m.open[id] = waiting[1:]
	return waiting[0], nil
}
