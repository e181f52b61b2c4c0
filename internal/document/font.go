package document

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// font turns the codes of a string into text and widths.
type font struct {
	two     bool              // codes are two bytes
	known   map[uint32]string // code to text, from the CMap or the encoding
	ranges  []codeRange       // sorted by low
	widths  map[uint32]float64
	missing float64 // width of codes that have none
}

// codeRange maps codes low to high to consecutive characters.
type codeRange struct {
	low, high uint32
	base      string
}

// maxRanges bounds the entries of one CMap; a full one for 65536 codes has less.
const maxRanges = 1 << 17

// loadFont reads a font; a font that does not say what its codes mean gives no text.
func (f *file) loadFont(v any) *font {
	r, isRef := v.(ref)
	if isRef && f.fonts[r] != nil {
		return f.fonts[r]
	}
	f.parsed += fontCost
	d := f.dict(v)
	out := &font{known: map[uint32]string{}, widths: map[uint32]float64{}, missing: 500}
	if d["Subtype"] == name("Type0") {
		out.two = true
		out.compositeWidths(f, d)
	} else {
		out.simpleWidths(f, d)
		out.simpleEncoding(f, d)
	}
	if body := f.stream(d["ToUnicode"]); body != nil {
		out.readCMap(body)
	}
	if isRef {
		f.fonts[r] = out
	}
	return out
}

func (t *font) simpleWidths(f *file, d dict) {
	first := f.number(d["FirstChar"])
	for i, w := range f.array(d["Widths"]) {
		if i > 255 || first < 0 || first > 255 {
			return
		}
		t.widths[uint32(first)+uint32(i)] = f.number(w)
	}
}

