//go:build unix

package checkpoint_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"tote/internal/checkpoint"
)

func TestPipesAndDevices(t *testing.T) {
	b := newBench(t)
	must(t, syscall.Mkfifo(b.path("pipe"), 0o600))
	for path, word := range map[string]string{b.path("pipe"): "a named pipe", "/dev/null": "a device"} {
		if err := b.Keep(t.Context(), "s", "1", path); !errors.Is(err, checkpoint.ErrNotRegular) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
