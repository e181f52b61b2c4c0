package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Call sends a request to the client and waits for its result, as raw JSON. The
// client's refusal is a *RefusedError. When ctx ends first the client is told so; when
// the client is gone the error is ErrClosed.
func (c *Conn) Call(ctx context.Context, method string, params any) ([]byte, error) {
	body, err := Encode(params)
	if err != nil {
		return nil, err
	}
	id, answer, err := c.openCall()
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	defer c.closeCall(id)
	head := `{"jsonrpc":"2.0","id":` + strconv.FormatInt(id, 10) + `,"method":` + Quote(method) + `,"params":`
	if err := c.send(ctx, Parts{[]byte(head)}, body); err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return nil, fmt.Errorf("call %s: %w", method, ErrClosed)
		}
		if m.Err != nil {
			return nil, &RefusedError{Method: method, Code: m.Err.Code, Message: Clip(m.Err.Message, 300)}
		}
		return m.Result, nil
	case <-ctx.Done():
		// Best effort: the client may ignore it, and may be gone.
		_ = c.Notify(ctx, methodCancelCall, map[string]int64{"requestId": id})
		return nil, fmt.Errorf("call %s: %w", method, context.Cause(ctx))
	}
}

// Notify queues a notification to the client. It waits while the queue is full,
// and returns a *TooLongError for one that clients could not read.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	body, err := Encode(params)
	if err != nil {
		return err
	}
	return c.send(ctx, Parts{[]byte(`{"jsonrpc":"2.0","method":` + Quote(method) + `,"params":`)}, body)
}

// Flush waits until all that was sent before is written.
func (c *Conn) Flush(ctx context.Context) error { return c.out.flush(ctx) }

// send queues head, body and the closing brace as one line.
func (c *Conn) send(ctx context.Context, head, body Parts) error {
	line := make(Parts, 0, len(head)+len(body)+1)
	line = append(line, head...)
	line = append(line, body...)
	return c.out.send(ctx, append(line, []byte{'}'}))
}

// respond answers a request with an error. There is nobody to tell when that
// cannot be sent: the output is broken, and Serve ends with its error.
func (c *Conn) respond(ctx context.Context, id []byte, fault *Error) {
	body, err := Encode(fault)
	if err != nil {
		body = Parts{[]byte(`{"code":-32603,"message":"internal error"}`)}
	}
	_ = c.send(ctx, Parts{[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":`)}, body)
}

func (c *Conn) openCall() (int64, <-chan Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return 0, nil, ErrClosed
	}
	c.lastCall++
	answer := make(chan Message, 1)
	c.calls[c.lastCall] = answer
	return c.lastCall, answer, nil
}

func (c *Conn) closeCall(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// settle hands a reply to the call that waits for it, and reports whether there
// was one. Any other reply is ignored.
func (c *Conn) settle(m Message) bool {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.calls[id]
	if ok {
		delete(c.calls, id)
		answer <- m
	}
	return ok
}

// Encode writes v as JSON without a line break. Parts go as they are.
func Encode(v any) (Parts, error) {
	switch v := v.(type) {
	case nil:
		return Parts{[]byte("{}")}, nil
	case Parts:
		return v, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return Parts{bytes.TrimSuffix(buf.Bytes(), []byte("\n"))}, nil
}

// Quote writes s as a JSON string; what is no UTF-8 in it becomes U+FFFD.
func Quote(s string) string {
	out, _ := jsontext.AppendQuote(nil, s) // the error says just that
	return string(out)
}
