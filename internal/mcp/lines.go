package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds of reading.
const (
	// readBuffer is the size of one read, in bytes.
	readBuffer = 64 << 10
	// maxChunk bounds the pieces that a long line is gathered in, in bytes.
	maxChunk = 1 << 20
	// keptOfLong is how much of a line that is too long is kept from its start
	// and its end, in bytes; the id of its message stands there.
	keptOfLong = 4 << 10
	// floodFactor times the limit is where a line ends the server.
	floodFactor = 4
)

// errFlood ends a connection whose server writes without end.
var errFlood = errors.New("it writes without an end of line")

// longError reports a line that was over the limit and was skipped.
type longError struct {
	head, tail []byte
	limit      int
}

func (e *longError) Error() string {
	return fmt.Sprintf("a message of it is over %s", size(int64(e.limit)))
}

// lines reads lines in bounded memory.
type lines struct {
	br    *bufio.Reader
	limit int
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{br: bufio.NewReaderSize(r, readBuffer), limit: limit}
}

// next returns the next line without its end. The caller owns it. A line over the
// limit is skipped to its end and is a *longError; reading may go on after it. A
// last line without an end counts.
func (l *lines) next() ([]byte, error) {
	var parts [][]byte
	total := 0
	for {
		chunk, err := l.br.ReadSlice('\n')
		total += len(chunk)
		if total > l.limit+1 || total > l.limit && err != nil { // the end of a line is not counted
			return nil, l.skip(parts, chunk, err)
		}
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			if err != nil && total == 0 {
				return nil, err
			}
			return joinLine(parts, chunk, total), nil
		}
		parts = gather(parts, chunk)
	}
}

// gather appends to the last piece, or begins one that is twice as long.
func gather(parts [][]byte, chunk []byte) [][]byte {
	for len(chunk) > 0 {
		n := len(parts) - 1
		if n < 0 || len(parts[n]) == cap(parts[n]) {
			next := readBuffer
			if n >= 0 {
				next = min(2*cap(parts[n]), maxChunk)
			}
			parts = append(parts, make([]byte, 0, next))
			n++
		}
		last := parts[n]
		k := min(len(chunk), cap(last)-len(last))
		parts[n] = append(last, chunk[:k]...)
		chunk = chunk[k:]
	}
	return parts
}

func joinLine(parts [][]byte, rest []byte, total int) []byte {
	line := make([]byte, 0, total)
	for _, p := range parts {
		line = append(line, p...)
	}
	line = append(line, rest...)
	for n := len(line); n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'); n-- {
		line = line[:n-1]
	}
	return line
}

// skip reads on to the end of a line that is too long.
func (l *lines) skip(parts [][]byte, chunk []byte, err error) error {
	long := &longError{limit: l.limit}
	first := chunk
	if len(parts) > 0 {
		first = parts[0]
	}
	long.head = append(long.head, first[:min(len(first), keptOfLong)]...)
	for skipped := 0; ; {
		long.tail = append(long.tail, chunk...)
		if n := len(long.tail) - keptOfLong; n > 0 {
			long.tail = append(long.tail[:0], long.tail[n:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long // the line has ended, or the stream has: the next read says so
		}
		if skipped += len(chunk); skipped > (floodFactor-1)*l.limit {
			return errFlood
		}
		chunk, err = l.br.ReadSlice('\n')
	}
}

// size spells a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
