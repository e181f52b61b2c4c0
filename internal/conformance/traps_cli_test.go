package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"tote/internal/delivery"
	"tote/internal/provider/cli/clitest"
)

// TestMain lets the test binary take the part of a command-line agent, of an MCP
// server, or of a user's hook.
func TestMain(m *testing.M) {
	clitest.Main()
	if folder := os.Getenv(mcpVar); folder != "" {
		playMCP(folder)
		return
	}
	if slices.Contains(os.Args, hookArg) {
		playHook()
		return
	}
	os.Exit(m.Run())
}

// bindClaude is a configuration with the claude program.
func bindClaude(t *testing.T, command []string, vision, more string) string {
	t.Helper()
	list, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"agents":{"m":{"runner":"claude","command":%s,"vision":%s}},"default_agent":"m"%s}`, list, vision, more)
}

// TestTrapOldProgram: old versions of claude lose pictures in their input and
// answer all the same. The guards are the least version and a test picture.
func TestTrapOldProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vision string
		version      clitest.Behaviour
		// given: a picture is handed to the program; seen: it takes it.
		given, seen bool
	}{
		{"guards off, old version", "true", clitest.Old, true, false},
		{"least version", `"auto"`, clitest.Old, false, false},
		{"guards off, new version", "true", clitest.OK, true, true},
		// The program takes the test picture, and does not say what is on it.
		{"test picture", `"auto"`, clitest.OK, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			command, calls := clitest.Fake(t, "claude", c.version)
			w := newWorld(t, bindClaude(t, command, c.vision, ""))
			p := w.launch()
			defer p.stop()
			shot, _ := w.snap("shot.png", 20, 20, 1)
			f := p.prompt(p.with("m"), shot, prose("what is on it?"))
			list := calls()
			if len(list) == 0 {
				t.Fatal("the program was not started")
			}
			sent, err := list[len(list)-1].Sent()
			if err != nil {
				t.Fatal(err)
			}
			if seen := len(sent.Media()) == 1; seen != c.seen {
				t.Errorf("the program took %d pictures", len(sent.Media()))
			}
			receipt := newestReceipts(f)["image-1.png"]
			if given := receipt.Disposition == delivery.Inline; given != c.given {
				t.Errorf("the receipt says %v for %v", receipt.Disposition, receipt.Reason)
			}
			if !c.given && len(told(f, "shot.png")) == 0 {
				t.Errorf("nobody is told: %q", f.Notices())
			}
		})
	}
}
