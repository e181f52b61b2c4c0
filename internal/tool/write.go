package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
)

//go:embed write.md
var writeText string

// Write is the tool that writes a whole file.
type Write struct{}

var (
	_ Tool      = Write{}
	_ Previewer = Write{}
	_ Checker   = Write{}
)

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// Spec implements Tool.
func (Write) Spec() Spec {
	return Spec{
		Name: "write", Description: strings.TrimSpace(writeText),
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file to write."},"content":{"type":"string","description":"All that the file shall hold."}},"required":["path","content"],"additionalProperties":false}`),
	}
}

func (Write) args(raw json.RawMessage) (writeArgs, error) {
	var a writeArgs
	if err := Decode(raw, &a); err != nil {
		return a, err
	}
	a.Path = strings.TrimPrefix(a.Path, "@")
	switch {
	case a.Path == "":
		return a, errors.New("write: the argument \"path\" is missing")
	case a.Content == nil:
		return a, errors.New("write: the argument \"content\" is missing")
	}
	return a, nil
}

// Request implements Tool.
func (w Write) Request(raw json.RawMessage, env Env) (permission.Request, string, error) {
	a, err := w.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	r, err := changed("write", a.Path, env)
	return r, fmt.Sprintf("Write %s (%s)", a.Path, plural(lines([]byte(*a.Content)), "line")), err
}

// Preview implements Previewer: the difference, or what a new file will hold.
func (w Write) Preview(raw json.RawMessage, env Env) string {
	a, err := w.args(raw)
	if err != nil || remote(a.Path) {
		return ""
	}
	env = asked(env, func() (permission.Request, string, error) { return w.Request(raw, env) })
	t, err := openTarget(a.Path, env)
	if err != nil {
		return ""
	}
	defer t.close()
	if t.info == nil {
		return bounded(*a.Content, maxDiffLine)
	}
	if t.denied {
		return noDiff
	}
	if !t.read {
		return "[no difference shown: the file is too large]\n"
	}
	return unified(a.Path, t.old, []byte(*a.Content))
}

// Check implements Checker.
func (w Write) Check(ctx context.Context, raw json.RawMessage, env Env) error {
	a, err := w.args(raw)
	if err != nil {
		return err
	}
	r, _, err := w.Request(raw, env)
	if err != nil {
		return err
	}
	if err := check(ctx, a.Path, r, env, (*target).known); err != nil {
		return fmt.Errorf("write %s: %w", a.Path, err)
	}
	return nil
}

// remote tells a path on another machine, which only looking at would log in to.
func remote(path string) bool { return strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") }

// Run implements Tool.
func (w Write) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	a, err := w.args(raw)
	if err != nil {
		return Result{}, err
	}
	t, err := awaitTarget(ctx, a.Path, env)
	if err != nil {
		return Result{}, fmt.Errorf("write %s: %w", a.Path, err)
	}
	defer t.close()
	if err := t.known(env); err != nil {
		return Result{}, fmt.Errorf("write %s: %w", a.Path, err)
	}
	data := []byte(*a.Content)
	if t.info != nil && t.read && !t.denied && bytes.Equal(t.old, data) {
		env.Files.Saw(t.abs, Stamp{Size: t.info.Size(), ModTime: t.info.ModTime(), Sum: sha256.Sum256(data)})
		return said("[%s holds exactly that already; nothing was written]\n", a.Path), nil
	}
	if err := t.replace(ctx, data, env); err != nil {
		return Result{}, fmt.Errorf("write %s: %w", a.Path, err)
	}
	note := t.place.called()
	switch {
	case t.info == nil:
		return said("%s[created %s: %s]\n", note, a.Path, extent(data)), nil
	case t.denied:
		return said("%s[wrote %s: %s]\n%s", note, a.Path, extent(data), noDiff), nil
	case !t.read:
		return said("%s[wrote %s: %s; before: %s]\n", note, a.Path, extent(data), plural(int(t.info.Size()), "byte")), nil
	}
	return said("%s[wrote %s: %s; before: %s]\n%s", note, a.Path, extent(data), extent(t.old), unified(a.Path, t.old, data)), nil
}

func said(format string, args ...any) Result {
	return Result{Sources: []content.Source{Prose(fmt.Sprintf(format, args...))}}
}
