package search_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/tool/search"
)

// A file or folder that the rules deny is not searched when it is named either,
// nor through a link.
func TestDeniedIsNotSearched(t *testing.T) {
	env := project(t, map[string]string{"private/key.txt": "needle\n"})
	link(t, "private", filepath.Join(env.Cwd, "door"))
	link(t, filepath.Join("private", "key.txt"), filepath.Join(env.Cwd, "alias.txt"))
	env.Denied = func(abs string) bool { return strings.Contains(filepath.ToSlash(abs)+"/", "/private/") }
	for _, path := range []string{"private/key.txt", "alias.txt", "door", "door/key.txt"} {
		if got, err := run(t, builtIn(), env, map[string]any{"pattern": "needle", "path": path}); err == nil {
			t.Errorf("grep %s: %q", path, got)
		}
	}
	if got, err := run(t, search.Glob{}, env, map[string]any{"pattern": "*", "path": "door"}); err == nil {
		t.Errorf("glob: %q", got)
	}
}

// A link in a folder that was permitted leads nowhere else.
func TestSearchOutsideFollowsNoLink(t *testing.T) {
	env := project(t, nil)
	other := project(t, map[string]string{"other/a.txt": "needle\n"})
	link(t, "other", filepath.Join(other.Cwd, "ln"))
	env.Permitted = true
	path := filepath.Join(other.Cwd, "ln")
	for judged, ok := range map[string]bool{"": false, path: false, filepath.Join(other.Cwd, "other"): true} {
		env.Judged = filepath.ToSlash(judged)
		if got, err := run(t, builtIn(), env, map[string]any{"pattern": "needle", "path": path}); (err == nil) != ok {
			t.Errorf("grep, judged %q: %q, %v", judged, got, err)
		}
	}
}
