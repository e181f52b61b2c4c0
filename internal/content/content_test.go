package content_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
)

// declared reads the package source for the receivers of a marker method, so
// that a kind cannot be added without the samples that drive every matrix.
func declared(t *testing.T, marker string) []string {
	t.Helper()
	var out []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == marker {
				if id, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
					out = append(out, id.Name)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func requireFilled(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("sample field %s is empty: losing it would go unseen", path)
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			requireFilled(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

func TestEveryKindHasAFilledSample(t *testing.T) {
	var blocks, parts []string
	for _, b := range contenttest.Blocks() {
		requireFilled(t, reflect.TypeOf(b).Name(), reflect.ValueOf(b))
		blocks = append(blocks, reflect.TypeOf(b).Name())
	}
	for _, p := range contenttest.Parts() {
		requireFilled(t, reflect.TypeOf(p).Name(), reflect.ValueOf(p))
		parts = append(parts, reflect.TypeOf(p).Name())
	}
	parts = append(parts, blocks...)
	slices.Sort(blocks)
	slices.Sort(parts)
	if diff := cmp.Diff(declared(t, "block"), blocks); diff != "" {
		t.Errorf("declared blocks and samples differ (-declared +sampled):\n%s", diff)
	}
	if diff := cmp.Diff(declared(t, "part"), parts); diff != "" {
		t.Errorf("declared parts and samples differ (-declared +sampled):\n%s", diff)
	}
}

func TestBlockAccessors(t *testing.T) {
	for _, b := range contenttest.Blocks() {
		h := content.NewHandle(b.Kind(), 7, ".x")
		got := content.WithHandle(b, h)
		if got.BlockHandle() != h || got.Kind() != b.Kind() {
			t.Errorf("WithHandle(%v): handle %q kind %v, want %q %v", b.Kind(), got.BlockHandle(), got.Kind(), h, b.Kind())
		}
		if diff := cmp.Diff(b, content.WithHandle(got, b.BlockHandle())); diff != "" {
			t.Errorf("WithHandle(%v) changed more than the handle:\n%s", b.Kind(), diff)
		}
		kind, n, ok := h.Ordinal()
		if !ok || n != 7 || kind != b.Kind().String() {
			t.Errorf("Ordinal(%q) = %q, %d, %v", h, kind, n, ok)
		}
		if s := content.Compact([]content.Block{b}); s == "" {
			t.Errorf("Compact(%v) is empty", b.Kind())
		}
	}
}

func TestParseDigest(t *testing.T) {
	good := strings.Repeat("0a", 32)
	if d, err := content.ParseDigest(good); err != nil || d.String() != good {
		t.Errorf("ParseDigest(%q) = %v, %v", good, d, err)
	}
	for _, bad := range []string{"", "0a", strings.Repeat("0A", 32), strings.Repeat("0g", 32), good + "0", "../" + good[3:], strings.Repeat("é", 32)} {
		if _, err := content.ParseDigest(bad); err == nil {
			t.Errorf("ParseDigest(%q) was accepted", bad)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain.png":                  "plain.png",
		"a]b\nc\x1b[31m\u202egnp.x":  "a_b_c_[31m_gnp.x",
		"naïve ✓ 画像.png":             "naïve ✓ 画像.png",
		strings.Repeat("é", 80):      strings.Repeat("é", 80),
		strings.Repeat("é", 81):      strings.Repeat("é", 79) + "…",
		"bad\xffutf8":                "bad\ufffdutf8",
		"zero\u200bwidth\u2028line ": "zero_width_line ",
	} {
		if got := content.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a]b\n")
	f.Add(strings.Repeat("x", 200))
	f.Fuzz(func(t *testing.T, s string) {
		got := content.Clean(s)
		if n := utf8.RuneCountInString(got); n > content.MaxCleanRunes {
			t.Errorf("Clean(%q) has %d runes", s, n)
		}
		if strings.ContainsAny(got, "]\n\r\x00\x1b") {
			t.Errorf("Clean(%q) = %q holds a character that breaks a label", s, got)
		}
		if again := content.Clean(got); again != got {
			t.Errorf("Clean is not idempotent: %q then %q", got, again)
		}
	})
}

func FuzzParseDigest(f *testing.F) {
	f.Add(strings.Repeat("0a", 32))
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := content.ParseDigest(s); err == nil && d.String() != s {
			t.Errorf("ParseDigest(%q) spells back as %q", s, d)
		}
	})
}
