package spell_test

import (
	"testing"

	"tote/internal/spell"
)

func TestNearest(t *testing.T) {
	known := []string{"undo", "context", "mcp", "model", "mode", "job", "jobs", "read", "bash"}
	for got, want := range map[string]string{
		"udno": "undo", "contxt": "context", "Context": "context", "modell": "model", "raed": "read", "bsh": "bash",
		"nothing": "", "etc": "", "tmp": "", "x": "", "": "", "usr": "",
	} {
		if name := spell.Nearest(got, known); name != want {
			t.Errorf("Nearest(%q) = %q, want %q", got, name, want)
		}
	}
}
