package search

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed grep.md
var grepText string

const (
	defaultMatches, maxMatches = 100, 250
	// maxOffset bounds how far one reads on; maxContext the lines around.
	maxOffset  = 100_000
	maxContext = 10
	// searchTime is how long one search may take.
	searchTime = 30 * time.Second
	// fewFiles are searched sooner than another program is started.
	fewFiles = 300
)

// Options are what the tools need from outside. The zero value is usable.
type Options struct {
	// LookPath finds ripgrep ("rg") and "git"; nil is exec.LookPath. What it
	// does not find is done without.
	LookPath func(program string) (string, error)

	// few is fewFiles where it is 0; used is told which program narrowed down.
	few  int
	used func(program string)
}

// Grep is the tool that searches for text.
type Grep struct{ o Options }

var _ tool.Tool = (*Grep)(nil)

// NewGrep makes the tool.
func NewGrep(o Options) *Grep {
	if o.LookPath == nil {
		o.LookPath = exec.LookPath
	}
	if o.few == 0 {
		o.few = fewFiles
	}
	return &Grep{o: o}
}

type grepArgs struct {
	Pattern         string `json:"pattern"`
	Path            string `json:"path"`
	Glob            string `json:"glob"`
	CaseInsensitive bool   `json:"case_insensitive"`
	Literal         bool   `json:"literal"`
	Context         int    `json:"context"`
	FilesOnly       bool   `json:"files_only"`
	Count           bool   `json:"count"`
	Limit           int    `json:"limit"`
	Offset          int    `json:"offset"`
}

// Spec implements tool.Tool.
func (*Grep) Spec() tool.Spec {
	return tool.Spec{
		Name: "grep", Description: strings.TrimSpace(grepText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"A regular expression (RE2, as in Go), matched line by line."},` +
			`"path":{"type":"string","description":"The folder or file to search; the working folder by default."},` +
			`"glob":{"type":"string","description":"Only files that match, for example *.go, src/**/*.{ts,tsx} or !*_test.go."},` +
			`"case_insensitive":{"type":"boolean"},` +
			`"literal":{"type":"boolean","description":"The pattern is plain text."},` +
			`"context":{"type":"integer","minimum":0,"maximum":10,"description":"Lines to show before and after each match."},` +
			`"files_only":{"type":"boolean","description":"Only list the files that match."},` +
			`"count":{"type":"boolean","description":"Only count the matching lines of each file."},` +
			`"limit":{"type":"integer","minimum":1,"maximum":250,"description":"Most matches (or files) to show; 100 by default."},` +
			`"offset":{"type":"integer","minimum":0,"description":"Matches (or files) to skip, to read on."}` +
			`},"required":["pattern"],"additionalProperties":false}`),
	}
}

// query is a call of grep that makes sense.
type query struct {
	args    grepArgs
	pattern *pattern
	glob    glob
}

func readQuery(raw json.RawMessage) (query, error) {
	var q query
	if err := tool.Decode(raw, &q.args); err != nil {
		return q, err
	}
	a := &q.args
	a.Path = defaultPath(a.Path)
	if a.Limit == 0 {
		a.Limit = defaultMatches
	}
	switch {
	case a.FilesOnly && a.Count:
		return q, errors.New("grep: files_only and count exclude each other")
	case a.Limit < 1:
		return q, errors.New("grep: limit counts from 1")
	case a.Offset < 0 || a.Offset > maxOffset:
		return q, fmt.Errorf("grep: offset is %d, want 0 to %d", a.Offset, maxOffset)
	case a.Context < 0 || a.Context > maxContext:
		return q, fmt.Errorf("grep: context is %d, want 0 to %d", a.Context, maxContext)
	}
	a.Limit = min(a.Limit, maxMatches)
	var err error
	if q.pattern, err = newPattern(*a); err != nil {
		return q, fmt.Errorf("grep: %w", err)
	}
	if q.glob, err = newGlob(a.Glob); err != nil {
		return q, fmt.Errorf("grep: read glob: %w", err)
	}
	return q, nil
}

func defaultPath(path string) string {
	if path = strings.TrimPrefix(path, "@"); path == "" {
		return "."
	}
	return path
}

// Request implements tool.Tool.
func (*Grep) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	q, err := readQuery(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	title := "Search for " + q.args.Pattern
	if q.args.Path != "." {
		title += " in " + q.args.Path
	}
	return tool.Locate(q.args.Path, env).Request("grep", permission.Read), title, nil
}

// Run implements tool.Tool.
func (g *Grep) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	q, err := readQuery(raw)
	if err != nil {
		return tool.Result{}, err
	}
	within, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	text, err := tool.Await(within, func() (string, error) {
		s, err := open(q.args.Path, env)
		if err != nil {
			return "", err
		}
		defer s.close()
		return g.search(within, s, q, env)
	}, nil)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, wrap("grep", q.args.Path, ctx.Err())
	case within.Err() != nil:
		return tool.Result{}, wrap("grep", q.args.Path, fmt.Errorf("it takes longer than %v; name a folder in path, or files in glob", searchTime))
	case err != nil:
		return tool.Result{}, wrap("grep", q.args.Path, err)
	}
	return tool.Result{Sources: []content.Source{tool.Prose(text)}}, nil
}

func (g *Grep) search(ctx context.Context, s *scope, q query, env tool.Env) (string, error) {
	w, err := s.walk(ctx, env, wanted{keep: q.glob.keeps, most: maxFileBytes})
	if err != nil {
		return "", err
	}
	a := q.args
	want := quota{perFile: a.Offset + a.Limit + 1, enough: a.Offset + a.Limit + 1}
	switch {
	case a.FilesOnly:
		want.perFile = 1
	case a.Count:
		want = quota{perFile: math.MaxInt, enough: math.MaxInt}
	}
	sc := newScanner(s, q.pattern, g.narrowers(s, q.pattern, len(w.files)), g.o.few)
	hits, unreadable, err := sc.scan(ctx, w.files, want)
	if err != nil {
		return "", err
	}
	r := report{s: s, q: q}
	if a.FilesOnly || a.Count {
		r.files(hits)
	} else if err := r.matches(ctx, hits); err != nil {
		return "", err
	}
	return r.end(w, unreadable, len(hits)), nil
}

// narrowers are the programs that may help with a search, the best one first.
func (g *Grep) narrowers(s *scope, p *pattern, files int) []narrower {
	if s.single || files < g.o.few {
		return nil
	}
	var out []narrower
	add := func(name string, n func(program string) narrower) {
		program, err := g.o.LookPath(name)
		if err != nil {
			return // it is not there, or lies where nothing is started from
		}
		next := n(program)
		if g.o.used != nil {
			next = watched{next, func() { g.o.used(name) }}
		}
		out = append(out, next)
	}
	if len(p.needs) > 0 || p.wide != "" {
		add("rg", func(program string) narrower { return &ripgrep{program: program, dir: s.folderPath(), p: p} })
	}
	if len(p.needs) > 0 && s.repo != "" && !s.opaque {
		add("git", func(program string) narrower { return &gitGrep{program: program, s: s, p: p} })
	}
	return out
}

// watched tells when a narrower has answered.
type watched struct {
	narrower
	told func()
}

func (w watched) narrow(ctx context.Context, files []file) ([]bool, error) {
	want, err := w.narrower.narrow(ctx, files)
	if err == nil {
		w.told()
	}
	return want, err
}
