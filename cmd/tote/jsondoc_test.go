package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// emitted are the structs of some folders by name: their JSON keys, and what the lines
// are called that they make.
type emitted struct {
	keys  map[string][]string
	types map[string][]string
	// embeds are structs whose keys belong to another.
	embeds map[string][]string
	// lines are those that have a type.
	lines map[string]bool
}

// readEmitted reads the sources.
func readEmitted(t *testing.T, dirs ...string) emitted {
	t.Helper()
	e := emitted{keys: map[string][]string{}, types: map[string][]string{}, embeds: map[string][]string{}, lines: map[string]bool{}}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						e.addStruct(n.Name.Name, s)
					}
				case *ast.CompositeLit:
					e.addLiteral(n)
				}
				return true
			})
		}
	}
	return e
}

func (e emitted) addStruct(name string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			if sel, ok := f.Type.(*ast.SelectorExpr); ok {
				e.embeds[name] = append(e.embeds[name], sel.Sel.Name)
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		switch key {
		case "", "-":
		case "type":
			e.lines[name] = true
		default:
			e.keys[name] = append(e.keys[name], key)
		}
	}
}

// addLiteral learns from jsonText{"text", …} or jsonCall{Type: "tool_call", …} what a
// line is called.
func (e emitted) addLiteral(l *ast.CompositeLit) {
	id, ok := l.Type.(*ast.Ident)
	if !ok || len(l.Elts) == 0 {
		return
	}
	value := l.Elts[0]
	if kv, ok := value.(*ast.KeyValueExpr); ok {
		if k, ok := kv.Key.(*ast.Ident); !ok || k.Name != "Type" {
			return
		}
		value = kv.Value
	}
	if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		if !slices.Contains(e.types[id.Name], s) {
			e.types[id.Name] = append(e.types[id.Name], s)
		}
	}
}

// rows are the rows of all tables of a document that have a column "fields": the type
// with its fields, as "type: a b c". Those of a receipt have a table of their own.
func rows(t *testing.T, doc string) (out []string) {
	t.Helper()
	words := func(cell string) (list []string) {
		for i, w := range strings.Split(cell, "`") {
			if i%2 == 1 {
				list = append(list, w)
			}
		}
		return list
	}
	var head []string
	receipt := []string{}
	for l := range strings.Lines(doc) {
		l = strings.TrimSpace(l)
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(l, "|"):
			head = nil
		case head == nil:
			head = cells
		case strings.HasPrefix(cells[0], "---"):
		case head[0] == "field":
			receipt = append(receipt, words(cells[0])...)
		default:
			at, fields := slices.Index(head, "type"), slices.Index(head, "fields")
			if at < 0 || fields < 0 {
				t.Fatalf("a table has no type or no fields: %v", head)
			}
			if kind := words(cells[at]); len(kind) == 1 && kind[0] != "receipt" {
				out = append(out, asRow(kind[0], words(cells[fields])))
			}
		}
	}
	return append(out, asRow("receipt", receipt))
}

func asRow(kind string, fields []string) string { return kind + ": " + strings.Join(fields, " ") }

// TestJSONIsDocumented holds that docs/json.md names every line that any command
// prints, with all its fields, and no other.
func TestJSONIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.FromSlash("../../docs/json.md"))
	if err != nil {
		t.Fatal(err)
	}
	e := readEmitted(t, ".", filepath.FromSlash("../../internal/front/headless"))
	keys := readEmitted(t, filepath.FromSlash("../../internal/agent")).keys
	var want []string
	for name := range e.lines {
		fields := e.keys[name]
		for _, x := range e.embeds[name] {
			fields = append(fields, keys[x]...)
		}
		if len(e.types[name]) == 0 {
			t.Errorf("nothing says what lines of %s are called", name)
		}
		for _, kind := range e.types[name] {
			want = append(want, asRow(kind, fields))
		}
	}
	got := rows(t, string(doc))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("docs/json.md (-emitted +documented):\n%s", diff)
	}
	if len(want) < 20 {
		t.Errorf("only %d kinds of lines were found", len(want))
	}
	for _, nested := range []string{"jsonStep", "jsonCapability", "jsonKeeper"} {
		if spelt := "`{" + strings.Join(e.keys[nested], ", ") + "}`"; !strings.Contains(string(doc), spelt) {
			t.Errorf("docs/json.md does not have %s of %s", spelt, nested)
		}
	}
	if spelt := "`{" + strings.Join(keys["ReceiptOrigin"], ", ") + "}`"; !strings.Contains(string(doc), spelt) {
		t.Errorf("docs/json.md does not have %s", spelt)
	}
}
