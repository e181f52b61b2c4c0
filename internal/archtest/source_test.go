package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "tote/"
	root   = "../.."
)

// skipped paths hold nothing that was written for this repository. In a linked
// work tree .git is a file.
var skipped = []string{".git", ".bin", "bin", ".fuzzcache"}

// walk calls visit with every file of the repository by slash path.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || slices.Contains(skipped, rel)) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || slices.Contains(skipped, rel) {
			return nil
		}
		visit(filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goFile is one parsed Go file.
type goFile struct {
	name string // slash path from the root of the repository
	pkg  string // its folder
	test bool
	fset *token.FileSet
	ast  *ast.File
}

func (f goFile) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// goFiles parses every Go file outside testdata, for all systems.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			return
		}
		fset := token.NewFileSet()
		a, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.ParseComments)
		if err != nil {
			t.Errorf("parse: %v", err)
			return
		}
		files = append(files, goFile{name: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), fset: fset, ast: a})
	})
	if len(files) == 0 {
		t.Fatal("no Go files found: the tests would prove nothing")
	}
	return files
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modulesBelow are modules of their own inside the repository. No product file is
// in them, and the table is not about them.
var modulesBelow = []string{"e2e/mcp", "e2e/sdk"}

// ownFiles are the Go files of this module.
func ownFiles(t *testing.T) []goFile {
	t.Helper()
	for _, m := range modulesBelow {
		read(t, m+"/go.mod")
	}
	return slices.DeleteFunc(goFiles(t), func(f goFile) bool {
		return slices.ContainsFunc(modulesBelow, func(m string) bool { return f.pkg == m || strings.HasPrefix(f.pkg, m+"/") })
	})
}
