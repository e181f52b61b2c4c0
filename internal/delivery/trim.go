package delivery

import (
	"strconv"
	"unicode/utf8"

	"tote/internal/content"
)

// This file cuts the middle out of old output of tools. What a tool has once
// printed is the first thing that a model can do without: it can run it again. Where
// even that is too much, a line stands for the rest of it.

const (
	// trimOver is the length in bytes up to which nothing is cut out.
	trimOver = 1000
	// trimHead and trimTail are how many bytes stay at most.
	trimHead = 400
	trimTail = 200
	// newest is how many of the newest tool results are not old: the model
	// is at work with them.
	newest = 4
)

// trimmable reports whether the middle of an order's text can be cut out. A text
// without a handle could not be remembered as cut.
func (o *Order) trimmable() bool {
	if !o.result || o.out || o.Handle == "" || o.Reason != ReasonFits {
		return false
	}
	b, ok := o.block.(content.Text)
	return ok && len(b.Body) > trimOver
}

// leastRest is the length in bytes up to which a line in the place of an output
// would save nothing worth it.
const leastRest = 300

// droppable reports whether a line can stand for what is left of an order's output.
func (o *Order) droppable() bool {
	return o.result && !o.out && o.Handle != "" && o.block.Kind() == content.KindText && o.whole() && o.rest() > leastRest
}

// rest is how many bytes of an output are sent.
func (o *Order) rest() int64 {
	b, _ := o.block.(content.Text)
	return int64(len(b.Body)) - o.saved()
}

// trimEnds is where the middle of s begins and ends, on rune boundaries.
func trimEnds(s string) (from, to int) {
	from, to = trimHead, len(s)-trimTail
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return from, to
}

const (
	trimBefore = "\n[… "
	trimAfter  = " bytes of this old output were left out; run the tool again to see them]\n"
)

// trim is s without its middle, for an s of more than trimOver bytes.
func trim(s string) string {
	from, to := trimEnds(s)
	return s[:from] + trimBefore + strconv.Itoa(to-from) + trimAfter + s[to:]
}

// trimSaves is how many bytes trim makes s shorter.
func trimSaves(s string) int64 {
	if len(s) <= trimOver {
		return 0
	}
	from, to := trimEnds(s)
	var digits [20]byte
	mark := len(trimBefore) + len(strconv.AppendInt(digits[:0], int64(to-from), 10)) + len(trimAfter)
	return int64(to - from - mark)
}

// saves is trimSaves of an order's text.
func (o *Order) saves() int64 {
	b, _ := o.block.(content.Text)
	return trimSaves(b.Body)
}
