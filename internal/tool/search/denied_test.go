package search_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/tool"
	"tote/internal/tool/search"
)

// A search over a folder does not tell what stands in files that the user's rules
// deny; a file that is named is judged by the rules themselves.
func TestDeniedFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"open.txt": "needle here\n", "secrets/plan.txt": "needle there\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := tool.Env{
		Cwd: dir, Roots: []string{dir},
		Denied: func(abs string) bool { return strings.Contains(filepath.ToSlash(abs), "/secrets/") },
	}
	r, err := search.NewGrep(search.Options{}).Run(context.Background(), json.RawMessage(`{"pattern":"needle"}`), env)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := r.Sources[0].Payload.(content.Prose)
	if !ok || !strings.Contains(p.Text, "open.txt") || strings.Contains(p.Text, "there") {
		t.Errorf("%q", p.Text)
	}
}
