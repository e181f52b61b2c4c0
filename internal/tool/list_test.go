package tool_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/tool"
)

func TestList(t *testing.T) {
	env := project(t, map[string]string{
		"b.txt": "12345", "a.txt": "", ".hidden": "1", "sub/deep/x.txt": "12", "sub/y.txt": "1", "zeta/z.txt": "1", ".git/config": "1",
	})
	link(t, "sub", filepath.Join(env.Cwd, "link"))
	tests := map[string]struct {
		args map[string]any
		want string
	}{
		"one level": {nil, ".git/\nsub/\nzeta/\n.hidden (1 bytes)\na.txt (0 bytes)\nb.txt (5 bytes)\nlink (link)\n"},
		"two levels": {
			map[string]any{"depth": 2},
			".git/\nsub/\n  deep/\n  y.txt (1 bytes)\nzeta/\n  z.txt (1 bytes)\n.hidden (1 bytes)\na.txt (0 bytes)\nb.txt (5 bytes)\nlink (link)\n",
		},
		"a folder":       {map[string]any{"path": "sub", "depth": 5}, "deep/\n  x.txt (2 bytes)\ny.txt (1 bytes)\n"},
		"through a link": {map[string]any{"path": "link"}, "deep/\ny.txt (1 bytes)\n"},
		"absolute":       {map[string]any{"path": filepath.Join(env.Cwd, "zeta")}, "z.txt (1 bytes)\n"},
		".git by name":   {map[string]any{"path": ".git"}, "config (1 bytes)\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, tool.List{}, env, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("listing (-want +got):\n%s", diff)
			}
		})
	}
	for path, want := range map[string]string{"gone": "there is no such folder", "a.txt": "it is no folder"} {
		if _, err := run(t, tool.List{}, env, map[string]any{"path": path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := run(t, tool.List{}, env, map[string]any{"depth": 6}); err == nil {
		t.Error("six levels were listed")
	}
	if got, err := run(t, tool.List{}, project(t, nil), nil); err != nil || got != "[the folder is empty]\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A listing is cut at 1,000 entries and says so; exactly 1,000 are not cut.
func TestListIsBounded(t *testing.T) {
	for n, cut := range map[int]bool{1000: false, 1001: true} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("%04d", i)] = ""
		}
		got, err := run(t, tool.List{}, project(t, files), nil)
		if err != nil || strings.Contains(got, "[cut at 1000 entries]") != cut || !strings.Contains(got, "0999 (0 bytes)") {
			t.Errorf("%d entries: %v, end %q", n, err, got[len(got)-40:])
		}
	}
}
