package tool

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
)

//go:embed list.md
var listText string

const (
	// maxListed bounds one answer, maxEntries what is read of one folder.
	maxListed  = 1000
	maxEntries = 10_000
	maxDepth   = 5
)

var errNoFolder = errors.New("it is no folder; use the read tool")

// List is the tool that lists a folder.
type List struct{}

var _ Tool = List{}

type listArgs struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

// Spec implements Tool.
func (List) Spec() Spec {
	return Spec{
		Name: "list", Description: strings.TrimSpace(listText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The folder to list."},"depth":{"type":"integer","minimum":1,"maximum":5,"description":"How many levels to list."}},"additionalProperties":false}`),
	}
}

func (List) args(raw json.RawMessage) (listArgs, error) {
	var a listArgs
	if err := Decode(raw, &a); err != nil {
		return a, err
	}
	if a.Path = strings.TrimPrefix(a.Path, "@"); a.Path == "" {
		a.Path = "."
	}
	if a.Depth == 0 {
		a.Depth = 1
	}
	if a.Depth < 0 || a.Depth > maxDepth {
		return a, fmt.Errorf("list: depth is %d, want 1 to %d", a.Depth, maxDepth)
	}
	return a, nil
}

// Request implements Tool.
func (l List) Request(raw json.RawMessage, env Env) (permission.Request, string, error) {
	a, err := l.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return Locate(a.Path, env).Request("list", permission.Read), "List " + a.Path, nil
}

// Run implements Tool.
func (l List) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	a, err := l.args(raw)
	if err != nil {
		return Result{}, err
	}
	p := Locate(a.Path, env)
	spot, err := p.Settle(env)
	if err == nil {
		err = spot.Refused(env)
	}
	if err != nil {
		return Result{}, fmt.Errorf("list %s: %w", a.Path, err)
	}
	dir, rel := spot.Dir, spot.Rel
	if !spot.Inside {
		dir, rel = spot.Abs, "."
		// Opening a named pipe would wait.
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return Result{}, fmt.Errorf("list %s: %w", a.Path, errNoFolder)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Result{}, fmt.Errorf("list %s: %w", a.Path, plain(err))
	}
	defer func() { _ = root.Close() }() // read only
	if err := spot.Check(); err != nil {
		return Result{}, fmt.Errorf("list %s: %w", a.Path, err)
	}
	w := &walk{fsys: root.FS(), env: env, base: dir}
	if err := w.folder(ctx, filepath.ToSlash(rel), 0, a.Depth); err != nil {
		return Result{}, fmt.Errorf("list %s: %w", a.Path, plain(err))
	}
	if w.n == 0 {
		w.sb.WriteString("[the folder is empty]\n")
	}
	if w.cut {
		fmt.Fprintf(&w.sb, "[cut at %d entries]\n", w.n)
	}
	return Result{Sources: []content.Source{Prose(w.sb.String())}}, nil
}

type walk struct {
	fsys fs.FS
	env  Env
	base string
	sb   strings.Builder
	n    int
	// cut: there is more than was listed.
	cut bool
}

func (w *walk) folder(ctx context.Context, dir string, level, depth int) error {
	entries, err := w.entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.n >= maxListed {
			w.cut = true
			return nil
		}
		w.n++
		w.sb.WriteString(strings.Repeat("  ", level))
		w.sb.WriteString(strings.Map(oneLine, e.Name()))
		switch info, err := e.Info(); {
		case e.IsDir():
			w.sb.WriteString("/\n")
			sub := path.Join(dir, e.Name())
			if level+1 < depth && e.Name() != ".git" && w.enters(filepath.Join(w.base, filepath.FromSlash(sub))) {
				if err := w.folder(ctx, sub, level+1, depth); err != nil {
					fmt.Fprintf(&w.sb, "%s[%v]\n", strings.Repeat("  ", level+1), plain(err))
				}
			}
		case err != nil:
			w.sb.WriteString("\n")
		case e.Type()&fs.ModeSymlink != 0:
			w.sb.WriteString(" (link)\n")
		case !info.Mode().IsRegular():
			w.sb.WriteString(" (special)\n")
		default:
			fmt.Fprintf(&w.sb, " (%d bytes)\n", info.Size())
		}
	}
	return nil
}

// enters reports whether the walk may go into a folder.
func (w *walk) enters(abs string) bool {
	return !IsForbidden(abs, w.env) && (w.env.Denied == nil || !w.env.Denied(abs))
}

// entries reads a folder: folders first, then by name.
func (w *walk) entries(dir string) ([]fs.DirEntry, error) {
	// It is looked at before it is opened: opening a named pipe would wait.
	switch info, err := fs.Stat(w.fsys, dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such folder")
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errNoFolder
	}
	f, err := w.fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errNoFolder
	}
	entries, err := d.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxEntries {
		entries, w.cut = entries[:maxEntries], true
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, nil
}

func oneLine(r rune) rune {
	if r < 0x20 || r == 0x7f {
		return '?'
	}
	return r
}
