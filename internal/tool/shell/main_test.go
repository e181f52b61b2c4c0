package shell_test

import (
	"encoding/json"
	"os"
	"testing"

	"tote/internal/content"
	"tote/internal/tool"
	"tote/internal/tool/shell"
)

// The test's own program stands in for ours where a command is locked in.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == shell.SandboxArg {
		os.Exit(shell.SandboxMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == shieldArg {
		os.Exit(shielded())
	}
	os.Exit(m.Run())
}

func arguments(t testing.TB, v map[string]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// textOf is the text of a result.
func textOf(t testing.TB, r tool.Result) string {
	t.Helper()
	if len(r.Sources) != 1 {
		t.Fatalf("result = %+v", r)
	}
	p, ok := r.Sources[0].Payload.(content.Prose)
	if !ok {
		t.Fatalf("payload = %T", r.Sources[0].Payload)
	}
	return p.Text
}

// runIn runs a command and returns its text or its error.
func runIn(t *testing.T, s *shell.Shells, dir, command string) string {
	t.Helper()
	r, err := s.Tools()[0].Run(t.Context(), arguments(t, map[string]any{"command": command}), tool.Env{Cwd: dir, Roots: []string{dir}, Session: "s"})
	if err != nil {
		return err.Error()
	}
	return textOf(t, r)
}
