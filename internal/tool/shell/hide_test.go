//go:build unix

package shell_test

import (
	"os"
	"testing"

	"tote/internal/tool/shell"
)

// TestHide hides a variable from a shell that has had it: the names are asked for at
// each start.
func TestHide(t *testing.T) {
	var names []string
	b := newBench(t, shell.Options{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "NEW_KEY=hunter2", "OTHER=o"}, Hide: func() []string { return names },
	})
	if got := b.sh("export MORE=m; echo $NEW_KEY-$OTHER"); got != "hunter2-o\n" {
		t.Fatalf("%q", got)
	}
	names = []string{"NEW_KEY", "not a name"}
	for range 2 {
		if got := b.sh("echo $NEW_KEY-$OTHER-$MORE"); got != "-o-m\n" {
			t.Errorf("%q", got)
		}
	}
}
