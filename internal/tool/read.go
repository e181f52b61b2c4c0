package tool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/permission"
)

//go:embed read.md
var readText string

const (
	// maxReadLines and maxReadBytes bound one answer; the rest is read on
	// with offset.
	maxReadLines = 2000
	maxReadBytes = 100_000
	// maxLineBytes is where a single line is cut, on a rune boundary.
	maxLineBytes = 2000
	// sniffBytes decide whether a file is text.
	sniffBytes = 8192
	// maxPseudoBytes bounds what is read of a file of the kernel's, pseudoTime how
	// long that may take: some give what happens, as it happens.
	maxPseudoBytes = 1 << 20
	pseudoTime     = 2 * time.Second
)

// Read is the tool that reads a file.
type Read struct{}

var _ Tool = Read{}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

// Spec implements Tool.
func (Read) Spec() Spec {
	return Spec{
		Name: "read", Description: strings.TrimSpace(readText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file to read."},"offset":{"type":"integer","minimum":1,"description":"First line of a text file, from 1."},"limit":{"type":"integer","minimum":1,"description":"Number of lines of a text file."}},"required":["path"],"additionalProperties":false}`),
	}
}

func (Read) args(raw json.RawMessage) (readArgs, error) {
	var a readArgs
	if err := Decode(raw, &a); err != nil {
		return a, err
	}
	a.Path = strings.TrimPrefix(a.Path, "@")
	switch {
	case a.Path == "":
		return a, errors.New("read: the argument \"path\" is missing")
	case a.Offset < 0 || a.Limit < 0:
		return a, errors.New("read: offset and limit count from 1")
	}
	return a, nil
}

// Request implements Tool.
func (r Read) Request(raw json.RawMessage, env Env) (permission.Request, string, error) {
	a, err := r.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	p, err := Find(a.Path, env)
	if err != nil {
		return permission.Request{}, "", fmt.Errorf("read %s: %w", a.Path, err)
	}
	return p.Request("read", permission.Read), "Read " + a.Path, nil
}

// Run implements Tool.
func (r Read) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	a, err := r.args(raw)
	if err != nil {
		return Result{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // also ends a read that goes on when this call no longer waits
	res, err := Await(ctx, func() (Result, error) { return readFile(ctx, a, env) }, nil)
	if err != nil {
		return Result{}, fmt.Errorf("read %s: %w", a.Path, err)
	}
	return res, nil
}

func readFile(ctx context.Context, a readArgs, env Env) (Result, error) {
	p, err := Find(a.Path, env)
	if err != nil {
		return Result{}, err
	}
	spot, f, err := openJudged(p, env)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing to lose
	info, err := regular(f)
	if err != nil {
		return Result{}, err
	}
	// Everything that is read runs through the sum, so a file that is read to
	// its end is known by it for nothing.
	sum := sha256.New()
	from := io.TeeReader(spot.stream(ctx, f), sum)
	br := bufio.NewReaderSize(from, sniffBytes)
	head, err := br.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return Result{}, plain(err)
	}
	switch {
	case isText(head):
	case spot.Pseudo():
		return Result{}, errPseudo
	default:
		note(spot, info, nil, env)
		return attach(p, spot, env), nil
	}
	var res Result
	whole := true
	if mayBeNotebook(p.Abs, head) && a.Offset == 0 && a.Limit == 0 {
		res, br, err = readNotebook(ctx, br, filepath.Base(p.Abs))
		if err != nil {
			return Result{}, plain(err)
		}
	}
	if res.Sources == nil {
		var out string
		if out, whole, err = readLines(ctx, br, a); err != nil {
			return Result{}, plain(err)
		}
		res.Sources = []content.Source{Prose(out)}
	}
	if whole {
		note(spot, info, sum.Sum(nil), env)
	} else {
		note(spot, info, nil, env)
	}
	return res.of(p), nil
}

// errWaits is the error of a file of the kernel's that gives what happens.
var errWaits = errors.New("it waits for something to happen, so it cannot be read to its end")

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// stream is what f holds, which is open at the spot; a file of the kernel's in bounds.
// A read that waits longer ends when f is closed, or with what it waits for.
func (s Spot) stream(ctx context.Context, f io.Reader) io.Reader {
	if !s.Pseudo() {
		return f
	}
	end := time.Now().Add(pseudoTime)
	return io.LimitReader(readFunc(func(p []byte) (int, error) {
		within, stop := context.WithDeadline(ctx, end)
		defer stop()
		own := make([]byte, len(p))
		n, err := Await(within, func() (int, error) { return f.Read(own) }, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			return 0, errWaits
		}
		return copy(p, own[:n]), err
	}), maxPseudoBytes)
}

// openJudged opens a file whose name the rules let be read. What they say of that
// name was asked before the call; behind a link it is asked again.
func openJudged(p Place, env Env) (Spot, *os.File, error) {
	spot, err := p.Settle(env)
	if err == nil && spot.Linked {
		err = spot.Refused(env)
	}
	if err != nil {
		return spot, nil, err
	}
	f, err := spot.open()
	return spot, f, err
}

// of says first what the file is really called, if that is not what the model
// wrote.
func (r Result) of(p Place) Result {
	if p.Renamed {
		r.Sources = append([]content.Source{Prose(p.called())}, r.Sources...)
	}
	return r
}

// regular looks at an open file and refuses all but a regular one.
func regular(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, errors.New("it is a folder; use the list tool")
	case !info.Mode().IsRegular():
		return nil, errOdd
	}
	return info, nil
}

