package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	p "tote/internal/provider/providertest"
)

// TestAuth keeps keys where there is no keyring: the bus that one answers on is not
// there.
func TestAuth(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	const key = "sk-kept-0123456789-secret"
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.configure(fmt.Sprintf(`{"providers": {"p": {"kind": "openai-chat", "base_url": %q, "api_key": "keyring:work"}},
		"agents": {"main": {"provider": "p", "model": "m", "vision": true}}, "default_agent": "main"}`, rec.URL))
	var printed strings.Builder
	tote := func(code int, args ...string) output {
		t.Helper()
		out := r.tote(args...).want(code)
		printed.WriteString(out.stdout + out.stderr)
		return out
	}
	if e := tote(2, "run", "--json", "hi").lines("error"); len(e) != 1 || !strings.Contains(e[0].str("message")+e[0].str("hint"), "work") {
		t.Errorf("without the key: %v", e)
	}
	r.stdin = []byte(key + "\nmore\n")
	says(t, "auth set", tote(0, "auth", "set", "work").stderr, "keys.json", `"api_key": "keyring:work"`)
	r.stdin = nil
	file := filepath.Join(r.home, "config", "keys.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of keys: %v, %v", info, err)
	}
	says(t, "auth list", tote(0, "auth", "list").stdout, "work", "file")
	if l := tote(0, "auth", "--json").lines("key"); len(l) != 1 || l[0].str("name") != "work" || l[0].str("place") != "file" {
		t.Errorf("auth --json: %v", l)
	}
	tote(0, "run", "--json", "hi")
	if got := rec.Last().Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("the request carries %q", got)
	}
	tote(0, "config")
	tote(0, "models")
	tote(0, "auth", "remove", "work")
	tote(2, "auth", "remove", "work")
	tote(2, "auth", "set", "work")
	tote(2, "auth", "set", "no good name")
	tote(2, "auth", "dance")
	tote(2, "run", "hi")
	if strings.Contains(printed.String(), key) {
		t.Error("the key was printed")
	}
	if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), key) {
		t.Error("a forgotten key is in the file")
	}
	if n := len(rec.Requests()); n != 1 {
		t.Errorf("%d requests, want the one with the key", n)
	}
}
