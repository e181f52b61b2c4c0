package cli_test

import (
	"strings"
	"testing"

	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
)

func TestTrusts(t *testing.T) {
	for _, tt := range []struct {
		runner, version string
		want            bool
	}{
		{cli.Claude, "2.1.240", true},
		{cli.Claude, "2.1.332 (Claude Code)", true},
		{cli.Claude, "3.0.0", true},
		{cli.Claude, "2.1.239", false},
		{cli.Claude, "2.1.59 (Claude Code)", false},
		{cli.Claude, "1.9.999", false},
		{cli.Claude, "", false},
		{cli.Claude, "who knows", false},
		{cli.Codex, "codex-cli 0.171.0", true},
		{cli.Codex, "codex-cli 0.46.0", false},
		{cli.Gemini, "0.61.0", true},
		{cli.Gemini, "", true},
		{cli.Custom, "", true},
	} {
		ok, why := cli.Trusts(tt.runner, tt.version)
		if ok != tt.want || ok != (why == "") {
			t.Errorf("%s %q: %v, %q", tt.runner, tt.version, ok, why)
		}
	}
}

func TestVersion(t *testing.T) {
	for runner, want := range map[string]string{cli.Claude: "2.1.332", cli.Codex: "0.171.0", cli.Gemini: "0.61.0", cli.Custom: ""} {
		r := newRig(t, runner, clitest.OK)
		for range 2 {
			v, err := r.Version(t.Context())
			if v != want || err != nil {
				t.Errorf("%s: %q, %v", runner, v, err)
			}
		}
		i, err := r.Describe(t.Context())
		if err != nil || !i.Trusted || i.Why != "" || i.Runner != runner || i.Version != want {
			t.Errorf("%s: %+v, %v", runner, i, err)
		}
	}
	r := newRig(t, cli.Claude, clitest.Garbage)
	if i, err := r.Describe(t.Context()); err == nil || i.Trusted || !strings.Contains(i.Why, "not known") {
		t.Errorf("garbage: %+v, %v", i, err)
	}
}

func FuzzTrusts(f *testing.F) {
	f.Add("2.1.240")
	f.Add("v2.1")
	f.Add("99999999.1.1")
	f.Fuzz(func(t *testing.T, v string) {
		if ok, why := cli.Trusts(cli.Claude, v); ok != (why == "") {
			t.Errorf("%q: %v, %q", v, ok, why)
		}
	})
}

func TestEscapePath(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b.png": "/a/b.png", "/a b/(c).png": `/a\ b/\(c\).png`, `/a\b`: `/a\\b`, `C:\a b\c.png`: `"C:\a b\c.png"`, `\\h\s\c.png`: `"\\h\s\c.png"`,
	} {
		if got := cli.EscapePath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
