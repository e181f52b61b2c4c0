package tool

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file shows people the arguments of a call.

// Bounds of what is shown, in bytes.
const (
	// maxShown bounds all of it.
	maxShown = 4 << 10
	// onOneLine is what stands on one line; of more, each member gets its own.
	onOneLine = 100
	// minPayload is from where base64 is a payload: shorter texts that only look
	// like it are shown.
	minPayload = 256
	// maxNumber is from where the digits of a number are counted, not shown.
	maxNumber = 64
)

// shownStrings are how much of one string is shown, in bytes: the first of them
// with which all members have room, so that a long one hides no other.
var shownStrings = [...]int{800, 300, 100, 40}

// Readable are a call's arguments for people: compact JSON, the members in their
// order. What would hide something is spelled out: control characters and those
// that reorder text are escaped, of a long string both ends are shown, and a payload
// is named by its kind and size. What stands in <> is said about a value and never
// part of one, since a string is always in quotes.
func Readable(args json.RawMessage) string {
	if !json.Valid(args) {
		return fmt.Sprintf("<%d bytes that are no JSON>", len(args))
	}
	if s, whole := compact(args, shownStrings[0], ""); whole && len(s) <= onOneLine {
		return s
	}
	out := ""
	for _, most := range shownStrings {
		s, whole := compact(args, most, "\n  ")
		if whole {
			return s
		}
		out = s
	}
	return out
}

// Quoted is a text for people as one JSON string, where nothing is hidden. Of one
// that is longer than most, in bytes, both ends are shown.
func Quoted(s string, most int) string {
	if len(s) <= most {
		return quote(s)
	}
	head, tail := s[:runeStart([]byte(s), most*3/4)], s[len(s)-most/4:]
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s <%d bytes left out> %s", quote(head), len(s)-len(head)-len(tail), quote(tail))
}

// openValue is an object or array that is being written.
type openValue struct {
	object bool
	n      int // names and values so far
}

// compact writes valid JSON. most bounds one string; sep stands before each member of
// the outermost value. whole is whether nothing is missing at its end.
func compact(args json.RawMessage, most int, sep string) (out string, whole bool) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var sb strings.Builder
	var stack []openValue
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return sb.String(), true
		}
		if err != nil || sb.Len() > maxShown {
			fmt.Fprintf(&sb, "%s<the last %d of %d bytes are not shown>", sep, len(args)-int(d.InputOffset()), len(args))
			return sb.String(), false
		}
		if c, ok := t.(json.Delim); ok && (c == '}' || c == ']') {
			if len(stack) == 1 && stack[0].n > 0 && sep != "" {
				sb.WriteByte('\n')
			}
			sb.WriteString(c.String())
			stack = stack[:len(stack)-1]
			continue
		}
		name := between(&sb, stack, sep)
		switch t := t.(type) {
		case json.Delim:
			sb.WriteString(t.String())
			stack = append(stack, openValue{object: t == '{'})
		case string:
			what := ""
			if !name { // a name is never taken for a payload
				what = payload(t)
			}
			sb.WriteString(cmp.Or(what, Quoted(t, most)))
		case json.Number:
			sb.WriteString(number(t))
		default: // true, false, null
			fmt.Fprint(&sb, word(t))
		}
	}
}

// between writes what stands before the next name or value, and reports whether it
// is a name.
func between(sb *strings.Builder, stack []openValue, sep string) (name bool) {
	if len(stack) == 0 {
		return false
	}
	at := &stack[len(stack)-1]
	name = at.object && at.n%2 == 0
	switch {
	case at.object && !name:
		sb.WriteString(": ")
	case len(stack) == 1 && sep != "":
		if at.n > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(sep)
	case at.n > 0:
		sb.WriteString(", ")
	}
	at.n++
	return name
}

func word(t json.Token) string {
	if t == nil {
		return "null"
	}
	return fmt.Sprint(t)
}

func number(n json.Number) string {
	if len(n) > maxNumber {
		return fmt.Sprintf("<a number of %d digits>", len(n))
	}
	return n.String()
}

// payload says of what kind and size the payload in a string is, "" for none.
func payload(s string) string {
	if len(s) < minPayload {
		return ""
	}
	if rest, ok := cutFold(s, "data:"); ok {
		head, _, found := strings.Cut(rest[:min(len(rest), minPayload)], ",")
		if found && !strings.ContainsFunc(head, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }) {
			return fmt.Sprintf("<a data: address of %s, %d bytes>", head, len(s))
		}
		return ""
	}
	head, ok := base64Head(s)
	if !ok {
		return ""
	}
	return fmt.Sprintf("<base64 of %s, %d bytes>", kindOf(head), len(s))
}

// kindOf names what begins with head, as far as people are told.
func kindOf(head []byte) string {
	for _, k := range [...]struct{ magic, kind string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF8", "image/gif"},
		{"%PDF-", "application/pdf"},
		{"PK\x03\x04", "application/zip"},
		{"\x1f\x8b", "application/gzip"},
		{"ID3", "audio/mpeg"},
		{"OggS", "audio/ogg"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.kind
		}
	}
	switch {
	case len(head) > 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	case len(head) > 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WAVE":
		return "audio/wav"
	case isText(head):
		return "text/plain"
	}
	return "binary data"
}

func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// base64Head decodes the first bytes of a string that is base64 as a whole. One
// without a capital letter, or with many slashes, is a word or a path.
func base64Head(s string) (head []byte, ok bool) {
	upper, slashes := false, 0
	start := make([]byte, 0, 4*sniffKind)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c == '/':
			slashes++
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '\n' || c == '\r':
			continue
		case c == '=' && i >= len(s)-4, c == '+', c == '-', c == '_':
		default:
			return nil, false
		}
		if len(start) < cap(start) && s[i] != '=' {
			start = append(start, s[i])
		}
	}
	if !upper || slashes > len(s)/16 {
		return nil, false
	}
	start = bytes.Map(func(c rune) rune {
		switch c {
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return c
	}, start[:len(start)/4*4])
	head, err := base64.StdEncoding.DecodeString(string(start))
	return head, err == nil
}

// sniffKind is how many groups of three bytes tell a kind.
const sniffKind = 64

// quote spells a JSON string in which nothing is hidden.
func quote(s string) string {
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range s {
		i := slices.Index([]rune{'"', '\\', '\n', '\r', '\t'}, r)
		switch {
		case i >= 0:
			sb.WriteString([]string{`\"`, `\\`, `\n`, `\r`, `\t`}[i])
		case !hides(r):
			sb.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&sb, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&sb, `\u%04x`, r)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}

// hides reports whether a character shows nothing, moves the cursor, or reorders
// what is around it.
func hides(r rune) bool {
	return r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) ||
		unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r))
}
