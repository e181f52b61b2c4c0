package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"tote/internal/delivery"
)

// A Reader turns one answer into events. emit returns false when nobody wants
// more; the reader then returns, with any error. It returns nil when the answer
// ended well, after a Finish. An *Error goes out as it is; another error is
// taken for one of the connection.
type Reader func(a *Answer, emit func(Event) bool) error

// Stream sends a body and yields what read makes of the answer, as the contract
// of [Provider] demands: the transport's retries first, at most one error last,
// cancellation as such, and no good end without a Finish.
func (c *Client) Stream(ctx context.Context, path string, body Body, read Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		stopped, finished := false, false
		emit := func(e Event) bool {
			if stopped || ctx.Err() != nil {
				return false
			}
			if _, ok := e.(Finish); ok {
				finished = true
			}
			stopped = !yield(e, nil)
			return !stopped
		}
		err := c.exchange(ctx, path, body, read, emit)
		switch {
		case stopped || err == nil && finished:
			return
		case err == nil && ctx.Err() == nil:
			err = BrokenOff("the answer ended without an end mark")
		}
		yield(nil, c.polish(ctx, err))
	}
}

func (c *Client) exchange(ctx context.Context, path string, body Body, read Reader, emit func(Event) bool) error {
	a, err := c.send(ctx, path, body, emit)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }() // what was read counts
	err = read(a, emit)
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	if cause := a.watch.cause(); cause != nil {
		err = cause
	}
	if errors.Is(err, ErrLineTooLong) {
		return &Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Err: err}
	}
	return &Error{Failure: delivery.Failure{Kind: delivery.FailStream}, Err: fmt.Errorf("read the answer: %w", err)}
}

// BrokenOff is the error of an answer that ended too early.
func BrokenOff(how string) *Error {
	return &Error{Failure: delivery.Failure{Kind: delivery.FailStream}, Message: how}
}

// Unreadable is the error of an answer that is not in the wire's form. How says
// where, without quoting it.
func Unreadable(how string) *Error {
	return &Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Message: how}
}

// polish makes any error an *Error, fills its hint and takes the key out of
// its words.
func (c *Client) polish(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return cancelled(context.Cause(ctx))
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Err: withoutURL(err)}
	}
	out := *e
	if key, kerr := c.key(); kerr == nil && len(key) >= 4 {
		out.Message = strings.ReplaceAll(out.Message, key, "…")
	}
	if out.Hint == "" {
		out.Hint = c.hint(&out)
	}
	return &out
}

// Form is what an answer looks like by its first byte.
type Form uint8

// The forms. Servers are known to mislabel them in Content-Type.
const (
	FormEvents Form = iota // server-sent events, or nothing yet
	FormJSON
	FormHTML
)

// Peek tells the form of an answer by its first byte, and gives back a reader
// of the whole.
func Peek(r io.Reader) (Form, io.Reader) {
	br := bufio.NewReaderSize(r, 32<<10)
	for n := 1; n < 64; n++ {
		b, err := br.Peek(n)
		if err != nil {
			return FormEvents, br
		}
		if t := bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\uFEFF"))); len(t) > 0 && (len(b) >= 3 || b[0] != 0xEF) {
			switch t[0] {
			case '{', '[':
				return FormJSON, br
			case '<':
				return FormHTML, br
			}
			return FormEvents, br
		}
	}
	return FormEvents, br
}

// Page is the error of a web page where an answer should be.
func Page(r io.Reader) *Error {
	body, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil && len(body) == 0 {
		return Unreadable("the server sent a web page")
	}
	return Unreadable("the server sent " + CleanMessage(htmlTitle(body)))
}
