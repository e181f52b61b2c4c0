package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds one line of a streamed answer, and one event, in bytes.
const MaxLine = 16 << 20

// ErrLineTooLong reports a line or an event of more than MaxLine bytes.
var ErrLineTooLong = fmt.Errorf("a line of more than %d bytes", MaxLine)

// Lines splits a stream into lines that end in LF, CRLF or CR.
type Lines struct {
	r      io.Reader
	buf    []byte // what is read and not yet returned is buf[start:]
	start  int
	err    error
	skipLF bool
}

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: r} }

// Next returns the next line without its end, valid until the next call. At the
// end of the stream it returns what stands behind the last line end, "" for
// nothing, with io.EOF.
func (l *Lines) Next() ([]byte, error) {
	scanned := 0
	for {
		rest := l.buf[l.start:]
		if l.skipLF && len(rest) > 0 {
			l.skipLF = false
			if rest[0] == '\n' {
				l.start++
				rest = rest[1:]
			}
		}
		if i := bytes.IndexAny(rest[scanned:], "\r\n"); i >= 0 {
			i += scanned
			l.start += i + 1
			l.skipLF = rest[i] == '\r'
			return rest[:i], nil
		}
		scanned = len(rest)
		if l.err != nil {
			l.start = len(l.buf)
			return rest, l.err
		}
		if scanned > MaxLine {
			l.err = ErrLineTooLong
			l.buf, l.start = nil, 0
			return nil, l.err
		}
		l.fill()
	}
}

// fill reads once, after making room.
func (l *Lines) fill() {
	const room = 4 << 10
	if l.start > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
		l.start = 0
	}
	if cap(l.buf)-len(l.buf) < room {
		grown := make([]byte, len(l.buf), 2*cap(l.buf)+room)
		copy(grown, l.buf)
		l.buf = grown
	}
	for range 100 { // a reader that returns nothing that often is broken
		n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		if err != nil {
			l.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// ServerEvent is one server-sent event. Data is valid until the next one.
type ServerEvent struct {
	Name string
	Data []byte
}

// Events reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html,
// read 2026-11-30). Comments, "id" and "retry" are skipped.
type Events struct {
	lines *Lines
	data  []byte
	begun bool
}

// NewEvents reads events from r.
func NewEvents(r io.Reader) *Events { return &Events{lines: NewLines(r)} }

// Next returns the next event that has data. io.EOF is the end between events;
// a stream that ends inside one is io.ErrUnexpectedEOF. A last event whose
// lines are whole counts although the empty line behind it is missing, as some
// servers leave it out.
func (e *Events) Next() (ServerEvent, error) {
	e.data = e.data[:0]
	var ev ServerEvent
	has := false
	for {
		line, err := e.lines.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return ServerEvent{}, err
		}
		line = e.unmarked(line)
		if err != nil {
			return e.last(ev, line, has)
		}
		if len(line) == 0 {
			if has {
				ev.Data = e.data
				return ev, nil
			}
			ev = ServerEvent{}
			continue
		}
		switch name, value := field(line); name {
		case "data":
			if has {
				e.data = append(e.data, '\n')
			}
			if has = true; !e.add(value) {
				return ServerEvent{}, ErrLineTooLong
			}
		case "event":
			ev.Name = string(value)
		}
	}
}

// unmarked drops the byte order mark of the first line.
func (e *Events) unmarked(line []byte) []byte {
	if !e.begun {
		e.begun = true
		return bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return line
}

// add takes a line of data. It returns false when the event is too long.
func (e *Events) add(line []byte) bool {
	if len(e.data)+len(line) > MaxLine {
		return false
	}
	e.data = append(e.data, line...)
	return true
}

// last ends the stream. line is what stands behind the last line end.
func (e *Events) last(ev ServerEvent, line []byte, has bool) (ServerEvent, error) {
	name, value := field(line)
	switch {
	case len(line) == 0 && !has:
		return ServerEvent{}, io.EOF
	case len(line) == 0:
		ev.Data = e.data
		return ev, nil
	case name == "data" && !has && string(value) == doneMark:
		return ServerEvent{Data: value}, nil
	}
	return ServerEvent{}, io.ErrUnexpectedEOF
}

// doneMark is the data of the event that ends a stream on OpenAI's wires.
const doneMark = "[DONE]"

// Done reports whether the event is the "[DONE]" that ends a stream.
func (ev ServerEvent) Done() bool { return string(bytes.TrimSpace(ev.Data)) == doneMark }

// field splits a line at its first colon; one space behind it is dropped. A
// comment has the empty name.
func field(line []byte) (name string, value []byte) {
	n, v, ok := bytes.Cut(line, []byte{':'})
	if ok && len(v) > 0 && v[0] == ' ' {
		v = v[1:]
	}
	return string(n), v
}
