package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DefaultMaxLine is the longest line that is kept, in bytes without its end. It
// holds the largest attachment in base64 with room for several of them.
const DefaultMaxLine int64 = 64 << 20

const (
	readSize  = 64 << 10  // lines up to this size cost one copy
	chunkSize = 256 << 10 // unit in which longer lines are gathered
)

type chunk [chunkSize]byte

// Line is one line of the input without its end. Exactly one field is set.
type Line struct {
	// Bytes belongs to the caller; the reader never touches it again.
	Bytes []byte
	// Over stands for a line that was too long to keep.
	Over *Over
}

// Over is what is known of a line that was longer than the limit.
type Over struct {
	Skim
	// Received is the length of the whole line in bytes.
	Received int64
}

// Reader cuts a stream into lines. Lines end in LF or CRLF, blank lines are
// skipped, and the last line may lack its end.
//
// Memory: a line up to readSize costs its own length. A longer one is gathered
// in chunks and copied once into a slice of its exact size, so at its peak it
// costs twice its length, never more, and its length once the chunks are
// collected; the chunks are shared by successive lines and given up to the
// garbage collector between them. Doubling a slice would copy less cleverly: its
// peak is up to three times the length and up to half of what stays is unused.
// A line over the limit costs the limit, then, once it has passed it, nothing.
type Reader struct {
	max    int64
	src    *bufio.Reader
	chunks sync.Pool
	// passed is called once for each line that exceeds the limit, as soon
	// as it does, since its end may never come. It may be nil.
	passed func()
}

// NewReader returns a reader of r that keeps lines of up to maxLine bytes, or
// DefaultMaxLine when that is not positive.
func NewReader(r io.Reader, maxLine int64) *Reader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &Reader{
		max:    maxLine,
		src:    bufio.NewReaderSize(r, readSize),
		chunks: sync.Pool{New: func() any { return new(chunk) }},
	}
}

// Next returns the next line that is not blank. It returns io.EOF at the end of
// the input, and the stream's own error when that breaks.
func (r *Reader) Next() (Line, error) {
	for {
		line, err := r.next()
		if err != nil {
			return Line{}, err
		}
		if line.Over != nil || len(bytes.Trim(line.Bytes, " \t\r")) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) next() (Line, error) {
	frag, err := r.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return r.gather(frag)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Line{}, fmt.Errorf("read message: %w", err)
	}
	if err != nil && len(frag) == 0 {
		return Line{}, io.EOF
	}
	frag = trimEOL(frag)
	if int64(len(frag)) > r.max {
		var s skimmer
		r.notePassed()
		s.feed(frag)
		return Line{Over: &Over{Skim: s.result(), Received: int64(len(frag))}}, nil
	}
	return Line{Bytes: bytes.Clone(frag)}, nil
}

// gather reads the rest of a line that begins with head and does not fit the
// read buffer.
func (r *Reader) gather(head []byte) (Line, error) {
	var (
		kept rope
		skim *skimmer
		tail [2]byte // the last two bytes, for the line's end
		n    int64
		frag = head
		done bool
	)
	for {
		n += int64(len(frag))
		keepTail(&tail, frag)
		if skim == nil && n > r.max+2 {
			skim = r.drop(&kept)
		}
		if skim != nil {
			skim.feed(frag)
		} else {
			kept.append(frag, &r.chunks)
		}
		if done {
			break
		}
		var err error
		frag, err = r.src.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return Line{}, fmt.Errorf("read message: %w", err)
		}
		done = !errors.Is(err, bufio.ErrBufferFull)
	}
	n -= int64(len(tail) - len(trimEOL(tail[:])))
	if skim == nil && n > r.max {
		skim = r.drop(&kept)
	}
	if skim != nil {
		return Line{Over: &Over{Skim: skim.result(), Received: n}}, nil
	}
	return Line{Bytes: kept.join(int(n), &r.chunks)}, nil
}

// drop skims what was kept of a line that passed the limit and lets it go.
func (r *Reader) drop(kept *rope) *skimmer {
	r.notePassed()
	s := new(skimmer)
	for i, c := range kept.full {
		s.feed(c[:])
		kept.full[i] = nil
	}
	if kept.last != nil {
		s.feed(kept.last[:kept.used])
	}
	*kept = rope{}
	return s
}

func (r *Reader) notePassed() {
	if r.passed != nil {
		r.passed()
	}
}

// rope is the part of a line that has been read.
type rope struct {
	full []*chunk
	last *chunk
	used int // of last
}

func (p *rope) append(b []byte, pool *sync.Pool) {
	for len(b) > 0 {
		if p.last == nil {
			p.last, p.used = pool.Get().(*chunk), 0
		}
		n := copy(p.last[p.used:], b)
		p.used += n
		b = b[n:]
		if p.used == chunkSize {
			p.full, p.last = append(p.full, p.last), nil
		}
	}
}

// join returns the first n bytes in one slice and gives the chunks back.
func (p *rope) join(n int, pool *sync.Pool) []byte {
	out := make([]byte, 0, n)
	for i, c := range p.full {
		out = append(out, c[:min(chunkSize, n-len(out))]...)
		pool.Put(c)
		p.full[i] = nil
	}
	if p.last != nil {
		out = append(out, p.last[:min(p.used, n-len(out))]...)
		pool.Put(p.last)
	}
	return out
}

// trimEOL removes one LF or CRLF.
func trimEOL(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
		if n > 1 && b[n-2] == '\r' {
			b = b[:n-2]
		}
	}
	return b
}

// keepTail keeps the last two bytes of what went by.
func keepTail(tail *[2]byte, b []byte) {
	switch len(b) {
	case 0:
	case 1:
		tail[0], tail[1] = tail[1], b[0]
	default:
		copy(tail[:], b[len(b)-2:])
	}
}
