package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The error codes of JSON-RPC 2.0 and of the protocol.
const (
	CodeParse           = -32700 // not JSON, or not UTF-8
	CodeInvalidRequest  = -32600 // JSON, but no request that can be served
	CodeMethodNotFound  = -32601
	CodeInvalidParams   = -32602
	CodeInternal        = -32603
	CodeCancelled       = -32800 // the request was cancelled by its sender
	CodeAuthRequired    = -32000
	CodeNotFound        = -32002 // a session or resource that does not exist
	CodeUnknownProtocol = -32022 // no protocol version in common (v2)
)

// ErrClosed is returned for what can no longer be sent or answered, because the
// client is gone.
var ErrClosed = errors.New("connection closed")

// errCancelled is the cause of a context that the client ended with
// $/cancel_request.
var errCancelled = errors.New("request cancelled by the client")

// Error is the error of a reply. Message is one short sentence; facts for
// programs are in Data.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf makes an Error. The arguments must not hold payload or secrets, since
// clients show and log the message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithData returns a copy of e that carries v, which must be encodable.
func (e *Error) WithData(v any) *Error {
	out := *e
	data, err := json.Marshal(v)
	if err != nil {
		panic("rpc: error data cannot be encoded: " + err.Error())
	}
	out.Data = data
	return &out
}

// TooLongError says that a message was not sent, because it would have exceeded
// the length that clients can read.
type TooLongError struct {
	// Size and Limit are in bytes.
	Size, Limit int
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("send message: %d bytes, the limit is %d", e.Size, e.Limit)
}

// RefusedError says that the client answered a call with an error.
type RefusedError struct {
	Method  string
	Code    int
	Message string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("call %s: the client answered %q (%d)", e.Method, e.Message, e.Code)
}

// replyError maps what a handler returned to the error of its reply. It is the
// only place that does.
func replyError(err error) *Error {
	var own *Error
	var long *TooLongError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &long):
		return Errorf(CodeInternal, "the reply is too long to send").
			WithData(map[string]int{"limitBytes": long.Limit, "size": long.Size})
	case errors.Is(err, context.Canceled), errors.Is(err, errCancelled), errors.Is(err, ErrClosed):
		return Errorf(CodeCancelled, "request cancelled")
	}
	return Errorf(CodeInternal, "%s", Clip(strings.Join(strings.Fields(err.Error()), " "), 500))
}

// ErrorOf is the error with which a request that ended with err is answered.
func ErrorOf(err error) *Error { return replyError(err) }

// overError is the reply to a message that was too long to keep.
func overError(limit, received int64) *Error {
	return Errorf(CodeInvalidRequest, "message too long: %d bytes, the limit is %d", received, limit).
		WithData(map[string]int64{"limitBytes": limit, "receivedBytes": received})
}

// Clip shortens s to at most n bytes of valid UTF-8, for messages.
func Clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