// compositeWidths reads the array W: "c [w w w]" or "first last w".
func (t *font) compositeWidths(f *file, d dict) {
	descendants := f.array(d["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	cid := f.dict(descendants[0])
	t.missing = 1000
	if v, ok := f.resolve(cid["DW"]).(float64); ok {
		t.missing = v
	}
	w := f.array(cid["W"])
	set := 0 // bounds the work, as ranges may overlap without end
	for i := 0; i+1 < len(w) && set < maxRanges; {
		first := uint32(min(max(f.number(w[i]), 0), 65535))
		if list, ok := f.resolve(w[i+1]).(array); ok {
			for k, v := range list {
				t.widths[first+uint32(k)] = f.number(v)
			}
			set += len(list)
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last := uint32(min(max(f.number(w[i+1]), 0), 65535))
		for c := first; c <= last; c++ {
			t.widths[c] = f.number(w[i+2])
			set++
		}
		i += 3
	}
}

// simpleEncoding fills in the codes of a one-byte font. Without a statement
// Windows Latin 1 is taken, which agrees with the standard one on ASCII.
func (t *font) simpleEncoding(f *file, d dict) {
	encoding := f.resolve(d["Encoding"])
	base, _ := encoding.(name)
	e, _ := encoding.(dict)
	if e != nil {
		base, _ = f.resolve(e["BaseEncoding"]).(name)
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for c := 32; c < 256; c++ {
		t.known[uint32(c)] = string(table.DecodeByte(byte(c)))
	}
	code := uint32(0)
	for _, v := range f.array(e["Differences"]) {
		switch v := f.resolve(v).(type) {
		case float64:
			code = uint32(min(max(v, 0), 255))
		case name:
			if text := glyphText(string(v)); text != "" {
				t.known[code] = text
			} else {
				delete(t.known, code)
			}
			code++
		}
	}
}

// readCMap reads the bfchar and bfrange sections of a ToUnicode CMap and how
// long its codes are.
func (t *font) readCMap(body []byte) {
	l := &lexer{b: body}
	var operands array
	for {
		v := l.object(0)
		switch v := v.(type) {
		case end:
			slices.SortStableFunc(t.ranges, func(a, b codeRange) int { return int(a.low) - int(b.low) })
			return
		case op:
			switch v {
			case "endcodespacerange":
				if len(operands) > 0 {
					s, _ := operands[0].(str)
					t.two = len(s) >= 2
				}
			case "endbfchar":
				t.addChars(operands)
			case "endbfrange":
				t.addRanges(operands)
			}
			operands = nil
		default:
			if len(operands) < maxRanges {
				operands = append(operands, v)
			}
		}
	}
}

func (t *font) addChars(operands array) {
	for i := 0; i+1 < len(operands); i += 2 {
		from, ok1 := operands[i].(str)
		to, ok2 := operands[i+1].(str)
		if ok1 && ok2 && len(t.known) < maxRanges {
			t.known[codeOf(from)] = utf16Text(to)
		}
	}
}

func (t *font) addRanges(operands array) {
	for i := 0; i+2 < len(operands); i += 3 {
		low, ok1 := operands[i].(str)
		high, ok2 := operands[i+1].(str)
		if !ok1 || !ok2 {
			continue
		}
		switch to := operands[i+2].(type) {
		case str:
			t.addRange(codeRange{low: codeOf(low), high: codeOf(high), base: utf16Text(to)})
		case array:
			for k, v := range to {
				if s, ok := v.(str); ok && len(t.known) < maxRanges {
					t.known[codeOf(low)+uint32(k)] = utf16Text(s)
				}
			}
		}
	}
}

func (t *font) addRange(r codeRange) {
	if len(t.ranges) >= maxRanges {
		return
	}
	t.ranges = append(t.ranges, r)
	// A one-byte font has its encoding in known, which the CMap overrules.
	for c := r.low; c <= r.high && c < 256; c++ {
		delete(t.known, c)
	}
}

func codeOf(s str) uint32 {
	var v uint32
	for i := range min(len(s), 4) {
		v = v<<8 | uint32(s[i])
	}
	return v
}

// maxGlyphText is the most bytes of UTF-16 that one code may stand for.
const maxGlyphText = 64

func utf16Text(s str) string {
	s = s[:min(len(s), maxGlyphText)]
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return string(utf16.Decode(units))
}

// text returns what a code stands for, empty when it is unknown.
func (t *font) text(code uint32) string {
	if s, ok := t.known[code]; ok {
		return s
	}
	i, _ := slices.BinarySearchFunc(t.ranges, code, func(r codeRange, c uint32) int {
		if r.low <= c {
			return -1
		}
		return 1
	})
	if i == 0 || t.ranges[i-1].high < code {
		return ""
	}
	r := t.ranges[i-1]
	runes := []rune(r.base)
	if len(runes) == 0 {
		return ""
	}
	runes[len(runes)-1] += rune(code - r.low)
	return string(runes)
}

func (t *font) width(code uint32) float64 {
	if w, ok := t.widths[code]; ok {
		return w
	}
	return t.missing
}

// marks are the suffixes of accented glyph names and their combining characters.
var marks = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "dieresis": "\u0308",
	"ring": "\u030a", "cedilla": "\u0327", "caron": "\u030c", "breve": "\u0306", "macron": "\u0304",
	"ogonek": "\u0328", "dotaccent": "\u0307", "hungarumlaut": "\u030b",
}

// glyphNames are the names of the Adobe Glyph List that occur in the standard
// encodings and in text fonts of TeX, apart from letters and accented letters.
var glyphNames = sync.OnceValue(func() map[string]string {
	return parseGlyphNames(`space   exclam ! quotedbl " numbersign # dollar $ percent % ampersand &
quotesingle ' parenleft ( parenright ) asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2
three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @
bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~
exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª
guillemotleft « logicalnot ¬ registered ® macron ¯ degree ° plusminus ± twosuperior ² threesuperior ³ acute ´
mu µ paragraph ¶ periodcentered · cedilla ¸ onesuperior ¹ ordmasculine º guillemotright » onequarter ¼ onehalf ½
threequarters ¾ questiondown ¿ AE Æ Eth Ð multiply × Oslash Ø Thorn Þ germandbls ß ae æ eth ð divide ÷ oslash ø
thorn þ dotlessi ı Lslash Ł lslash ł OE Œ oe œ florin ƒ circumflex ˆ tilde ˜ endash – emdash — quoteleft ‘
quoteright ’ quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet •
ellipsis … perthousand ‰ guilsinglleft ‹ guilsinglright › fraction ⁄ Euro € trademark ™ minus − fi fi fl fl
ff ff ffi ffi ffl ffl nbspace   sfthyphen - arrowright → arrowleft ← infinity ∞ lessequal ≤ greaterequal ≥
notequal ≠ approxequal ≈ summation ∑ integral ∫ radical √ partialdiff ∂ Delta ∆ Omega Ω pi π alpha α beta β
gamma γ delta δ epsilon ε lambda λ sigma σ theta θ phi φ omega ω tau τ rho ρ eta η xi ξ psi ψ chi χ zeta ζ
kappa κ iota ι nu ν checkmark ✓`)
})

func parseGlyphNames(list string) map[string]string {
	out := map[string]string{"space": " ", "nbspace": " "}
	fields := strings.Fields(strings.NewReplacer("space   exclam", "exclam", "nbspace   sfthyphen", "sfthyphen").Replace(list))
	for i := 0; i+1 < len(fields); i += 2 {
		out[fields[i]] = fields[i+1]
	}
	return out
}

// glyphText returns the text of a glyph name, empty when it is unknown.
func glyphText(glyph string) string {
	glyph, _, _ = strings.Cut(glyph, ".")
	if s, ok := glyphNames()[glyph]; ok {
		return s
	}
	if len(glyph) == 1 {
		return glyph
	}
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(glyph, prefix); ok && len(hex) >= 4 && len(hex) <= 6 {
			if v, ok := hexValue(hex); ok {
				return string(rune(v))
			}
		}
	}
	if glyph != "" {
		if mark, ok := marks[glyph[1:]]; ok {
			return norm.NFC.String(glyph[:1] + mark)
		}
	}
	return ""
}

func hexValue(s string) (v uint32, ok bool) {
	for i := range len(s) {
		d, isHex := hexDigit(s[i])
		if !isHex {
			return 0, false
		}
		v = v<<4 | uint32(d)
	}
	return v, true
}
