package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// cleanUTF8 reports whether all of data is UTF-8 without a byte that text does
// not hold. Nothing that a program reads by fixed offsets passes.
func cleanUTF8(data []byte) bool { return utf8.Valid(data) && controls(data) == 0 }

// nearlyClean lets the few control characters through that logs and terminal
// recordings hold, but no NUL.
func nearlyClean(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) && controls(data)*64 <= len(data)
}

// binaryByte marks the bytes that the MIME Sniffing Standard counts as binary
// (https://mimesniff.spec.whatwg.org/#binary-data-byte, read 2026-11-30).
var binaryByte = func() (t [256]byte) {
	for c := range 0x20 {
		switch c {
		case '\t', '\n', '\f', '\r', 0x1b:
		default:
			t[c] = 1
		}
	}
	return t
}()

func controls(data []byte) int {
	n := 0
	for _, c := range data {
		n += int(binaryByte[c])
	}
	return n
}

// cutUTF8 is the character set of UTF-8 that ends inside a character.
const cutUTF8 = "utf-8"

// decodeText gives the UTF-8 form of a text and the character set that it was
// written in, "" where it is UTF-8 already. ok is false for bytes that are no
// text in any set that can be told. hint is the declared character set.
func decodeText(data []byte, hint string) (text []byte, charset string, ok bool) {
	if text, charset, known, ok := fromBOM(data); known {
		return text, charset, ok
	}
	if nearlyClean(data) {
		return data, "", true
	}
	if text, ok := cutRune(data); ok {
		return text, cutUTF8, true
	}
	for _, u := range [...]struct {
		order binary.ByteOrder
		name  string
	}{{binary.LittleEndian, "utf-16le"}, {binary.BigEndian, "utf-16be"}} {
		if !looksUTF16(data, u.order) {
			continue
		}
		if text, ok := fromUTF16(data, u.order); ok {
			return text, u.name, true
		}
	}
	if bytes.IndexByte(data, 0) >= 0 || controls(data) > 0 {
		return nil, "", false
	}
	if text, charset, ok := fromCharmap(data, hint); ok {
		return text, charset, true
	}
	return fromLatin1(data)
}

// fromBOM obeys a byte order mark; known is false without one.
func fromBOM(data []byte) (text []byte, charset string, known, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data, "", true, nearlyClean(data)
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")):
		text, ok = fromUTF32(data[4:], binary.LittleEndian)
		return text, "utf-32le", true, ok
	case bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		text, ok = fromUTF32(data[4:], binary.BigEndian)
		return text, "utf-32be", true, ok
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		text, ok = fromUTF16(data[2:], binary.LittleEndian)
		return text, "utf-16le", true, ok
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		text, ok = fromUTF16(data[2:], binary.BigEndian)
		return text, "utf-16be", true, ok
	}
	return nil, "", false, false
}

// cutRune accepts UTF-8 that ends inside a character. A whole character beyond
// ASCII must come before, else it is as likely Latin-1.
func cutRune(data []byte) ([]byte, bool) {
	for n := 1; n < utf8.UTFMax && n < len(data); n++ {
		at := len(data) - n
		if !utf8.RuneStart(data[at]) {
			continue
		}
		rest := data[:at]
		if utf8.FullRune(data[at:]) || !nearlyClean(rest) || utf8.RuneCount(rest) == len(rest) {
			return nil, false
		}
		return append(bytes.Clone(rest), "\ufffd"...), true
	}
	return nil, false
}

const (
	// fewestUnits is how many units of UTF-16 there are at least where no mark
	// says what they are: a few bytes with NULs among them are anything.
	fewestUnits = 8
	// utf16Head is how much of the beginning is looked at, in bytes.
	utf16Head = 4096
)

