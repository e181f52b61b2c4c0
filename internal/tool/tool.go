package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
)

// Spec is a tool as a model is told about it.
type Spec struct {
	Name, Description string
	// Schema is the JSON Schema of the arguments, an object.
	Schema json.RawMessage
}

// Env is where a call runs. It is an argument of every call, since background
// work shares the tools.
type Env struct {
	// Cwd is the session's folder, absolute.
	Cwd string
	// Roots are the folders that the model may read, absolute: the project,
	// additional folders, the session's scratch folder.
	Roots []string
	// Forbidden are folders that no tool enters.
	Forbidden []string
	// Permitted: the user allowed this call to leave the roots.
	Permitted bool
}

// Result is what a call gave.
type Result struct {
	Sources []content.Source
	IsError bool
}

// A Tool is one thing that a model can do.
//
// All methods may be called from several goroutines.
type Tool interface {
	Spec() Spec
	// Request says what the call needs permission for, and gives a short
	// title for people. An error means that the arguments are wrong; its
	// text goes to the model.
	Request(args json.RawMessage, env Env) (permission.Request, string, error)
	// Run does it. An error ends the call, not the turn: its text goes to
	// the model.
	Run(ctx context.Context, args json.RawMessage, env Env) (Result, error)
}

// Registry is a fixed set of tools, sorted by name.
type Registry struct{ tools []Tool }

// NewRegistry makes a registry. Two tools of one name are an error.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools)}
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	for i := 1; i < len(r.tools); i++ {
		if name := r.tools[i].Spec().Name; name == r.tools[i-1].Spec().Name {
			return nil, fmt.Errorf("register tools: two are named %q", name)
		}
	}
	return r, nil
}

// All returns the tools in order. The slice is the registry's own.
func (r *Registry) All() []Tool { return r.tools }

// Lookup finds a tool by its name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	for _, t := range r.tools {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// ErrOutside reports a path outside the roots.
var ErrOutside = errors.New("it lies outside the folders that you may read")

// text makes the source of a tool's own words.
func text(s string) content.Source {
	return content.Source{Payload: content.Prose{Text: s}, Inlet: content.InletTool, Chooser: content.ChosenByTool, As: content.KindText}
}

// decode reads a call's arguments strictly.
func decode(args json.RawMessage, into any) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read the arguments: more follows after the object")
	}
	return nil
}

// place is a path that a model wrote, resolved.
type place struct {
	// abs is absolute and clean.
	abs string
	// root and rel say under which root it lies; root is "" for none.
	root, rel string
}

func locate(path string, env Env) place {
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(env.Cwd, path)
	}
	p := place{abs: filepath.Clean(abs)}
	for _, root := range env.Roots {
		if rel, err := filepath.Rel(root, p.abs); err == nil && filepath.IsLocal(rel) {
			p.root, p.rel = root, rel
			return p
		}
	}
	return p
}

// forbidden reports whether abs lies in a folder that no tool enters, by its
// name or behind links.
func forbidden(abs string, env Env) bool {
	if forbiddenName(abs, env) {
		return true
	}
	resolved := Env{Roots: make([]string, len(env.Roots)), Forbidden: make([]string, len(env.Forbidden))}
	for i, r := range env.Roots {
		resolved.Roots[i] = behindLinks(r)
	}
	for i, f := range env.Forbidden {
		resolved.Forbidden[i] = behindLinks(f)
	}
	return forbiddenName(behindLinks(abs), resolved)
}

// behindLinks follows links as far as the path exists.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func forbiddenName(abs string, env Env) bool {
	for _, f := range env.Forbidden {
		if slices.Contains(env.Roots, f) {
			continue
		}
		rel, err := filepath.Rel(f, abs)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		inRoot := false
		for _, r := range env.Roots {
			sub, err := filepath.Rel(f, r)
			under, err2 := filepath.Rel(r, abs)
			inRoot = inRoot || err == nil && err2 == nil && filepath.IsLocal(sub) && filepath.IsLocal(under)
		}
		if !inRoot {
			return true
		}
	}
	return false
}

// request is what a tool wants with the place. A link to a file that holds keys
// is judged as that file.
func (p place) request(tool string) permission.Request {
	r := permission.Request{Tool: tool, Action: permission.Read, Path: filepath.ToSlash(p.abs), Inside: p.root != ""}
	if real := behindLinks(p.abs); real != p.abs {
		behind := r
		behind.Path = filepath.ToSlash(real)
		if v, _ := (permission.Rules{Mode: permission.ModeFull}).Decide(behind); v == permission.Deny {
			return behind
		}
	}
	return r
}
