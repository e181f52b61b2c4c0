package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// This file shows people the arguments of a call.

// Bounds of what is shown, in bytes: of one string, and of all.
const (
	maxShownString = 400
	maxShown       = 4 << 10
)

// Readable are a call's arguments for people: JSON with an indent, the members in
// their order. A long string is cut and its length said, so that no payload is shown.
func Readable(args json.RawMessage) string {
	short, err := shorten(json.NewDecoder(bytes.NewReader(args)))
	if err != nil {
		return fmt.Sprintf("[%d bytes that are no JSON]", len(args))
	}
	var out bytes.Buffer
	if json.Indent(&out, short, "", "  ") != nil {
		return string(short)
	}
	return cutShown(out.String(), maxShown)
}

// shorten copies the next value of a decoder with its strings cut.
func shorten(d *json.Decoder) ([]byte, error) {
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		return shortenAll(d, t)
	case string:
		return json.Marshal(shown(t))
	}
	return json.Marshal(t)
}

// shortenAll copies the members of an object or the elements of an array.
func shortenAll(d *json.Decoder, open json.Delim) ([]byte, error) {
	out := []byte(open.String())
	for n := 0; d.More(); n++ {
		if n > 0 {
			out = append(out, ',')
		}
		if open == '{' {
			key, err := shorten(d)
			if err != nil {
				return nil, err
			}
			out = append(append(out, key...), ':')
		}
		v, err := shorten(d)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	end, err := d.Token()
	if err != nil {
		return nil, err
	}
	return append(out, fmt.Sprint(end)...), nil
}

// shown is a string as far as it is shown.
func shown(s string) string {
	if len(s) <= maxShownString {
		return s
	}
	return cutShown(s, maxShownString) + fmt.Sprintf(" [%d bytes in all]", len(s))
}

// cutShown cuts a text to n bytes on a rune boundary and marks the cut.
func cutShown(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.ToValidUTF8(s[:n], "\uFFFD") + "…"
}
