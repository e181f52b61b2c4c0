package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
)

// Ref names a tool of a server.
type Ref = ref

// NewRef makes one.
func NewRef(server, tool string) Ref { return ref{server, tool} }

// ToolNames is toolNames.
var ToolNames = toolNames

// ErrFlood is errFlood.
var ErrFlood = errFlood

// Lines reads all lines; a line over the limit is nil.
func Lines(r io.Reader, limit int) (out [][]byte, err error) {
	l := newLines(r, limit)
	for {
		line, err := l.next()
		if _, long := errors.AsType[*longError](err); err != nil && !long {
			return out, err
		}
		out = append(out, line)
	}
}

// Members is members, gathered.
func Members(b []byte) (keys []string, values [][]byte, ok bool) {
	ok = members(b, func(k string, v []byte) bool {
		keys, values = append(keys, k), append(values, v)
		return true
	})
	return keys, values, ok
}

// IDAtEnd and IDAtStart find the id of a cut message.
var (
	IDAtEnd   = idAtEnd
	IDAtStart = idAtStart
)

// CallResult reads the result of a tool.
func CallResult(raw string) ([]content.Source, bool, error) {
	r := newReader("srv tool")
	isError, err := r.call([]byte(raw))
	return r.sources, isError, err
}

// PromptResult reads a prompt.
func PromptResult(raw string) ([]content.Source, error) {
	r := newReader("srv prompt")
	err := r.prompt([]byte(raw))
	return r.sources, err
}

// BytesOf is bytesOf.
var BytesOf = bytesOf

// FixSchema is fixSchema.
var FixSchema = fixSchema

// FileURI is fileURI.
var FileURI = fileURI

// Words masks a text with a server's secrets.
func Words(s Server, text string) string { return newMasker(s).words(text) }

// Pipe is a transport over a pair of streams. Lift makes a context whose result is
// lifted, and returns where it will be.
func Pipe(r io.ReadCloser, w io.WriteCloser, limit int) sdk.Transport {
	return &pipe{r: r, w: w, filter: newFilter(func(progress) {}, func(string) bool { return true }), limit: limit, stop: func() {}}
}

// Lift makes the context of a request whose result is read here.
func Lift(ctx context.Context) (context.Context, func() ([]content.Source, error)) {
	s := &slot{}
	return withSlot(ctx, s), func() ([]content.Source, error) {
		r := newReader("srv tool")
		_, err := r.call(s.raw)
		return r.sources, err
	}
}

// Offers reports whether a tool of s is to be offered.
func Offers(s Server, tool string) bool { return s.offers(tool) }
