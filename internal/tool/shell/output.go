package shell

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// headBytes and tailBytes are what a model is shown of a long output.
	headBytes = 10 << 10
	tailBytes = 20 << 10
	// maxFile bounds the file that holds an output.
	maxFile = 64 << 20
	// livePause and liveBytes pace what is shown while a command runs.
	livePause = 100 * time.Millisecond
	liveBytes = 4 << 10
)

// output takes what a command prints. It keeps a bounded part in memory and all of
// it, up to maxFile, in a file, which is made when there is more than a model is
// shown at once. Text is cleaned; binary data goes into the file as it is.
//
// Its methods may be called from several goroutines.
type output struct {
	now  func() time.Time
	dir  string // of the file
	name string

	mu    sync.Mutex
	total int64 // bytes as they came
	// raw is the output as it came, until it is clear where it goes.
	raw     []byte
	spilled bool
	binary  bool
	text    *cleaner
	clean   int64 // bytes of cleaned text
	head    []byte
	tail    ring
	file    *os.File
	buffer  *bufio.Writer // of the file, empty between calls
	inFile  int64
	fileErr error
	closed  bool
	// shown is how much of the cleaned text bash_output has given out.
	shown int64

	live *live
}

func newOutput(dir, name string, now func() time.Time, show func(string)) *output {
	o := &output{dir: dir, name: name, now: now, tail: ring{buf: make([]byte, 0, tailBytes)}}
	o.text = &cleaner{emit: o.take}
	if show != nil {
		o.live = &live{now: now, show: show}
		o.live.text = &cleaner{emit: o.live.take}
	}
	return o
}

// Write takes what came; it never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(p))
	if !o.spilled {
		o.raw = append(o.raw, p...)
		if o.live != nil && !isBinary(o.raw) {
			o.live.write(p)
		}
		if len(o.raw) > headBytes+tailBytes {
			o.spill()
		}
		return len(p), nil
	}
	if o.live != nil && !o.binary {
		o.live.write(p)
	}
	o.pass(p)
	return len(p), nil
}

// pass hands bytes on to where they go.
func (o *output) pass(p []byte) {
	defer o.sync()
	if o.binary {
		o.store(p)
		return
	}
	_, _ = o.text.Write(p) // it never fails
}

// spill settles what the output is and starts its file.
func (o *output) spill() {
	if o.spilled {
		return
	}
	o.spilled, o.binary = true, isBinary(o.raw)
	o.open()
	raw := o.raw
	o.raw = nil
	o.pass(raw)
}

func (o *output) open() {
	if o.file != nil || o.fileErr != nil || o.closed {
		return
	}
	if o.fileErr = os.MkdirAll(o.dir, 0o700); o.fileErr != nil {
		return
	}
	o.file, o.fileErr = os.CreateTemp(o.dir, o.name+"-*.txt") // with mode 0600
	o.buffer = bufio.NewWriterSize(o.file, 32<<10)
}

// take gets cleaned text.
func (o *output) take(p []byte) {
	o.clean += int64(len(p))
	if k := min(headBytes-len(o.head), len(p)); k > 0 {
		o.head = append(o.head, p[:k]...)
		o.store(p[:k])
		p = p[k:]
	}
	o.tail.add(p)
	o.store(p)
}

func (o *output) store(p []byte) {
	if o.file == nil || o.fileErr != nil || o.closed {
		return
	}
	if k := maxFile - o.inFile; int64(len(p)) > k {
		p = p[:k]
	}
	n, err := o.buffer.Write(p)
	o.inFile += int64(n)
	if err != nil {
		o.fileErr = err
	}
}

// sync puts what is buffered into the file.
func (o *output) sync() {
	if o.file == nil || o.fileErr != nil || o.closed {
		return
	}
	o.fileErr = o.buffer.Flush()
}

// path is where the file is, "" for none.
func (o *output) path() string {
	if o.file == nil {
		return ""
	}
	return o.file.Name()
}

// keep makes sure that there is a file, for an output that goes on, and returns its
// path.
func (o *output) keep() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spill()
	return o.path()
}

// whole is the output for a model: all of it, or its beginning and its end and
// where the rest is.
func (o *output) whole() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.spilled && !isBinary(o.raw) {
		o.text.emit = o.collect
		o.pass(o.raw)
		o.text.flush()
		o.raw, o.spilled = nil, true
		o.text.emit = o.take
	} else {
		o.spill()
		o.flush()
	}
	if o.binary {
		return o.binaryNote()
	}
	return o.span(0)
}

// flush hands on a line that has not ended.
func (o *output) flush() {
	o.text.flush()
	o.sync()
}

// collect gets cleaned text that needs no file.
func (o *output) collect(p []byte) {
	o.clean += int64(len(p))
	k := min(headBytes-len(o.head), len(p))
	o.head = append(o.head, p[:k]...)
	o.tail.add(p[k:])
}

