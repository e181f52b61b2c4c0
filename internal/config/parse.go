package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

const (
	// MaxFile is the greatest size of a configuration file, in bytes.
	MaxFile = 1 << 20
	// maxDepth is the deepest nesting that is read. The deepest member has 7.
	maxDepth = 64
)

// Layer is one parsed file, or several merged ones. The zero value is a file that
// is not there.
type Layer struct{ root *node }

// Parse reads one configuration file. The name is used in errors only. Each fault
// in it is one *Error in the joined error.
func Parse(name string, data []byte) (Layer, error) {
	root, err := parseTree(name, data)
	if err != nil || root == nil {
		return Layer{}, err
	}
	var f faults
	d := decoder{faults: &f}
	cfg := Config{}
	d.value(root, reflectOf(&cfg), "")
	if len(f.errs) == 0 {
		checkValues(&cfg, root, &f)
	}
	if err := f.err(); err != nil {
		return Layer{}, err
	}
	return Layer{root: root}, nil
}

// parseTree returns nil for a file that holds nothing but space and comments.
func parseTree(name string, data []byte) (*node, error) {
	at := pos{file: name}
	if len(data) > MaxFile {
		return nil, &Error{File: name, Err: fmt.Errorf("is larger than %d bytes", MaxFile)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	// A line comment on the last line needs no line end.
	src := append(bytes.Clone(data), '\n')
	if off, deep := tooDeep(src); deep {
		at.line, at.col = lineCol(src, off)
		return nil, &Error{File: name, Line: at.line, Col: at.col, Err: fmt.Errorf("is nested deeper than %d", maxDepth)}
	}
	v, err := hujson.Parse(src)
	if err != nil {
		if onlySpace(src) {
			return nil, nil
		}
		return nil, syntaxError(name, err)
	}
	if v.Value.Kind() != '{' {
		return nil, &Error{File: name, Line: 1, Col: 1, Err: errors.New("want an object at the top")}
	}
	b := builder{file: name, lines: newLines(src)}
	n := b.node(v, "")
	if err := b.faults.err(); err != nil {
		return nil, err
	}
	return n, nil
}

// onlySpace reports whether the file has no value in it.
func onlySpace(src []byte) bool {
	v, err := hujson.Parse(append([]byte("null"), src...))
	return err == nil && v.Value.Kind() == 'n'
}

// syntaxError keeps the place of a parser's error but no text from the file: a
// key that lacks a quote would be part of it.
func syntaxError(name string, err error) error {
	e := &Error{File: name}
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Col); scanErr != nil {
		e.Line, e.Col = 0, 0
	}
	cause := errors.Unwrap(err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = errors.New("ends in the middle of a value, string or comment")
	case cause == nil, strings.HasPrefix(cause.Error(), "invalid literal"):
		e.Err = errors.New("is not a value: want a string in double quotes with valid escapes, a number, true, false, an object or an array")
	default:
		e.Err = cause
	}
	return e
}

// tooDeep finds the first bracket nested deeper than maxDepth. It runs before the
// parser, which is recursive.
func tooDeep(src []byte) (offset int, deep bool) {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(src, i)
		}
	}
	return 0, false
}

// skipComment returns the offset of the last byte of a comment at i, or i.
func skipComment(src []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(src[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(src[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(src[i+2:], []byte(end))
	if n < 0 {
		return len(src)
	}
	return i + 2 + n + len(end) - 1
}
