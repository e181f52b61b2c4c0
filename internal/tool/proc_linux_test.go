package tool_test

import (
	"strings"
	"testing"

	"tote/internal/tool"
)

// Files of the kernel's have no size; text is read, the rest refused.
func TestKernelFiles(t *testing.T) {
	env := project(t, nil)
	env.Permitted = true
	if got, err := run(t, tool.Read{}, env, map[string]any{"path": "/proc/version"}); err != nil || !strings.Contains(got, "Linux") {
		t.Errorf("%q, %v", got, err)
	}
	for _, path := range []string{"/proc/self/auxv", "/dev/null"} {
		if got, err := run(t, tool.Read{}, env, map[string]any{"path": path}); err == nil {
			t.Errorf("%s: %q", path, got)
		}
	}
}
