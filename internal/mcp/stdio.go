package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outgoing is how many messages may wait for a server that does not read.
const outgoing = 16

// pipe is a transport over a pair of streams, in lines. It takes the place of the
// SDK's own: a line is bounded and filtered before it is parsed, what is no
// message does not end the connection, and a write ends with its context.
type pipe struct {
	r      io.ReadCloser
	w      io.WriteCloser
	filter *filter
	limit  int
	// stop ends who is at the other end. It may block for a bounded time.
	stop func()
}

// Connect implements mcp.Transport.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	c := &pipeConn{pipe: p, in: make(chan jsonrpc.Message), out: make(chan write, outgoing), closed: make(chan struct{}), ended: make(chan struct{})}
	// Ends when the server's output does, or with Close.
	go c.read()
	// Ends with Close, or when the pipe breaks.
	go c.write()
	return c, nil
}

type write struct {
	line []byte
	done chan error
}

type pipeConn struct {
	*pipe
	in     chan jsonrpc.Message
	out    chan write
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed when reading has ended
	err    error         // why; set before ended is closed
	once   sync.Once
}

// SessionID implements mcp.Connection.
func (*pipeConn) SessionID() string { return "" }

func (c *pipeConn) read() {
	defer close(c.ended)
	in := newLines(c.r, c.limit)
	for {
		line, err := in.next()
		var msgs [][]byte
		var long *longError
		switch {
		case errors.As(err, &long):
			msgs = c.filter.tooLong(long)
		case errors.Is(err, errFlood):
			c.filter.count(func(n *counts) { n.flood = c.limit })
			c.err = err
			return
		case err != nil:
			c.err = err
			return
		default:
			msgs = c.filter.in(line)
		}
		for _, m := range msgs {
			msg, err := jsonrpc.DecodeMessage(m)
			if err != nil {
				c.filter.count(func(n *counts) { n.noise++ })
				continue
			}
			select {
			case c.in <- msg:
			case <-c.closed:
				c.err = io.EOF
				return
			}
		}
	}
}

func (c *pipeConn) write() {
	for {
		select {
		case m := <-c.out:
			_, err := c.w.Write(m.line)
			m.done <- err
		case <-c.closed:
			return
		}
	}
}

// Read implements mcp.Connection.
func (c *pipeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.ended:
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. A server that does not read holds up no one
// longer than the caller wants to wait.
func (c *pipeConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	c.filter.sending(ctx, line)
	m := write{line: append(line, '\n'), done: make(chan error, 1)}
	select {
	case c.out <- m:
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-m.done:
		return err
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements mcp.Connection.
func (c *pipeConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.stop()
		_ = c.w.Close() // stop has closed it, or its reader is gone
		_ = c.r.Close() // nothing is read any more
	})
	return nil
}
