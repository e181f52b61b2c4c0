package imaging

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kind says why a picture could not be used. The zero value is invalid.
type Kind uint8

// The closed set of error kinds.
const (
	// Damaged means that the data does not decode to its end.
	Damaged Kind = iota + 1
	// TooManyPixels means that the header announces more than MaxDecodePixels.
	TooManyPixels
	// Unsupported means that the format is recognised but has no decoder here.
	Unsupported
	// NotPicture means that the data is no picture format known here.
	NotPicture
	// Empty means that there are no bytes at all.
	Empty
	// CannotFit means that no accepted encoding keeps to the bounds.
	CannotFit
	// BadRegion means that a crop region does not lie inside the picture.
	BadRegion
	// SizesDiffer means that two pictures of one size were wanted.
	SizesDiffer
)

var kindNames = [...]string{
	"unknown", "damaged", "too many pixels", "unsupported", "not a picture", "empty", "cannot fit", "bad region", "sizes differ",
}

// String returns the kind in lower-case words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Error is the error of every function in this package, apart from the
// context's own errors, which are returned as they are.
type Error struct {
	Kind   Kind
	Format Format
	Detail string // facts in words, never bytes of the picture
	Err    error  // the cause, may be nil
}

// Error says what was being done, to which format, and what went wrong.
func (e *Error) Error() string {
	var doing string
	switch e.Kind {
	case CannotFit:
		doing = "encode picture"
	case BadRegion:
		doing = "crop picture"
	case SizesDiffer:
		doing = "compare pictures"
	case Empty, NotPicture:
		doing = "read picture"
	case Damaged, TooManyPixels, Unsupported:
		doing = "decode " + e.Format.String()
	}
	parts := []string{doing}
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	} else {
		parts = append(parts, e.Kind.String())
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func damaged(f Format, format string, args ...any) *Error {
	return &Error{Kind: Damaged, Format: f, Detail: fmt.Sprintf(format, args...)}
}

// decodeError names the cut when the decoder ran out of bytes.
func decodeError(f Format, size int, err error) *Error {
	e := &Error{Kind: Damaged, Format: f, Detail: "damaged", Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Detail = "truncated after " + byteSize(size)
	}
	return e
}

func byteSize(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