// looksUTF16 tells UTF-16 without a mark by what Latin script makes of it: nearly
// all units are printed characters below U+0100, so the zero bytes stand on one side
// only, and most are letters, digits and blanks. It looks at the beginning; decoding is
// strict about the rest. Text in other scripts needs its mark: a third of such units,
// as one may ask for there, is found in binary data as well.
func looksUTF16(data []byte, order binary.ByteOrder) bool {
	units := min(len(data), utf16Head) / 2
	if len(data)%2 != 0 || units < fewestUnits {
		return false
	}
	latin, worded, low := 0, 0, 0
	for i := range units {
		v := order.Uint16(data[2*i:])
		r := rune(v)
		switch {
		case v&0xff == 0:
			low++
		case v >= 0x100 || !unicode.IsPrint(r) && !isBlank(r):
		default:
			latin++
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' || isBlank(r) {
				worded++
			}
		}
	}
	return latin*10 >= units*9 && worded*2 >= units && low*100 <= units
}

func isBlank(r rune) bool { return r == '\t' || r == '\n' || r == '\r' }

// notText says why bytes are no text, "" where nothing is to be said.
func notText(data []byte) string {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return fmt.Sprintf("it is no text: byte %d of it is a NUL", i+1)
	}
	for i, c := range data {
		if binaryByte[c] != 0 {
			return fmt.Sprintf("it is no text: byte %d of it is the control character 0x%02x", i+1, c)
		}
	}
	return "it is no text in a character set that can be told"
}

// fromUTF16 is strict: a lone surrogate, a NUL or an odd length is no text.
func fromUTF16(data []byte, order binary.ByteOrder) ([]byte, bool) {
	if len(data)%2 != 0 {
		return nil, false
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			i += 2
			if i >= len(data) {
				return nil, false
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(data[i:]))); r == utf8.RuneError {
				return nil, false
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nearlyClean(out)
}

func fromUTF32(data []byte, order binary.ByteOrder) ([]byte, bool) {
	if len(data)%4 != 0 {
		return nil, false
	}
	out := make([]byte, 0, len(data)/2)
	for i := 0; i < len(data); i += 4 {
		v := order.Uint32(data[i:])
		if v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			return nil, false
		}
		out = utf8.AppendRune(out, rune(v))
	}
	return out, nearlyClean(out)
}

// fromCharmap decodes one of the single-byte sets by the name that the sender
// declared.
func fromCharmap(data []byte, name string) (text []byte, charset string, ok bool) {
	want := plainName(name)
	if want == "" {
		return nil, "", false
	}
	for _, e := range charmap.All {
		m, ok := e.(*charmap.Charmap)
		if !ok || plainName(m.String()) != want {
			continue
		}
		text, ok = decodeMap(data, m)
		return text, strings.ReplaceAll(strings.ToLower(m.String()), " ", "-"), ok
	}
	return nil, "", false
}

// plainName drops what spellings of a character set differ in.
func plainName(name string) string {
	var sb strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			sb.WriteRune(r)
		}
	}
	s := sb.String()
	if n, ok := strings.CutPrefix(s, "cp125"); ok {
		return "windows125" + n
	}
	return s
}

// fromLatin1 is the last guess. Real text has mostly ASCII in it; bytes that are
// random or in an unknown set have not.
func fromLatin1(data []byte) (text []byte, charset string, ok bool) {
	high, c1 := 0, 0
	for _, c := range data {
		if c >= 0x80 {
			high++
		}
		if c >= 0x80 && c < 0xa0 {
			c1++
		}
	}
	if high*10 > len(data)*3 {
		return nil, "", false
	}
	charset = "iso-8859-1"
	if c1 > 0 {
		charset = "windows-1252"
	}
	text, ok = decodeMap(data, charmap.Windows1252)
	return text, charset, ok
}

// decodeMap refuses bytes that the set does not define.
func decodeMap(data []byte, m *charmap.Charmap) ([]byte, bool) {
	out := make([]byte, 0, len(data)+len(data)/4)
	for _, c := range data {
		r := m.DecodeByte(c)
		if r == utf8.RuneError {
			return nil, false
		}
		out = utf8.AppendRune(out, r)
	}
	return out, true
}
