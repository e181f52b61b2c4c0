package config_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

// FuzzParse checks that a file is an error with its name or a valid layer, that a
// valid whole survives being written and read, and that an untrusted layer grants
// nothing.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}", full, userFile, hostile, "{\"a\":1,\"a\":2}", "[", "{\"x\": \"\\ud800\"}", "//", "/*", "\xef\xbb\xbf{}", "{\"probe\":\"\xff\"}",
		`{"providers":{"p":{"kind":"offline","faults":{"refuse_images":{},"tool_calls":[{"name":"x","arguments":{"a":[1,{},null]}}]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		layer, err := config.Parse("c.json", data)
		if err != nil {
			var e *config.Error
			if !errors.As(err, &e) || e.File != "c.json" || e.Err == nil {
				t.Fatalf("Parse(%q) = %#v, want *config.Error", data, err)
			}
			return
		}
		grantsNothing(t, layer)
		cfg, _, err := config.Merge(layer, config.Layer{}, config.TrustedProject)
		if err != nil {
			return
		}
		if _, err := cfg.Agent(""); err != nil {
			t.Fatalf("no default agent: %v", err)
		}
		if _, err := cfg.Redacted(); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		again, err := config.Parse("again.json", out)
		if err != nil {
			t.Fatalf("Parse of the written configuration: %v\n%s", err, out)
		}
		cfg2, _, err := config.Merge(again, config.Layer{}, config.TrustedProject)
		if err != nil {
			t.Fatalf("Merge of the written configuration: %v\n%s", err, out)
		}
		out2, err := json.Marshal(cfg2)
		if err != nil || string(out) != string(out2) {
			t.Fatalf("round trip: %v\n%s\n%s", err, out, out2)
		}
	})
}

func grantsNothing(t *testing.T, layer config.Layer) {
	t.Helper()
	got, _, err := config.Merge(config.Layer{}, layer, config.Untrusted)
	if err != nil {
		t.Fatalf("an untrusted layer breaks the merge: %v", err)
	}
	want := config.Default()
	offline := got.Agents["offline"]
	offline.Vision = config.VisionAuto
	got.Agents["offline"] = offline
	got.Probe, got.Privacy, got.Limits = want.Probe, want.Privacy, want.Limits
	if len(got.Permissions.Allow) != 0 || got.Permissions.Mode != config.ModeAsk && got.Permissions.Mode != config.ModePlan {
		t.Fatalf("an untrusted layer grants %+v", got.Permissions)
	}
	got.Permissions = want.Permissions
	bash, most := got.Tools.Bash, want.Tools.Bash
	if bash.Shell != "" || lockedIn(bash.Sandbox) < lockedIn(most.Sandbox) || bash.Timeout > most.Timeout || bash.MaxTimeout > most.MaxTimeout {
		t.Fatalf("an untrusted layer loosens %+v", bash)
	}
	got.Tools = want.Tools
	clean, _, err := config.Merge(config.Layer{}, config.Layer{}, config.Untrusted)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(clean, got); diff != "" {
		t.Fatalf("an untrusted layer changes (-want +got):\n%s", diff)
	}
}

// FuzzParseMCP checks that a shared file never panics and grants nothing.
func FuzzParseMCP(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"mcpServers":{}}`, `{"mcpServers":{"a":{"command":"x","args":["${A:-b}"],"env":{"K":"${V}"}}}}`,
		`{"mcpServers":{"b":{"type":"http","url":"https://${H}/x","headers":{"A":"Bearer ${T}"}}}}`, `{"mcpServers":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		layer, err := config.ParseMCP(".mcp.json", data)
		if err != nil {
			return
		}
		grantsNothing(t, layer)
		cfg, _, err := config.Merge(config.Layer{}, layer, config.TrustedProject)
		if err != nil {
			return
		}
		for _, s := range cfg.MCPServers {
			expanded, err := s.Expand(func(string) string { return "v" })
			if err == nil && expanded.Name != s.Name {
				t.Fatalf("Expand(%+v) = %+v", s, expanded)
			}
		}
	})
}

// lockedIn says how far a setting locks commands in.
func lockedIn(s config.Sandbox) int { return slices.Index(s.Values(), string(s)) }
