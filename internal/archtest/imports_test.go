package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func row(name string) *pkg {
	for i := range table {
		if table[i].path == name {
			return &table[i]
		}
	}
	return nil
}

func imports(t *testing.T, f goFile) []string {
	t.Helper()
	var all []string
	for _, spec := range f.ast.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", f.name, spec.Path.Value, err)
		}
		all = append(all, imp)
	}
	return all
}

func TestTableNamesEveryPackageOnce(t *testing.T) {
	present := map[string]bool{}
	for _, f := range ownFiles(t) {
		present[f.pkg] = true
	}
	rows := map[string]int{}
	for _, p := range table {
		rows[p.path]++
		if rows[p.path] == 2 {
			t.Errorf("%s has two rows", p.path)
		}
		if !present[p.path] {
			t.Errorf("%s is in the table and has no Go files", p.path)
		}
		for _, imp := range p.imports {
			if r := row(imp); r == nil {
				t.Errorf("%s may import %s, which has no row", p.path, imp)
			} else if r.support && !p.support {
				t.Errorf("%s may import %s, which is for tests", p.path, imp)
			}
		}
	}
	for name := range present {
		if rows[name] == 0 {
			t.Errorf("%s is not in the table: a new package is a decision", name)
		}
	}
}

func TestTableHasNoCycle(t *testing.T) {
	const busy, done = 1, 2
	state := map[string]int{}
	var visit func(name string, from []string)
	visit = func(name string, from []string) {
		switch state[name] {
		case done:
			return
		case busy:
			t.Errorf("the table allows a cycle: %s", strings.Join(append(from, name), " -> "))
			return
		}
		state[name] = busy
		if r := row(name); r != nil {
			for _, imp := range r.imports {
				visit(imp, append(from, name))
			}
		}
		state[name] = done
	}
	for _, p := range table {
		visit(p.path, nil)
	}
}

// Tests may import what they like of the module, except the programs.
func TestImportsFollowTheTable(t *testing.T) {
	for _, f := range ownFiles(t) {
		r := row(f.pkg)
		for _, imp := range imports(t, f) {
			in, mine := strings.CutPrefix(imp, module)
			switch {
			case !mine:
			case f.test:
				if in == cmdTote || in == profileGen || in == archtestPkg {
					t.Errorf("%s must not import %s", f.name, in)
				}
			case r != nil && !slices.Contains(r.imports, in):
				t.Errorf("%s: %s must not import %s", f.name, f.pkg, in)
			}
		}
	}
}

func TestPurePackagesStayPure(t *testing.T) {
	for name := range pure {
		if row(name) == nil {
			t.Errorf("%s is pure and has no row", name)
		}
	}
	for _, f := range ownFiles(t) {
		extra, isPure := pure[f.pkg]
		if !isPure || f.test {
			continue
		}
		for _, imp := range imports(t, f) {
			if !strings.HasPrefix(imp, module) && !slices.Contains(pureStd, imp) && !slices.Contains(extra, imp) {
				t.Errorf("%s must stay pure: imports %s", f.name, imp)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s:%d must stay pure: starts a goroutine", f.name, f.line(g))
			}
			return true
		})
	}
}

func TestConfinedImports(t *testing.T) {
	for _, c := range confined {
		for _, in := range c.in {
			if row(in) == nil {
				t.Errorf("%s is allowed in %s, which has no row", c.imp, in)
			}
		}
	}
	for _, f := range ownFiles(t) {
		r := row(f.pkg)
		if f.test || r == nil || r.support {
			continue
		}
		for _, imp := range imports(t, f) {
			for _, c := range confined {
				below := strings.HasSuffix(c.imp, "/") && strings.HasPrefix(imp+"/", c.imp)
				if (imp == c.imp || below) && !slices.Contains(c.in, f.pkg) {
					t.Errorf("%s must not import %s: %s", f.name, imp, c.why)
				}
			}
		}
	}
}

func TestConfinedCalls(t *testing.T) {
	for _, f := range ownFiles(t) {
		r := row(f.pkg)
		if f.test || r == nil || r.support {
			continue
		}
		byName := map[string]string{} // local name -> last element of the import path
		for _, spec := range f.ast.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value) // imports has checked it
			last := path.Base(imp)
			if spec.Name != nil {
				if spec.Name.Name == "." {
					t.Errorf("%s must not import %s into its own names", f.name, imp)
				}
				byName[spec.Name.Name] = last
				continue
			}
			byName[last] = last
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, c := range confinedCalls {
				if byName[x.Name] == c.pkg && sel.Sel.Name == c.name && !slices.Contains(c.in, f.pkg) {
					t.Errorf("%s:%d must not use %s.%s: %s", f.name, f.line(sel), c.pkg, c.name, c.why)
				}
			}
			return true
		})
	}
}

// What exists is listed in one table; nothing registers itself on import.
func TestNoInit(t *testing.T) {
	for _, f := range ownFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s:%d has an init function: order and membership would be invisible", f.name, f.line(fn))
			}
		}
	}
}

// Every product package says in doc.go what it does and who may import it. A
// program may say it in main.go, and what only tests import in any file.
func TestEveryPackageHasADoc(t *testing.T) {
	docs := map[string]bool{}
	for _, f := range ownFiles(t) {
		r := row(f.pkg)
		base := path.Base(f.name)
		place := base == "doc.go" || base == "main.go" && f.ast.Name.Name == "main" || r != nil && r.support && !f.test
		if place && f.ast.Doc != nil {
			docs[f.pkg] = true
		}
	}
	for _, p := range table {
		if !docs[p.path] {
			t.Errorf("%s has no doc.go with a package comment", p.path)
		}
	}
}
