package shell

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// exports reads what `export -p` of a shell prints: the variables, without those that
// are arrays or have no value. ok is false for a text that it did not print, or not
// all of it.
func exports(text []byte) (vars map[string]string, ok bool) {
	vars = map[string]string{}
	r := exportReader{rest: text}
	for len(r.rest) > 0 {
		name, value, keep, ok := r.line()
		if !ok {
			return nil, false
		}
		if keep {
			vars[name] = value
		}
	}
	return vars, true
}

// exportReader reads line by line; a value may hold line ends.
type exportReader struct{ rest []byte }

func (r *exportReader) line() (name, value string, keep, ok bool) {
	switch r.word() {
	case "declare", "export", "typeset":
	default:
		return "", "", false, false
	}
	keep = true
	for bytes.HasPrefix(r.rest, []byte("-")) {
		keep = !strings.ContainsAny(r.word(), "aA") && keep
	}
	n := 0
	for n < len(r.rest) && isNameByte(r.rest[n]) {
		n++
	}
	name, r.rest = string(r.rest[:n]), r.rest[n:]
	switch {
	case !isName(name) || len(r.rest) == 0:
		return "", "", false, false
	case r.rest[0] == '\n':
		r.rest = r.rest[1:]
		return name, "", false, true
	case r.rest[0] != '=':
		return "", "", false, false
	}
	r.rest = r.rest[1:]
	value, ok = r.value()
	return name, value, keep, ok
}

// word takes a word and the blank behind it.
func (r *exportReader) word() string {
	w, rest, ok := bytes.Cut(r.rest, []byte(" "))
	if !ok || len(w) > 16 {
		r.rest = nil
		return ""
	}
	r.rest = rest
	return string(w)
}

// value takes a quoted value and its line end.
func (r *exportReader) value() (string, bool) {
	var sb strings.Builder
	for len(r.rest) > 0 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		ok := true
		switch {
		case c == '\n':
			return sb.String(), true
		case c == '\'':
			ok = r.until('\'', func(in []byte) int { sb.WriteByte(in[0]); return 1 })
		case c == '"':
			ok = r.until('"', func(in []byte) int { return inDouble(in, &sb) })
		case c == '$' && bytes.HasPrefix(r.rest, []byte("'")):
			r.rest = r.rest[1:]
			ok = r.until('\'', func(in []byte) int { return inANSI(in, &sb) })
		case c == '\\' && len(r.rest) > 0:
			sb.WriteByte(r.rest[0])
			r.rest = r.rest[1:]
		default:
			sb.WriteByte(c)
		}
		if !ok {
			return "", false
		}
	}
	return "", false
}

// until hands on what stands before the closing quote; take says how many bytes it
// took, which is one at least.
func (r *exportReader) until(end byte, take func([]byte) int) bool {
	for len(r.rest) > 0 {
		if r.rest[0] == end {
			r.rest = r.rest[1:]
			return true
		}
		r.rest = r.rest[take(r.rest):]
	}
	return false
}

func inDouble(in []byte, out *strings.Builder) int {
	if in[0] == '\\' && len(in) > 1 && strings.IndexByte("$`\"\\\n", in[1]) >= 0 {
		if in[1] != '\n' {
			out.WriteByte(in[1])
		}
		return 2
	}
	out.WriteByte(in[0])
	return 1
}

// ansi are the escapes of one letter in $'...'.
var ansi = map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}

func inANSI(in []byte, out *strings.Builder) int {
	if in[0] != '\\' || len(in) == 1 {
		out.WriteByte(in[0])
		return 1
	}
	if b, ok := ansi[in[1]]; ok {
		out.WriteByte(b)
		return 2
	}
	from, most, base := 2, 0, 16
	switch in[1] {
	case 'x':
		most = 2
	case 'u':
		most = 4
	case 'U':
		most = 8
	default:
		from, most, base = 1, 3, 8
	}
	end := from
	for end < len(in) && end < from+most && isDigit(in[end], base) {
		end++
	}
	v, err := strconv.ParseUint(string(in[from:end]), base, 32)
	switch {
	case err != nil: // it stands for itself
		out.WriteByte('\\')
		return 1
	case most > 3:
		out.Write(utf8.AppendRune(nil, rune(v))) //nolint:gosec // what is no character becomes U+FFFD
	default:
		out.WriteByte(byte(v))
	}
	return end
}

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '7' || base == 16 && (c >= '8' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f')
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// isName reports whether a shell takes s for the name of a variable.
func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}
