package document

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// MIME is the media type of every document measured here.
const MIME = "application/pdf"

// Info is what a document says about itself.
type Info struct {
	MIME      string
	Pages     int // 0 when an encrypted file hides it
	Encrypted bool
}

// Kind says why a document could not be used. The zero value is invalid.
type Kind uint8

// The closed set of error kinds.
const (
	// Damaged means that the file is cut off or its pages cannot be found.
	Damaged Kind = iota + 1
	// Encrypted means that the content is encrypted, with a password or without.
	Encrypted
	// Empty means that there are no bytes, or no pages.
	Empty
	// NotDocument means that the data is no PDF.
	NotDocument
)

var kindNames = [...]string{"unknown", "damaged", "encrypted", "empty", "not a document"}

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
	Detail string // facts in words, never bytes of the document
	Err    error  // the cause, may be nil
}

// Error says what was read and what went wrong.
func (e *Error) Error() string {
	s := "read pdf: " + e.Kind.String()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// tailWindow is how far from the end the end-of-file mark may lie. Some
// writers and mail gateways append bytes.
const tailWindow = 4096

// Measure counts the pages of a PDF. For an encrypted file it returns what is
// known and an *Error of kind Encrypted: most services refuse such files, and
// those that do not need no measure.
func Measure(ctx context.Context, data []byte) (Info, error) {
	_, _, info, err := open(ctx, data)
	return info, err
}

// Text returns the text of the document, each page that has some under a line
// "--- page N ---", and the number of pages. At most maxBytes bytes are
// returned (at most HardLimit, also when maxBytes is not positive); truncated
// says that there was more. The text is empty when no page has any, as in a
// scan. Text never panics.
func Text(ctx context.Context, data []byte, maxBytes int) (text string, pages int, truncated bool, err error) {
	f, tree, info, err := open(ctx, data)
	if err != nil {
		return "", info.Pages, false, err
	}
	if maxBytes <= 0 || maxBytes > HardLimit {
		maxBytes = HardLimit
	}
	var out strings.Builder
	for i, p := range tree {
		if out.Len() > maxBytes {
			break
		}
		page := newPageText(f, maxBytes+1)
		page.run(p)
		if ctxErr := ctx.Err(); ctxErr != nil {
			return "", info.Pages, false, ctxErr
		}
		if body := strings.TrimSpace(page.out.String()); body != "" {
			fmt.Fprintf(&out, "--- page %d ---\n%s\n", i+1, body)
		}
	}
	text = out.String()
	if len(text) > maxBytes {
		// The cut may have split a character; what is left of it goes.
		text, truncated = strings.ToValidUTF8(text[:maxBytes], ""), true
	}
	return text, info.Pages, truncated || f.exhausted(), nil
}

// HardLimit is the most text that is ever returned, in bytes.
const HardLimit = 16 << 20

// open reads the structure of a file down to its list of pages.
func open(ctx context.Context, data []byte) (*file, []dict, Info, error) {
	if len(data) == 0 {
		return nil, nil, Info{}, &Error{Kind: Empty, Detail: "no bytes"}
	}
	start := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if start < 0 {
		return nil, nil, Info{}, &Error{Kind: NotDocument}
	}
	info := Info{MIME: MIME}
	tail := data[max(start, len(data)-tailWindow):]
	if !bytes.Contains(tail, []byte("%%EOF")) {
		return nil, nil, info, &Error{Kind: Damaged, Detail: "cut off: no end-of-file mark"}
	}
	f := newFile(ctx, data)
	f.scan()
	if err := ctx.Err(); err != nil {
		return nil, nil, info, err
	}
	info.Encrypted = f.encrypted
	if !f.encrypted {
		f.openObjectStreams()
	}
	pages, missing := f.pages()
	if err := ctx.Err(); err != nil {
		return nil, nil, info, err
	}
	info.Pages = len(pages)
	switch {
	case f.encrypted:
		return nil, nil, info, &Error{Kind: Encrypted}
	case missing != "":
		return nil, nil, info, &Error{Kind: Damaged, Detail: missing}
	case len(pages) == 0:
		return nil, nil, info, &Error{Kind: Empty, Detail: "no pages"}
	default:
		return f, pages, info, nil
	}
}
