package rpc

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Skim is what can be told of a message without keeping or validating it. Where
// a member stands twice the last one counts.
type Skim struct {
	// ID is the raw JSON of a string, number or null; nil when there was
	// none that could be read.
	ID []byte
	// Method is empty when there was none.
	Method string
	// SessionID is params.sessionId, empty when there was none.
	SessionID string
	// Reply is set when the message has a result or an error.
	Reply bool
}

const (
	maxSkimKey   = 64   // "sessionId" with every letter escaped has 56
	maxSkimValue = 1024 // of an id, a method or a session id
)

// skimmer finds the members of Skim in a message that comes in pieces, with
// memory that does not depend on its length. It tracks depth and strings only,
// so it makes sense of messages that are no valid JSON.
type skimmer struct {
	out      Skim
	depth    int
	object   [3]bool   // whether the container at depth 1 and 2 is an object
	wantKey  [3]bool   // whether the next string at that depth is a name
	key      [3]string // the name of the current member at that depth
	inString bool
	escaped  bool
	inScalar bool
	keep     bool // whether token is being gathered
	limit    int  // of token
	token    []byte
	ended    bool // the message's own end has been seen
}

// feed takes the next piece of the message.
func (s *skimmer) feed(b []byte) {
	for i := 0; i < len(b) && !s.ended; {
		if s.inString {
			i += s.stringPart(b[i:])
			continue
		}
		s.structural(b[i])
		i++
	}
}

// stringPart consumes the rest of a string, or all of b.
func (s *skimmer) stringPart(b []byte) int {
	for i := range len(b) {
		if s.escaped {
			s.escaped = false
			continue
		}
		switch b[i] {
		case '\\':
			s.escaped = true
		case '"':
			s.gather(b[:i+1])
			s.inString = false
			s.endString()
			return i + 1
		}
	}
	s.gather(b)
	return len(b)
}

func (s *skimmer) structural(c byte) {
	switch c {
	case '"':
		s.endScalar()
		s.inString = true
		s.begin()
		s.gather([]byte{c})
	case '{', '[':
		s.endScalar()
		s.open(c)
	case '}', ']':
		s.endScalar()
		s.depth--
		s.ended = s.depth <= 0
	case ',':
		s.endScalar()
		if s.shallow() {
			s.wantKey[s.depth] = s.object[s.depth]
		}
	case ':':
		s.endScalar()
		if s.shallow() {
			s.wantKey[s.depth] = false
		}
	case ' ', '\t', '\r', '\n':
		s.endScalar()
	default:
		if !s.inScalar {
			s.inScalar = true
			s.begin()
		}
		s.gather([]byte{c})
	}
}

func (s *skimmer) shallow() bool { return s.depth == 1 || s.depth == 2 }

func (s *skimmer) open(c byte) {
	if s.depth == 1 && s.object[1] {
		s.store(nil) // a container is no id and no method
	}
	if s.depth == 2 && s.atSession() {
		s.out.SessionID = ""
	}
	s.depth++
	if s.shallow() {
		object := c == '{'
		s.object[s.depth], s.wantKey[s.depth], s.key[s.depth] = object, object, ""
	}
}

func (s *skimmer) atSession() bool {
	return s.object[1] && s.key[1] == "params" && s.object[2] && s.key[2] == "sessionId"
}

// begin starts a token and decides whether it is worth keeping.
func (s *skimmer) begin() {
	s.token, s.keep, s.limit = s.token[:0], false, maxSkimValue
	if !s.shallow() || !s.object[1] {
		return
	}
	switch {
	case s.wantKey[s.depth]:
		s.limit = maxSkimKey
		s.keep = s.depth == 1 || s.key[1] == "params"
	case s.depth == 1:
		s.keep = s.key[1] == "id" || s.key[1] == "method"
	default:
		s.keep = s.atSession()
	}
}

func (s *skimmer) gather(b []byte) {
	if !s.keep {
		return
	}
	if len(s.token)+len(b) > s.limit {
		s.token, s.keep = s.token[:0], false // too long to matter
		return
	}
	s.token = append(s.token, b...)
}

func (s *skimmer) endString() {
	if s.shallow() && s.wantKey[s.depth] {
		s.key[s.depth] = ""
		if s.keep {
			s.key[s.depth] = Unquote(s.token)
		}
		if s.depth == 1 && (s.key[1] == "result" || s.key[1] == "error") {
			s.out.Reply = true
		}
		return
	}
	s.endValue()
}

func (s *skimmer) endScalar() {
	if s.inScalar {
		s.inScalar = false
		s.endValue()
	}
}

func (s *skimmer) endValue() {
	switch {
	case s.depth == 1 && s.object[1] && !s.wantKey[1]:
		s.store(s.token)
	case s.depth == 2 && s.atSession() && !s.wantKey[2]:
		s.out.SessionID = Unquote(s.token)
	}
}

// store keeps the value of the current top-level member.
func (s *skimmer) store(token []byte) {
	switch s.key[1] {
	case "id":
		s.out.ID = nil
		if validID(token) {
			s.out.ID = bytes.Clone(token)
		}
	case "method":
		s.out.Method = Unquote(token)
	case "params":
		s.out.SessionID = ""
	}
}

// result returns what was found.
func (s *skimmer) result() Skim {
	s.endScalar()
	return s.out
}

// skim reads a message that is in memory.
func skim(line []byte) Skim {
	var s skimmer
	s.feed(line)
	return s.result()
}

// validID reports whether raw can be repeated as the id of a reply. Escaped lone
// surrogates can, since they are repeated as they are.
func validID(raw []byte) bool {
	return utf8.Valid(raw) && jsontext.Value(raw).IsValid(jsontext.AllowInvalidUTF8(true)) &&
		strings.IndexByte(`"-0123456789n`, raw[0]) >= 0
}
