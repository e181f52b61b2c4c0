package search_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/tool"
	"tote/internal/tool/search"
)

// wide makes a repository of 5,000 source files.
func wide(b *testing.B) tool.Env {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	git(b, dir, "init", "-q")
	put(b, filepath.Join(dir, ".gitignore"), "*.log\n/build/\n**/tmp/\n!keep.log\n")
	for i := range 5000 {
		var sb strings.Builder
		for line := range 120 {
			fmt.Fprintf(&sb, "\tif err := service%d.Handle(ctx, request%d); err != nil { return wrap(%d) }\n", i%97, line, i*line)
		}
		if i%500 == 0 {
			sb.WriteString("// the needle stands here: ID_48151623\n")
		}
		put(b, filepath.Join(dir, fmt.Sprintf("pkg%02d/mod%02d/file%d.go", i%50, i%20, i)), sb.String())
	}
	return tool.Env{Cwd: dir, Roots: []string{dir}}
}

func BenchmarkGrep(b *testing.B) {
	env := wide(b)
	for _, q := range []struct {
		name string
		v    map[string]any
	}{
		{"literal", map[string]any{"pattern": "needle"}},
		{"fold", map[string]any{"pattern": "NEEDLE", "case_insensitive": true}},
		{"regexp", map[string]any{"pattern": `[A-Z]{2}_\d{8}`}},
		{"bare", map[string]any{"pattern": `[A-Z]{2}.\d{8}`}},
		{"common", map[string]any{"pattern": `err != nil`}},
		{"count", map[string]any{"pattern": `err != nil`, "count": true}},
	} {
		for _, program := range append([]string{""}, programs(b)...) {
			name := program
			if name == "" {
				name = "built-in"
			}
			b.Run(q.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				var used int
				g := with(program, &used)
				for b.Loop() {
					if _, err := run(b, g, env, q.v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("glob", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := run(b, search.Glob{}, env, map[string]any{"pattern": "*.md"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
