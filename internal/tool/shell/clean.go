package shell

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxLine is where a line that does not end is passed on, in bytes.
	maxLine = 64 << 10
	// maxDone is how much of whole lines is gathered before it is passed on.
	maxDone = 4 << 10
	// maxSequence bounds a control sequence: one that does not end must not
	// swallow what follows.
	maxSequence = 1024
)

// escape is where a cleaner stands in a control sequence.
type escape uint8

const (
	plainText   escape = iota
	afterEsc           // ESC
	inCSI              // ESC [ ... final byte
	inString           // ESC ] ... BEL or ESC \
	inStringEsc        // ESC inside of it
	inCharset          // ESC ( and one more
)

// cleaner makes text for reading out of what a program writes for a terminal, line
// by line: control sequences go, of a line that was written over with carriage
// returns the last state stays, and what is no UTF-8 becomes U+FFFD.
type cleaner struct {
	// emit gets whole lines, many at once, and what flush and overlong lines pass
	// on. It must not keep its argument.
	emit func([]byte)

	done   []byte // whole lines that wait for the end of a Write
	line   []byte
	state  escape
	length int
	// back: a carriage return came, so the next character starts the line anew.
	back bool
}

// special marks the bytes that plain text does not hold: all control characters but
// the line end and the tab.
var special = func() (t [256]bool) {
	for b := range 0x20 {
		t[b] = b != '\n' && b != '\t'
	}
	t[0x7f] = true
	return t
}()

// Write takes bytes; it never fails. Text without control characters goes through
// in one piece, which makes it cheap: commands print gigabytes.
func (c *cleaner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if c.state != plainText {
			c.sequence(p[0])
			p = p[1:]
			continue
		}
		run := 0
		for run < len(p) && !special[p[run]] {
			run++
		}
		c.text(p[:run])
		if p = p[run:]; len(p) > 0 {
			c.control(p[0])
			p = p[1:]
		}
	}
	c.pass()
	return n, nil
}

// text takes text without control characters but line ends and tabs.
func (c *cleaner) text(run []byte) {
	if len(c.line) > 0 || c.back {
		first := bytes.IndexByte(run, '\n')
		if first < 0 {
			c.add(run)
			return
		}
		c.add(run[:first])
		c.control('\n')
		run = run[first+1:]
	}
	last := bytes.LastIndexByte(run, '\n') + 1
	if last > maxDone {
		c.pass()
		c.emit(valid(run[:last]))
	} else if last > 0 {
		c.finish(run[:last])
	}
	c.add(run[last:])
}

// finish takes whole lines, which are passed on together.
func (c *cleaner) finish(lines []byte) {
	if len(c.done)+len(lines) > 2*maxDone {
		c.pass()
	}
	c.done = append(c.done, valid(lines)...)
}

// pass emits the whole lines that wait.
func (c *cleaner) pass() {
	if len(c.done) > 0 {
		c.emit(c.done)
	}
	c.done = c.done[:0]
}

// reset forgets what has come. After a line end that is no loss.
func (c *cleaner) reset() {
	c.done, c.line, c.state, c.length, c.back = c.done[:0], c.line[:0], plainText, 0, false
}

func (c *cleaner) add(run []byte) {
	if len(run) == 0 {
		return
	}
	if c.back {
		c.line, c.back = c.line[:0], false
	}
	for len(c.line)+len(run) > maxLine {
		k := maxLine - len(c.line)
		c.line = append(c.line, run[:k]...)
		run = run[k:]
		c.passOn()
	}
	c.line = append(c.line, run...)
}

func (c *cleaner) control(b byte) {
	switch b {
	case '\n':
		c.line = append(c.line, '\n')
		c.finish(c.line)
		c.line, c.back = c.line[:0], false
	case '\r':
		c.back = true
	case '\b':
		if !c.back && len(c.line) > 0 {
			_, k := utf8.DecodeLastRune(c.line)
			c.line = c.line[:len(c.line)-k]
		}
	case 0:
		c.add([]byte("\u2400")) // the picture of a NUL
	case 0x1b:
		c.state, c.length = afterEsc, 0
	}
}

// sequence takes one byte inside of a control sequence.
func (c *cleaner) sequence(b byte) {
	c.length++
	if b == '\n' || c.length > maxSequence {
		c.state = plainText
		if b == '\n' {
			c.control(b)
		}
		return
	}
	switch c.state {
	case plainText:
	case afterEsc:
		switch b {
		case '[':
			c.state = inCSI
		case ']', 'P', 'X', '^', '_':
			c.state = inString
		case '(', ')', '*', '+', '#', '%', ' ':
			c.state = inCharset
		default:
			c.state = plainText
		}
	case inCSI:
		if b >= 0x40 && b <= 0x7e {
			c.state = plainText
		}
	case inString:
		switch b {
		case 0x07:
			c.state = plainText
		case 0x1b:
			c.state = inStringEsc
		}
	case inStringEsc:
		c.state = inString
		if b == '\\' {
			c.state = plainText
		}
	case inCharset:
		c.state = plainText
	}
}

// passOn emits the line as far as it goes, up to the last whole character.
func (c *cleaner) passOn() {
	n := len(c.line)
	for k := 1; k < utf8.UTFMax && k <= n; k++ {
		if utf8.RuneStart(c.line[n-k]) {
			if !utf8.FullRune(c.line[n-k:]) {
				n -= k
			}
			break
		}
	}
	if n > 0 {
		c.pass()
		c.emit(valid(c.line[:n]))
	}
	c.line = append(c.line[:0], c.line[n:]...)
}

// flush emits what has come of a line that has not ended.
func (c *cleaner) flush() {
	c.pass()
	if len(c.line) > 0 {
		c.emit(valid(c.line))
	}
	c.line = c.line[:0]
}

// valid replaces what is no UTF-8 and drops the control characters U+0080 to
// U+009F.
func valid(line []byte) []byte {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if bytes.IndexByte(line, 0xc2) < 0 {
		return line
	}
	return bytes.Map(func(r rune) rune {
		if r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, line)
}

// sniff is how much of an output tells whether it is text.
const sniff = 8 << 10

// isBinary reports whether the beginning of an output is no text. NUL bytes
// between words are text: find -print0 writes them.
func isBinary(head []byte) bool {
	head = head[:min(len(head), sniff)]
	zeros, odd, wrong := 0, 0, 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1 && utf8.FullRune(rest):
			wrong++
		case r == 0:
			zeros++
		case r < 0x20 && r != '\n' && r != '\r' && r != '\t' && r != '\b' && r != 0x1b && r != '\f' && r != 0x07:
			odd++
		}
		rest = rest[n:]
	}
	return zeros > 0 && (odd+wrong > 0 || zeros > len(head)/2) || (odd+wrong)*10 > len(head)*3
}
