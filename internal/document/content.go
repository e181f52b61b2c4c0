package document

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// matrix is a PDF transformation [a b c d e f].
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then returns the transformation that applies m first and n after it.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// graphics is the state that q saves and Q restores.
type graphics struct {
	ctm                               matrix
	font                              *font
	size, charSpace, wordSpace, scale float64
	leading                           float64
}

// Limits of one page.
const (
	maxForms    = 8    // nesting of form objects
	maxSaves    = 256  // nesting of q
	maxOperands = 1024 // before one operator
)

// pageText collects the text of one page. Where a piece of text does not
// continue the one before, a space or a line break is put between.
type pageText struct {
	f     *file
	limit int
	out   strings.Builder
	graphics
	saved      []graphics
	tm, line   matrix
	endX, endY float64 // where the last piece ended, on the page
	last       float64 // its size on the page, 0 before the first
	open       []ref   // the form objects being run
}

func newPageText(f *file, limit int) *pageText {
	return &pageText{f: f, limit: limit, graphics: graphics{ctm: identity, scale: 1}, tm: identity, line: identity}
}

// run interprets the content of a page.
func (t *pageText) run(page dict) {
	var body []byte
	for _, part := range listOf(t.contents(page["Contents"])) {
		if t.full() {
			return
		}
		body = append(body, t.f.stream(part)...)
		body = append(body, '\n')
	}
	t.interpret(body, t.f.resource(page["Resources"]))
}

// contents keeps a single reference to a stream as it is and opens arrays.
func (t *pageText) contents(v any) any {
	if a, ok := t.f.resolve(v).(array); ok {
		return a
	}
	return v
}

func (t *pageText) full() bool { return t.out.Len() >= t.limit || t.f.exhausted() }

func (t *pageText) interpret(body []byte, resources dict) {
	// Content counts each time it is run: forms that call forms many times
	// over cost time without being unpacked again.
	t.f.unpacked += len(body)
	l := &lexer{b: body}
	var operands array
	for !t.full() {
		l.elements = 0
		switch v := l.object(0).(type) {
		case end:
			return
		case op:
			if v == "ID" {
				skipInlineImage(l)
			} else {
				t.operator(v, operands, resources)
			}
			operands = operands[:0]
		default:
			if len(operands) < maxOperands {
				operands = append(operands, v)
			}
		}
	}
}

// skipInlineImage goes on after the EI that stands alone.
func skipInlineImage(l *lexer) {
	for l.pos < len(l.b) {
		i := bytes.Index(l.b[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.b)
			return
		}
		at := l.pos + i
		l.pos = at + 2
		if at > 0 && isSpace(l.b[at-1]) && (l.pos >= len(l.b) || isSpace(l.b[l.pos])) {
			return
		}
	}
}

// num returns operand i counted from the end, 0 when it is no number.
func num(operands array, fromEnd int) float64 {
	if fromEnd > len(operands) {
		return 0
	}
	v, _ := operands[len(operands)-fromEnd].(float64)
	return v
}

func (t *pageText) operator(o op, operands array, resources dict) {
	switch o {
	case "q":
		if len(t.saved) < maxSaves {
			t.saved = append(t.saved, t.graphics)
		}
	case "Q":
		if n := len(t.saved); n > 0 {
			t.graphics, t.saved = t.saved[n-1], t.saved[:n-1]
		}
	case "cm":
		t.ctm = matrixOf(operands).then(t.ctm)
	case "Do":
		t.form(operands, resources)
	case "Tf":
		t.setFont(operands, resources)
	case "Tc":
		t.charSpace = num(operands, 1)
	case "Tw":
		t.wordSpace = num(operands, 1)
	case "Tz":
		t.scale = num(operands, 1) / 100
	case "TL":
		t.leading = num(operands, 1)
	default:
		t.textOperator(o, operands)
	}
}

func (t *pageText) textOperator(o op, operands array) {
	switch o {
	case "BT":
		t.tm, t.line = identity, identity
	case "Tm":
		t.tm = matrixOf(operands)
		t.line = t.tm
	case "Td":
		t.move(num(operands, 2), num(operands, 1))
	case "TD":
		t.leading = -num(operands, 1)
		t.move(num(operands, 2), num(operands, 1))
	case "T*":
		t.move(0, -t.leading)
	case "Tj":
		t.showLast(operands)
	case "'":
		t.move(0, -t.leading)
		t.showLast(operands)
	case "\"":
		t.wordSpace, t.charSpace = num(operands, 3), num(operands, 2)
		t.move(0, -t.leading)
		t.showLast(operands)
	case "TJ":
		t.showArray(operands)
	}
}

