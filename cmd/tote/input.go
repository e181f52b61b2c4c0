package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/front/headless"
	"tote/internal/ingest"
)

// maxStdin bounds what is read from standard input; an attachment over the
// limit is told so by the inlet, which needs one byte more to see it.
const maxStdin = ingest.DefaultLimit + 1

// input turns the command line into what is handed over. A file that is missing
// is the user's mistake: nothing is sent.
type input struct {
	f   *flags
	cwd string
	// spelt is what stands before a file's name on the command line.
	spelt string
	// used: standard input has been read.
	used bool
	out  []content.Source
}

func (in *input) stdin(what string) ([]byte, error) {
	if in.used {
		return nil, misuse("standard input can be read once, for the prompt or for one attachment")
	}
	in.used = true
	b, err := io.ReadAll(io.LimitReader(in.f.e.stdin, maxStdin))
	if err != nil {
		return nil, fmt.Errorf("read %s from standard input: %w", what, err)
	}
	return b, nil
}

// attach adds files; "-" is standard input.
func (in *input) attach(files ...string) error {
	for _, name := range files {
		src := content.Source{Payload: content.Path{Path: name}, Inlet: content.InletFlag, Chooser: content.ChosenByUser}
		if name == "-" {
			b, err := in.stdin("an attachment")
			if err != nil {
				return err
			}
			src.Payload, src.Inlet = content.Bytes{Data: b}, content.InletStdin
		} else if err := readable(in.cwd, in.spelt, name); err != nil {
			return err
		}
		in.out = append(in.out, src)
	}
	return nil
}

// prompt adds the words of the command line; "-" alone is standard input.
func (in *input) prompt(words []string) error {
	text := strings.Join(words, " ")
	if len(words) == 1 && words[0] == "-" {
		b, err := in.stdin("the prompt")
		switch {
		case err != nil:
			return err
		case len(b) == maxStdin:
			return misuse("the prompt on standard input is over %s; attach it with -a -", headless.Size(ingest.DefaultLimit))
		case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
			return misuse("the prompt on standard input is not text; attach it with -a -")
		}
		text = string(b)
	}
	if text != "" {
		in.out = append(in.out, content.Source{
			Payload: content.Prose{Text: text}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText,
		})
	}
	return nil
}

// readable checks that a file of the command line is there and can be read, in
// any spelling that the inlet resolves. A pipe or a device is no file: reading
// one may wait for ever, which only "-" asks for.
func readable(cwd, spelt, name string) error {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		found, ok := app.Find(cwd, name)
		switch {
		case ok:
			path = found
		case errors.Is(err, os.ErrPermission):
			return misuse("%s%s: permission denied", spelt, name)
		default:
			return misuse("%s%s: there is no such file", spelt, name)
		}
		if info, err = os.Stat(path); err != nil {
			return misuse("%s%s: it cannot be read", spelt, name)
		}
	}
	switch {
	case info.IsDir():
		return misuse("%s%s: it is a folder", spelt, name)
	case !info.Mode().IsRegular():
		return misuse("%s%s: it is not a regular file; \"%s-\" attaches standard input", spelt, name, spelt)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return misuse("%s%s: permission denied", spelt, name)
	}
	if err != nil {
		return misuse("%s%s: it cannot be read", spelt, name)
	}
	return f.Close()
}
