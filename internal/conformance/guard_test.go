package conformance_test

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The sets that an exit promises the compiler to handle as a whole.
const (
	blockVisitor = "content.Visitor"
	partVisitor  = "content.PartVisitor"
	encoder      = "delivery.Encoder"
)

// exits are the places where blocks leave, with the types that handle them. A
// type is listed so that taking it out of the promise is seen here.
var exits = map[string]map[string]string{
	"../content":   {"compact": blockVisitor},
	"../delivery":  {"estimator": blockVisitor, "label": blockVisitor, "decider": blockVisitor, "renderer": partVisitor},
	"../history":   {"encoder": partVisitor},
	"../front/acp": {"shower": blockVisitor},
}

// promised lists the types of a package that the compiler holds to one of the
// sets: var _ content.Visitor[R] = T{}, or content.Visitor[R](T{}) where it is
// used.
func promised(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, f := range source(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if set := setOf(f, n.Type); set != "" && len(n.Names) == 1 && n.Names[0].Name == "_" && len(n.Values) == 1 {
					out[valueType(n.Values[0])] = append(out[valueType(n.Values[0])], set)
				}
			case *ast.FuncDecl:
				conversions(f, n, out)
			}
			return true
		})
	}
	return out
}

// conversions finds values that a function converts to one of the sets.
func conversions(f *ast.File, fn *ast.FuncDecl, out map[string][]string) {
	local := map[string]string{} // variables and their types
	if fn.Recv != nil && len(fn.Recv.List[0].Names) == 1 {
		local[fn.Recv.List[0].Names[0].Name] = typeOf(fn.Recv.List[0].Type)
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if id, ok := a.Lhs[0].(*ast.Ident); ok {
				local[id.Name] = valueType(a.Rhs[0])
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if set := setOf(f, call.Fun); set != "" {
			name := valueType(call.Args[0])
			if recv, ok := local[name]; ok {
				name = recv
			}
			out[name] = append(out[name], set)
		}
		return true
	})
}

// setOf returns which of the sets a type expression names, "" for none.
func setOf(f *ast.File, e ast.Expr) string {
	x, ok := e.(*ast.IndexExpr)
	if !ok {
		return ""
	}
	name := ""
	switch x := x.X.(type) {
	case *ast.Ident:
		name = f.Name.Name + "." + x.Name
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			name = id.Name + "." + x.Sel.Name
		}
	}
	if name == blockVisitor || name == partVisitor || name == encoder {
		return name
	}
	return ""
}

// valueType is the name of the type of T{}, &T{}, (*T)(nil) or &v.
func valueType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return typeOf(e.Type)
	case *ast.UnaryExpr:
		return valueType(e.X)
	case *ast.CallExpr:
		return typeOf(e.Fun)
	case *ast.ParenExpr:
		return valueType(e.X)
	}
	return typeOf(e)
}

func typeOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeOf(e.X)
	case *ast.ParenExpr:
		return typeOf(e.X)
	case *ast.IndexExpr:
		return typeOf(e.X)
	}
	return ""
}

// TestEveryExitIsHeldByTheCompiler: forgetting a kind at an exit is a build
// error only where the exit says what it is. Adapters say it each, or speak
// another's wire.
func TestEveryExitIsHeldByTheCompiler(t *testing.T) {
	for dir, types := range exits {
		got := promised(t, dir)
		for name, set := range types {
			if !slices.Contains(got[name], set) {
				t.Errorf("%s: %s is not held to %s by the compiler (held are %v)", dir, name, set, got)
			}
		}
	}
	for _, name := range folders() {
		if !spells(t, name, map[string]bool{}) {
			t.Errorf("provider/%s: no type is held to %s by the compiler, and it uses no adapter with one", name, encoder)
		}
	}
}

// spells reports whether an adapter, or one that it uses, promises to be an
// encoder.
func spells(t *testing.T, name string, visited map[string]bool) bool {
	t.Helper()
	if visited[name] {
		return false
	}
	visited[name] = true
	for _, sets := range promised(t, "../provider/"+name) {
		if slices.Contains(sets, encoder) {
			return true
		}
	}
	for _, f := range source(t, "../provider/"+name) {
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			other, ok := strings.CutPrefix(imp, "tote/internal/provider/")
			if ok && slices.Contains(folders(), other) && spells(t, other, visited) {
				return true
			}
		}
	}
	return false
}

// Whatever implements all methods of a visitor is an exit. One that does so
// without being listed would be held by nobody.
func TestEveryVisitorIsListed(t *testing.T) {
	packages := []string{
		"content", "delivery", "store", "imaging", "document", "audio", "ingest", "profile", "provider", "tool", "history", "agent",
		"config", "app", "front/acp", "front/headless",
	}
	packages = append(packages, adapterDirs()...)
	want := declared(t, "block")
	for _, p := range packages {
		methods := map[string][]string{}
		for _, f := range source(t, "../"+p) {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Recv != nil && slices.Contains(want, fn.Name.Name) {
					recv := typeOf(fn.Recv.List[0].Type)
					methods[recv] = append(methods[recv], fn.Name.Name)
				}
			}
		}
		held := promised(t, "../"+p)
		for recv, names := range methods {
			if len(names) == len(want) && len(held[recv]) == 0 {
				t.Errorf("%s: %s handles every kind, and the compiler is not told that it has to", p, recv)
			}
		}
	}
}

// A type switch over content with a default branch hides a kind that is added
// later; outside of package content none is needed.
func TestNoSwitchHidesAKind(t *testing.T) {
	var members []string
	for _, name := range declared(t, "part") {
		members = append(members, "content."+name)
	}
	for _, dir := range append([]string{"delivery", "history", "agent", "ingest", "app", "front/acp", "front/headless"}, adapterDirs()...) {
		for _, f := range source(t, "../"+dir) {
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSwitchStmt)
				if !ok {
					return true
				}
				cases, hidden := 0, false
				for _, c := range s.Body.List {
					clause, _ := c.(*ast.CaseClause) // a switch holds nothing else
					hidden = hidden || clause.List == nil && !panics(clause)
					for _, e := range clause.List {
						if x, ok := e.(*ast.SelectorExpr); ok {
							if id, ok := x.X.(*ast.Ident); ok && slices.Contains(members, id.Name+"."+x.Sel.Name) {
								cases++
							}
						}
					}
				}
				if cases > 0 && hidden {
					t.Errorf("%s: a switch over content has a default branch that would swallow a new kind", dir)
				}
				return true
			})
		}
	}
}

func adapterDirs() []string {
	var out []string
	for _, name := range folders() {
		out = append(out, "provider/"+name)
	}
	return out
}

// folders are those of the adapters.
func folders() []string {
	var out []string
	for _, a := range adapters {
		if !slices.Contains(out, a.folder) {
			out = append(out, a.folder)
		}
	}
	return out
}

// panics reports whether a branch ends the program, which nobody overlooks.
func panics(c *ast.CaseClause) bool {
	if len(c.Body) != 1 {
		return false
	}
	s, ok := c.Body[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}