func matrixOf(operands array) matrix {
	var m matrix
	for i := range m {
		m[i] = num(operands, 6-i)
	}
	return m
}

func (t *pageText) move(x, y float64) {
	t.line = matrix{1, 0, 0, 1, x, y}.then(t.line)
	t.tm = t.line
}

func (t *pageText) setFont(operands array, resources dict) {
	t.size = num(operands, 1)
	t.font = nil
	if len(operands) >= 2 {
		key, _ := operands[len(operands)-2].(name)
		if v, ok := t.f.resource(resources["Font"])[key]; ok {
			t.font = t.f.loadFont(v)
		}
	}
}

// form runs a form object in its own coordinates with its own resources.
func (t *pageText) form(operands array, resources dict) {
	if len(operands) == 0 || len(t.open) >= maxForms {
		return
	}
	key, _ := operands[0].(name)
	v, ok := t.f.resource(resources["XObject"])[key].(ref)
	if !ok || slices.Contains(t.open, v) {
		return
	}
	d := t.f.dict(v)
	if d["Subtype"] != name("Form") {
		return
	}
	before := t.graphics
	if m := t.f.array(d["Matrix"]); len(m) == 6 {
		t.ctm = matrixOf(m).then(t.ctm)
	}
	if own := t.f.resource(d["Resources"]); own != nil {
		resources = own
	}
	t.open = append(t.open, v)
	t.interpret(t.f.stream(v), resources)
	t.open = t.open[:len(t.open)-1]
	t.graphics = before
}

func (t *pageText) showLast(operands array) {
	if n := len(operands); n > 0 {
		if s, ok := operands[n-1].(str); ok {
			t.show(s)
		}
	}
}

func (t *pageText) showArray(operands array) {
	if len(operands) == 0 {
		return
	}
	parts, _ := operands[len(operands)-1].(array)
	for _, part := range parts {
		switch v := part.(type) {
		case str:
			t.show(v)
		case float64:
			t.advance(-v / 1000 * t.size)
		}
	}
}

func (t *pageText) advance(x float64) {
	t.tm = matrix{1, 0, 0, 1, x * t.scale, 0}.then(t.tm)
}

// show writes the text of a string and moves on by its width.
func (t *pageText) show(s str) {
	if t.font == nil {
		return
	}
	step := 1
	if t.font.two {
		step = 2
	}
	for i := 0; i+step <= len(s) && !t.full(); i += step {
		code := codeOf(s[i : i+step])
		text := t.font.text(code)
		if text != "" && text != "\x00" {
			t.separate(strings.TrimSpace(text) == "")
			t.write(text)
		}
		width := t.font.width(code)/1000*t.size + t.charSpace
		if step == 1 && code == ' ' {
			width += t.wordSpace
		}
		t.advance(width)
		if text != "" {
			at := t.tm.then(t.ctm)
			t.endX, t.endY = at[4], at[5]
		}
	}
}

// separate puts a line break or a space before the next piece when it does not
// lie where the last one ended. blank says that the piece is white space.
func (t *pageText) separate(blank bool) {
	at := t.tm.then(t.ctm)
	size := math.Abs(t.size) * math.Hypot(at[2], at[3])
	dx, dy := at[4]-t.endX, at[5]-t.endY
	// The line runs along the first axis of the text, which may be turned.
	length := math.Hypot(at[0], at[1])
	if length > 0 {
		ux, uy := at[0]/length, at[1]/length
		dx, dy = dx*ux+dy*uy, dy*ux-dx*uy
	}
	larger := max(size, t.last)
	switch {
	case t.last == 0:
	case math.Abs(dy) > 0.5*larger || dx < -2*larger:
		t.write("\n")
	case !blank && dx > 0.18*larger && !strings.HasSuffix(t.out.String(), " "):
		t.write(" ")
	}
	if size > 0 {
		t.last = size
	}
}

// write keeps control characters out of the text.
func (t *pageText) write(s string) {
	for _, r := range s {
		switch {
		case r == '\u00a0':
			r = ' '
		case r < ' ' && r != '\n' && r != '\t', r == '\u00ad', r == 0xfffd:
			continue
		}
		t.out.WriteRune(r)
	}
}