// attach hands a file over that is no text.
func attach(p Place, spot Spot, env Env) Result {
	who := content.ChosenByModel
	if env.Permitted {
		who = content.ChosenByUser // the user allowed this very path
	}
	return Result{Sources: []content.Source{{
		Payload: content.Path{Path: spot.Abs}, Inlet: content.InletTool, Chooser: who,
	}}}.of(p)
}

// note remembers what the model has seen of a file. sum is nil where it was not
// read to its end; one that is known from before stays good as long as the file
// looks the same.
func note(spot Spot, info fs.FileInfo, sum []byte, env Env) {
	abs := spot.real
	s := Stamp{Size: info.Size(), ModTime: info.ModTime()}
	if was, ok := env.Files.Seen(abs); ok && sum == nil && was.Size == s.Size && was.ModTime.Equal(s.ModTime) {
		s.Sum = was.Sum
	}
	copy(s.Sum[:], sum)
	env.Files.Saw(abs, s)
}

// plain takes the operation and the path out of a file error: the caller has
// named both as the model wrote them.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// isText reports whether the head of a file is text: no NUL byte and valid
// UTF-8, where the last rune may be cut. A PDF file may begin with text only.
func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("%PDF-")) {
		return false
	}
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n <= 1 {
			return len(head) < utf8.UTFMax && !utf8.FullRune(head)
		}
		head = head[n:]
	}
	return true
}

// readLines gives the lines that were asked for; whole is whether the file was read
// to its end.
func readLines(ctx context.Context, br *bufio.Reader, a readArgs) (out string, whole bool, err error) {
	first, limit := max(a.Offset, 1), a.Limit
	if limit == 0 || limit > maxReadLines {
		limit = maxReadLines
	}
	var sb strings.Builder
	line := 0
	for {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		s, cut, err := nextLine(ctx, br)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", false, err
		}
		if errors.Is(err, io.EOF) && s == "" {
			break
		}
		line++
		if line < first {
			continue
		}
		if line >= first+limit || sb.Len() > maxReadBytes {
			fmt.Fprintf(&sb, "[more lines follow; read on with offset %d]\n", line)
			return sb.String(), false, nil
		}
		sb.WriteString(strconv.Itoa(line))
		sb.WriteByte('\t')
		sb.WriteString(s)
		if cut {
			sb.WriteString(" [line cut at 2000 bytes]")
		}
		sb.WriteByte('\n')
	}
	switch {
	case line == 0:
		return "[the file is empty]", true, nil
	case line < first:
		return fmt.Sprintf("[the file has %d lines]", line), true, nil
	}
	return sb.String(), true, nil
}

// nextLine returns a line without its end, cut at maxLineBytes on a rune
// boundary, in bounded memory.
func nextLine(ctx context.Context, br *bufio.Reader) (s string, cut bool, err error) {
	var buf []byte
	for {
		chunk, err := br.ReadSlice('\n')
		n := min(len(chunk), maxLineBytes+utf8.UTFMax-len(buf))
		buf = append(buf, chunk[:n]...)
		cut = cut || n < len(chunk)
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := ctx.Err(); err != nil {
				return "", false, err // a line may be as long as its file
			}
			continue
		}
		had := len(buf) > 0
		buf = bytes.TrimRight(buf, "\r\n")
		if len(buf) > maxLineBytes {
			cut = true
			buf = buf[:runeStart(buf, maxLineBytes)]
		}
		if errors.Is(err, io.EOF) && had {
			err = nil // the last line, without an end
		}
		return strings.ToValidUTF8(string(buf), "\ufffd"), cut, err
	}
}

// runeStart is the start of the rune that byte i of b belongs to.
func runeStart(b []byte, i int) int {
	for n := range utf8.UTFMax {
		if i-n >= 0 && utf8.RuneStart(b[i-n]) {
			return i - n
		}
	}
	return i // no UTF-8 at all
}
