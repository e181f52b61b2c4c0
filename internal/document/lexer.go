package document

import (
	"strconv"
)

// The kinds of object are nil, bool, float64 and the types below.
type (
	name  string
	str   string
	op    string // a word that is none of the others
	dict  map[name]any
	array []any
	ref   int // object number; generations are not told apart
	end   struct{}
)

// Limits of one object. A real page has a nesting below ten.
const (
	maxDepth    = 64
	maxElements = 1 << 20
)

// lexer reads objects from memory. It never fails: what is malformed is
// skipped or ends the object.
type lexer struct {
	b        []byte
	pos      int
	elements int
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	default:
		return false
	}
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.b) {
		switch c := l.b[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.b) && l.b[l.pos] != '\n' && l.b[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// object reads the next object, or end{} when there is none.
func (l *lexer) object(depth int) any {
	l.skipSpace()
	l.elements++
	if l.pos >= len(l.b) || depth > maxDepth || l.elements > maxElements {
		l.pos = len(l.b)
		return end{}
	}
	switch c := l.b[l.pos]; c {
	case '/':
		l.pos++
		return name(l.name())
	case '(':
		return l.literal()
	case '[':
		l.pos++
		return l.array(depth)
	case '<':
		if l.pos+1 < len(l.b) && l.b[l.pos+1] == '<' {
			l.pos += 2
			return l.dict(depth)
		}
		return l.hex()
	case '>':
		if l.pos+1 < len(l.b) && l.b[l.pos+1] == '>' {
			l.pos += 2
			return op(">>")
		}
		l.pos++
		return op(">")
	case ']', ')', '{', '}':
		l.pos++
		return op(c)
	default:
		return l.word()
	}
}

func (l *lexer) regular() string {
	from := l.pos
	for l.pos < len(l.b) && !isSpace(l.b[l.pos]) && !isDelimiter(l.b[l.pos]) {
		l.pos++
	}
	return string(l.b[from:l.pos])
}

func (l *lexer) name() string {
	s := l.regular()
	for i := 0; i < len(s); i++ {
		if s[i] == '#' {
			return unescapeName(s)
		}
	}
	return s
}

func unescapeName(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '#' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// word reads a number, a reference, a constant or an operator.
func (l *lexer) word() any {
	s := l.regular()
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || s[0] != '+' && s[0] != '-' && s[0] != '.' && (s[0] < '0' || s[0] > '9') {
		return op(s)
	}
	if n := int(v); v == float64(n) && n >= 0 && n < maxObjects {
		if l.reference() {
			return ref(n)
		}
	}
	return v
}

// reference consumes " G R" when it follows.
func (l *lexer) reference() bool {
	i := l.pos
	digits := 0
	for i < len(l.b) && isSpace(l.b[i]) {
		i++
	}
	for i < len(l.b) && l.b[i] >= '0' && l.b[i] <= '9' && digits < 6 {
		i++
		digits++
	}
	space := i
	for i < len(l.b) && isSpace(l.b[i]) {
		i++
	}
	if digits == 0 || i == space || i >= len(l.b) || l.b[i] != 'R' {
		return false
	}
	if i+1 < len(l.b) && !isSpace(l.b[i+1]) && !isDelimiter(l.b[i+1]) {
		return false
	}
	l.pos = i + 1
	return true
}

func (l *lexer) array(depth int) array {
	var out array
	for {
		switch v := l.object(depth + 1).(type) {
		case end:
			return out
		case op:
			if v == "]" {
				return out
			}
			if v == "endobj" || v == ">>" {
				l.pos -= len(v)
				return out
			}
		default:
			out = append(out, v)
		}
	}
}

func (l *lexer) dict(depth int) dict {
	out := dict{}
	for {
		switch key := l.object(depth + 1).(type) {
		case end:
			return out
		case op:
			if key == ">>" {
				return out
			}
			if key == "endobj" || key == "stream" {
				l.pos -= len(key)
				return out
			}
		case name:
			v := l.object(depth + 1)
			if o, bad := v.(op); bad {
				if o == ">>" || o == "endobj" {
					l.pos -= len(o)
				}
				continue
			}
			out[key] = v
		}
	}
}

// literal reads a string in parentheses.
func (l *lexer) literal() str {
	var out []byte
	l.pos++
	for depth := 1; l.pos < len(l.b); l.pos++ {
		c := l.b[l.pos]
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos++
				return str(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return str(out)
}

// escape reads what follows a backslash and leaves the position on its last byte.
func (l *lexer) escape(out []byte) []byte {
	l.pos++
	if l.pos >= len(l.b) {
		return out
	}
	c := l.b[l.pos]
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\r':
		if l.pos+1 < len(l.b) && l.b[l.pos+1] == '\n' {
			l.pos++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	v := 0
	for i := 0; i < 3 && l.pos < len(l.b) && l.b[l.pos] >= '0' && l.b[l.pos] <= '7'; i++ {
		v = v*8 + int(l.b[l.pos]-'0')
		l.pos++
	}
	l.pos--
	return append(out, byte(v))
}

// hex reads a string in angle brackets.
func (l *lexer) hex() str {
	var out []byte
	var high byte
	odd := false
	for l.pos++; l.pos < len(l.b); l.pos++ {
		c := l.b[l.pos]
		if c == '>' {
			l.pos++
			break
		}
		v, ok := hexDigit(c)
		if !ok {
			continue
		}
		if odd {
			out = append(out, high<<4|v)
		}
		high, odd = v, !odd
	}
	if odd {
		out = append(out, high<<4)
	}
	return str(out)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}
