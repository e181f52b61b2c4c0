package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxOut is the limit of a line that is sent, in bytes with its end. The reader of
// the TypeScript SDK, which most clients use, ends the connection at 32 MiB a line
// (@agentclientprotocol/sdk 2.4.0, read 30 Nov 2026).
const MaxOut = 30 << 20

const (
	queueLines = 256
	queueBytes = 2 * MaxOut
)

// Parts is JSON in pieces, which are written one after the other. It lets a
// block of a client go back without being copied or encoded again.
type Parts [][]byte

// Len is the length of all pieces together.
func (p Parts) Len() int {
	n := 0
	for _, b := range p {
		n += len(b)
	}
	return n
}

// frame is one entry of the writer's queue: a line, or a mark to flush to.
type frame struct {
	line Parts
	size int64
	done chan struct{} // closed once all before it is written; nil for lines
}

// writer sends lines from a bounded queue. One goroutine, in run, writes.
type writer struct {
	queue   chan frame
	quit    chan struct{} // closed to end run once the queue is empty
	stopped chan struct{} // closed when run has ended
	once    sync.Once
	err     error // why run ended; set before stopped is closed

	mu    sync.Mutex
	used  int64         // bytes that are queued
	freed chan struct{} // closed when used goes down; nil when nobody waits
}

func newWriter() *writer {
	return &writer{
		queue:   make(chan frame, queueLines),
		quit:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// send queues one line. It waits while the queue is full, and returns a
// *TooLongError for a line that clients cannot read.
func (w *writer) send(ctx context.Context, line Parts) error {
	size := line.Len() + 1
	if size > MaxOut {
		return &TooLongError{Size: size, Limit: MaxOut}
	}
	for _, p := range line {
		if bytes.IndexByte(p, '\n') >= 0 {
			return errors.New("send message: it contains a line break")
		}
	}
	if err := w.reserve(ctx, int64(size)); err != nil {
		return err
	}
	return w.put(ctx, frame{line: line, size: int64(size)})
}

// reserve waits for room in the queue. Where there is room the line goes also when
// ctx has ended: what remains to be said of a cancelled turn is said.
func (w *writer) reserve(ctx context.Context, size int64) error {
	for {
		w.mu.Lock()
		if w.used+size <= queueBytes {
			w.used += size
			w.mu.Unlock()
			return nil
		}
		if w.freed == nil {
			w.freed = make(chan struct{})
		}
		freed := w.freed
		w.mu.Unlock()
		select {
		case <-freed:
		case <-w.stopped:
			return fmt.Errorf("send message: %w", ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("send message: %w", context.Cause(ctx))
		}
	}
}

func (w *writer) release(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used -= size
	if w.freed != nil {
		close(w.freed)
		w.freed = nil
	}
}

// put queues a frame whose bytes are reserved.
func (w *writer) put(ctx context.Context, f frame) error {
	select {
	case <-w.stopped:
		w.release(f.size)
		return fmt.Errorf("send message: %w", ErrClosed)
	default:
	}
	select {
	case w.queue <- f:
		return nil
	default:
	}
	select {
	case w.queue <- f:
		return nil
	case <-w.stopped:
		w.release(f.size)
		return fmt.Errorf("send message: %w", ErrClosed)
	case <-ctx.Done():
		w.release(f.size)
		return fmt.Errorf("send message: %w", context.Cause(ctx))
	}
}

// flush waits until everything that was sent before is written.
func (w *writer) flush(ctx context.Context) error {
	done := make(chan struct{})
	if err := w.put(ctx, frame{done: done}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-w.stopped:
		return fmt.Errorf("flush: %w", ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("flush: %w", context.Cause(ctx))
	}
}

// broken reports whether run has ended.
func (w *writer) broken() bool {
	select {
	case <-w.stopped:
		return true
	default:
		return false
	}
}

// close lets run end once it has written what is queued.
func (w *writer) close() { w.once.Do(func() { close(w.quit) }) }

// run writes until close is called or the output breaks.
func (w *writer) run(dst io.Writer) {
	defer close(w.stopped)
	out := bufio.NewWriterSize(dst, readSize)
	for {
		select {
		case f := <-w.queue:
			w.err = w.write(out, f)
		case <-w.quit:
			select {
			case f := <-w.queue:
				w.err = w.write(out, f)
			default:
				return
			}
		}
		if w.err != nil {
			return
		}
	}
}

// write writes one frame, and flushes when nothing else waits.
func (w *writer) write(out *bufio.Writer, f frame) error {
	for _, p := range f.line {
		// The error stays in out, and the flush below returns it.
		_, _ = out.Write(p)
	}
	if f.done == nil {
		_ = out.WriteByte('\n') // as above
	}
	w.release(f.size)
	if f.done == nil && len(w.queue) > 0 {
		return nil
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if f.done != nil {
		close(f.done)
	}
	return nil
}
