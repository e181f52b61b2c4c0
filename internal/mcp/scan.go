package mcp

import (
	"bytes"
	"encoding/json"
)

// The scanner finds the parts of a JSON text without decoding it. It checks the
// structure only as far as it has to: who takes a part decodes it strictly. So a
// line of ten megabytes costs one look for its quotes.

// space skips white space from b[i].
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at b[i], -1 where it
// does not end.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for k := end - 1; k >= i && b[k] == '\\'; k-- {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// skipValue returns the index after the value that starts at b[i], -1 for none.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	case '}', ']', ',', ':':
		return -1
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
	return -1
}

// members calls f for each member of the object b, in order, until f returns
// false. Values are parts of b. It reports whether all of b is one object.
func members(b []byte, f func(key string, value []byte) bool) bool {
	return each(b, '{', '}', f)
}

// elements calls f for each element of the array b.
func elements(b []byte, f func(value []byte) bool) bool {
	return each(b, '[', ']', func(_ string, v []byte) bool { return f(v) })
}

func each(b []byte, open, shut byte, f func(key string, value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != open {
		return false
	}
	if i = space(b, i+1); i < len(b) && b[i] == shut {
		return space(b, i+1) == len(b)
	}
	for {
		key := ""
		if open == '{' {
			if key, i = memberName(b, i); i < 0 {
				return false
			}
		}
		end := skipValue(b, i)
		if end < 0 {
			return false
		}
		if !f(key, b[i:end]) {
			return true
		}
		if i = space(b, end); i >= len(b) {
			return false
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case shut:
			return space(b, i+1) == len(b)
		default:
			return false
		}
	}
}

// memberName reads a name and the colon after it, and returns where the value
// starts.
func memberName(b []byte, i int) (string, int) {
	if i >= len(b) || b[i] != '"' {
		return "", -1
	}
	end := skipString(b, i)
	if end < 0 {
		return "", -1
	}
	key, ok := text(b[i:end])
	if i = space(b, end); !ok || i >= len(b) || b[i] != ':' {
		return "", -1
	}
	return key, space(b, i+1)
}

// text decodes a JSON string; ok is false for any other value.
func text(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; plainASCII(inner) {
		return string(inner), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// plainASCII reports whether a string needs no decoding.
func plainASCII(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}
