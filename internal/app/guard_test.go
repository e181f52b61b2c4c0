package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/config"
)

func (p *place) script(path, text string) {
	p.t.Helper()
	p.write(path, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		p.t.Fatal(err)
	}
}

// TestProjectHooksNeedStandingTrust changes what a user has trusted in the middle of
// a turn: hooks of the project do not run any more, those of the user do.
func TestProjectHooksNeedStandingTrust(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // the hooks are scripts
	}
	for name, change := range map[string]func(p *place){
		"script": func(p *place) {
			p.script(filepath.Join(p.cwd, ".tote", "hooks", "x.sh"), `echo '{"context":"changed"}'`)
		},
		"new file":   func(p *place) { p.write(filepath.Join(p.cwd, ".tote", "hooks", "y.sh"), "") },
		"config":     func(p *place) { p.write(p.projectFile(), `{"hooks": {}}`) },
		"mcp server": func(p *place) { p.write(filepath.Join(p.cwd, ".mcp.json"), `{"mcpServers": {}}`) },
		"gone":       func(p *place) { _ = os.RemoveAll(filepath.Join(p.cwd, ".tote")) },
	} {
		for _, required := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s required=%v", name, required), func(t *testing.T) {
				p := newPlace(t)
				p.script(filepath.Join(p.home, "own.sh"), `echo '{"context":"own"}'`)
				p.script(filepath.Join(p.cwd, ".tote", "hooks", "x.sh"), `echo '{"context":"project"}'`)
				p.write(p.userFile(), fmt.Sprintf(`{"hooks": {"pre_tool": [{"command": [%q]}]}}`, filepath.Join(p.home, "own.sh")))
				p.write(p.projectFile(), fmt.Sprintf(`{"hooks": {"pre_tool": [{"command": ["./.tote/hooks/x.sh"], "required": %v}]}}`, required))
				w := p.workspace(p.open(config.Overlay{}))
				e := agent.HookEvent{Name: "pre_tool", Cwd: p.cwd, Tool: "read"}
				if r, n := w.RunHooks(t.Context(), e); r.Context != "own" || n != nil {
					t.Fatalf("before trust: %+v, %v", r, n)
				}
				if err := w.TrustProject(t.Context()); err != nil {
					t.Fatal(err)
				}
				if r, n := w.RunHooks(t.Context(), e); r.Context != "own\n\nproject" || r.Deny || n != nil {
					t.Fatalf("trusted: %+v, %v", r, n)
				}
				change(p)
				const want = "the project's hooks have changed since you trusted it; they do not run until you trust it again: tote trust "
				r, n := w.RunHooks(t.Context(), e)
				if r.Context != "own" || r.Deny != required || required && !strings.HasPrefix(r.Reason, want) {
					t.Errorf("changed: %+v", r)
				}
				if len(n) != 1 || !strings.HasPrefix(n[0].Title, want) {
					t.Errorf("notices %v", n)
				}
				if r, n := w.RunHooks(t.Context(), e); r.Context != "own" || r.Deny != required || n != nil {
					t.Errorf("again: %+v, %v", r, n)
				}
			})
		}
	}
}

// TestUserHookInProject has the user's own file name a program of the project.
func TestUserHookInProject(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // the hooks are scripts
	}
	p := newPlace(t)
	file := filepath.Join(p.cwd, ".tote", "hooks", "x.sh")
	p.script(file, `echo '{"context":"project"}'`)
	p.write(p.userFile(), fmt.Sprintf(`{"hooks": {"stop": [{"command": ["sh", %q]}]}}`, file))
	w := p.workspace(p.open(config.Overlay{}))
	e := agent.HookEvent{Name: "stop", Cwd: p.cwd}
	if r, n := w.RunHooks(t.Context(), e); r.Context != "" || len(n) != 1 || !strings.Contains(n[0].Title, "tote trust ") {
		t.Errorf("before trust: %+v, %v", r, n)
	}
	if err := w.TrustProject(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, n := w.RunHooks(t.Context(), e); r.Context != "project" || n != nil {
		t.Errorf("trusted: %+v, %v", r, n)
	}
}

// TestRulesHoldNoKeys has rules of a project bring in what must not be read.
func TestRulesHoldNoKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.userFile(), `{"permissions": {"deny": ["read(private/**)"]}}`)
	p.write(filepath.Join(p.cwd, "AGENTS.md"), "Be brief.\n@.env\n@private/a.md\n@b.md\n")
	for _, name := range []string{".env", "private/a.md"} {
		p.write(filepath.Join(p.cwd, name), "hunter2 "+name)
	}
	p.write(filepath.Join(p.cwd, "b.md"), "Be kind.")
	text, n := p.workspace(p.open(config.Overlay{})).Instructions(t.Context())
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "Be kind.") || len(n) != 2 {
		t.Errorf("notices %v, text\n%s", n, text)
	}
}

// TestChangedSkill changes a skill in the middle of a turn: what is not trusted is
// not handed on.
func TestChangedSkill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := filepath.Join(p.cwd, ".tote", "skills", "x", "SKILL.md")
	p.write(file, "Do it well.")
	w := p.workspace(p.open(config.Overlay{}))
	if err := w.TrustProject(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, _ := w.Instructions(t.Context()); !strings.Contains(text, "Do it well.") {
		t.Errorf("trusted: %q", text)
	}
	p.write(file, "Do it badly.")
	if text, _ := w.Instructions(t.Context()); strings.Contains(text, "Do it") {
		t.Errorf("changed: %q", text)
	}
}

func TestKeyNames(t *testing.T) {
	t.Parallel()
	c := config.Config{
		Providers: map[string]config.Provider{"p": {
			Name: "p", APIKey: "$KEY", Headers: map[string]string{"X-K": "${HDRKEY}", "X-L": "$PLAIN", "X-M": "costs $5", "X-N": "Bearer ${IN}"},
		}},
		MCPServers: map[string]config.MCPServer{"s": {
			Env: map[string]string{"A": "${MCPKEY:-none}", "PATH": "${PATH}:/x", "B": "${not one"}, Headers: map[string]string{"Authorization": "Bearer ${MCPHDR}"},
		}},
	}
	got := app.KeyNames(c, func(string) string { return "" })
	if diff := cmp.Diff([]string{"HDRKEY", "IN", "KEY", "MCPHDR", "MCPKEY", "PLAIN"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHooksGetNoKeys has a hook tell of its environment.
func TestHooksGetNoKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the hook is a script
	}
	t.Setenv("TOTE_TEST_HDRKEY", "hunter2")
	t.Setenv("OTHER_OF_TEST", "other")
	p := newPlace(t)
	p.script(filepath.Join(p.home, "own.sh"), `echo "{\"context\":\"$TOTE_TEST_HDRKEY-$OTHER_OF_TEST\"}"`)
	p.write(p.userFile(), fmt.Sprintf(`{
		"providers": {"p": {"kind": "openai-chat", "base_url": "http://127.0.0.1:1/v1", "headers": {"X-K": "${TOTE_TEST_HDRKEY}"}}},
		"hooks": {"stop": [{"command": [%q]}]}}`, filepath.Join(p.home, "own.sh")))
	w := p.workspace(p.open(config.Overlay{}))
	if r, n := w.RunHooks(t.Context(), agent.HookEvent{Name: "stop", Cwd: p.cwd}); r.Context != "-other" || n != nil {
		t.Errorf("Run = %+v, %v", r, n)
	}
}
