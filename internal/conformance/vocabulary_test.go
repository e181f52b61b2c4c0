package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
)

// source parses the product files of a package folder, seen from here.
func source(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		t.Fatalf("no product files in %s: the test would prove nothing", dir)
	}
	return out
}

// declared lists the types of package content that have a marker method, which
// is what makes them members of a closed set.
func declared(t *testing.T, marker string) []string {
	t.Helper()
	var out []string
	for _, f := range source(t, "../content") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != marker {
				continue
			}
			if id, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
				out = append(out, id.Name)
			}
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		t.Fatalf("package content has no type with the method %s: the test would prove nothing", marker)
	}
	return out
}

// constants lists the exported constants of package content whose names begin
// with prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	var out []string
	for _, f := range source(t, "../content") {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, n := range v.Names {
					if strings.HasPrefix(n.Name, prefix) {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func typeName(v any) string { return reflect.TypeOf(v).Name() }

func kinds() []content.Kind {
	var out []content.Kind
	for _, b := range contenttest.Blocks() {
		out = append(out, b.Kind())
	}
	return out
}

func faults() []content.Fault {
	var out []content.Fault
	for f := content.FaultNone + 1; !strings.HasPrefix(f.String(), "fault("); f++ {
		out = append(out, f)
	}
	return out
}

// routes are those that a receipt can name.
func routes() []delivery.Route {
	return []delivery.Route{delivery.RoutePrompt, delivery.RouteHistory, delivery.RouteResult}
}

// The samples drive every test here, so they have to be the declared kinds.
func TestSamplesAreTheDeclaredKinds(t *testing.T) {
	for name, list := range map[string][]content.Block{"Blocks": contenttest.Blocks(), "Sound": contenttest.Sound()} {
		var got []string
		for _, b := range list {
			got = append(got, typeName(b))
		}
		slices.Sort(got)
		if diff := cmp.Diff(declared(t, "block"), got); diff != "" {
			t.Errorf("declared kinds and contenttest.%s differ (-declared +sampled):\n%s", name, diff)
		}
	}
	if got, want := len(kinds()), len(constants(t, "Kind")); got != want {
		t.Errorf("%d kinds are sampled, %d are declared", got, want)
	}
	if got, want := len(faults()), len(constants(t, "Fault"))-1; got != want {
		t.Errorf("%d faults are found by their words, %d are declared", got, want)
	}
	if last := routes()[len(routes())-1] + 1; last.String() != "route?" {
		t.Errorf("route %s is not in the matrix", last)
	}
}

// dirs lists the folders in a folder, seen from here.
func dirs(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}
