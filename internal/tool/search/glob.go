package search

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed glob.md
var globText string

const (
	// maxGlob bounds a glob in bytes, maxGlobStars its stars and braces: each
	// of them multiplies the ways to match.
	maxGlob      = 500
	maxGlobStars = 32
	maxListed    = 500
)

// glob says which files of a walk are meant.
type glob struct {
	// text matches the path from the start, or the name where byName.
	text   string
	byName bool
	// others: all files that do not match are meant ("!").
	others bool
}

// newGlob reads a glob; "" means all files.
func newGlob(text string) (glob, error) {
	var g glob
	g.text, g.others = strings.CutPrefix(text, "!")
	switch {
	case g.text == "" && g.others:
		return g, errors.New("there is nothing behind the \"!\"")
	case len(text) > maxGlob, strings.Count(text, "*")+strings.Count(text, "{") > maxGlobStars:
		return g, fmt.Errorf("it is too long: the most are %d bytes, and %d stars and braces", maxGlob, maxGlobStars)
	case strings.HasPrefix(g.text, "~"):
		return g, errors.New("name the folder in path; a glob matches inside it")
	case slices.Contains(strings.Split(g.text, "/"), ".."):
		return g, errors.New("a glob cannot lead out; name the folder in path")
	case !doublestar.ValidatePattern(g.text):
		return g, fmt.Errorf("%q is no valid glob", text)
	}
	g.byName = !strings.Contains(g.text, "/")
	g.text = strings.TrimPrefix(strings.TrimPrefix(g.text, "./"), "/")
	return g, nil
}

// keeps reports whether the file is meant; rel is its path from the start.
func (g glob) keeps(rel string) bool {
	if g.text == "" {
		return true
	}
	if g.byName {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(g.text, rel) != g.others
}

// Glob is the tool that finds files by their names.
type Glob struct{}

var _ tool.Tool = Glob{}

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
}

// Spec implements tool.Tool.
func (Glob) Spec() tool.Spec {
	return tool.Spec{
		Name: "glob", Description: strings.TrimSpace(globText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"For example *.go, src/**/*.{ts,tsx} or /*.md."},` +
			`"path":{"type":"string","description":"The folder to look in; the working folder by default."},` +
			`"limit":{"type":"integer","minimum":1,"maximum":500,"description":"Most files to list; 500 by default."},` +
			`"offset":{"type":"integer","minimum":0,"description":"Files to skip, to read on."}` +
			`},"required":["pattern"],"additionalProperties":false}`),
	}
}

func (Glob) args(raw json.RawMessage) (globArgs, glob, error) {
	var a globArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, glob{}, err
	}
	a.Path = defaultPath(a.Path)
	if a.Limit == 0 {
		a.Limit = maxListed
	}
	switch {
	case a.Pattern == "":
		return a, glob{}, errors.New("glob: the argument \"pattern\" is missing")
	case a.Limit < 1 || a.Offset < 0:
		return a, glob{}, errors.New("glob: limit counts from 1, offset from 0")
	}
	a.Limit = min(a.Limit, maxListed)
	g, err := newGlob(a.Pattern)
	if err != nil {
		return a, g, fmt.Errorf("glob: read the pattern: %w", err)
	}
	return a, g, nil
}

// Request implements tool.Tool.
func (t Glob) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	a, _, err := t.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	title := "Find " + a.Pattern
	if a.Path != "." {
		title += " in " + a.Path
	}
	return tool.Locate(a.Path, env).Request("glob", permission.Read), title, nil
}

// Run implements tool.Tool.
func (t Glob) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, g, err := t.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	within, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	text, err := tool.Await(within, func() (string, error) {
		s, err := open(a.Path, env)
		if err != nil {
			return "", err
		}
		defer s.close()
		if s.single {
			return "", errors.New("it is a file; use the read tool")
		}
		w, err := s.walk(within, env, wanted{keep: g.keeps})
		if err != nil {
			return "", err
		}
		return listing(s, w, a), nil
	}, nil)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, wrap("glob", a.Path, ctx.Err())
	case within.Err() != nil:
		return tool.Result{}, wrap("glob", a.Path, fmt.Errorf("it takes longer than %v; name a folder in path", searchTime))
	case err != nil:
		return tool.Result{}, wrap("glob", a.Path, err)
	}
	return tool.Result{Sources: []content.Source{tool.Prose(text)}}, nil
}

func listing(s *scope, w walked, a globArgs) string {
	var sb strings.Builder
	shown := 0
	for _, f := range w.files[min(a.Offset, len(w.files)):] {
		if shown >= a.Limit || sb.Len() > maxText {
			fmt.Fprintf(&sb, "[%d of %d files; narrow the pattern or read on with offset %d]\n", shown, len(w.files), a.Offset+shown)
			break
		}
		sb.WriteString(s.show(f.rel))
		sb.WriteByte('\n')
		shown++
	}
	switch {
	case shown == 0 && len(w.files) > 0:
		fmt.Fprintf(&sb, "[no more files: %d match]\n", len(w.files))
	case shown == 0:
		sb.WriteString("[no files match; hidden, ignored and vendored files are found only in a folder that path names]\n")
	}
	if w.closed > 0 {
		fmt.Fprintf(&sb, "[%s could not be read]\n", plural(w.closed, "folder"))
	}
	return sb.String()
}