func (o *output) binaryNote() string {
	if o.path() == "" {
		return fmt.Sprintf("[binary output of %d bytes, which could not be kept: %v]\n", o.total, plain(o.fileErr))
	}
	return fmt.Sprintf("[binary output of %d bytes in %s%s]\n", o.total, o.path(), o.short(o.total))
}

// short says that the file does not hold all of n bytes.
func (o *output) short(n int64) string {
	switch {
	case o.fileErr != nil:
		return fmt.Sprintf("; writing it broke off: %v", plain(o.fileErr))
	case o.inFile < n:
		return fmt.Sprintf("; it holds the first %d MB", o.inFile>>20)
	}
	return ""
}

// span is the cleaned text from an offset on, its middle left out where it is long.
func (o *output) span(from int64) string {
	tailFrom := o.clean - int64(o.tail.n)
	var sb strings.Builder
	if from < int64(len(o.head)) {
		sb.Write(o.head[from:])
		from = int64(len(o.head))
	}
	tail := o.tail.bytes()
	switch {
	case from >= tailFrom:
		tail = tail[min(from-tailFrom, int64(len(tail))):]
		sb.Write(tail)
		return endLine(sb.String())
	case o.path() == "":
		fmt.Fprintf(&sb, "\n[%d bytes left out; they could not be kept: %v]\n", tailFrom-from, plain(o.fileErr))
	default:
		fmt.Fprintf(&sb, "\n[%d bytes left out; read %s for all of it%s]\n", tailFrom-from, o.path(), o.short(o.clean))
	}
	sb.Write(tail)
	return endLine(strings.ToValidUTF8(sb.String(), ""))
}

// news is the cleaned text that came since the last call.
func (o *output) news() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.spilled && len(o.raw) == 0 {
		return ""
	}
	o.spill()
	if o.binary {
		return o.binaryNote()
	}
	if len(o.text.line) > 0 && utf8.Valid(o.text.line) {
		o.flush()
	}
	s := o.span(o.shown)
	o.shown = o.clean
	return s
}

// finish ends what is shown live. The output itself may go on.
func (o *output) finish() {
	if o.live != nil {
		o.live.end()
	}
}

// close closes the file. What is in it stays.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	if o.spilled && !o.binary {
		o.flush()
	}
	o.closed = true
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// endLine ends text with a line end.
func endLine(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

// plain takes the path out of a file error.
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// ring keeps the last bytes up to the capacity of buf.
type ring struct {
	buf []byte
	at  int // where the next byte goes once buf is full
	n   int // bytes held
}

func (r *ring) add(p []byte) {
	size := cap(r.buf)
	if len(p) >= size {
		r.buf = append(r.buf[:0], p[len(p)-size:]...)
		r.at, r.n = 0, size
		return
	}
	if k := min(size-len(r.buf), len(p)); k > 0 {
		r.buf = append(r.buf, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(r.buf[r.at:], p)
		r.at = (r.at + k) % size
		p = p[k:]
	}
	r.n = len(r.buf)
}

func (r *ring) bytes() []byte {
	out := make([]byte, 0, r.n)
	out = append(out, r.buf[r.at:]...)
	return append(out, r.buf[:r.at]...)
}

// live shows an output while it comes, in pieces of bounded size and number.
type live struct {
	now  func() time.Time
	show func(string)

	mu      sync.Mutex
	text    *cleaner
	pending []byte
	cut     bool
	last    time.Time
	timer   *time.Timer
	ended   bool
}

func (l *live) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if from := len(p) - liveBytes; from > 0 {
		// Only the end will be seen, and behind a line end all begins anew.
		if i := bytes.LastIndexByte(p[:from], '\n'); i >= 0 {
			l.text.reset()
			l.pending, l.cut = l.pending[:0], true
			p = p[i+1:]
		}
	}
	_, _ = l.text.Write(p) // it never fails
	if len(l.pending) == 0 || l.timer != nil {
		return
	}
	if wait := livePause - l.now().Sub(l.last); wait > 0 {
		l.timer = time.AfterFunc(wait, l.due)
		return
	}
	l.flush()
}

// take gets cleaned text; of much at once the newest stays. What is too old goes now
// and then and not each time, so that it costs little.
func (l *live) take(p []byte) {
	if over := len(p) - liveBytes; over > 0 {
		l.pending, l.cut, p = l.pending[:0], true, p[over:]
	}
	if l.pending = append(l.pending, p...); len(l.pending) > 4*liveBytes {
		l.trim()
	}
}

// trim drops what is too old to be shown.
func (l *live) trim() {
	if over := len(l.pending) - liveBytes; over > 0 {
		l.pending, l.cut = append(l.pending[:0], l.pending[over:]...), true
	}
}

func (l *live) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	if !l.ended {
		l.flush()
	}
}

func (l *live) flush() {
	if len(l.pending) == 0 {
		return
	}
	l.trim()
	s := strings.ToValidUTF8(string(l.pending), "")
	if l.cut {
		s = "[...]\n" + s
	}
	l.pending, l.cut, l.last = l.pending[:0], false, l.now()
	l.show(s)
}

// end shows what is left; nothing is shown afterwards.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.text.flush()
	l.flush()
}
